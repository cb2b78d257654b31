"""A chart as a file that works offline, and in which no name and no value becomes a part of a page."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any


class _Inert(json.JSONEncoder):
    """JSON that may stand inside a script of a page: no text in it ends the script, or begins another."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def save(chart: Any, file: str | PathLike[str]) -> None:
    """Write it as the name's ending says: .svg, .png or .html; a page holds its scripts and loads nothing."""
    is_page = fspath(file).lower().endswith((".html", ".htm"))
    chart.save(fspath(file), **({"inline": True, "json_kwds": {"cls": _Inert}} if is_page else {}))
