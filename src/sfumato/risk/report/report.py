"""What a raw table gives away: in words, as a chart, as JSON and as a page.

It is exact and computed from the rows themselves: for the owner only, and not private.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.charts import in_words
from sfumato.private_files import owned
from sfumato.risk.counting.partition import Uniqueness
from sfumato.risk.linkage import Linkage
from sfumato.risk.report.contents import NOTICE, Contents
from sfumato.risk.report.page import written
from sfumato.risk.report.picture import picture_of
from sfumato.risk.report.sections import as_text


@dataclasses.dataclass(frozen=True, slots=True)
class Report(Contents):
    """What a raw table gives away. FOR THE OWNER ONLY: it is exact and not private.

    source      the table
    rows        how many rows it has
    unit        the columns whose values make one unit, or none: then every row is one
    of          how many units, or rows, there are; shares are shares of them
    columns     the columns that others may know
    size        all sets of up to so many of them were tried
    all_sets    what each of those sets singles out
    growth      what the columns single out as they are added in the order given
    worst       for each number of columns the worst set: up to `size` of all, beyond by greedy search
    anonymity   the groups by all columns: k-anonymity
    profiles    every column, with its role
    suggested   columns that are quasi-identifiers: added to some set they single out at least one in twenty more
    diversity   for each sensitive column what groups give away although nobody is unique
    dominance   sums under the p-percent rule
    linkage     what an outside file gives away together with this table
    notes       what else is to be known
    """

    def describe(self) -> str:
        """In plain words and tables."""
        return as_text(self)

    def __str__(self) -> str:
        return self.describe()

    def plot(self, what: str = "growth") -> Any:
        """An Altair chart: how the share of unique ones grows with columns, or with 'sizes' how large groups are."""
        return picture_of(self, what)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists."""
        return {"notice": NOTICE, "is_private": False, "share_unique": self.share, **_plain(self)}

    def to_json(self, path: str | Path | None = None) -> str:
        """As JSON, with the notice; also into a file, which only its owner can read if it is new."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        if path is not None:
            owned(path).write_text(text, encoding="utf-8")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """As one page that loads nothing from elsewhere, with charts and the notice; also into a file.

        Only its owner can read the file, if it is new; the permissions of one that is there stay as they are.
        """
        text = written(self)
        if path is not None:
            owned(path).write_text(text, encoding="utf-8")
        return text


def _plain(value: Any) -> Any:
    """As JSON has it; what it has no word for is a text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shares = {"share": value.share} if isinstance(value, (Uniqueness, Linkage)) else {}
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)} | shares
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else str(value)
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else in_words(value)
