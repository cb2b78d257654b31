"""The ledger on the screen: what was spent as bars, for all, by table and by analyst; then its last entries."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from rich.console import Console

from sfumato.cli._shared.cost import bar, said_amount, used
from sfumato.cli._shared.screen import say, show
from sfumato.ledger.balance import Account, Balance, PopulationBalance
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import DELTA_UNIT, NOTHING, Amount, plain
from sfumato.ledger.records.budget import moment
from sfumato.ledger.records.entry import Entry, Kind

Sums = dict[tuple[str, str, str], Amount]  # by population, table and analyst
_Row = tuple[str, str, str, str, str]
_SPENDS = (Kind.RESERVED, Kind.MERGED)
_KINDS = {Kind.LOOKED: "resumed"}  # the ledger stores another word, that of version 0.1


def draw(console: Console, ledger: Ledger, listed: int) -> None:
    """Bars, whoever is paused, and the last entries."""
    balance, last = ledger.balance(), deque[Entry](maxlen=listed)
    sums: Sums = {}
    for entry in ledger.entries():
        sums = _after(sums, entry)
        last.append(entry)
    draw_bars(console, balance, sums)
    for analyst, table in sorted(balance.paused):
        say(console, f"paused: {analyst} on {table}; check the failure, then: sfumato ledger resume {analyst} {table}")
    if balance.open:
        say(console, f"being answered now: {', '.join(map(str, balance.open))}")
    if last:
        say(console, f"\nThe last of {balance.head.number} entries:")
        head = ("number", "time", "what", "population", "analyst", "table", "epsilon")
        show(console, [head, *map(_line, last)], right=(0, 6))
    say(console, f"Head: {balance.head}")


def draw_entry(console: Console, ledger: Ledger, id: str) -> None:
    """One entry, and the question that it paid for, as long as that is kept."""
    entry = ledger.entry(id)
    what = _KINDS.get(entry.kind, entry.kind.value) + (f" {entry.refers}" if entry.refers else "")
    rows = [("field", "value"), ("id", entry.head.id), ("time", moment(entry.at)), ("what", what)]
    for name in ("population", "analyst", "table", "version"):
        if value := getattr(entry, name):
            rows.append((name, value))
    if entry.kind in _SPENDS:
        rows += [("epsilon", said_amount(entry.amount.epsilon)), ("delta", plain(entry.amount.delta, DELTA_UNIT))]
    if entry.payload_digest is not None:
        kept = ledger.stored(id)
        rows.append(("question" if entry.kind is Kind.RESERVED else "answer", _kept(kept)))
    show(console, rows)


def _kept(kept: dict[str, Any] | None) -> str:
    if kept is None:
        return "erased"
    return str(kept.get("question") or "stored; the same question gets it again for free")


def draw_bars(console: Console, balance: Balance, sums: Sums) -> None:
    """A bar for every population, and below it for its tables and analysts."""
    rows: list[_Row] = [("whose", "spent", "of", "", "share")]
    for name, people in balance.populations.items():
        rows += _population(name, people, sums)
    show(console, rows, right=(1, 2, 4))


def _after(sums: Sums, entry: Entry) -> Sums:
    """What was spent after one entry more; declaring the units of a population new begins at zero."""
    if entry.kind is Kind.RENEWED:
        return {key: amount for key, amount in sums.items() if key[0] != entry.population}
    if entry.kind in _SPENDS:
        key = (entry.population or "", entry.table or "", entry.analyst or "")
        sums[key] = sums.get(key, NOTHING).plus(entry.amount)
    return sums


def _population(name: str, people: PopulationBalance, sums: Sums) -> list[_Row]:
    account = people.account
    rows = [_row(name, account.spent, account, account)]
    for table in sorted({table for population, table, _ in sums if population == name}):
        amount = _total(amount for key, amount in sums.items() if key[:2] == (name, table))
        rows.append(_row(f"  table {table}", amount, account))
    for analyst, theirs in sorted(people.analysts.items()):
        rows.append(_row(f"  analyst {analyst}", theirs.spent, theirs if theirs.budget else account, theirs))
    return rows


def _row(whose: str, spent: Amount, part_of: Account, own: Account | None = None) -> _Row:
    """A line whose bar is a part of a budget: of its own, or of that of all."""
    part = used(part_of, spent)
    limit = ""
    if own is not None:
        limit = "revoked" if own.revoked else f"{float(own.budget.epsilon):g}" if own.budget else ""
    return whose, said_amount(spent.epsilon), limit, bar(part), f"{float(part):.0%}"


def _total(amounts: Iterable[Amount]) -> Amount:
    total = NOTHING
    for amount in amounts:
        total = total.plus(amount)
    return total


def _line(entry: Entry) -> tuple[str, ...]:
    cost = said_amount(entry.amount.epsilon) if entry.kind in _SPENDS else ""
    what = _KINDS.get(entry.kind, entry.kind.value) + (f" {entry.refers}" if entry.refers else "")
    whose = (entry.population or "", entry.analyst or "", entry.table or "")
    return str(entry.number), moment(entry.at), what, *whose, cost
