"""Random aggregates, and arithmetic of them: the columns of an answer that are estimates.

A sum of nothing is 0 here and NULL in DuckDB. A mean, a spread and a quantile of nothing are NULL in DuckDB and
anything that the bounds allow here, so a column that is computed of one says where it has none: `blind`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from differential.expressions import Expressions
from differential.sources import Source
from differential.tables import REACH
from differential.text import Text, made, plain

OF_VALUES = {
    "AVG": "avg", "MEAN": "avg", "VARIANCE": "variance", "VAR_SAMP": "variance", "VAR_POP": "var_pop",
    "STDDEV": "stddev", "STDDEV_SAMP": "stddev_samp", "STDDEV_POP": "stddev_pop", "MEDIAN": "median", "MIN": "min",
    "MAX": "max",
}  # fmt: skip
TRUE = {"MEAN": "AVG", "VARIANCE": "VAR_SAMP", "STDDEV": "STDDEV_SAMP"}
DEAR = ("median", "min", "max")  # they take several passes over the rows, so they are drawn less often
FILTERED = ("AVG", "MEDIAN", "MIN", "MAX")
AT = ("0", "0.05", "0.25", "0.5", "0.75", "0.9", "1", ".5", "1.0")


@dataclass(frozen=True)
class Measure:
    """An expression over aggregates; `blind` is a condition of DuckDB's on a group of which nothing can be said.

    `counts`: it is a number of rows, so that noise far below one half decides nothing.
    """

    text: Text
    blind: str = "FALSE"
    counts: bool = False
    adds: bool = False
    exact: bool = False  # it is no estimate: of keys, or a text that a number of rows decides
    of_keys: bool = False
    smaller: tuple[Measure, ...] = ()


class Measures:
    """Draws measures of a source."""

    def __init__(self, random: Random, source: Source) -> None:
        self.random, self.source = random, source
        self.drawn = Expressions(random, source.columns)

    def draw(self) -> Measure:
        """An aggregate, or arithmetic of some."""
        if self.random.random() < 0.75:
            return self.aggregate()
        return self.random.choice(
            (self._sum, self._ratio, self._rounded, self._case, self._coalesced, self._product, self._share, self._word)
        )()

    def aggregate(self) -> Measure:
        """One aggregate."""
        choice = self.random.random()
        if choice < 0.4:
            return self.count()
        if choice < 0.62:
            return self.sum()
        return self._quantile() if choice > 0.98 else self._of_values()

    def count(self) -> Measure:
        """A number of rows, of people, or of values."""
        test, value = self.drawn.truth(1), self.drawn.number(1)
        people, some = self.source.unit, self.drawn.some("text", "truth", "date", "whole", "odd", "time") or value
        spelled = [
            plain("COUNT(*)", "count"),
            plain("COUNT(*)", "count"),
            made("COUNT({0})", self.random.choice((value, some)), uses="count"),
            made("COUNT_IF({0})", test, true="COALESCE(COUNT_IF({0}), 0)", uses="count_if"),
            made("COUNT(*) FILTER (WHERE {0})", test, uses="filter"),
            made("COUNT({0}) FILTER (WHERE {1})", value, test, uses="filter"),
            made("COUNT(DISTINCT {0})", some, uses="count_distinct"),
            made("APPROX_COUNT_DISTINCT({0})", some, true="COUNT(DISTINCT {0})", uses="count_distinct"),
        ]
        if self.source.table != "loose":
            spelled.append(plain(f"COUNT(DISTINCT {people})", "count_units"))
        text = self.random.choice(spelled)
        return Measure(text, counts=True, adds="DISTINCT" not in text.true or "pid" in text.true)

    def _value(self) -> tuple[Text, Text]:
        """What is aggregated, as it is asked and as it counts; what may be infinite is cut at the bounds."""
        wild = self.drawn.some("odd")
        if wild is None or self.random.random() > 0.15:
            value = self.drawn.number(self.random.choice((0, 1, 2)))
            return value, made("CAST({0} AS DOUBLE)", value)
        spelled = {
            "{0}": (-REACH, REACH),
            "(- {0})": (-REACH, REACH),
            "ABS({0})": (0, REACH),
            "({0} + 1)": (1 - REACH, REACH + 1),
        }
        template = self.random.choice(list(spelled))
        value, (low, high) = made(template, wild, uses="infinite"), spelled[template]
        return value, made(f"CASE WHEN {{0}} IS NOT NULL THEN greatest(least({{0}}, {high}), {low}) END", value)

    def sum(self) -> Measure:
        """A sum; nothing adds up to 0."""
        value, counted = self._value()
        test = self.drawn.truth(1)
        if self.random.random() < 0.25:
            asked, known = (
                f"SUM({value.sql}) FILTER (WHERE {test.sql})",
                f"SUM({counted.true}) FILTER (WHERE {test.true})",
            )
            text = Text(asked, f"COALESCE({known}, 0)", value.uses | test.uses | {"sum", "filter"})
        else:
            text = Text(f"SUM({value.sql})", f"COALESCE(SUM({counted.true}), 0)", value.uses | {"sum"})
        smaller = tuple(Measure(Text(f"SUM({each.sql})", f"COALESCE(SUM({each.true}), 0)")) for each in value.smaller)
        return Measure(text, adds=True, smaller=smaller)

    def _of_values(self) -> Measure:
        often = [1 if OF_VALUES[name] in DEAR else 5 for name in OF_VALUES]
        (name,) = self.random.choices(list(OF_VALUES), often)
        value, counted = self._value()
        asked, known = f"{name}({value.sql})", f"{TRUE.get(name, name)}({counted.true})"
        uses = value.uses | {OF_VALUES[name]}
        if name in FILTERED and self.random.random() < 0.2:
            test = self.drawn.truth(1)
            asked, known = f"{asked} FILTER (WHERE {test.sql})", f"{known} FILTER (WHERE {test.true})"
            uses |= test.uses | {"filter"}
        simpler = [(f"{name}({each.sql})", f"{TRUE.get(name, name)}({each.true})") for each in value.smaller]
        smaller = tuple(Measure(Text(*both), f"({both[1]}) IS NULL") for both in simpler)
        return Measure(Text(asked, known, uses), f"({known}) IS NULL", smaller=smaller)

    def _quantile(self) -> Measure:
        value, counted = self._value()
        at = self.random.choice(AT)
        known = f"QUANTILE_CONT({counted.true}, CAST({at} AS DOUBLE))"
        spelled = [f"QUANTILE_CONT({value.sql}, {at})", f"QUANTILE({value.sql}, {at})"]
        if any(letter.isalpha() for letter in value.sql.replace("e", "")):  # DuckDB has no order by a constant
            spelled.append(f"PERCENTILE_CONT({at}) WITHIN GROUP (ORDER BY {value.sql})")
        asked = self.random.choice(spelled)
        if "WITHIN" not in asked and self.random.random() < 0.2:
            asked, known = f"{asked} FILTER (WHERE k > 0)", f"{known} FILTER (WHERE k > 0)"
            if "k" not in self.source.columns or self.source.columns["k"].label:
                return self.aggregate()
        text = Text(asked, known, value.uses | {"quantile"})
        return Measure(text, f"({known}) IS NULL")

    def _sum(self) -> Measure:
        one, two = self.aggregate(), self.aggregate()
        template, uses = self.random.choice(
            (("{0} + {1}", "add"), ("{0} - {1}", "subtract"), ("{0} - 2 * {1}", "multiply"))
        )
        return self._both(template, one, two, f"arithmetic {uses}")

    def _product(self) -> Measure:
        return self._both("{0} * {1}", self.aggregate(), self.count(), "arithmetic multiply")

    def _ratio(self) -> Measure:
        one, two = self.aggregate(), self.random.choice((self.count, self.sum, self.count))()
        template = self.random.choice(("{0} / {1}", "100.0 * {0} / {1}"))
        known = template.replace("{1}", "NULLIF({1}, 0)").replace("{0}", "CAST({0} AS DOUBLE)")
        return self._both(template, one, two, "arithmetic divide", known)

    def _both(self, template: str, one: Measure, two: Measure, uses: str, true: str = "") -> Measure:
        text = made(template, one.text, two.text, uses=uses, true=true)
        return Measure(text, f"({one.blind}) OR ({two.blind})", smaller=(one, two))

    def _rounded(self) -> Measure:
        one = self.aggregate()
        spelled = {
            "ROUND({0})": "round", "ROUND({0}, 1)": "round_digits", "ABS({0})": "abs", "FLOOR({0} / 2)": "floor",
            "CEIL({0})": "ceil", "- {0}": "negate", "CAST({0} AS INTEGER)": "as_integer",
            "CAST({0} AS DOUBLE)": "as_double",
        }  # fmt: skip
        template = self.random.choice(list(spelled))
        return Measure(made(template, one.text, uses=spelled[template]), one.blind, smaller=(one,))

    def _case(self) -> Measure:
        """Of two numbers that which a count decides; thresholds lie between whole numbers, where noise never is."""
        by, one, two = self.count(), self.aggregate(), self.aggregate()
        at = self.random.choice(("0.5", "2.5", "7.5"))
        text = made(
            f"CASE WHEN {{0}} > {at} THEN {{1}} ELSE {{2}} END", by.text, one.text, two.text, uses="case_of_results"
        )
        return Measure(text, f"({one.blind}) OR ({two.blind})", smaller=(by, one, two))

    def _coalesced(self) -> Measure:
        one, two = self.aggregate(), self.count()
        text = made(
            "COALESCE({0} / {1}, -1)", one.text, two.text, true="COALESCE({0} / NULLIF({1}, 0), -1)", uses="coalesce"
        )
        return Measure(text, f"({one.blind}) OR ({two.text.true}) = 0", smaller=(one, two))

    def _share(self) -> Measure:
        one = self.random.choice((self.count, self.sum))()
        if not one.adds:
            one = Measure(plain("COUNT(*)", "count"), counts=True, adds=True)
        asked = f"100.0 * {one.text.sql} / SUM({one.text.sql}) OVER ()"
        known = f"100.0 * {one.text.true} / NULLIF(SUM({one.text.true}) OVER (), 0)"
        return Measure(Text(asked, known, one.text.uses | {"share"}), smaller=(one,))

    def _word(self) -> Measure:
        by = self.count()
        at = self.random.choice(("0.5", "3.5"))
        text = made(f"CASE WHEN {{0}} <= {at} THEN 'few' ELSE 'many' END", by.text, uses="case_of_results")
        return Measure(text, exact=True, smaller=(by,))
