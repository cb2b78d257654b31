"""Every connection to DuckDB: how much of the machine it may use, and where rows may go that do not fit into memory."""
