"""How many rows are unique, counted exactly.

rows        the table in DuckDB
codes       columns as whole numbers
equal_keys  which rows have equal keys
partition   groups, split by one more column
search      sets of columns
"""
