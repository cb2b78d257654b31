"""What `bench/accuracy.py` measures, and how.

repeated      one question with thousands of draws of noise: the exact numbers are read once
figures       what is said of the answers: error, half-width, coverage; goals and whether they are met
shapes        the tables
textbook      what other mechanisms would err, by formula or simulated
opendp        what OpenDP errs on the same table
one_row       means, variances, wide bounds, groups: one row per person
quantiles     medians and other quantiles of skewed values
several_rows  counts, sums and means of people with several rows, with a declared maximum and without
"""
