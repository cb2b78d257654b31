"""Random keys: what stands in GROUP BY, and which of its values are declared, since all others are left out."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from differential.expressions import PARTS, UNITS, Expressions
from differential.sources import Source
from differential.tables import DAYS, TEXTS
from differential.text import Text, made

QUOTED = ", ".join("'" + each.replace("'", "''") + "'" for each in TEXTS)
LISTED: dict[str, list[object]] = {"r": list(TEXTS), "k": list(range(-2, 5)), "d": list(DAYS), "b": [False, True]}


@dataclass(frozen=True)
class Key:
    """A key with its name; `shown` is a condition on it: whether its value is declared. `listed` are all, if known.

    `unknown`: keys have to be found, which takes a delta. `null`: the statement speaks of NULL, which is a key then.
    """

    text: Text
    name: str
    shown: str = ""
    listed: tuple[object, ...] = ()
    unknown: bool = False
    null: bool = False

    @property
    def condition(self) -> str:
        """Whether a row of DuckDB's is in a group that may be shown."""
        known = f"({self.text.true}) IS NOT NULL"
        declared = f"{known} AND {self.shown.format(self.text.true)}" if self.shown else known
        return f"{declared} OR ({self.text.true}) IS NULL" if self.null else declared


def draw_key(random: Random, source: Source, name: str) -> Key | None:
    """A random key of a source, if it has one."""
    drawn = [
        _column, _column, _column, _of_text, _of_number, _of_whole, _of_date, _of_time, _of_truth, _of_case, _unknown
    ]  # fmt: skip
    found = (random.choice(drawn)(random, source, name) for _ in range(4))
    return next((key for key in found if key is not None), None)


def _column(random: Random, source: Source, name: str) -> Key | None:
    there = [column for column in ("r", "b", "k", "d", "c", "band", "visits") if column in source.columns]
    column = random.choice(there) if there else ""
    text = source.column(column)
    if text is None:
        return None
    if column in ("r", "k", "d", "b") and column in source.declared:
        shown = {"r": f"{{0}} IN ({QUOTED})", "d": "{0} IN (SELECT unnest(generate_series(DATE '2026-01-28', DATE "
                 "'2026-02-04', INTERVAL 1 DAY)))"}.get(column, "")  # fmt: skip
        named = column if random.random() < 0.5 else name  # as it is declared, or an alias
        return Key(text.using("key_column"), named, shown, tuple(LISTED[column]))
    return Key(text.using("key_column"), name) if column in ("c", "band", "b", "visits") else None


def _of_text(random: Random, source: Source, name: str) -> Key | None:
    text = source.column("r")
    if text is None or "r" not in source.declared:
        return None
    test = Expressions(random, source.columns).truth(1)
    named = random.choice((name, "r"))  # an alias that is also a column
    match random.randrange(4):
        case 0:
            return Key(
                made("COALESCE({0}, 'none')", text, uses="coalesce key_coalesce"), named, f"{{0}} IN ({QUOTED}, 'none')"
            )
        case 1:
            return Key(
                made("CASE WHEN {0} THEN {1} ELSE 'none' END", test, text, uses="case"),
                name,
                f"{{0}} IN ({QUOTED}, 'none')",
            )
        case 2:
            return Key(made("IF({0}, {1}, 'b')", test, text, uses="if"), name, f"{{0}} IN ({QUOTED})")
    return Key(made("CASE {0} WHEN 'a' THEN 1 WHEN 'b' THEN -2 END", text, uses="case"), name)


def _of_number(random: Random, source: Source, name: str) -> Key | None:
    column = random.choice(("x", "m", "y"))
    text = source.column(column)
    if text is None:
        return None
    wide = random.choice(("2", "5", "2.5"))
    spelled = {
        f"FLOOR({{0}} / {wide})": "floor divide",
        f"FLOOR({{0}} / {wide}) * {wide}": "floor divide multiply",
        "ROUND({0})": "round",
        "CEIL({0})": "ceil",
        "ROUND({0}, -1)": "round round_digits",
        "CAST({0} / 4 AS INTEGER)": "as_integer divide",
        "CAST({0} * 0.5 AS INTEGER)": "as_integer multiply",
        f"COALESCE(FLOOR({{0}} / {wide}), -99)": "floor coalesce",
    }
    template = random.choice([each for each in spelled if column != "y" or "CAST" not in each])
    return Key(made(template, text, uses=f"key_bin {spelled[template]}"), name, "isfinite({0})")


def _of_whole(random: Random, source: Source, name: str) -> Key | None:
    text = source.column("k")
    if text is None or "k" not in source.declared:
        return None
    spelled = {
        "({0} + 1)": "add", "({0} * 2)": "multiply", "ABS({0})": "abs", "COALESCE({0}, -5)": "coalesce",
        "-{0}": "negate", "FLOOR({0} / 2)": "floor divide", "({0} - 3)": "subtract",
        "CAST({0} + 0.5 AS INTEGER)": "as_integer add", "({0} * 0.1 + 0.2)": "add multiply",
    }  # fmt: skip
    template = random.choice(list(spelled))
    return Key(made(template, text, uses=spelled[template]), name)


def _of_date(random: Random, source: Source, name: str) -> Key | None:
    text = source.column("d")
    if text is None or "d" not in source.declared:
        return None
    unit, part = random.choice(UNITS[:-1]), random.choice(PARTS[:-1])
    spelled = {
        f"DATE_TRUNC('{unit}', {{0}})": f"truncate_{unit}",
        f"EXTRACT({part.upper()} FROM {{0}})": f"extract_{part}",
        f"{part.upper()}({{0}})": f"extract_{part}",
    }
    template = random.choice(list(spelled))
    days = "SELECT unnest(generate_series(DATE '2026-01-28', DATE '2026-02-04', INTERVAL 1 DAY)) AS day"
    shown = f"{{0}} IN (SELECT {template.format('day')} FROM ({days}))"
    return Key(made(template, text, uses=f"key_date {spelled[template]}"), name, shown)


def _of_time(random: Random, source: Source, name: str) -> Key | None:
    text, part = source.column("w"), random.choice(PARTS[1:])
    if text is None:
        return None
    return Key(made(f"EXTRACT({part.upper()} FROM {{0}})", text, uses=f"key_date extract_{part}"), name)


def _of_truth(random: Random, source: Source, name: str) -> Key | None:
    return Key(Expressions(random, source.columns).truth(1).using("key_truth"), name)


def _of_case(random: Random, source: Source, name: str) -> Key | None:
    drawn = Expressions(random, source.columns)
    texts = made(
        "CASE WHEN {0} THEN 'one' WHEN {1} THEN 'two' ELSE 'more' END", drawn.truth(1), drawn.truth(1), uses="case"
    )
    return Key(texts.using("key_bin"), name)


def _unknown(random: Random, source: Source, name: str) -> Key | None:
    text = source.column(column := random.choice(("q", "e", "w", "n")))
    if text is not None and column == "w":
        text = made("DATE_TRUNC('month', {0})", text, uses="truncate_month")
    if text is None or (column == "n" and source.table == "few"):  # whose rows the owner counted: it has keys
        return None
    return Key(text.using("key_unknown"), name, unknown=True)
