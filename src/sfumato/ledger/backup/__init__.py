"""Copies of a ledger, and how a lost one is noticed.

copies   restore and merge
verify   check the whole chain
witness  the last head, in a file elsewhere
"""
