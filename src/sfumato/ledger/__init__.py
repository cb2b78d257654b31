"""The append-only record of every spend, which no crash, race or copy can undo.

    amount      a loss in whole units               request     what the curator asks for, and what it gets
    allowance   the most that may be spent          operations  what may be done: reserve, settle, grant, ...
    entry       one line, and the hash chain        draft       the entries of one transaction in the making
    payload     what may be erased of it            desk        where threads share transactions
    balance     the sums: a pure fold of entries    verify      the whole chain and every decision again
    admit       who may ask, what may be spent      portable    JSON Lines and CSV
    ledger      the ledger itself                   copies      restoring and merging
    asker       which process reserved              witness     the last head, kept elsewhere
    memory      a ledger that lasts one process     store/      SQLite and PostgreSQL

A question is reserved before the data is touched; a reservation counts as spent from the moment it is written, whatever
becomes of it. Everything above `desk` is pure: it decides on a balance and never touches a database.
"""
