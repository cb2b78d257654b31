"""A plan whose every name and kind is known: what is measured, for which keys, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.plan.expressions.types import Typed
from sfumato.plan.relations.relation import Relation
from sfumato.plan.syntax.node import Expression
from sfumato.statistics.statistic import Statistic


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate over the rows of each group; argument None: all rows.

    `points` are the shares of rows below each quantile, all found together; 0 is a minimum, 1 a maximum.
    """

    statistic: Statistic
    argument: Typed | None = None
    points: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyDomain:
    """A part of a key expression whose possible values are public: a column with keys, or a rounded bounded number.

    None among the values stands for NULL, where the expression may turn that into a key.
    """

    expression: Expression
    kind: Kind
    values: tuple[Key | None, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One GROUP BY expression; `keyless`: why its keys are not public and what helps, None: they are."""

    expression: Expression
    kind: Kind
    keyless: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of the answer: its name and the expression over keys and measures."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Sort:
    """One key of ORDER BY, over keys and measures."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """A question, understood."""

    table: Relation
    where: Typed | None
    groups: tuple[Group, ...]
    key_domains: tuple[KeyDomain, ...]
    measures: tuple[Measure, ...]
    shown: tuple[Shown, ...]
    having: Expression | None
    order: tuple[Sort, ...]
    limit: int | None
    canonical: str

    @property
    def name(self) -> str:
        """The tables that it is about."""
        return self.table.name

    @property
    def undeclared(self) -> bool:
        """Whether nobody listed the keys, so that those which enough units have are to be found."""
        return any(group.keyless is not None for group in self.groups)
