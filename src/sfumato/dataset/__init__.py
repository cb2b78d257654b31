"""What may be said in public about private tables: declarations and schemas, never values.

    kind        what a column may hold              source      where the rows are: files, frame, duckdb_table
    column      bounds and keys of one column       table       a source with its unit and its declared columns
    keys        the groups that may be shown        population  the tables of the same people, and their allowance
    public      keys read from a public file        name        names, matched whatever their case

Nothing here reads a row of a private table. What it says therefore is the same for any two data sets of one schema,
and a refusal tells nothing about anyone.
"""
