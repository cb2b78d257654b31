"""Exact integers for a priced plan. They never leave the curator.

engine    the protocol
registry  which engine answers
guard     a time limit, and one message for every failure
sql       a question written as SQL once, for all engines
duckdb    files and frames
postgres  tables in PostgreSQL
spark     tables in Spark
"""
