"""Estimates from what was received: unbiased, with intervals.

estimate   a whole survey, strata, several rounds
statistic  one question
score      intervals of shares
cross      two questions crossed
tidy       estimates put in order
result     results as rows, CSV or a chart
"""
