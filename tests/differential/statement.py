"""A random statement: its parts, how they are written down, and statements with fewer parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from differential.expressions import Expressions
from differential.keys import Key, draw_key
from differential.measures import Measure, Measures
from differential.sources import Source, draw_source
from differential.text import Text, made


@dataclass(frozen=True)
class Having:
    """A condition on groups; `unsure` is DuckDB's on those of which noise may decide it."""

    text: Text
    unsure: str = "FALSE"
    key: int | None = None  # the key that it looks at beside
    keeps: Callable[[Any], bool] = bool  # whether it keeps one of its values
    of_key: str = ""

    def written(self, key: str, true: bool) -> str:
        """The condition; `key` is how the key is named."""
        counted = self.text.true if true else self.text.sql
        return f"{counted} AND {key} {self.of_key}" if self.key is not None else counted


@dataclass(frozen=True)
class Sort:
    """One key of ORDER BY, by its place in the answer."""

    place: int
    descending: bool
    written: str  # alias, position, expression


@dataclass(frozen=True)
class Statement:
    """All parts of a question; keys come first in its answer, then measures, named m0, m1 and so on."""

    source: Source
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    where: Text | None = None
    having: Having | None = None
    order: tuple[Sort, ...] = ()
    limit: int | None = None
    grouping: str = "position"
    gaussian: bool = False
    replaced: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the answer."""
        return (*(key.name for key in self.keys), *(f"m{i}" for i in range(len(self.measures))))

    @property
    def unknown(self) -> bool:
        """Whether keys have to be found."""
        return any(key.unknown for key in self.keys)

    @property
    def uses(self) -> frozenset[str]:
        """The functions and clauses that it uses."""
        parts = [self.source.text, *(key.text for key in self.keys), *(measure.text for measure in self.measures)]
        parts += [part for part in (self.source.ctes, self.where, self.having and self.having.text) if part]
        clauses = {"where": self.where, "having": self.having, "order_by": self.order, "limit": self.limit is not None}
        found = {name for name, there in clauses.items() if there}
        found |= {f"order_by_{sort.written}" for sort in self.order} | (
            {f"group_by_{self.grouping}"} if self.keys else set()
        )
        return frozenset(found).union(*(part.uses for part in parts))

    @property
    def sql(self) -> str:
        """As it is asked."""
        ctes = f"{self.source.ctes.sql} " if self.source.ctes else ""
        texts = [*(key.text for key in self.keys), *(measure.text for measure in self.measures)]
        listed = ", ".join(f"{text.sql} AS {name}" for text, name in zip(texts, self.names, strict=True))
        where = f" WHERE {self.where.sql}" if self.where else ""
        groups = f" GROUP BY {', '.join(self._grouped(i, key) for i, key in enumerate(self.keys))}" if self.keys else ""
        having = f" HAVING {self._chosen()}" if self.having else ""
        order = f" ORDER BY {', '.join(map(self._sorted, self.order))}" if self.order else ""
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        return f"{ctes}SELECT {listed} FROM {self.source.text.sql}{where}{groups}{having}{order}{limit}"

    def _chosen(self) -> str:
        assert self.having is not None
        key = self.keys[self.having.key].text.sql if self.having.key is not None else ""
        return self.having.written(key, true=False)

    def _grouped(self, place: int, key: Key) -> str:
        written = {"position": str(place + 1), "alias": key.name, "expression": key.text.sql}
        return written[self.grouping]

    def _sorted(self, sort: Sort) -> str:
        texts = [*(key.text.sql for key in self.keys), *(measure.text.sql for measure in self.measures)]
        spelled = {"position": str(sort.place + 1), "alias": self.names[sort.place], "expression": texts[sort.place]}
        written = spelled[sort.written]
        return f"{written}{' DESC' if sort.descending else ''}"

    def smaller(self) -> Iterator[Statement]:
        """The same with one part left out, or made simpler."""
        for gone in ("limit", "having", "where"):
            if getattr(self, gone) is not None:
                yield replace(self, **{gone: None})
        if self.order:
            yield replace(self, order=())
        if self.gaussian or self.replaced:
            yield replace(self, gaussian=False, replaced=False)
        for i, measure in enumerate(self.measures):
            speaks = measure.of_keys and any(key.null for key in self.keys)  # without it NULL would be no group
            if len(self.measures) > 1 and not self.order and not speaks:
                yield replace(self, measures=(*self.measures[:i], *self.measures[i + 1 :]))
            for less in measure.smaller:
                yield replace(self, measures=(*self.measures[:i], less, *self.measures[i + 1 :]))
        for i in range(len(self.keys) if not self.order and not self.having else 0):
            yield replace(self, keys=(*self.keys[:i], *self.keys[i + 1 :]))
        for less in self.where.smaller if self.where else ():
            yield replace(self, where=less)


def draw(seed: int) -> Statement:
    """The statement of a seed."""
    random = Random(f"statement {seed}")
    source = draw_source(random)
    measures, drawn = Measures(random, source), Expressions(random, source.columns)
    keys: list[Key] = []
    for i in range(random.choice((0, 0, 1, 1, 1, 1, 2))):
        key = draw_key(random, source, f"g{i}")
        if key is not None and all(key.name != each.name and key.text.sql != each.text.sql for each in keys):
            keys.append(key)
    wanted = tuple(measures.draw() for _ in range(random.choice((1, 1, 1, 1, 1, 2, 2, 3))))
    wanted += tuple(_of_key(random, keys))
    where = drawn.truth(random.choice((0, 1, 2))) if random.random() < 0.4 else None
    own = {key.name for key in keys} & set(source.columns)  # such an alias means the column in GROUP BY
    grouping = random.choice(("position", "expression", "position" if own - {"r"} else "alias"))
    gaussian = not any(key.unknown for key in keys) and random.random() < 0.1
    made = Statement(source, tuple(keys), wanted, where, grouping=grouping, gaussian=gaussian)
    made = replace(made, replaced=random.random() < 0.15)
    return _ordered(random, _having(random, made, measures)) if keys else made


OF_KEYS: dict[type, tuple[str, ...]] = {
    str: ("CASE WHEN {0} = 'a' THEN 1 ELSE 0 END", "({0} < 'b')", "COALESCE({0}, 'b')"),
    int: ("({0} * 2 + 1)", "ABS({0} - 1)", "CASE WHEN {0} > 1 THEN 'more' ELSE 'less' END", "({0} IN (1, 2))"),
}
KEPT: dict[type, tuple[tuple[str, Callable[[Any], bool]], ...]] = {
    str: (("<> 'b'", lambda key: key != "b"), ("IN ('a', 'b')", lambda key: key in ("a", "b"))),
    int: (("> 0", lambda key: key > 0), ("BETWEEN -1 AND 2", lambda key: -1 <= key <= 2)),
}


def _of_key(random: Random, keys: list[Key]) -> list[Measure]:
    """Perhaps a column of the answer that is computed of a key, which may give NULL a group."""
    listed = [key for key in keys if key.listed and type(key.listed[0]) in OF_KEYS]
    if not listed or random.random() < 0.7:
        return []
    key = random.choice(listed)
    template = random.choice(OF_KEYS[type(key.listed[0])])
    if template.startswith("COALESCE"):
        keys[keys.index(key)] = replace(key, null=True, listed=(*key.listed, None))
    return [Measure(made(template, key.text, uses="of_key"), exact=True, of_keys=True)]


def _having(random: Random, statement: Statement, measures: Measures) -> Statement:
    """Perhaps groups are chosen: by a number of rows between whole ones, or by a sum, of which noise may decide."""
    if random.random() > 0.3 or statement.gaussian or any("share" in each.text.uses for each in statement.measures):
        return statement
    by = measures.count()
    having = Having(
        made(f"{{0}} {random.choice(('>', '<'))} {random.choice((0, 1, 3, 9))}.5", by.text, uses="having_count")
    )
    if random.random() < 0.3:
        total = measures.sum()
        at = random.choice((0, 5, -3))
        text = made(f"({{0}} OR {{1}} >= {at})", having.text, total.text, uses="having_sum or")
        having = Having(text, f"abs({total.text.true} - {at}) < 3 + 0.1 * abs({total.text.true})")
    listed = [i for i, key in enumerate(statement.keys) if key.listed and type(key.listed[0]) in KEPT]
    if listed and random.random() < 0.5:
        place = random.choice(listed)
        of_key, keeps = random.choice(KEPT[type(statement.keys[place].listed[0])])
        having = replace(having, key=place, of_key=of_key, keeps=keeps)
    return replace(statement, having=having)


def _ordered(random: Random, statement: Statement) -> Statement:
    """Perhaps in order, and then perhaps cut."""
    if random.random() > 0.4:
        return statement
    places = random.sample(range(len(statement.names)), random.choice((1, min(2, len(statement.names)))))
    order = tuple(
        Sort(place, random.random() < 0.5, random.choice(("alias", "position", "expression"))) for place in places
    )
    limit = random.choice((None, 0, 1, 3, 100))
    return replace(statement, order=order, limit=limit)
