"""What was spent, what may still be, and by whom: a pure fold over the entries.

    balance = Balance.empty(identity)
    for entry in entries:
        balance = balance.after(entry)

A reservation counts as spent from the moment it is written, whatever became of it. Everything of one population adds
up, whichever table, analyst or process spent it, since one person may be in all the tables.

A snapshot is an entry that holds the balance of all entries before it. The fold can start with one; when it meets one
on its way, it checks that the snapshot says what the fold has found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.accounting.filter import Filter
from sfumato.errors import LedgerBroken
from sfumato.input_files import MALFORMED
from sfumato.ledger.records.amount import NOTHING, Amount
from sfumato.ledger.records.budget import Budget
from sfumato.ledger.records.entry import Entry, Head, Kind, canonical
from sfumato.ledger.records.typed_json import Codec, Leaf

Find = Callable[[int], Entry | None]


@dataclass(frozen=True, slots=True)
class Account:
    """What a population, or one analyst within it, was allowed and has spent.

    `ended`: it was seen that the budget had ended, which holds even if the clock is set back.
    """

    budget: Budget | None = None
    revoked: bool = False
    spent: Amount = NOTHING
    ended: bool = False

    @property
    def filter(self) -> Filter | None:
        """The account in the accountant's words, while a budget is in force."""
        return None if self.budget is None else self.budget.filter(self.spent)


NO_ACCOUNT = Account()


@dataclass(frozen=True, slots=True)
class PopulationBalance:
    """The account of a population and those of its analysts.

    `named`: some analyst was once granted a budget, so nobody asks without one. `renewed`: the number of the entry
    that last declared the units new, or 0. `unit`: what its sums are the losses of, or None where nobody said it.
    """

    account: Account
    analysts: Mapping[str, Account]
    named: bool = False
    renewed: int = 0
    unit: str | None = None

    def analyst(self, name: str) -> Account:
        """The account of an analyst; an empty one for a stranger."""
        return self.analysts.get(name, NO_ACCOUNT)

    def spend(self, analyst: str, amount: Amount) -> PopulationBalance:
        """The balance after a spend."""
        own, all_ = self.analysts.get(analyst, NO_ACCOUNT), self.account
        analysts = {**self.analysts, analyst: Account(own.budget, own.revoked, own.spent.plus(amount), own.ended)}
        account = Account(all_.budget, all_.revoked, all_.spent.plus(amount), all_.ended)
        return PopulationBalance(account, analysts, self.named, self.renewed, self.unit)

    def change(self, analyst: str | None, budget: Budget | None) -> PopulationBalance:
        """The balance after a grant, or after a revocation (None), to everybody or to one analyst."""
        changed = replace(self.of(analyst), budget=budget, revoked=budget is None, ended=False)
        named = self.named or (analyst is not None and budget is not None)
        return replace(self._put(analyst, changed), named=named)

    def end(self, analyst: str | None) -> PopulationBalance:
        """The balance after it was seen that a budget has ended."""
        return self._put(analyst, replace(self.of(analyst), ended=True))

    def of(self, analyst: str | None) -> Account:
        """The account of one analyst, or of everybody."""
        return self.account if analyst is None else self.analyst(analyst)

    def _put(self, analyst: str | None, account: Account) -> PopulationBalance:
        if analyst is None:
            return replace(self, account=account)
        return replace(self, analysts={**self.analysts, analyst: account})

    def renew(self, number: int) -> PopulationBalance:
        """The balance after the units were declared new: budgets stay, sums begin at zero."""
        analysts = {name: replace(account, spent=NOTHING) for name, account in self.analysts.items()}
        return replace(self, account=replace(self.account, spent=NOTHING), analysts=analysts, renewed=number)


NO_POPULATION = PopulationBalance(NO_ACCOUNT, {})


@dataclass(frozen=True, slots=True)
class Balance:
    """The state after the entries up to `head`; `snapshot` is the number of the last snapshot, or 0.

    `sources` has the population of each source, `units` the unit that it is bound to.
    """

    head: Head
    at: int
    snapshot: int
    populations: Mapping[str, PopulationBalance]
    sources: Mapping[str, str]
    units: Mapping[str, str]
    open: Mapping[int, Entry]
    paused: frozenset[tuple[str, str]]

    @classmethod
    def empty(cls, identity: str) -> Balance:
        """Before the first entry; a ledger's identity stands where that entry has the hash of an earlier one."""
        return cls(Head(0, identity), 0, 0, {}, {}, {}, {}, frozenset())

    @classmethod
    def restored(cls, entry: Entry, find: Find) -> Balance | None:
        """The balance after a snapshot; None if a version with other fields wrote it; `find` looks up an entry."""
        try:
            detail = entry.details
            if detail["shape"] != _SHAPE:
                return None
            read = _STATE.read(detail["balance"], find)
            return cls(head=entry.head, at=entry.at, snapshot=entry.number, **read)
        except MALFORMED:
            raise LedgerBroken(f"entry {entry.number} lacks what a {entry.kind.value} entry holds") from None

    @property
    def details(self) -> dict[str, object]:
        """What a snapshot says of this balance: all of it but number, hash and time, which its entry has."""
        return {"shape": _SHAPE, "balance": _STATE.write(self)}

    def population(self, name: str) -> PopulationBalance:
        """The balance of a population; an empty one where nothing is known of it."""
        return self.populations.get(name, NO_POPULATION)

    def after(self, entry: Entry) -> Balance:
        """The balance after one entry more, which must follow the last one."""
        if entry.number != self.head.number + 1:
            raise LedgerBroken(
                f"entry {self.head.number + 1} must come next; got {entry.number}: some were removed or moved"
            )
        if entry.previous != self.head.hash:
            raise LedgerBroken(f"entry {entry.number} does not follow entry {self.head.number}: its chain is another")
        if entry.at < self.at:
            raise LedgerBroken(f"entry {entry.number} is older than the entry before it")
        try:
            return _FOLDS[entry.kind](self, entry)
        except MALFORMED:
            raise LedgerBroken(f"entry {entry.number} lacks what a {entry.kind.value} entry holds") from None

    def _moved(self, entry: Entry, **changes: Any) -> Balance:
        return replace(self, head=entry.head, at=entry.at, **changes)

    def _with(self, entry: Entry, population: PopulationBalance) -> Mapping[str, PopulationBalance]:
        return {**self.populations, _named(entry.population): population}

    def _ended(self, entry: Entry) -> tuple[Entry, dict[int, Entry]]:
        """The reservation that an entry ends, and those still open."""
        remaining = dict(self.open)
        reserved = remaining.pop(entry.refers or 0, None)
        if reserved is None:
            raise LedgerBroken(f"entry {entry.number} ends reservation {entry.refers}, which is not open")
        return reserved, remaining


def _named(name: str | None) -> str:
    if name is None:
        raise ValueError
    return name


def _declared(balance: Balance, entry: Entry) -> Balance:
    """Whose sources are, and since 0.2 by which units; what was said once stays."""
    population, detail = _named(entry.population), entry.details
    people, bound = balance.population(population), "units" in detail
    sources, units = dict(balance.sources), dict(balance.units)
    for source, unit in _texts(detail["units"]).items() if bound else ((each, None) for each in detail["sources"]):
        if sources.setdefault(source, population) != population:
            raise LedgerBroken(
                f"entry {entry.number} moves a source from population {sources[source]!r} to {population!r}"
            )
        if unit is not None and units.setdefault(source, unit) != unit:
            raise LedgerBroken(f"entry {entry.number} changes the unit of a source from {units[source]} to {unit}")
    if bound:
        (unit,) = _texts({"unit": detail["unit"]}).values()
        if people.unit not in (None, unit):
            raise LedgerBroken(f"entry {entry.number} changes the unit of population {population!r}")
        people = replace(people, unit=unit)
    return balance._moved(entry, sources=sources, units=units, populations=balance._with(entry, people))


def _texts(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) and each for each in value.values()):
        raise ValueError
    return value


def _granted(balance: Balance, entry: Entry) -> Balance:
    detail = entry.details
    until, rho = detail["until"], detail["rho"]
    if not all(each is None or type(each) is int for each in (until, rho)):
        raise ValueError
    budget = Budget(Fraction(detail["epsilon"]), Fraction(detail["delta"]), until, rho)
    changed = balance.population(_named(entry.population)).change(entry.analyst, budget)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _revoked(balance: Balance, entry: Entry) -> Balance:
    people = balance.population(_named(entry.population))
    changed = people.end(entry.analyst) if "ended" in entry.details else people.change(entry.analyst, None)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _renewed(balance: Balance, entry: Entry) -> Balance:
    changed = balance.population(_named(entry.population)).renew(entry.number)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _spent(balance: Balance, entry: Entry) -> Mapping[str, PopulationBalance]:
    population = balance.population(_named(entry.population))
    return balance._with(entry, population.spend(_named(entry.analyst), entry.amount))


def _next(
    balance: Balance, entry: Entry, populations: Mapping[str, PopulationBalance], opened: Mapping[int, Entry]
) -> Balance:
    """What `replace` would make of it, in a third of the time: most entries come here."""
    b = balance
    return Balance(entry.head, entry.at, b.snapshot, populations, b.sources, b.units, opened, b.paused)


def _reserved(balance: Balance, entry: Entry) -> Balance:
    opened = {**balance.open, entry.number: entry}
    return _next(balance, entry, _spent(balance, entry), opened)


def _settled(balance: Balance, entry: Entry) -> Balance:
    _, remaining = balance._ended(entry)
    return _next(balance, entry, balance.populations, remaining)


def _failed(balance: Balance, entry: Entry) -> Balance:
    reserved, remaining = balance._ended(entry)
    pair = frozenset({(_named(reserved.analyst), _named(reserved.table))} if entry.details["pause"] else ())
    return balance._moved(entry, open=remaining, paused=balance.paused | pair)


def _looked(balance: Balance, entry: Entry) -> Balance:
    return balance._moved(entry, paused=balance.paused - {(_named(entry.analyst), _named(entry.table))})


def _erased(balance: Balance, entry: Entry) -> Balance:
    if entry.refers is None or entry.refers in balance.open:
        raise LedgerBroken(f"entry {entry.number} erases reservation {entry.refers}, which has not ended")
    frozenset(entry.details["payloads"])
    return balance._moved(entry)


def _merged(balance: Balance, entry: Entry) -> Balance:
    bytes.fromhex(entry.details["origin"])
    return balance._moved(entry, populations=_spent(balance, entry))


def _snapshot(balance: Balance, entry: Entry) -> Balance:
    shape = entry.details["shape"]
    if entry.refers != (balance.snapshot or None) or (shape == _SHAPE and entry.detail != canonical(balance.details)):
        raise LedgerBroken(f"snapshot {entry.number} says something else than the entries before it")
    return balance._moved(entry, snapshot=entry.number)


_FOLDS: Mapping[Kind, Callable[[Balance, Entry], Balance]] = {
    Kind.DECLARED: _declared,
    Kind.GRANTED: _granted,
    Kind.REVOKED: _revoked,
    Kind.RENEWED: _renewed,
    Kind.RESERVED: _reserved,
    Kind.SETTLED: _settled,
    Kind.FAILED: _failed,
    Kind.LOOKED: _looked,
    Kind.ERASED: _erased,
    Kind.MERGED: _merged,
    Kind.SNAPSHOT: _snapshot,
}


def _reference(written: Any, find: Find) -> Entry:
    """An entry by number and hash: the snapshot says where it is, and the chain holds it."""
    number, digest = written
    entry = find(number)
    if entry is None or entry.hash != digest:
        raise LedgerBroken(f"entry {number} is not the one that a later snapshot refers to")
    return entry


_STATE = Codec(
    Balance,
    leaves={Entry: Leaf("Entry", lambda entry: [entry.number, entry.hash], _reference)},
    without=("head", "at", "snapshot"),
)
_MEANING = 1  # changes when a field keeps its type and gets another meaning
_SHAPE = hashlib.sha256(f"{_MEANING} {_STATE.shape}".encode()).hexdigest()[:16]
