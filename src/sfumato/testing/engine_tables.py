"""One world of tables on every engine, with the worst of values, and questions that touch all that engines do."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from sfumato.audit.sql.simulation import Dice
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.options import Options
from sfumato.dataset.column import Column, column
from sfumato.dataset.public_table import PublicTable, public
from sfumato.dataset.table import Table, table, through
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share

Group = tuple[Any, ...]
Record = list[tuple[str, list[Any], int]]
ODD = (
    None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 1.7976931348623157e308,
    -1.7976931348623157e308, 0.1, 0.2, 0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 3.5, -7.25, 8.0, 12.0, 40.0, 2.0**53,
)  # fmt: skip
WHOLE = (None, -2, -1, 0, 1, 2, 3, 2**62, 2**63 - 1, -(2**63))
TEXTS = (None, "a", "A", "b", "ä'b", "ä", "a\\b", "%", "日本", "🂡", "", " a")
DAY, NOON = datetime.date(2026, 1, 28), datetime.datetime(2026, 1, 28, 12, 30, 59, 999_999)
DAYS = [DAY + datetime.timedelta(days=n) for n in range(8)]
COLUMNS: dict[str, Column] = {
    "x": column(bounds=(-10, 50)),
    "y": column(bounds=(-1, 3)),
    "k": column(bounds=(-2, 4)),
    "r": column(keys=["a", "b", "ä'b", "日本", "a\\b", "nobody"]),
    "d": column(keys=DAYS),
    "m": column(bounds=(0, 100)),
    "Mixed Case": column(keys=["Yes", "no"]),
}
SCHEMA = pa.schema(
    [("pid", pa.int64()), ("x", pa.float64()), ("y", pa.float64()), ("k", pa.int64()), ("r", pa.string()),
     ("b", pa.bool_()), ("d", pa.date32()), ("w", pa.timestamp("us")), ("m", pa.decimal128(10, 2)),
     ("Mixed Case", pa.string()), ("größe", pa.int64()), ("place", pa.int64())]
)  # fmt: skip


def rows(seed: int, size: int) -> pa.Table:
    """Rows of forty people and of nobody; some people have many."""
    some = Dice(f"rows {seed}").among
    times = [NOON + datetime.timedelta(hours=7 * n) for n in range(9)]
    listed = [
        {
            "pid": some((None, *range(40), 7, 7, 7)),
            "x": some(ODD),
            "y": some(ODD),
            "k": some(WHOLE),
            "r": some(TEXTS),
            "b": some((None, True, False)),
            "d": some((None, *DAYS, datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
            "w": some((None, *times)),
            "m": some((None, *map(decimal.Decimal, ("0.10", "0.15", "2.50", "-2.50", "0.29", "99.99", "-5")))),
            "Mixed Case": some((None, "Yes", "yes", "no")),
            "größe": some(range(5)),
            "place": place,
        }
        for place in range(size)
    ]
    return pa.Table.from_pylist(listed, schema=SCHEMA)


PETS = pa.table({"pet": [1, 2, 3, 3], "who": [7, 8, 7, None], "age": [1.0, 2.0, 9.0, 4.0]})
TOYS = pa.table({"pet": [1, 1, 2, 3, 9], "price": [1.5, 2.5, 3.0, None, 7.0]})
ROWS = {"t": rows(3, 300), "few": rows(4, 40), "nothing": rows(5, 0), "pets": PETS, "toys": TOYS}
PUBLIC = public(pa.table({"r": ["a", "b", "日本", "q"], "w": [1.0, 2.0, 3.0, 4.0]}), most_matches=2)


def world(source: Callable[[str], object]) -> dict[str, Table | PublicTable]:
    """The declarations, over wherever the rows are."""
    return {
        "t": table(source("t"), unit="pid", columns=COLUMNS),
        "loose": table(source("t"), columns=COLUMNS),
        "bare": table(source("t")),
        "open": table(source("t"), unit="pid", columns={"r": COLUMNS["r"]}),
        "by_text": table(source("t"), unit="r", columns={"x": COLUMNS["x"], "d": COLUMNS["d"]}),
        "few": table(source("few"), unit="pid", columns=COLUMNS, max_rows_per_unit=40),
        "nothing": table(source("nothing"), unit="pid", columns=COLUMNS),
        "pets": table(source("pets"), unit={"pid": "who"}),
        "toys": table(source("toys"), unit=through("pets", on="pet"), columns={"price": column(bounds=(0, 9))}),
        "pub": PUBLIC,
    }


class Recorder:
    """Adds no noise, and keeps what arrives."""

    def __init__(self) -> None:
        self.record: Record = []

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        """Keep the vector."""
        self.record.append((label, [int(each) for each in exact], moves))
        return [int(each) for each in exact]

    def select(
        self, label: str, exact: Mapping[Group, int], threshold: int, moves: int, share: Share
    ) -> dict[Group, int]:
        """Keep the scores."""
        found = {key: int(score) for key, score in exact.items()}
        self.record.append((label, sorted((repr(key), score) for key, score in found.items()), moves))
        return found


def recorded(tables: Mapping[str, Table | PublicTable], engine: Any, question: str, noise: str) -> Record:
    """All that a question releases on an engine, before noise; but what units choose by a hash.

    These are the landmarks of quantiles, and which of many different values count. Nobody is in the sample whose
    averages are looked at first.
    """
    options = Options(estimate_bounds=True, delta=1e-6, noise=noise)
    plan = Curator(named(tables, question), budget=Guarantee(9)).plan(question, 1, options)
    recorder = Recorder()
    with engine.run(plan) as run, patch("sfumato.engines.sql.center.is_inside", lambda _: "FALSE"):
        measure_all(plan, run, recorder)
    hashed = {"landmarks"} | ({"cells"} if question in CHOOSING else set())
    return [each for each in recorder.record if each[0].split()[0] not in hashed]


def named(tables: Mapping[str, Table | PublicTable], question: str) -> dict[str, Table | PublicTable]:
    """The tables of a question: to declare all of them takes servers longer than to answer."""
    wanted = set(re.findall(r"\w+", question)) | ({"pets"} if "toys" in question else set())
    return {name: each for name, each in tables.items() if name in wanted}


QUESTIONS = (
    "SELECT COUNT(*) AS n FROM t",
    "SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t GROUP BY r",
    "SELECT r, COUNT(DISTINCT pid) AS n FROM t GROUP BY r",
    "SELECT COUNT(DISTINCT pid) AS n FROM nothing",
    "SELECT d, r, COUNT(DISTINCT pid) AS n FROM t GROUP BY d, r",
    "SELECT d, COUNT(k) AS n, SUM(k) AS s FROM t WHERE x > 0 OR b GROUP BY d",
    "SELECT r, MEDIAN(x) AS m FROM t GROUP BY r",
    "SELECT MEDIAN(x) AS m, MIN(x) AS lo FROM open",
    "SELECT VARIANCE(x) AS v, STDDEV(m) AS w, SUM(k) AS k FROM t",
    "SELECT r, COUNT(DISTINCT k) AS n FROM t GROUP BY r",  # of whom more values count than may
    "SELECT k, COUNT(*) AS n FROM open GROUP BY k",
    'SELECT r, "größe", SUM(x) AS n FROM open GROUP BY 1, 2',
    "SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS v, COUNT(DISTINCT k) AS q FROM loose GROUP BY r",
    "SELECT MEDIAN(x) AS m FROM loose",
    "SELECT w, COUNT(*) AS n FROM loose GROUP BY w",
    "SELECT b, d, COUNT(*) AS n FROM open GROUP BY b, d",
    "SELECT ROUND(x / k) AS q, COUNT(*) AS n FROM open GROUP BY 1",
    "SELECT SUM(s) AS s, AVG(m) AS m, SUM(h) AS h FROM "
    "(SELECT pid, SUM(x) AS s, MEDIAN(x) AS m, AVG(k) AS q, MAX(w) AS h0, COUNT(DISTINCT r) AS h FROM t GROUP BY pid) "
    "AS q",
    "SELECT SUM(a.x) AS s, COUNT(*) AS n FROM t AS a JOIN few AS b ON a.pid = b.pid",
    "SELECT COUNT(*) AS n FROM t AS a LEFT JOIN few AS b ON a.pid = b.pid AND a.k = b.k WHERE b.x IS NULL",
    "SELECT COUNT(*) AS n FROM t SEMI JOIN few ON t.pid = few.pid",
    "SELECT COUNT(*) AS n FROM t ANTI JOIN few ON t.pid = few.pid",
    "SELECT pub.r, SUM(pub.w) AS n FROM t JOIN pub ON t.r = pub.r GROUP BY pub.r",
    "SELECT SUM(x) AS n FROM (SELECT pid, x FROM t UNION ALL SELECT pid, k AS x FROM few) AS q",
    "SELECT SUM(price) AS s FROM toys",
    "SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM t GROUP BY 1",
    "SELECT EXTRACT(MONTH FROM d) AS m, COUNT(*) AS n FROM t "
    "WHERE r LIKE 'a%' OR r LIKE '_' OR r LIKE '%\\%' GROUP BY 1",
    "SELECT d, SUM(x) AS s FROM by_text GROUP BY d",
    'SELECT "Mixed Case" AS c, AVG(m) AS a FROM t WHERE "größe" IN (1, 2, 3) AND r >= \'ä\' GROUP BY 1',
    "SELECT r, COUNT(*) AS n, AVG(x) AS a, MEDIAN(x) AS q FROM nothing GROUP BY r",
    "SELECT r, COALESCE(r, 'b') AS g, b IS NULL AS c, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY r, b",
)
CHOOSING = ("SELECT r, COUNT(DISTINCT k) AS n FROM t GROUP BY r",)
EXPRESSIONS = (
    "x + y", "x - y", "x * y", "x / y", "x * y * 3 + x - y / 3", "-x", "ABS(x)", "FLOOR(x)", "CEIL(x)", "ROUND(x)",
    "CAST(x AS BIGINT)", "CAST(k AS DOUBLE)", "k * k * k", "k / x", "(x + y) * (x - y) / (x * x - y * y)", "x * 1e300",
    "x * 1e-300", "x / 1e300", "x / 1e-300", "COALESCE(x, y, k)", "m * x", "m / k",
    "CASE WHEN x > y THEN x WHEN x = y THEN k ELSE m END", "EXTRACT(YEAR FROM d)", "EXTRACT(HOUR FROM w)",
    "EXTRACT(QUARTER FROM w)", "EXTRACT(DAY FROM DATE_TRUNC('week', d))", "EXTRACT(HOUR FROM d)",
    "EXTRACT(MONTH FROM DATE_TRUNC('quarter', w))", "CASE WHEN x IN (1, 2.5, 8) THEN 1 ELSE 0 END",
    "CASE WHEN x BETWEEN y AND k THEN 1 ELSE 0 END", "CASE WHEN r < 'b' THEN 1 WHEN r = '' THEN 2 ELSE 3 END",
    "CASE WHEN d < DATE '2026-02-01' OR w > TIMESTAMP '2026-01-29 05:00:00' THEN 1 ELSE 0 END",
    "CAST(m AS INTEGER)", "CAST(m * 0.1 AS INTEGER)", "CAST(k + 0.5 AS BIGINT)", "CAST(-k - 0.5 AS INTEGER)",
    "CAST(x + 0.5 AS INTEGER)", "CAST(\"größe\" * 0.5 - 1 AS INTEGER)", "ROUND(m, 1)", "ROUND(m * 10, -1)",
    "ROUND(m * 0.145 * 100)", "FLOOR(m * 100)", "CASE WHEN m * 0.1 + 0.2 IN (0.21, 0.229) THEN 1 ELSE 0 END",
    "CASE WHEN k * 0.1 + 0.2 = 0.3 THEN 1 WHEN m * 3 < 0.3 THEN 2 WHEN m * 3 = 0.3 THEN 3 ELSE 4 END",
    "CAST(COALESCE(m, 0.5) AS INTEGER)", "CAST(COALESCE(m, x, 0.5) AS INTEGER)", "CAST(m / 5 AS INTEGER)",
    "CASE WHEN NOT b THEN 1 WHEN b IS NULL THEN 2 ELSE 3 END", "CASE WHEN r LIKE 'a\\_' OR r LIKE '日%' THEN 1 END",
)  # fmt: skip


def values(tables: Mapping[str, Table | PublicTable], engine: Any, expressions: Sequence[str]) -> list[Group]:
    """Every expression on every row that counts, in the order of places."""
    expressions = ("place", *expressions)
    listed = ", ".join(f"SUM({each}) AS a{place}" for place, each in enumerate(expressions))
    question = f"SELECT {listed} FROM bare"
    plan = Curator(named(tables, question), budget=Guarantee(9)).plan(question, 1, Options(estimate_bounds=True))
    names = ", ".join(f"x{place}" for place in range(len(expressions)))
    with engine.run(plan) as run:
        found = run.fetch(f"SELECT {names} FROM {run.counted}")
    return [tuple(map(_plain, row[1:])) for row in sorted(found, key=lambda row: row[0])]


def _plain(value: float | None) -> str:
    """A number by its value: 0 and -0 are one; the last of all digits may differ."""
    if value is None or math.isnan(value):
        return str(value)
    if abs(value) >= 1.79e308:
        return str(math.copysign(math.inf, value))  # PostgreSQL may be short of what others still hold
    if abs(value) < 1e-300:
        return "0"  # PostgreSQL may round to zero where others keep a few digits
    return f"{value:.14e}"
