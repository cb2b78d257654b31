"""A piece of SQL in two spellings: as it is asked, and as plain DuckDB computes what is documented of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """An expression; `uses` are the functions and clauses in it, `smaller` are expressions of the same kind inside."""

    sql: str
    true: str
    uses: frozenset[str] = frozenset()
    smaller: tuple[Text, ...] = ()

    def using(self, *names: str) -> Text:
        """The same, known to use something more."""
        return Text(self.sql, self.true, self.uses | set(names), self.smaller)


def plain(sql: str, *uses: str) -> Text:
    """SQL that means the same on both sides."""
    return Text(sql, sql, frozenset(uses))


def made(template: str, *parts: Text, uses: str = "", true: str = "", smaller: tuple[Text, ...] = ()) -> Text:
    """An expression of others by a template with {0}, {1}, ...; `true` is another template for DuckDB.

    >>> made("{0} / {1}", plain("x"), plain("k"), true="{0} / NULLIF({1}, 0)", uses="divide").true
    'x / NULLIF(k, 0)'
    """
    used = frozenset(uses.split()).union(*(part.uses for part in parts))
    asked, known = [part.sql for part in parts], [part.true for part in parts]
    return Text(template.format(*asked), (true or template).format(*known), used, smaller)
