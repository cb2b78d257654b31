"""What the analyst gets; all of it post-processing.

answer         values, intervals, guarantee and receipt
rows           arithmetic, HAVING, ORDER BY, LIMIT
compare        groups compared
released       released numbers kept for comparisons
explain        how an answer was computed, and its notes
html           an answer in a notebook
stored_answer  an answer as text, for the ledger
"""
