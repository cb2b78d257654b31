"""Outputs of a mechanism, and events that tell two inputs apart.

outputs       outputs as rows of numbers
output_types  types, lengths and digits
features      one number of a row
bins          bins for numbers
events        events, learned and then tested
"""
