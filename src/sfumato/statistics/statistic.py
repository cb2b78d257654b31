"""What every statistic answers for itself.

A statistic is one file: what it needs declared, how its share of epsilon is divided, what one row and one unit
contribute, how many cells it releases, how cells become a value with an interval, and what to expect beforehand. The
planner, the engines and the curator ask it, and none of them knows any statistic by name. To add one: its file, a line
in `statistics/__init__.py`, its proof page.

For the writer of a new one. Exact numbers are whole lattice steps. `row_contribution` must be at least the sum of the
absolute `steps` of a row, `unit_contribution` its sum over a unit's rows, `group_sums` and `unit_sums` the sums of the
`steps`, and `is_nonnegative` true: the engine scales a unit down by its contribution, and the noise is drawn for the
limit that results (docs/proofs/means.md, section 3). The defaults of all of them follow from `steps`; override one only
with a proof. SQL must be total: no value may make it fail. Everything that runs after the release (`choose_limit`,
`estimate`) sees released numbers only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import ClassVar, Protocol

from sfumato.dataset.kind import UNSCALED, Kind
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.statistics.contribution_histogram import ContributionHistogram, Limit, choose
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.ranges import Range
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.share import Share
from sfumato.statistics.steps import ROW

TENTH, NONE = Fraction(1, 10), Fraction(0)
LARGEST_PART = 1 << 52  # steps of one unit in one group; a million squares of it fit 128 bits
MOST_ROWS = 1 << 31  # of one unit in one group, where rows are counted; its square fits 64 bits
FEW = 8  # rows of a unit that are not worth the price of a limit


class Gathering(Enum):
    """What an engine adds up."""

    ROWS = auto()  # the steps of rows
    UNITS = auto()  # units, each once in a group
    VALUES = auto()  # different values, each once in a group
    POSITIONS = auto()  # nothing: it is searched for where values lie


class RangeNeed(Enum):
    """Whether values must lie between bounds, declared or estimated."""

    NONE = auto()
    OPTIONAL = auto()
    REQUIRED = auto()


@dataclass(frozen=True, slots=True)
class Center:
    """Where values lie, about: most within `spread` of `middle`; of `is_declared` ones all, since the bounds say so."""

    middle: Fraction
    spread: Fraction
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class Shares:
    """How the share of a measure is divided; a part that is not needed is zero."""

    values: Share
    limit: Share
    bounds: Share
    center: Share


@dataclass(frozen=True, slots=True)
class CellError:
    """How far released cells may be off: the reach of the noise, and what the limit took away at most.

    `lost` is None where too few units are seen to bound it. `miss` is how often the noise may reach farther.
    `threshold`: cells are shown only above it.
    """

    reach: int
    lost: int | None
    miss: Fraction
    noise: LaplaceNoise | GaussianNoise
    threshold: int | None = None

    @property
    def away(self) -> int | None:
        """Noise and loss together; None: nobody knows."""
        return None if self.lost is None else self.reach + self.lost


class Priced(Protocol):
    """What a statistic is told of a measure: its shares, and what is declared or was estimated of its values."""

    @property
    def share(self) -> Share:
        """What pays for the values."""

    @property
    def bounds_share(self) -> Share:
        """What pays for bounds that are estimated; zero: they are declared."""

    @property
    def rows(self) -> int | None:
        """How many rows of a unit count fully; None: the limit is estimated."""

    @property
    def max_rows_per_unit(self) -> int | None:
        """The declared maximum."""

    @property
    def value_range(self) -> Range | None:
        """The bounds of the values, once they are known."""

    @property
    def center(self) -> Center | None:
        """Where the values lie, once that is known."""

    @property
    def row_steps(self) -> int:
        """What the statistic says."""

    @property
    def step(self) -> Fraction:
        """What the statistic says."""


class Statistic(ABC):
    """One kind of aggregate. Its instances are equal, have no state, and may be compared and hashed."""

    name: ClassVar[str]  # in explanations, and in the text that stored answers are found by: it never changes
    functions: ClassVar[tuple[str, ...]] = ()  # the SQL aggregates that ask for it
    points: ClassVar[Mapping[str, Fraction]] = {}  # of quantiles: the share of rows below, by function
    gathering: ClassVar[Gathering] = Gathering.ROWS
    range_need: ClassVar[RangeNeed] = RangeNeed.REQUIRED
    cells: ClassVar[int] = 1  # lattice sums in each group
    adds_up: ClassVar[bool] = False  # whether the numbers of groups add up to that of all rows
    is_wide: ClassVar[bool] = False  # whether steps of a row need more than 33 digits
    counts_rows: ClassVar[bool] = False  # whether what a unit has in a group is a number of rows, each of ROW steps
    octaves_beyond: ClassVar[int] = 8  # how much wider estimated bounds are than the values that were seen

    # ------------------------------------------------------------------------------------- before the data: the plan

    def divide(self, share: Share, *, has_range: bool, has_limit: bool) -> Shares:
        """Divide a share: a tenth for a limit that is not declared, a tenth for bounds that are needed and missing."""
        for_limit = share.part(NONE if has_limit else TENTH)
        for_bounds = share.part(TENTH if self.range_need is RangeNeed.REQUIRED and not has_range else NONE)
        return Shares(share.less(for_limit, for_bounds), for_limit, for_bounds, share.part(NONE))

    def declared_rows(self, asked: int | None, most: int | None) -> int | None:
        """How many rows of a unit count fully without a limit that is estimated; None: it has to be."""
        return asked

    def max_rows(self, most: int | None, groups: int | None) -> int | None:
        """How many rows of a unit can count; `groups` is the number of groups, None: it is not public."""
        return most

    def counts_single_rows(self, has_argument: bool) -> bool:
        """Whether it is the number of units, where every unit has one row."""
        return False

    def result_scale(self, function: str, scale: int | None) -> int | None:
        """Whether SQL has a decimal or a whole number as the result, given that of the argument; None: a double."""
        return None

    @abstractmethod
    def row_steps(self, priced: Priced) -> int:
        """The most lattice steps of one row, rounded up."""

    def step(self, priced: Priced) -> Fraction:
        """What one lattice step is worth: a part of a row, or of the values' own unit."""
        return Fraction(1, priced.row_steps)

    def declared_limit(self, priced: Priced) -> int | None:
        """The limit in steps, where nothing has to be estimated."""
        return None if priced.rows is None else priced.rows * priced.row_steps

    def largest_contribution(self, priced: Priced, rows: int) -> int:
        """The most that a unit with so many rows contributes, in steps."""
        return rows * priced.row_steps

    def is_nonnegative(self, priced: Priced) -> bool:
        """Whether no row gives less than nothing to any cell; then one unit moves the cells less far under replace."""
        return False

    # ---------------------------------------------------------------------------------------- SQL: exact whole numbers

    def argument(self, row: RowSql, written: str, kind: Kind | None, is_number: bool) -> str:
        """What a row gives, from its argument as SQL; NULL and what is no number give nothing.

        `is_number`: the argument is known to be a number or NULL.
        """
        double = f"CAST({written} AS {row.dialect.type(Kind.REAL)})"
        return double if is_number else row.dialect.numbers(double)

    def columns(self, row: RowSql, priced: Priced) -> Mapping[str, str]:
        """Columns that are computed once for each row, by their letter; `steps` may name them."""
        return {}

    @abstractmethod
    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """What a row gives to each cell, in steps; 0 where it has no value."""

    def row_contribution(self, row: RowSql, priced: Priced) -> str:
        """At least the sum of the absolute steps of a row."""
        return " + ".join(f"abs({step})" for step in self.steps(row, priced))

    def unit_contribution(self, row: RowSql, priced: Priced) -> str:
        """The sum of it over the rows of a unit."""
        return row.dialect.unit_sum(self.row_contribution(row, priced))

    def group_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The sums of the steps over the rows of a group, as wide numbers."""
        add = row.dialect.sum if self.is_wide else row.dialect.row_sum
        return [add(step) for step in self.steps(row, priced)]

    def unit_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The same over the rows that a unit has in a group; or the number of these rows, where rows are counted."""
        sums = [f"CAST({row.dialect.sum(step)} AS {row.dialect.wide})" for step in self.steps(row, priced)]
        return [f"CAST(least(greatest({sum}, {-LARGEST_PART}), {LARGEST_PART}) AS BIGINT)" for sum in sums]

    # ----------------------------------------------------------------------------- after the release: value, interval

    def center(self, priced: Priced, averages: Sequence[int], reach: int) -> Center:
        """Where values lie, by noisy numbers of units with their averages in each bin; see `Shares.center`."""
        raise NotImplementedError(f"{self.name} has no center")

    def choose_limit(self, histogram: ContributionHistogram, priced: Priced, groups: int) -> Limit:
        """The contribution limit, from what was released about contributions."""
        return choose(histogram, priced.share.variance(), max(1, groups * self.cells), counts=False)

    def estimates(self, priced: Priced, cells: Sequence[Sequence[int]], error: CellError) -> Sequence[Estimate]:
        """The values of several groups with their intervals."""
        return [self.estimate(priced, each, error) for each in cells]

    def estimate(self, priced: Priced, cells: Sequence[int], error: CellError) -> Estimate:
        """The value of a group with its interval: of one released number, in steps."""
        step = float(priced.step)
        lost = math.inf if error.lost is None else error.lost * step
        low, high = (cells[0] - error.reach) * step, (cells[0] + error.reach) * step
        if error.threshold is not None:
            low = _least_shown(error.noise, cells[0], error.threshold, float(error.miss) / 2) * step
        return Estimate(cells[0] * step, low if self.is_nonnegative(priced) else low - lost, high + lost)

    def tidy(self, value: float, interval: tuple[float, float]) -> tuple[float, tuple[float, float]]:
        """The value and its interval for readers who asked for tidy counts."""
        return value, interval

    # -------------------------------------------------------------------------------------------------- the quote

    def is_predictable(self, priced: Priced) -> bool:
        """Whether the half-width follows from the limit alone, whatever the data is."""
        return priced.value_range is not None or self.range_need is not RangeNeed.REQUIRED

    def least_limit(self, priced: Priced) -> int | None:
        """The least limit that makes sense whoever is in the table, in steps; None: nothing can be said."""
        return self.declared_limit(priced)

    def describe_row(self, priced: Priced) -> str:
        """One row, in words."""
        return "row"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return type(self).__name__


class Counting(Statistic):
    """How many there are of something: whole numbers, and no bounds are needed."""

    range_need: ClassVar[RangeNeed] = RangeNeed.NONE

    def declared_rows(self, asked: int | None, most: int | None) -> int | None:
        """A small declared maximum is taken: to estimate a smaller limit costs more than it saves."""
        return most if asked is None and most is not None and most <= FEW else asked

    def result_scale(self, function: str, scale: int | None) -> int | None:
        """A whole number."""
        return UNSCALED

    def is_nonnegative(self, priced: Priced) -> bool:
        """Nothing counts less than nothing."""
        return True

    def row_contribution(self, row: RowSql, priced: Priced) -> str:
        """What it counts."""
        (step,) = self.steps(row, priced)
        return step

    def row_steps(self, priced: Priced) -> int:
        """A row counts one."""
        return ROW

    def choose_limit(self, histogram: ContributionHistogram, priced: Priced, groups: int) -> Limit:
        """By the width of the interval as well as by the error."""
        return choose(histogram, priced.share.variance(), max(1, groups), counts=True)

    def tidy(self, value: float, interval: tuple[float, float]) -> tuple[float, tuple[float, float]]:
        """A whole number of at least zero."""
        return max(0, round(value)), (max(0.0, interval[0]), max(0.0, interval[1]))


def capped_rows(count: str) -> str:
    """A number of rows of one unit in one group, cut where its square would not fit."""
    return f"least({count}, {MOST_ROWS})"


def _least_shown(noise: LaplaceNoise | GaussianNoise, cell: int, threshold: int, miss: float) -> int:
    """The least number that a cell may come from, given that it is only shown above a threshold.

    A smaller one would come out so large with probability `miss` at most among the times that it is shown.
    """

    def is_likely(number: int) -> bool:
        far, shown = noise.log_at_most(number - cell), noise.log_at_most(number - threshold - 1)
        return far - shown > math.log(miss)

    low, high = 0, cell
    if is_likely(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_likely(middle) else (middle, high)
    return high
