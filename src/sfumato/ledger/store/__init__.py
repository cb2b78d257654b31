"""Where the entries are kept: SQLite for one machine, PostgreSQL for several; imported when a ledger is opened."""
