"""What is known of an expression from the declarations.

types     its type and the range of its numbers
decimals  where decimals must be computed exactly
"""
