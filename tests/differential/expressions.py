"""Random expressions over the columns of a source: numbers, truth values, texts and dates.

Numbers that may be infinite are compared and counted here; `measures` adds them up, cut at their bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from differential.text import Text, made, plain

PARTS = ("year", "quarter", "month", "day", "hour")
UNITS = ("year", "quarter", "month", "week", "day", "hour")
PATTERNS = ("'a%'", "'%b'", "'_'", "'%''%'", "'zz'", "''", "'n_b%'")
LISTED = ("'a'", "'b'", "'ä''b'", "'zz'", "'nobody'", "''")
COMPARED = {
    "=": "equal", "<>": "unequal", "!=": "unequal", "<": "less", "<=": "at_most", ">": "greater", ">=": "at_least",
}  # fmt: skip
DATES = ("DATE '2026-01-30'", "'2026-02-01'", "DATE '2026-02-03'", "'2026-01-29'")
TIMES = ("TIMESTAMP '2026-01-28 12:00:00'", "'2026-02-14 03:15'", "DATE '2026-03-01'", "'2025-12-31 23:59:59.5'")


@dataclass(frozen=True)
class Column:
    """A column that a question may name; `label` is what stands before its name where tables are joined."""

    name: str
    kind: str  # number, whole, odd (perhaps infinite), text, truth, date, time, unit
    label: str = ""

    @property
    def text(self) -> Text:
        return plain(f"{self.label}.{self.name}" if self.label else self.name)


class Expressions:
    """Draws expressions over some columns."""

    def __init__(self, random: Random, columns: Mapping[str, Column]) -> None:
        self.random, self.columns = random, columns

    def some(self, *kinds: str) -> Text | None:
        """A column of one of these kinds, if there is one."""
        found = [each for each in self.columns.values() if each.kind in kinds]
        return self.random.choice(found).text if found else None

    def constant(self) -> Text:
        """A number."""
        return plain(self.random.choice(("0", "1", "2", "3", "0.5", "2.5", "0.1", "0.3", "-1", "7", "0.25", "1e1")))

    def number(self, depth: int = 2) -> Text:
        """A finite number: a column, or computed of some."""
        base = self.some("number", "whole") or self.constant()
        if depth <= 0 or self.random.random() < 0.3:
            return base
        return self.random.choice(
            (self._arithmetic, self._arithmetic, self._rounding, self._chosen, self._part_of_date)
        )(base, depth)

    def _arithmetic(self, base: Text, depth: int) -> Text:
        other = self.number(depth - 1) if self.random.random() < 0.5 else self.constant()
        match self.random.randrange(7):
            case 0:
                return made("({0} + {1})", base, other, uses="add", smaller=(base, other))
            case 1:
                return made("({0} - {1})", base, other, uses="subtract", smaller=(base, other))
            case 2:
                return made("({0} * {1})", base, other, uses="multiply", smaller=(base, other))
            case 3:
                divided = "(CAST({0} AS DOUBLE) / NULLIF({1}, 0))"
                return made("({0} / {1})", base, other, uses="divide", true=divided, smaller=(base,))
            case 4:
                return made("(- {0})", base, uses="negate", smaller=(base,))
            case 5:
                return made("ABS({0})", other, uses="abs", smaller=(other,))
        return made("CAST({0} AS DOUBLE)", base, uses="as_double", smaller=(base,))

    def _rounding(self, base: Text, depth: int) -> Text:
        inside = self._arithmetic(base, depth - 1)
        match self.random.randrange(6):
            case 0:
                return made("FLOOR({0})", inside, uses="floor", smaller=(inside, base))
            case 1:
                return made("CEIL({0})", inside, uses="ceil", smaller=(inside, base))
            case 2:
                return made("ROUND({0})", inside, uses="round", smaller=(inside, base))
            case 3:
                return made("ROUND({0}, 1)", base, uses="round round_digits", smaller=(base,))
            case 4:
                return made("ROUND({0} * 7, -1)", base, uses="round round_digits", smaller=(base,))
        target = self.random.choice(("INTEGER", "BIGINT"))
        return made(f"CAST({{0}} AS {target})", inside, uses="as_integer", smaller=(inside, base))

    def _chosen(self, base: Text, depth: int) -> Text:
        test, other = self.truth(depth - 1), self.number(depth - 1)
        match self.random.randrange(6):
            case 5:
                return made("CASE WHEN {0} THEN NULL ELSE {1} END", test, base, uses="case", smaller=(base,))
            case 0:
                return made("CASE WHEN {0} THEN {1} END", test, base, uses="case", smaller=(base,))
            case 1:
                return made(
                    "CASE WHEN {0} THEN {1} ELSE {2} END", test, base, other, uses="case", smaller=(base, other)
                )
            case 2:
                return made("IF({0}, {1}, {2})", test, base, other, uses="if", smaller=(base, other))
            case 3:
                return made("COALESCE({0}, {1})", base, other, uses="coalesce", smaller=(base, other))
        return made("COALESCE({0}, {1}, 2)", base, other, uses="coalesce", smaller=(base, other))

    def _part_of_date(self, base: Text, depth: int) -> Text:
        date, part = self.some("date", "time"), self.random.choice(PARTS)
        if date is None:
            return base
        spelled = [f"EXTRACT({part.upper()} FROM {{0}})", f"{part.upper()}({{0}})", f"DATE_PART('{part}', {{0}})"]
        return made(self.random.choice(spelled), date, uses=f"extract_{part}", smaller=(base,))

    def truth(self, depth: int = 2) -> Text:
        """A condition."""
        if depth > 0 and self.random.random() < 0.35:
            one, two = self.truth(depth - 1), self.truth(depth - 1)
            match self.random.randrange(4):
                case 0:
                    return made("({0} AND {1})", one, two, uses="and", smaller=(one, two))
                case 1:
                    return made("({0} OR {1})", one, two, uses="or", smaller=(one, two))
                case 2:
                    return made("NOT ({0})", one, uses="not", smaller=(one,))
            return made("CASE WHEN {0} THEN {1} ELSE FALSE END", one, two, uses="case", smaller=(one, two))
        drawn = self.random.choice(
            (self._compared, self._compared, self._of_text, self._of_date, self._of_date, self._of_truth)
        )
        return drawn(depth) or self._compared(depth)

    def _compared(self, depth: int) -> Text:
        wild = self.some("odd") if self.random.random() < 0.3 else None
        one = wild or self.number(depth - 1)
        if wild and self.random.random() < 0.4:
            one = self._wild(wild)
        other = self.number(depth - 1) if self.random.random() < 0.3 else self.constant()
        match self.random.randrange(8):
            case 7:
                return made("{0} IN (1, NULL, 2)", one, uses="in")
            case 0:
                return made("{0} BETWEEN {1} AND {2}", one, self.constant(), other, uses="between")
            case 1:
                return made("{0} NOT BETWEEN {1} AND {2}", one, self.constant(), other, uses="between not")
            case 2:
                return made("{0} IN (1, 2.5, -2, 3)", one, uses="in")
            case 3:
                return made("{0} NOT IN (0, 4)", one, uses="in not")
            case 4:
                return made(self.random.choice(("{0} IS NULL", "{0} IS NOT NULL")), one, uses="is_null")
        sign = self.random.choice(list(COMPARED))
        return made(f"{{0}} {sign} {{1}}", one, other, uses=COMPARED[sign])

    def _wild(self, wild: Text) -> Text:
        """What is computed of infinite numbers: infinite, or no number, which is larger than all others."""
        other = self.number(0)
        spelled = {
            "({0} * {1})": "multiply",
            "({0} - {1})": "subtract",
            "({0} - {0})": "subtract",
            "FLOOR({0})": "floor",
            "(- {0})": "negate",
        }
        template = self.random.choice(list(spelled))
        return made(template, wild, other, uses=f"infinite {spelled[template]}")

    def _of_text(self, depth: int) -> Text | None:
        text = self.some("text")
        if text is None:
            return None
        match self.random.randrange(5):
            case 0:
                return made(f"{{0}} LIKE {self.random.choice(PATTERNS)}", text, uses="like")
            case 1:
                return made(f"{{0}} NOT LIKE {self.random.choice(PATTERNS)}", text, uses="like not")
            case 2:
                return made(f"{{0}} IN ({', '.join(self.random.sample(LISTED, 2))})", text, uses="in")
            case 3:
                return made("{0} IS NULL", text, uses="is_null")
        sign = self.random.choice(list(COMPARED))
        return made(f"{{0}} {sign} {self.random.choice(LISTED)}", text, uses=COMPARED[sign])

    def _of_date(self, depth: int) -> Text | None:
        kind = self.random.choice(("date", "time"))
        date = self.some(kind)
        if date is None:
            return None
        sign, unit = self.random.choice(list(COMPARED)), self.random.choice(UNITS)
        literal = self.random.choice(DATES if kind == "date" else TIMES)
        match self.random.randrange(6):
            case 0:
                return made(f"{{0}} BETWEEN {literal} AND '2026-02-02'", date, uses="between")
            case 1 | 5:
                # DuckDB 2.0 takes an hour of a day for a range of days, and finds none: so it is given a time
                known = f"DATE_TRUNC('{unit}', CAST({{0}} AS TIMESTAMP))"
                truncated = made(f"DATE_TRUNC('{unit}', {{0}})", date, true=known, uses=f"truncate_{unit}")
                return made(f"{{0}} {sign} DATE '2026-02-01'", truncated, uses=COMPARED[sign])
            case 2:
                return made("{0} IN ('2026-01-30', '2026-02-02')", date, uses="in")
            case 3:
                return made("{0} IS NOT NULL", date, uses="is_null not")
        return made(f"{{0}} {sign} {literal}", date, uses=COMPARED[sign])

    def _of_truth(self, depth: int) -> Text | None:
        truth = self.some("truth")
        if truth is None:
            return None
        spelled = {
            "{0}": "",
            "NOT {0}": "not",
            "{0} = TRUE": "equal",
            "COALESCE({0}, FALSE)": "coalesce",
            "{0} IS NULL": "is_null",
        }
        template = self.random.choice(list(spelled))
        return made(template, truth, uses=spelled[template])
