"""Exact numbers stay in here; only `release` lets them out, with noise.

measure          from a priced plan to noisy cells, step by step
release          the only place where noise is added
key_discovery    undeclared keys
quantile_search  the rounds of a quantile search
intervals        how far off a cell may be, and intervals of results
progress         the phases that a user sees
"""
