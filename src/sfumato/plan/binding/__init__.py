"""From a query to a bound plan: names, types and keys are known.

bind         the whole step
key_domains  keys that are public
bins         bins in GROUP BY
null_keys    keys whose NULL the question mentions
undeclared   notes on constants that are not declared keys
window       totals over all groups
replay_text  the fixed text by which a stored answer is found
"""
