"""Every picture, as an Altair chart: the same in a notebook, a page and a file, without network."""

from sfumato.charts.distributions import Share, shares, two_sides
from sfumato.charts.files import save
from sfumato.charts.inert import inert
from sfumato.charts.intervals import (
    BLUE,
    GRAY,
    ORANGE,
    PALE,
    Bar,
    Kind,
    Names,
    Point,
    in_words,
    kind_of,
    over_bins,
    stacked,
    with_intervals,
)

__all__ = [
    "BLUE",
    "GRAY",
    "ORANGE",
    "PALE",
    "Bar",
    "Kind",
    "Names",
    "Point",
    "Share",
    "in_words",
    "inert",
    "kind_of",
    "over_bins",
    "save",
    "shares",
    "stacked",
    "two_sides",
    "with_intervals",
]
