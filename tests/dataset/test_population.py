"""`population`: the same people have one budget."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.dataset.population import Population, check_apart
from sfumato.dataset.table import Table, table
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee

BUDGET = Guarantee(1)


def frame() -> Table:
    return table(pd.DataFrame({"x": [1]}))


def test_tables_of_one_population_may_share_a_source() -> None:
    """They pay from one budget."""
    people = frame()
    check_apart([Population("a", BUDGET, {"x": people, "y": people}), Population("b", BUDGET, {"z": frame()})])


def test_two_populations_may_not_share_a_source() -> None:
    """The same rows would be paid from two budgets."""
    people = frame()
    with pytest.raises(InvalidArgument, match="a pandas frame as 'x' in 'a' and as 'y' in 'b'"):
        check_apart([Population("a", BUDGET, {"x": people}), Population("b", BUDGET, {"y": people})])


def test_a_population_keeps_its_tables() -> None:
    """Whatever becomes of the mapping that made it."""
    tables = {"x": frame()}
    population = Population("a", BUDGET, tables)
    tables.clear()
    assert list(population.tables) == ["x"]
