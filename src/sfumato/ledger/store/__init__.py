"""Where the entries are kept: SQLite for one machine, PostgreSQL for several; imported when a ledger is opened.

store    one door to the database
memory   a store for one process
schema   the tables, and older versions
connect  an address to a store
place    where a SQLite ledger lies
pinned   the open file must be the one under its name
combine  many callers, one transaction
failure  what a database says when it fails
"""
