"""Values with intervals, from released numbers.

estimate    how far cells may be off; the statistic makes a value and an interval of it
arithmetic  which arithmetic on results is a sum, a difference or a ratio
"""
