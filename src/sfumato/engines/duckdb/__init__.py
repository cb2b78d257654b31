"""DuckDB: questions on files and frames of one machine.

engine    the engine
session   one question on a connection
_source   a table's source
_pool     databases kept for the next question
_matches  how many public rows match one private row
"""
