"""Every connection to DuckDB: how much of the machine it may use, and where rows go that do not fit into memory.

database   the only place that opens DuckDB
resources  threads, memory and disk
spill      folders for rows that leave memory
"""
