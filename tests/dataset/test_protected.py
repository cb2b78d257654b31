"""`protected`: what a table protects, in words that a ledger keeps; tables of one budget protect the same unit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sfumato.dataset.population import Population, check_apart
from sfumato.dataset.protected import bindings_of, check_one_unit, meaning_of
from sfumato.dataset.table import Table, table, through
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.privacy.guarantee import Guarantee

COLUMNS = "Person_ID,visit_id,day,order_id\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("visits.csv", "orders.csv", "items.csv"):
        (tmp_path / name).write_text(COLUMNS + "1,1,1,1\n", encoding="utf-8")
    return tmp_path


def check(tables: Mapping[str, Table]) -> None:
    check_one_unit(tables, {name: bindings_of(name, tables) for name in tables})


WORDS: tuple[tuple[Any, str, str], ...] = (
    (None, "one row", "one row"),
    ("person_id", 'all rows of one "person_id"', 'all rows of one "person_id" in column "person_id"'),
    ({"Person": "PERSON_ID"}, 'all rows of one "person"', 'all rows of one "person" in column "person_id"'),
    (
        {"person": "person_id", "day": "day"},
        'all rows of one "day" and "person"',
        'all rows of one "day" in column "day" and one "person" in column "person_id"',
    ),
)


@pytest.mark.parametrize(("unit", "meaning", "bound"), WORDS)
def test_the_words_that_a_ledger_keeps_never_change(folder: Path, unit: Any, meaning: str, bound: str) -> None:
    """A ledger of this version is read by all later ones: these texts are part of its format."""
    file = str(folder / "visits.csv")
    tables = {"visits": table(file, unit=unit)}
    assert meaning_of("visits", tables) == f"{meaning}; neighbors add-remove"
    assert bindings_of("visits", tables) == {os.path.realpath(file): f"{bound}; neighbors add-remove"}
    replaced = {"visits": table(file, unit=unit, neighbors="replace")}
    assert meaning_of("visits", replaced) == f"{meaning}; neighbors replace"


def test_an_inherited_unit_is_the_parents_by_the_columns_that_lead_there(folder: Path) -> None:
    """And by the parent's source: through another one the same rows would be those of other people."""
    orders = table(str(folder / "orders.csv"), unit={"person": "person_id"})
    items = table(str(folder / "items.csv"), unit=through("ORDERS", on="order_id", key="VISIT_ID"))
    tables = {"orders": orders, "items": items}
    assert meaning_of("items", tables) == 'all rows of one "person"; neighbors add-remove'
    where = os.path.realpath(folder / "orders.csv").replace("\\", "\\\\")
    assert set(bindings_of("items", tables).values()) == {
        f'by "order_id" equal to "visit_id" in "{where}": all rows of one "person" in column "person_id"; '
        "neighbors add-remove"
    }
    check(tables)


def test_a_name_cannot_be_read_as_the_words_around_it(tmp_path: Path) -> None:
    """Two units have two texts, whatever their columns are called."""
    tricky = 'a" in column "b'
    pd.DataFrame({"a": [1], "b": [1], tricky: [1]}).to_parquet(tmp_path / "t.parquet")
    source = str(tmp_path / "t.parquet")
    units: tuple[Any, ...] = ({tricky: "b"}, {"a": "b"}, {"a": tricky}, {"a": "a", "b": tricky})
    texts = {tuple(bindings_of("t", {"t": table(source, unit=unit)}).values()) for unit in units}
    assert len(texts) == len(units)


def names(folder: Path) -> dict[str, str]:
    """Ways to write one file."""
    (folder / "link.csv").symlink_to(folder / "visits.csv")
    (folder / "below").mkdir()
    return {
        "path": str(folder / "visits.csv"),
        "detour": str(folder / "below" / ".." / "visits.csv"),
        "link": str(folder / "link.csv"),
        "glob": str(folder / "vis*.csv"),
        "more": str(folder / "[iv]*s.csv"),
    }


@pytest.mark.parametrize("name", ("path", "detour", "link", "glob", "more"))
@pytest.mark.parametrize("unit", (None, {"person": "visit_id"}, ("person_id", "day"), "visit_id"))
def test_one_source_has_one_unit_however_it_is_named(folder: Path, name: str, unit: Any) -> None:
    """By another column, or by rows, all of one person's rows would be many units, and the budget one of many."""
    other = names(folder)[name]
    person = table(str(folder / "visits.csv"), unit={"person": "person_id"})
    with pytest.raises(InvalidArgument, match=r"a source must have one unit, by the same columns; got .* declare it"):
        check({"a": person, "b": table(other, unit=unit)})
    check({"a": person, "b": table(other, unit={"person": "PERSON_id"})})


def test_one_source_through_another_table_has_another_unit(folder: Path) -> None:
    """Neither the unit of a column of its own, nor that of another parent."""
    orders = table(str(folder / "orders.csv"), unit={"person": "person_id"})
    visits = table(str(folder / "visits.csv"), unit={"person": "person_id"})
    item_file = str(folder / "items.csv")
    tables = {"orders": orders, "visits": visits, "items": table(item_file, unit=through("orders", on="order_id"))}
    check(tables | {"again": table(item_file, unit=through("orders", on="order_id"))})
    for unit in ({"person": "person_id"}, through("visits", on="order_id"), through("orders", on="visit_id")):
        with pytest.raises(InvalidArgument, match="what 'orders' protects"):
            check(tables | {"again": table(item_file, unit=unit)})


@pytest.mark.parametrize(
    ("units", "came"),
    (
        (("person_id", None), "one row"),
        (({"person": "person_id"}, "visit_id"), "all rows of one visit_id"),
        (("person_id", ("person_id", "day")), r"all rows of one \(person_id, day\)"),
        (({"person": "person_id"}, "person_id"), "all rows of one person_id"),
    ),
)
def test_tables_of_one_population_protect_units_of_one_meaning(folder: Path, units: Any, came: str) -> None:
    """The message says what was expected, what came and what helps."""
    one, other = units
    tables = {"a": table(str(folder / "visits.csv"), unit=one), "b": table(str(folder / "orders.csv"), unit=other)}
    said = rf"must protect the same unit; got 'a'.*'b', where it is {came}.*unit=\{{'person': 'id'\}}, or .* population"
    with pytest.raises(InvalidArgument, match=f"(?i){said}"):
        check(tables)
    with pytest.raises(InvalidArgument, match="population 'p': tables of one population must protect the same unit"):
        check_apart([Population("p", Guarantee(1), tables)])
    apart = [Population(name, Guarantee(1), {name: each}) for name, each in tables.items()]
    check_apart(apart)


def test_different_sources_of_one_meaning_are_the_owners_declaration(folder: Path) -> None:
    """By other columns, in another order, or by rows in both."""
    visits, orders = str(folder / "visits.csv"), str(folder / "orders.csv")
    check({"a": table(visits, unit={"person": "person_id"}), "b": table(orders, unit={"Person": "visit_id"})})
    check(
        {
            "a": table(visits, unit=("day", "person_id")),
            "b": table(orders, unit={"person_id": "order_id", "day": "day"}),
        }
    )
    check({"a": table(visits), "b": table(orders)})


def test_tables_of_one_population_have_one_neighbor_relation(folder: Path) -> None:
    """Losses of the two do not add up."""
    visits, orders = str(folder / "visits.csv"), str(folder / "orders.csv")
    with pytest.raises(InvalidArgument, match="same neighbors"):
        check({"a": table(visits, unit="day"), "b": table(orders, unit="day", neighbors="replace")})


def test_a_unit_through_nothing_or_in_a_circle_is_refused(folder: Path) -> None:
    """Whoever asks first."""
    items = table(str(folder / "items.csv"), unit=through("orders", on="order_id"))
    with pytest.raises(UnknownName, match="unknown table 'orders'"):
        meaning_of("items", {"items": items})
    with pytest.raises(InvalidArgument, match="circle: orders -> orders"):
        meaning_of("orders", {"orders": items})
