"""What was spent, what may still be, and by whom: a pure fold over the entries.

    balance = Balance.empty(identity)
    for entry in entries:
        balance = balance.after(entry)

A reservation counts as spent from the moment it is written, whatever became of it. Everything of one population adds
up, whichever table, analyst or process spent it, since one person may be in all the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.accounting.filter import Filter
from sfumato.errors import LedgerBroken
from sfumato.ledger.allowance import Allowance
from sfumato.ledger.amount import NOTHING, Amount
from sfumato.ledger.entry import Entry, Head, Kind


@dataclass(frozen=True, slots=True)
class Account:
    """What a population, or one analyst within it, was allowed and has spent."""

    allowance: Allowance | None = None
    revoked: bool = False
    spent: Amount = NOTHING

    @property
    def filter(self) -> Filter | None:
        """The account in the accountant's words, while an allowance is in force."""
        return None if self.allowance is None else self.allowance.filter(self.spent)


NO_ACCOUNT = Account()


@dataclass(frozen=True, slots=True)
class PopulationBalance:
    """The account of a population and those of its analysts.

    `named`: some analyst was once granted an allowance, so nobody asks without one. `renewed`: the number of the entry
    that last declared the units new, or 0.
    """

    account: Account
    analysts: Mapping[str, Account]
    named: bool = False
    renewed: int = 0

    def analyst(self, name: str) -> Account:
        """The account of an analyst; an empty one for a stranger."""
        return self.analysts.get(name, NO_ACCOUNT)

    def spend(self, analyst: str, amount: Amount) -> PopulationBalance:
        """The balance after a spend."""
        own, all_ = self.analysts.get(analyst, NO_ACCOUNT), self.account
        analysts = {**self.analysts, analyst: Account(own.allowance, own.revoked, own.spent.plus(amount))}
        account = Account(all_.allowance, all_.revoked, all_.spent.plus(amount))
        return PopulationBalance(account, analysts, self.named, self.renewed)

    def change(self, analyst: str | None, allowance: Allowance | None) -> PopulationBalance:
        """The balance after a grant, or after a revocation (None), to everybody or to one analyst."""
        if analyst is None:
            return replace(self, account=replace(self.account, allowance=allowance, revoked=allowance is None))
        changed = replace(self.analyst(analyst), allowance=allowance, revoked=allowance is None)
        named = self.named or allowance is not None
        return replace(self, analysts={**self.analysts, analyst: changed}, named=named)

    def renew(self, number: int) -> PopulationBalance:
        """The balance after the units were declared new: allowances stay, sums begin at zero."""
        analysts = {name: replace(account, spent=NOTHING) for name, account in self.analysts.items()}
        return replace(self, account=replace(self.account, spent=NOTHING), analysts=analysts, renewed=number)


NO_POPULATION = PopulationBalance(NO_ACCOUNT, {})


@dataclass(frozen=True, slots=True)
class Balance:
    """The state after the entries up to `head`."""

    head: Head
    at: int
    populations: Mapping[str, PopulationBalance]
    sources: Mapping[str, str]
    open: Mapping[int, Entry]
    paused: frozenset[tuple[str, str]]

    @classmethod
    def empty(cls, identity: str) -> Balance:
        """Before the first entry; a ledger's identity stands where that entry has the hash of an earlier one."""
        return cls(Head(0, identity), 0, {}, {}, {}, frozenset())

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
        except (KeyError, TypeError, ValueError):
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
    population = _named(entry.population)
    sources = dict(balance.sources)
    for source in entry.details["sources"]:
        if sources.setdefault(source, population) != population:
            raise LedgerBroken(
                f"entry {entry.number} moves a source from population {sources[source]!r} to {population!r}"
            )
    return balance._moved(entry, sources=sources, populations=balance._with(entry, balance.population(population)))


def _granted(balance: Balance, entry: Entry) -> Balance:
    detail = entry.details
    allowance = Allowance(Fraction(detail["epsilon"]), Fraction(detail["delta"]), detail["until"], detail["rho"])
    changed = balance.population(_named(entry.population)).change(entry.analyst, allowance)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _revoked(balance: Balance, entry: Entry) -> Balance:
    changed = balance.population(_named(entry.population)).change(entry.analyst, None)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _renewed(balance: Balance, entry: Entry) -> Balance:
    changed = balance.population(_named(entry.population)).renew(entry.number)
    return balance._moved(entry, populations=balance._with(entry, changed))


def _spent(balance: Balance, entry: Entry) -> Mapping[str, PopulationBalance]:
    population = balance.population(_named(entry.population))
    return balance._with(entry, population.spend(_named(entry.analyst), entry.amount))


def _reserved(balance: Balance, entry: Entry) -> Balance:
    opened = {**balance.open, entry.number: entry}
    return Balance(entry.head, entry.at, _spent(balance, entry), balance.sources, opened, balance.paused)


def _settled(balance: Balance, entry: Entry) -> Balance:
    _, remaining = balance._ended(entry)
    return Balance(entry.head, entry.at, balance.populations, balance.sources, remaining, balance.paused)


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
}
