"""The sources of a curator's tables, as its ledger knows them: whose they are, and by which unit."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.curator.asking import OWNER_LOG
from sfumato.curator.tables import check_budget, check_not_public
from sfumato.dataset.protected import bindings_of, check_one_unit, lineage, meaning_of
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.sources.files import CsvFiles
from sfumato.dataset.sources.server import ServerTable
from sfumato.dataset.table import Table
from sfumato.errors import InvalidArgument, Refused, SourceNotFound
from sfumato.ledger.ledger import Ledger
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee

_BROKEN_ROWS = "%s: rows that cannot be read are left out, and fields of another type are missing"
_ANOTHER_SOURCE = (
    "a table must have the sources that it was declared with; it now has one that the ledger does not admit to it; "
    "nothing was charged; the owner's log says which"
)
_GONE = "{} must be where it was declared; it is gone; nothing was charged; ask the owner"


class Sources:
    """The sources of one population's tables, declared to its ledger."""

    def __init__(
        self, ledger: Ledger, population: str, tables: Mapping[str, Table], public: Mapping[str, PublicTable]
    ) -> None:
        self.ledger, self.population, self.tables, self.public = ledger, population, tables, public
        self._meaning = meaning_of(next(iter(tables)), tables)
        self._declared: frozenset[str] = frozenset()

    def declare_all(self, budget: Guarantee) -> None:
        """Declare all that is there now, with the budget; refuse tables that do not belong together."""
        bindings = {name: bindings_of(name, self.tables) for name in self.tables}
        check_one_unit(self.tables, bindings)
        check_budget(self.tables, budget)
        for table in self.tables.values():
            if isinstance(table.source, CsvFiles):  # said of every such file, so that it says nothing of its rows
                OWNER_LOG.info(_BROKEN_ROWS, table.source.label)
        self._declare({source: unit for bound in bindings.values() for source, unit in bound.items()}, budget)
        check_not_public(self.ledger.balance().sources if self.public else (), self.public)

    def _declare(self, units: Mapping[str, str], budget: Guarantee | None = None) -> None:
        """Tell the ledger whose these sources are, and by which unit; it refuses others than it knows."""
        if new := {source: unit for source, unit in units.items() if source not in self._declared}:
            check_not_public(new, self.public)
            self.ledger.bind(self.population, self._meaning, new, guarantee=budget)
            self._declared |= new.keys()

    def declare_now(self, plan: PricedPlan) -> None:
        """Declare what a glob finds by now; an analyst reads no name of a file, which may be a person's.

        What a server refuses is said as it is: it names the declared table alone, and has no files.
        """
        for name in plan.bound.table.tables:
            refused: Refused | SourceNotFound | InvalidArgument
            units: dict[str, str] | None = None
            try:
                units = bindings_of(name, self.tables)
                self._declare(units)
                continue
            except SourceNotFound:
                refused = SourceNotFound(_GONE.format(self.tables[name].source.label))
            except (Refused, InvalidArgument) as error:
                OWNER_LOG.error("table %r cannot be asked: %s", name, error)
                served = all(isinstance(each.source, ServerTable) for _, each in lineage(name, self.tables))
                plain = units is None and served and isinstance(error, InvalidArgument)
                refused = InvalidArgument(error.message, error.fix) if plain else Refused(_ANOTHER_SOURCE)
            raise refused  # out here: no context, which would hold the name
