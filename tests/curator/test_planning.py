"""What a budget buys: as the quotes say, from the texts alone, and nothing is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import BudgetExhausted, InvalidArgument, UnknownName, UnsupportedQuery

COUNT = "SELECT r, COUNT(*) AS n FROM t GROUP BY r"
MEAN = "SELECT AVG(x) AS a FROM t"
BOTH = "SELECT COUNT(*) AS n, COUNT(x) AS m FROM t"


def curator(**more: Any) -> Curator:
    frame = pd.DataFrame({"p": [1, 2], "r": ["a", "b"], "x": [1.0, 2.0]})
    columns = {"r": column(keys=["a", "b"]), "x": column(bounds=(0, 10))}
    return Curator({"t": table(frame, unit="p", columns=columns, **{"max_rows_per_unit": 1, **more})}, budget=3)


def test_each_question_gets_its_share_and_what_a_quote_says_of_it() -> None:
    """Evenly, or by weights; repeated ones a part of it each; nothing is spent."""
    asked = curator()
    even, weighed = asked.plan_budget([COUNT, BOTH]), asked.plan_budget([COUNT, BOTH], 2, weights=[1, 3])
    assert [each.share for each in even.questions] == [Fraction(3, 2)] * 2
    assert [each.share for each in weighed.questions] == [Fraction(1, 2), Fraction(3, 2)]
    for each in (*even.questions, *weighed.questions):
        assert each.expected == asked.quote(each.question, epsilon=each.share).expected
        assert each.repeated[100] == asked.quote(each.question, epsilon=each.share / 100).expected
    assert [each.often(weighed.epsilon) for each in weighed.questions] == [4, 1]
    assert asked.remaining().epsilon == 3


def test_wanted_half_widths_say_what_they_need_and_whether_it_fits() -> None:
    """The epsilon of `within`, added up, against what there is."""
    asked = curator()
    plan = asked.plan_budget({COUNT: 30, BOTH: 12})
    needs = [asked.quote(COUNT, within=30).cost.epsilon, asked.quote(BOTH, within=12).cost.epsilon]
    assert [each.needs for each in plan.questions] == needs and plan.needs == sum(needs) and plan.fits
    assert plan.questions[0].often(plan.epsilon) == int(3 / needs[0])
    assert asked.plan_budget({COUNT: 0.5, BOTH: 12}).fits is False
    assert asked.plan_budget([COUNT]).fits is None


def test_what_depends_on_the_data_is_said_to() -> None:
    """A mean, a relative accuracy, a limit that is bought."""
    plan = curator().plan_budget({COUNT: None, MEAN: 2, BOTH: "5%"})
    assert [each.needs for each in plan.questions] == [None] * 3 and plan.fits is None and plan.needs is None
    assert [each.often(plan.epsilon) for each in plan.questions] == [3, None, None]
    assert "with a pilot" in str(plan) and "depends on data" in str(plan)
    assert "per row allowed per person" in str(curator(max_rows_per_unit=None).plan_budget([COUNT]))


def test_it_prints_as_a_table() -> None:
    """A line for each column of each answer, for a notebook as well, with nothing in it that could run."""
    question = COUNT.replace("n FROM", '"<b>" FROM')
    plan = curator().plan_budget({question: 30, BOTH: None}, 1)
    lines = str(plan).splitlines()
    assert lines[0].split("  ")[0] == "question" and len(lines) == 6
    assert "± 5.99" in lines[1] and "± 59.9" in lines[1] and "± 30" in lines[1]
    assert "<b>" in lines[1] and "<b>" not in plan._repr_html_() and "&lt;b&gt;" in plan._repr_html_()


def test_refusals_are_those_of_a_quote() -> None:
    """What is no question, no list, no weight; and nothing left."""
    asked = curator()
    for error, given, options in (
        (InvalidArgument, [], {}), (InvalidArgument, COUNT, {}), (InvalidArgument, 7, {}),
        (UnsupportedQuery, ["SELECT * FROM t"], {}), (UnknownName, [COUNT], {"color": 1}),
        (InvalidArgument, [COUNT], {"weights": [1, 2]}), (InvalidArgument, [COUNT], {"weights": [0]}),
        (InvalidArgument, {COUNT: -3}, {}), (InvalidArgument, [COUNT], {"epsilon": 0}),
    ):  # fmt: skip
        with pytest.raises(error):
            asked.plan_budget(given, **options)  # type: ignore[arg-type]
    asked.ask(COUNT, epsilon=3)
    with pytest.raises(BudgetExhausted):
        asked.plan_budget([COUNT])


def test_a_quote_of_arithmetic_has_the_combined_noise() -> None:
    """Twice a count has twice its half-width, a difference less than the sum of both; a ratio depends on the data."""
    asked = curator()
    said = {
        text: asked.quote(f"SELECT {text} AS v FROM t", epsilon=1).expected["v"].half_width
        for text in ("COUNT(*)", "2 * COUNT(*)", "COUNT(*) - COUNT(x)", "COUNT(x) / COUNT(*)", "-COUNT(*) / 4 + 3")
    }
    one = said["COUNT(*)"]
    assert one is not None and said["2 * COUNT(*)"] == pytest.approx(2 * one, rel=1e-6)
    assert said["-COUNT(*) / 4 + 3"] == pytest.approx(one / 4, rel=1e-6) and said["COUNT(x) / COUNT(*)"] is None
    assert said["COUNT(*) - COUNT(x)"] == pytest.approx(2 * 4.113, rel=1e-3)  # half of epsilon each
    (pair,) = asked.ask("SELECT COUNT(*) - COUNT(x) AS v FROM t", within=10).intervals["v"]
    assert pair is not None and 19 < pair[1] - pair[0] <= 20
