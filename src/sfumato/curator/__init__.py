"""Brings plan, ledger, engine and mechanism together.

curator      ask, quote, explain
asking       one question from its charge to its answer
options      the options of a question
request      its cost, for the ledger
tables       the tables, checked together
sources      the sources, as the ledger knows them
quick        sf.ask, for one frame
measurement  exact numbers, and the noise
answers      what the analyst gets
budgeting    cost and accuracy before asking
tabulate     histograms
"""
