"""Everything that is known about each statistic, one file each; `statistic.py` says what it has to answer.

count  units  distinct  sum  mean  variance  quantile/    the statistics
center                                                    what means and variances share
contribution  contribution_histogram                      how much one unit contributes, and the limit
share  ranges  steps  row_sql  estimate  digits           shares of epsilon, bounds, lattices, SQL, results
"""

from __future__ import annotations

from sfumato.errors import InvalidArgument
from sfumato.statistics.count import Count
from sfumato.statistics.distinct import Distinct
from sfumato.statistics.mean import Mean
from sfumato.statistics.quantile.quantile import Quantiles
from sfumato.statistics.statistic import Statistic
from sfumato.statistics.sum import Sum
from sfumato.statistics.units import Units
from sfumato.statistics.variance import Deviation, PopulationDeviation, PopulationVariance, Variance

REGISTERED: list[Statistic] = [
    Count(),
    Units(),
    Distinct(),
    Sum(),
    Mean(),
    Variance(),
    PopulationVariance(),
    Deviation(),
    PopulationDeviation(),
    Quantiles(),
]


def register(statistic: Statistic) -> None:
    """Add a statistic of your own; SQL then knows its functions. Its name and functions must be new."""
    for known in REGISTERED:
        taken = {known.name, *known.functions} & {statistic.name, *statistic.functions}
        if taken and known != statistic:
            raise InvalidArgument(
                f"a statistic must have a name and functions of its own; got {', '.join(sorted(taken))}, which "
                f"{known!r} has; choose others"
            )
    if statistic not in REGISTERED:
        REGISTERED.append(statistic)


def by_function(function: str) -> Statistic | None:
    """The statistic that an SQL aggregate asks for; None: there is none.

    >>> by_function("avg"), by_function("mode")
    (Mean, None)
    """
    return next((each for each in REGISTERED if function in each.functions), None)
