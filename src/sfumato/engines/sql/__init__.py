"""A question as SQL, the same for every engine.

run            the statements of a question
rows           its rows, in lattice steps
relation       what stands after FROM
lower          expressions
weights        contributions scaled down to the limit
group_keys     declared keys as a table
key_discovery  undeclared keys
center         the histogram from which a center is estimated
distinct       different values
quantile_line  values along a line
dialect        what engines spell differently
session        one connection
server_table   a table of a server as a query
"""
