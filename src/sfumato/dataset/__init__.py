"""What may be said in public about private tables: declarations and schemas, never values.

table         a source with its unit and its declared columns
column        bounds and keys of one column
keys          the keys by which a column may be grouped
kind          what a column may hold
population    the tables of the same people, and their budget
protected     what a table protects, in words that the ledger keeps
public        keys read from a public file
public_table  a public table, to join with private ones
one_file      one file has one name
sources       where the rows are: files, frames, DuckDB, servers

Nothing here reads a row of a private table. What it says is therefore the same for any two data sets of one schema, and
a refusal tells nothing about anyone.
"""
