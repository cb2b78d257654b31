"""MEDIAN, QUANTILE_CONT, MIN and MAX: a private search along a line of values.

quantile  the statistic
line      from noisy numbers along the line to quantiles with intervals
ruler     the cells of the line
rounds    how epsilon is divided among the rounds of the search
"""
