"""A question cannot be made to fail, to cost or to be refused because of what one person's rows say.

An attacker writes questions that grow, overflow or divide by zero if somebody's secret is one thing, and do not if it
is another. Were there any difference that one can see without looking at the noisy numbers, it would be the secret.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest

import sfumato as sf
from sfumato.curator.curator import Options
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import SfumatoError

VICTIM, PEOPLE = 7, 40
SECRETS = (0, 1)
LARGEST = 2**63 - 1
GRID = sf.public(pd.DataFrame({"one": [1] * 100, "cell": range(100)}))
LARGE = sf.public(pd.DataFrame({"one": [1] * 101, "cell": range(101)}), most_matches=1_000)


def curator(secret: int) -> sf.Curator:
    """A population in which the secret is one of the victim's fields, and says how many rows and which numbers it has.

    With it the victim breaks the owner's word: it has many rows where one was said, and the largest numbers there are.
    """
    ids = [n for n in range(PEOPLE) for _ in range(2_000 if n == VICTIM and secret else 1)]
    ill = [int(n == VICTIM and secret) for n in ids]
    people = pd.DataFrame(
        {
            "id": ids,
            "ill": ill,
            "k": [LARGEST if each else 1 for each in ill],
            "x": [1e308 if each else 1.0 for each in ill],
            "text": ["1" if not each else "no number" for each in ill],
        }
    )
    return sf.Curator(
        {
            "people": sf.table(
                people, unit={"person": "id"}, max_rows_per_unit=1, columns={"ill": sf.column(bounds=(0, 1))}
            ),
            "visits": sf.table(people.rename(columns={"id": "who"}), unit={"person": "who"}),
            "things": sf.table(pd.DataFrame({"who": ids, "ill": ill}), unit=sf.through("people", on="who", key="id")),
            "grid": GRID,
            "large": LARGE,
        },
        budget=sf.Guarantee(epsilon=100, delta=1e-3),
    )


EACH = "(SELECT who, SUM(k) AS k, MAX(x) AS x, COUNT(*) AS n FROM visits WHERE ill = 1 GROUP BY who)"
QUESTIONS = (
    # it grows where somebody is ill: as far as is admitted, and no further
    "SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE ill = 1) AS p JOIN grid ON p.ill = grid.one",
    "SELECT COUNT(*) AS n FROM people JOIN grid ON people.ill = grid.one JOIN grid AS h ON people.ill = h.one",
    "SELECT COUNT(*) AS n FROM people LEFT JOIN grid ON CASE WHEN ill = 1 THEN one ELSE 0 END = 1",
    "SELECT COUNT(*) AS n FROM people LEFT JOIN grid ON ill = one AND cell >= 0",
    # further than is admitted: refused, whoever is ill
    "SELECT COUNT(*) AS n FROM people JOIN large ON ill = large.one JOIN large AS b ON ill = b.one",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE ill = 2) AS p JOIN large ON ill = one JOIN large AS b "
    "ON p.ill = b.one",
    "SELECT COUNT(*) AS n FROM visits JOIN visits AS v ON visits.who = v.who AND v.ill = 1",
    "SELECT COUNT(*) AS n FROM people JOIN visits ON people.ill = visits.ill",
    # many rows where one was said
    "SELECT COUNT(*) AS n FROM people JOIN visits ON id = who",
    "SELECT COUNT(*) AS n FROM people LEFT JOIN visits ON id = who AND visits.ill = 1 "
    "LEFT JOIN people AS q ON people.id = q.id",
    "SELECT COUNT(*) AS n FROM people JOIN things ON people.id = things.who",
    "SELECT COUNT(*) AS n FROM people JOIN (SELECT who FROM visits UNION ALL SELECT who FROM visits) AS v ON id = who",
    # numbers at which others overflow, divide by zero, or cannot read a text
    f"SELECT SUM(k * k * k) AS s, SUM(x * x - x * x) AS t FROM {EACH} AS q",
    f"SELECT SUM(x / (1 - n) / (2000 - n)) AS s FROM {EACH} AS q",
    "SELECT SUM(v) AS s FROM (SELECT id, k + 1 AS v FROM people UNION ALL SELECT who, -k - 1 AS v FROM visits) AS q",
    "SELECT SUM(v) AS s FROM (SELECT id, k AS v FROM people UNION ALL SELECT who, x AS v FROM visits) AS q",
    "SELECT AVG(CAST(x AS INTEGER)) AS s FROM people SEMI JOIN visits ON id = who AND visits.text = 'no number'",
    "SELECT COUNT(*) AS n FROM people JOIN visits ON id = who AND people.k + visits.k > people.x * visits.x",
    "SELECT COUNT(*) AS n FROM people ANTI JOIN visits ON id = who AND visits.ill = 1",
    "SELECT MEDIAN(m) AS m FROM (SELECT who, MEDIAN(k) AS m FROM visits GROUP BY who HAVING SUM(ill) > 0) AS q",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """All that shows of a question but its noisy numbers."""

    refusal: str
    columns: tuple[str, ...]
    rows: int
    guarantee: str
    left: str
    quoted: str
    phases: tuple[str, ...]


def seen(secret: int, question: str, delta: float) -> Seen:
    asked, noise = curator(secret), {"delta": delta, "estimate_bounds": True}
    phases: list[str] = []
    said, quoted, answer = "", "", None
    try:
        quoted = str(asked.quote(question, epsilon=1, **noise))
        answer = asked.ask(question, epsilon=1, progress=lambda phase: phases.append(str(phase)), **noise)
    except SfumatoError as refusal:
        said = f"{type(refusal).__name__}: {refusal}"
    return Seen(
        said,
        () if answer is None else answer.columns,
        0 if answer is None else len(answer.rows),
        "" if answer is None else str(answer.guarantee),
        str(asked.remaining()),
        quoted,
        tuple(phases),
    )


@pytest.mark.parametrize("delta", (0, 1e-6))
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_shows_of_a_question_does_not_tell_the_secret(question: str, delta: float) -> None:
    """The same refusal with the same words, or an answer of the same shape for the same cost after the same steps."""
    without, having = (seen(secret, question, delta) for secret in SECRETS)
    assert without == having
    assert "EngineFailed" not in without.refusal


def test_some_of_the_questions_are_answered_and_some_refused() -> None:
    """Both kinds are attacks."""
    refused = [bool(seen(1, question, 0).refusal) for question in QUESTIONS]
    assert 3 <= sum(refused) <= len(QUESTIONS) - 10


def test_a_unit_beyond_the_owners_word_does_not_make_a_join_grow() -> None:
    """Of 2,000 rows where one was said one is joined, so that 2,000 rows on the other side stay 2,000."""
    asked = curator(1)
    question = "SELECT COUNT(*) AS n FROM people JOIN visits ON id = who"
    plan = asked.plan(question, 1, Options())
    with DuckdbEngine().run(plan) as run:
        ((rows,),) = run.fetch(f"SELECT count(*) FROM {run.counted}")
    assert rows == 2_000 + PEOPLE - 1
