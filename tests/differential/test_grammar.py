"""Random statements of the whole grammar, each asked with hardly any noise and compared with DuckDB's own answer.

Every accepted statement counts, and one difference is a failure: a miss is a defect and not chance. All intervals of an
answer hold at once but for once in 10^9 answers, so 1,000 statements fail by chance once in 10^6 runs, and the 20,000
of `make soak` once in 50,000. What the product means differently from DuckDB is documented, and written down where a
statement is drawn: sums of nothing are 0, a division by zero is NULL, infinities are cut at the bounds, NaN is missing,
rows without a unit, or with a key that is NULL or was not declared, are left out, and declared keys without rows shown.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from differential.coverage import WANTED, draw_wanted
from differential.judge import Verdict, ask, judge, shrink
from differential.statement import draw
from differential.tables import World
from sfumato.curator.answers.answer import Answer

SOAK = bool(os.environ.get("SFUMATO_SOAK"))
STATEMENTS, EACH = (20_000, 1_000) if SOAK else (1_000, 250)
LEAST_ACCEPTED = 0.95
SHRUNK = 3  # failures that are made smaller; all are listed


@pytest.mark.parametrize("chunk", range(STATEMENTS // EACH))
def test_every_accepted_statement_is_answered_as_duckdb_answers_it(chunk: int, tmp_path: Path) -> None:
    """Groups, their order and their number, and the truth inside every interval; few statements are refused."""
    world, used, refused, failed = World(chunk, tmp_path), Counter[str](), Counter[str](), list[tuple[int, Verdict]]()
    numbers = 0
    for seed in range(chunk * EACH, (chunk + 1) * EACH):
        statement = draw_wanted(seed)
        verdict = judge(statement, world)
        if verdict.refusal is not None:
            refused[verdict.refusal] += 1
            continue
        used.update(statement.uses)
        numbers += verdict.numbers
        if verdict.differences:
            failed.append((seed, verdict))
    assert not failed, "\n\n".join(_told(place, seed, verdict, world) for place, (seed, verdict) in enumerate(failed))
    print(f"{EACH - refused.total():,} statements answered, {refused.total()} refused, {numbers:,} numbers compared")
    assert refused.total() <= (1 - LEAST_ACCEPTED) * EACH, refused
    assert set(WANTED) - used.keys() == set()


def _told(place: int, seed: int, verdict: Verdict, world: World) -> str:
    """A failure with its seed, and with a smaller statement that fails as well."""
    statement = draw_wanted(seed)
    lines = [f"seed {seed}: {statement.sql}", *verdict.differences]
    if place < SHRUNK:
        less = shrink(statement, lambda each: bool(judge(each, world).differences))
        lines += [f"smaller: {less.sql}", *judge(less, world).differences]
    return "\n".join(lines)


def _less(answer: Answer) -> Answer:
    return replace(answer, rows=answer.rows[1:], intervals={name: ends[1:] for name, ends in answer.intervals.items()})


def _reversed(answer: Answer) -> Answer:
    return replace(
        answer, rows=answer.rows[::-1], intervals={name: ends[::-1] for name, ends in answer.intervals.items()}
    )


def _moved(answer: Answer) -> Answer:
    ends = [(low + 1, high + 1) for low, high in answer.intervals["m0"]]
    rows = [{**row, "m0": row["m0"] + 1} for row in answer.rows]
    return replace(answer, rows=rows, intervals={**answer.intervals, "m0": ends})


@pytest.mark.parametrize("broken", [_less, _reversed, _moved])
def test_a_wrong_answer_is_noticed(
    broken: Callable[[Answer], Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge can fail: a group that is missing, groups out of order, numbers that are off by one."""
    world = World(0, tmp_path)
    statement = next(
        each
        for each in map(draw, range(10_000))
        if [sort.place for sort in each.order] == [0] and each.limit is None and each.having is None
        and each.keys[0].listed and each.measures[0].counts and not each.gaussian and len(each.keys) == 1
    )  # fmt: skip
    right = ask(statement, world)
    assert judge(statement, world).differences == ()
    monkeypatch.setattr("differential.judge.ask", lambda *_: broken(right))
    assert judge(statement, world).differences != ()
