"""The charts of a report: how the share of unique ones grows, and how large groups are."""

from __future__ import annotations

from typing import Any

from sfumato import charts
from sfumato.errors import InvalidArgument
from sfumato.risk.report.contents import Contents
from sfumato.risk.report.sections import percent, size_range

_OWNER = "for the owner only: not private"
_MOST = 16  # bars
_LONGEST = 40  # characters of a label


def picture_of(report: Contents, what: str = "growth") -> Any:
    """An Altair chart."""
    match what:
        case "growth":
            return _growth(report)
        case "sizes":
            return _sizes(report)
    raise InvalidArgument(f"plot must be of 'growth' or 'sizes'; got {what!r}; choose one")


def _growth(report: Contents) -> Any:
    given = [
        charts.Share(
            _short(("+ " if place else "") + each.columns[-1]), each.share, percent(each.share), "in this order"
        )
        for place, each in enumerate(report.growth[:_MOST])
    ]
    worst = [
        charts.Share(_short(_label(report, place)), each.share, percent(each.share), "worst of its size")
        for place, each in enumerate(report.worst[:_MOST])
    ]
    title = f"Unique {report.whom} as columns become known: {report.source}"
    names = charts.Names("columns", f"share of {report.whom} that are unique", title, "", (_OWNER,))
    return charts.shares(given if [each.share for each in report.worst] == [each.share for each in report.growth]
                         else [*given, *worst], names)  # fmt: skip


def _sizes(report: Contents) -> Any:
    total = sum(members for _, _, _, members in report.anonymity.sizes)
    bars = [
        charts.Share(size_range(least, most), members / total if total else 0.0, f"{members:,}", "")
        for least, most, _, members in report.anonymity.sizes
    ]
    title = f"How many share all their values: {report.source}"
    names = charts.Names("size of the group", f"share of {report.whom}", title, "", (_OWNER,))
    return charts.shares(bars, names)


def _label(report: Contents, place: int) -> str:
    columns = report.worst[place].columns
    return ", ".join(columns) if place < report.size else f"... + {columns[-1]}"


def _short(label: str) -> str:
    text = charts.in_words(label)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
