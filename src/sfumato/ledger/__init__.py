"""The append-only record of every spend, which no crash, race or copy can undo.

ledger       the ledger itself
balance      the sums: a pure fold of entries
admit        who may ask, and what may be spent
operations   what may be done: reserve, settle, grant and more
transaction  the entries of one transaction in the making
writer       the single writer, which threads share
asker        which process reserved
snapshot     the balance as an entry
records      what is stored: entries, amounts, budgets, payloads
backup       copies, verification, witness
store        memory, SQLite and PostgreSQL

A question is reserved before the data is touched; a reservation counts as spent from the moment it is written, whatever
happens to it. Everything above `writer` is pure: it decides on a balance and never touches a database.
"""
