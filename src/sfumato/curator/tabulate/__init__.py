"""Histograms, asked as SQL.

tabulate   sf.histogram
histogram  the result, and what follows from it
axis       one column: bins or keys
edges      edges estimated privately
tidy       counts as whole numbers that still add up
"""
