"""Where the rows of a table are. Only schemas are read here.

source        the protocol, and addresses
files         CSV and Parquet
duckdb_table  a table in a DuckDB file
frame         pandas, polars and Arrow
memory        which frames share memory
text          texts of frames
server        tables in PostgreSQL and Spark
"""
