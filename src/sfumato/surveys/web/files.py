"""The files beside this one: templates, scripts and the style; and how texts of a design get into them."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from string import Template

__all__ = ["embedded", "escape", "filled", "read"]


def read(name: str) -> str:
    """The text of a file of this package."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def filled(name: str, **parts: str) -> str:
    """A template with its parts, which are HTML already."""
    return Template(read(name)).substitute(parts)


def embedded(data: object) -> str:
    r"""JSON that no HTML can end: ASCII, and without the signs that begin or end an element.

    >>> print(embedded({"title": "</script>"}))
    {"title":"\u003c/script\u003e"}
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
