"""A plan whose every name and kind is known: what is measured, for which keys, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.plan.node import Expression
from sfumato.plan.relation import Relation
from sfumato.plan.typed import Typed


class Statistic(Enum):
    """What is measured in each group."""

    COUNT = "number of rows"
    UNITS = "number of units"
    DISTINCT = "number of distinct values"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    POPULATION_VARIANCE = "population variance"
    DEVIATION = "standard deviation"
    POPULATION_DEVIATION = "population standard deviation"
    QUANTILES = "quantiles"

    @property
    def is_spread(self) -> bool:
        """Whether it says how far values lie apart, so that it needs their squares."""
        return self in (
            Statistic.VARIANCE,
            Statistic.POPULATION_VARIANCE,
            Statistic.DEVIATION,
            Statistic.POPULATION_DEVIATION,
        )

    @property
    def is_count(self) -> bool:
        """Whether it says how many there are of something."""
        return self in (Statistic.COUNT, Statistic.UNITS, Statistic.DISTINCT)

    @property
    def is_centred(self) -> bool:
        """Whether values are measured from a bought centre."""
        return self is Statistic.MEAN or self.is_spread


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate over the rows of each group; argument None: all rows.

    `points` are the shares of rows below each quantile, all found together; 0 is a minimum, 1 a maximum.
    """

    statistic: Statistic
    argument: Typed | None = None
    points: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a key expression whose possible values are public: a column with keys, or a rounded bounded number.

    None among the values stands for NULL, where the expression may turn that into a key.
    """

    expression: Expression
    kind: Kind
    values: tuple[Key | None, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One GROUP BY expression; `keyless` says why its keys are not public, None: they are."""

    expression: Expression
    kind: Kind
    keyless: str | None = None


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
    atoms: tuple[Atom, ...]
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
    def unknown(self) -> bool:
        """Whether nobody listed the keys, so that those which enough units have are to be found."""
        return any(group.keyless is not None for group in self.groups)
