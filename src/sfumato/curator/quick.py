"""One line for a frame in memory: `sf.ask("SELECT ...", data={"people": frame}, unit="person_id", epsilon=1)`.

All such questions of one process about units of one meaning add up in one ledger, which has no budget of its own: it
counts, and the receipt says what was spent so far. A source keeps the unit that it was first asked with. Use a
`Curator` to guard data for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sfumato.checks import Number
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.progress import Progress
from sfumato.curator.options import need_epsilon
from sfumato.curator.request import COUNTING
from sfumato.dataset.protected import meaning_of
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table, table
from sfumato.embedded.resources import Resources
from sfumato.errors import InvalidArgument
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import takes

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
    max_rows_per_unit: int | None = None,
    within: Number | str | None = None,
    delta: Number = 0,
    noise: str | None = None,
    confidence: Number = 0.95,
    shares: Mapping[str, Number] | None = None,
    estimate_bounds: bool = False,
    simultaneous: bool = False,
    tidy: bool = False,
    parameters: Sequence[object] | Mapping[str, object] = (),
    progress: Progress | None = None,
    resources: Resources | None = None,
) -> Answer:
    """Answer a question about data frames or files of your own.

    Args:
        question: SQL.
        data: frames, paths, or declared tables, by the name that stands after FROM. Pass a public table as
            `sf.public(...)`.
        epsilon: what the answer may cost. With `within`: the most it may cost.
        unit: the columns that tell units apart, for every table that is not declared yet; left out: a row is a unit.
        columns: bounds, keys and types of columns, as in `sf.table`.
        max_rows_per_unit: no unit has more rows; enforced.
        within: the half-width that is wanted, 500 or '5%', instead of an epsilon.
        delta: the probability with which the guarantee may fail; 0: never.
        noise: 'laplace' or 'gaussian'; left out: the smaller one.
        confidence: how often an interval contains the exact value.
        shares: how to divide epsilon among the columns of the answer.
        estimate_bounds: estimate bounds for columns that declare none; spends 10% of epsilon.
        simultaneous: let all intervals hold at once.
        tidy: round counts to whole numbers of at least zero.
        parameters: values for `?` or `:name` in the question.
        progress: is called with the name of each phase.
        resources: threads, memory and disk that may be used, as in `Curator`.

    Returns:
        An `Answer`: rows, intervals and a receipt that says what was spent so far.

    """
    if not isinstance(data, Mapping):
        raise InvalidArgument(
            f"data must map names to frames or files; got a {type(data).__name__}; write data={{'people': frame}}, "
            "with the name that stands after FROM"
        )
    if within is None:
        need_epsilon(epsilon)  # told before what is wrong with the tables
    tables = {
        name: source
        if isinstance(source, (Table, PublicTable))
        else table(source, unit=unit, columns=columns, max_rows_per_unit=max_rows_per_unit)
        for name, source in data.items()
    }
    # Nobody labels these tables, so a frame of the same name may be another one: no answer is given twice.
    curator = Curator(
        tables,
        budget=_UNLIMITED,
        ledger=_ledger(),
        population=_population(tables),
        replay=False,
        resources=resources,
    )
    return curator.ask(
        question,
        epsilon=epsilon,
        within=within,
        delta=delta,
        noise=noise,
        confidence=confidence,
        shares=shares,
        estimate_bounds=estimate_bounds,
        simultaneous=simultaneous,
        tidy=tidy,
        parameters=parameters,
        progress=progress,
    )
