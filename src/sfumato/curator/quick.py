"""One line for a frame in memory: `sf.ask("SELECT ...", data={"people": frame}, unit="person_id", epsilon=1)`.

All such questions of one process about units of one meaning add up in one ledger, which has no allowance of its own: it
counts, and the receipt says what was spent so far. A source keeps the unit that it was first asked with. Use a
`Curator` to guard data for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sfumato.checks import Number
from sfumato.curator.answer import Answer
from sfumato.curator.charge import COUNTING
from sfumato.curator.curator import Curator
from sfumato.dataset.name import takes
from sfumato.dataset.protected import meaning_of
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table, table
from sfumato.embedded.resources import Resources
from sfumato.errors import InvalidArgument
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee

_UNLIMITED = Guarantee(epsilon=COUNTING, delta=0.5)


@cache
def _ledger() -> Ledger:
    # The one who asks holds the data, and the next frame under the same name may be another: nobody to be paused.
    return Ledger.in_memory(pause=False)


def _population(tables: Mapping[str, Table | PublicTable]) -> str:
    """One for each unit: what was spent on persons and what was spent on shops are not one sum."""
    private = {name: table for name, table in tables.items() if isinstance(table, Table)}
    return f"this process: {meaning_of(next(iter(private)), private)}" if private else "this process"


@takes("write sf.ask('SELECT ...', data={'people': frame}, epsilon=1)")
def ask(
    question: str,
    *,
    data: Mapping[str, Any],
    epsilon: Number | None = None,
    unit: str | list[str] | None = None,
    columns: Mapping[str, Any] | None = None,
    most_rows: int | None = None,
    resources: Resources | None = None,
    **options: Any,
) -> Answer:
    """A private answer about frames or files by name.

    `unit`, `columns` and `most_rows` declare every table that is not declared yet, as in `sf.table`; a public one is
    given as `sf.public(...)`. `resources` limits threads, memory and disk, as in `Curator`. The options are those of
    `Curator.ask`.
    """
    if not isinstance(data, Mapping):
        raise InvalidArgument(
            f"data must map names to frames or files; got a {type(data).__name__}; write data={{'people': frame}}, "
            "with the name that stands after FROM"
        )
    tables = {
        name: source
        if isinstance(source, (Table, PublicTable))
        else table(source, unit=unit, columns=columns, most_rows=most_rows)
        for name, source in data.items()
    }
    # Nobody labels these tables, so a frame of the same name may be another one: no answer is given twice.
    curator = Curator(
        tables,
        allowance=_UNLIMITED,
        ledger=_ledger(),
        population=_population(tables),
        replay=False,
        resources=resources,
    )
    return curator.ask(question, epsilon=epsilon, **options)
