"""From SQL text to a priced plan. Pure: no data is read.

syntax       SQL text as a tree of allowed nodes
expressions  the type and the range of every expression
relations    what stands after FROM, as rows of units
plan         the bound plan; read this file first
binding      names, types and keys from the declarations
pricing      shares of epsilon, lattices and limits
"""
