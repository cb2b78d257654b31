"""A project file, `sfumato.toml`, read into tables, populations and a budget.

    [ledger]
    url = "sqlite:///ledger.db"            # the default, beside this file
    witness = "/elsewhere/ledger.witness"  # keeps its last head and balance; without it there is none
    [resources]                            # of this machine, for DuckDB
    threads = 2
    memory_limit = "4GB"
    temp_directory = "/var/tmp"            # for rows that do not fit into memory
    max_temp_directory_size = "50GB"
    [budget]                            # for everyone in tables that no population names
    epsilon = 3.0
    delta = 1e-9
    [populations.staff]                    # where tables hold different people
    tables = ["payroll"]
    epsilon = 1.0
    [tables.people]
    source = "people.parquet"
    version = "2026-11"
    unit = "person_id"
    neighbors = "add-remove"
    max_rows_per_unit = 50
    [tables.items]                         # rows of orders, and so of whoever placed these
    source = "items.parquet"
    unit = { through = "orders", on = "order_id" }
    [tables.visits]                        # the same people under another name
    source = "visits.parquet"
    unit = { person_id = "visitor" }
    [public.products]                      # PUBLIC rows, to be joined
    source = "products.csv"
    most_matches = 1
    [tables.people.columns]
    income = { type = "double", bounds = [0, 200000] }
    region = { keys = ["north", "south"] }
    age = { range = [0, 120] }             # both included
    month = { dates = ["2026-01-01", "2026-12-31", "month"] }

An unknown key is refused with its place: if a misspelled `bounds` were ignored, no bounds would be declared.
Relative paths start in the file's folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sfumato import checks, renames
from sfumato.curator.curator import EVERYONE, Curator
from sfumato.curator.tables import check_public
from sfumato.dataset.column import Column, column
from sfumato.dataset.keys import dates
from sfumato.dataset.population import Population, check_apart
from sfumato.dataset.public_table import PublicTable, public
from sfumato.dataset.sources.source import read_source
from sfumato.dataset.table import Table, table, through
from sfumato.embedded.database import DEFAULT
from sfumato.embedded.resources import Resources
from sfumato.errors import InvalidArgument, UnknownName, UnsupportedQuery
from sfumato.input_files import read_toml
from sfumato.ledger.ledger import Ledger
from sfumato.plan.syntax.parameters import Parameters
from sfumato.plan.syntax.parse import parse
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import at, distinct, nearest

FILE = "sfumato.toml"
LEDGER = "ledger.db"  # beside the project file, unless another is named
_DRAFT = "draft one from a table: sfumato init data.csv"
_TOP = ("ledger", "resources", "budget", "populations", "tables", "public")
_LEDGER = ("url", "witness")
_RESOURCES = ("threads", "memory_limit", "temp_directory", "max_temp_directory_size")
_TABLE = ("source", "version", "unit", "neighbors", "max_rows_per_unit", "columns")
_PUBLIC = ("source", "version", "most_matches", "columns")
_COLUMN = ("type", "bounds", "keys", "range", "dates")
_WORDS: tuple[tuple[type, str], ...] = (
    (bool, "a truth value"),
    (str, "a text"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "a section"),
)


@dataclass(frozen=True, slots=True)
class Project:
    """What a project file declares; each table is in one of the populations."""

    tables: Mapping[str, Table] = field(hash=False)
    budget: Guarantee
    ledger: str
    populations: Mapping[str, Population] = field(hash=False)
    public: Mapping[str, PublicTable] = field(hash=False)
    resources: Resources = DEFAULT
    witness: str | None = None

    def open_ledger(self, *, create: bool | None = None) -> Ledger:
        """The ledger of all populations; `create` as in `Ledger.open`."""
        return Ledger.open(self.ledger, create=create, witness=self.witness)

    def curator(self, population: str | None = None, *, ledger: Ledger | None = None) -> Curator:
        """The curator of a population; of the only one, where there is one."""
        if population is None and len(self.populations) > 1:
            raise InvalidArgument(
                f"population must be named where there are several ({', '.join(self.populations)}); got none"
            )
        chosen = population or next(iter(self.populations))
        if chosen not in self.populations:
            raise UnknownName(f"unknown population {chosen!r}; {nearest(chosen, self.populations)}")
        people = self.populations[chosen]
        tables: dict[str, Table | PublicTable] = {**people.tables, **self.public}
        return Curator(
            tables,
            budget=people.budget,
            ledger=ledger or self.open_ledger(),
            population=chosen,
            resources=self.resources,
        )

    def population_of(self, question: str, parameters: Parameters = ()) -> str:
        """The population that a question is about, by the tables that it names."""
        named = {name.lower() for name in parse(question, parameters).tables()}
        found = [
            name for name, people in self.populations.items() if named & {table.lower() for table in people.tables}
        ]
        if len(found) > 1:
            raise UnsupportedQuery(
                f"a question is about one population; got tables of {' and '.join(found)}: each has its own budget, "
                "and nothing says who is in both; ask them apart, or put the tables into one population"
            )
        return (found or [next(iter(self.populations))])[0]  # it will refuse the unknown table, and offer another name


def load(path: str | Path = FILE) -> Project:
    """Read a project file, or the one in a folder; of the tables' sources only the schemas are read."""
    file = Path(path).absolute()
    file = file / FILE if os.path.isdir(file) else file
    raw = _section(read_toml(file, f"no project file at {str(file)!r}; {_DRAFT}"), "", _TOP)
    for needed in ("budget", "tables"):
        if not raw.get(needed):
            raise InvalidArgument(
                f"{needed}: missing; write a section [{needed}{'.NAME' if needed == 'tables' else ''}]"
            )
    tables = {
        name: _table(given, f"tables.{name}", file.parent) for name, given in _section(raw["tables"], "tables").items()
    }
    listed = {
        name: _public(given, f"public.{name}", file.parent)
        for name, given in _section(raw.get("public", {}), "public").items()
    }
    distinct([*tables, *listed], what="table", where="tables")
    check_public(tables, listed)
    budget = _budget(_section(raw["budget"], "budget", ("epsilon", "delta")), "budget")
    populations = _populations(_section(raw.get("populations", {}), "populations"), tables, budget)
    return Project(
        MappingProxyType(tables),
        budget,
        _ledger(raw, file.parent),
        MappingProxyType(populations),
        MappingProxyType(listed),
        _resources(raw.get("resources", {}), file.parent),
        _witness(raw, file.parent),
    )


def _table(given: object, place: str, folder: Path) -> Table:
    raw = _section(given, place, _TABLE)
    if "source" not in raw:
        raise InvalidArgument(f"{place}.source: missing; say where the rows are, for example source = 'people.parquet'")
    address = _expect(raw["source"], str, f"{place}.source")
    with at(f"{place}.source"):
        source = read_source(address, folder=folder)
    with at(f"{place}.unit"):
        unit = _unit(raw.get("unit"))
    columns = {
        name: _column(each, f"{place}.columns.{name}")
        for name, each in _section(raw.get("columns", {}), f"{place}.columns").items()
    }
    rest = {key: raw[key] for key in ("version", "neighbors", "max_rows_per_unit") if key in raw}
    with at(place):
        return table(source, unit=unit, columns=columns, **rest)


def _unit(given: object) -> Any:
    """A column, several, what they mean, or another table's."""
    match given:
        case None | str():
            return given
        case list() if all(isinstance(each, str) for each in given):
            return given
        case {"through": str(name), "on": str() | list() as on, **rest} if set(rest) <= {"key"}:
            key: Any = rest.get("key")
            return through(name, on, key)
        case dict() if given and "through" not in given and all(isinstance(each, str) for each in given.values()):
            return given
    raise InvalidArgument(
        f"expected a text, a list of texts, or a section such as {{ through = 'orders', on = 'order_id' }} or "
        f"{{ person = 'visitor' }}; got {_word(given)}{_of(given)}"
    )


def _of(given: object) -> str:
    return f" of {', '.join(map(str, given))}" if isinstance(given, dict) and given else ""


def _public(given: object, place: str, folder: Path) -> PublicTable:
    raw = _section(given, place, _PUBLIC)
    if "source" not in raw:
        raise InvalidArgument(f"{place}.source: missing; say where the rows are, for example source = 'products.csv'")
    with at(f"{place}.source"):
        source = read_source(_expect(raw["source"], str, f"{place}.source"), folder=folder)
    columns = {
        name: _column(each, f"{place}.columns.{name}")
        for name, each in _section(raw.get("columns", {}), f"{place}.columns").items()
    }
    rest = {key: raw[key] for key in ("version", "most_matches") if key in raw}
    with at(place):
        return public(source, columns=columns, **rest)


def _column(given: object, place: str) -> Column:
    raw = _section(given, place, _COLUMN)
    with at(place):
        listed = [key for key in ("keys", "range", "dates") if key in raw]
        if len(listed) > 1:
            raise InvalidArgument(f"keys must be declared once; got {' and '.join(listed)}; keep one")
        return column(type=raw.get("type"), bounds=raw.get("bounds"), keys=_keys(raw))


def _keys(raw: dict[str, Any]) -> Any:
    match raw:
        case {"keys": keys}:
            return _expect(keys, list, "keys")
        case {"range": [int(low), int(high), *step]} if len(step) < 2:
            return range(low, high + 1, checks.whole(1, step=step[0]) if step else 1)
        case {"range": _}:
            raise InvalidArgument("range: expected [first, last] or [first, last, step] in whole numbers")
        case {"dates": [first, last, *step]} if len(step) < 2:
            return dates(first, last, *step)
        case {"dates": _}:
            raise InvalidArgument(
                "dates: expected [first, last] or [first, last, step], as in ['2026-01-01', '2026-12-31']"
            )
    return None


def _populations(raw: dict[str, Any], tables: Mapping[str, Table], budget: Guarantee) -> dict[str, Population]:
    populations: dict[str, Population] = {}
    homes: dict[str, str] = {}
    for name, given in raw.items():
        place = f"populations.{name}"
        if name == EVERYONE:
            raise InvalidArgument(f"{place}: this name means the tables that no population names; choose another")
        section = _section(given, place, ("tables", "epsilon", "delta"))
        members = _expect(section.get("tables", []), list, f"{place}.tables")
        for member in members:
            if not isinstance(member, str) or member not in tables:
                raise UnknownName(f"{place}.tables: unknown table {member!r}; {nearest(str(member), tables)}")
            if homes.setdefault(member, name) != name:
                raise InvalidArgument(
                    f"{place}.tables: {member!r} is in population {homes[member]!r} already; keep one"
                )
        populations[name] = Population(name, _budget(section, place), {member: tables[member] for member in members})
    if rest := {name: each for name, each in tables.items() if name not in homes}:
        populations[EVERYONE] = Population(EVERYONE, budget, rest)
    check_apart(populations.values())
    return populations


def _budget(raw: dict[str, Any], place: str) -> Guarantee:
    if "epsilon" not in raw:
        raise InvalidArgument(f"{place}.epsilon: missing; say what may be spent, for example epsilon = 1.0")
    with at(place):
        return Guarantee(raw["epsilon"], raw.get("delta", 0))


def _witness(raw: dict[str, Any], folder: Path) -> str | None:
    section = raw.get("ledger", {})
    return os.path.join(folder, _expect(section["witness"], str, "ledger.witness")) if "witness" in section else None


def _ledger(raw: dict[str, Any], folder: Path) -> str:
    section = _section(raw.get("ledger", {}), "ledger", _LEDGER)
    url: str = _expect(section.get("url", LEDGER), str, "ledger.url")
    if "://" in url and not url.startswith("sqlite"):
        return url
    scheme, parted, path = url.rpartition(":///")
    if not path or "://" in path or ":memory:" in path:
        raise InvalidArgument(
            "ledger.url: expected a file or a database; got neither; a ledger must outlive its process"
        )
    return f"{scheme}{parted}{os.path.join(folder, path)}"


def _resources(given: object, folder: Path) -> Resources:
    raw = dict(_section(given, "resources", _RESOURCES))
    with at("resources"):
        if "temp_directory" in raw:
            raw["temp_directory"] = folder / _expect(raw["temp_directory"], str, "temp_directory")
        return Resources(**raw)


def _section(value: object, place: str, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    section: dict[str, Any] = _expect(value, dict, place)
    for key in section:
        if known is not None and key not in known:
            said = renames.current("key", key)
            helps = f"{said}; sfumato migrate rewrites the file" if said else f"unknown key; {nearest(key, known)}"
            raise UnknownName(f"{place}{'.' if place else ''}{key}: {helps}")
    return section


def _expect(value: object, wanted: type, place: str) -> Any:
    if not isinstance(value, wanted):
        raise InvalidArgument(f"{place}: expected {dict(_WORDS)[wanted]}; got {_word(value)}")
    return value


def _word(value: object) -> str:
    return next((word for kind, word in _WORDS if isinstance(value, kind)), "a date or time")
