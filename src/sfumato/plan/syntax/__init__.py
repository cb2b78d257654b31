"""From SQL text to a query: an allow-list over every node.

parse            a tree of sqlglot to a query, checked by printing it back
tree             the tree, and what is refused of it
node             the nodes of a query
functions        the functions and operators that are allowed
registered       calls of what was registered from outside
from_clause      tables, sub-queries and joins after FROM
spelling         other spellings of the same function
window           SUM(COUNT(*)) OVER ()
parameters       values for placeholders
limits           how large a query may be
second_parser    DuckDB's parser must read the same query
same_tree        when two trees of it mean the same
syntax_errors    where a text is no SQL, in plain words
parser_warnings  keeps the log of sqlglot silent
"""
