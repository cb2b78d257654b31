"""A report as one page in HTML: it loads nothing and runs nothing, and every value in it is escaped.

The policy in its head forbids scripts and anything from elsewhere, should a value ever find a way around the escaping.
"""

from __future__ import annotations

import html
import re
from typing import Any

from sfumato.risk.report.contents import NOTICE, Contents
from sfumato.risk.report.picture import picture_of
from sfumato.risk.report.sections import Section, percent, sections, size_range

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; }
body { max-width: 60em; margin: 0 auto; padding: 1em; }
.notice { border: 3px solid #9b1c1c; background: #fdf0f0; color: #7a1212; padding: .8em 1em; font-weight: bold; }
h1 { font-size: 1.6em; overflow-wrap: anywhere; } h2 { font-size: 1.25em; margin-top: 2em; overflow-wrap: anywhere; }
p { overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .25em .7em; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top; }
th { font-weight: normal; }
thead th { border-bottom: 2px solid #444; font-weight: bold; } .right { text-align: right; white-space: nowrap; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; }
@media print { .wide { overflow: visible; } }
"""


def written(report: Contents) -> str:
    """The page."""
    title = f"Risk report: {report.source}"
    parts = [_section(report, section) for section in sections(report)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<title>{_safe(title)}</title><style>{_STYLE}</style></head><body>\n"
        f'<p class="notice" role="note">{_safe(NOTICE)}</p>\n<main><h1>{_safe(title)}</h1>\n'
        f"{''.join(parts)}</main></body></html>\n"
    )


def _section(report: Contents, section: Section) -> str:
    words = "".join(f"<p>{_safe(text)}</p>" for text in section.words)
    picture = ""
    if section.title == "Growth":
        said = "; ".join(f"{', '.join(each.columns)}: {percent(each.share)}" for each in report.growth)
        picture = _figure(picture_of(report, "growth"), f"Bar chart, share of unique {report.whom} by columns. {said}")
    if section.title == "Sizes of groups":
        said = "; ".join(
            f"{size_range(least, most)}: {members:,}" for least, most, _, members in report.anonymity.sizes
        )
        picture = _figure(picture_of(report, "sizes"), f"Bar chart, {report.whom} by size of their group. {said}")
    return f"<section><h2>{_safe(section.title)}</h2>{words}{picture}{_table(section)}</section>\n"


def _table(section: Section) -> str:
    if not section.table:
        return ""
    head = "".join(f'<th scope="col"{_side(section, place)}>{_safe(cell)}</th>' for place, cell in _cells(section, 0))
    body = []
    for row in range(1, len(section.table)):
        cells = [
            f'<th scope="row">{_safe(cell)}</th>' if not place else f"<td{_side(section, place)}>{_safe(cell)}</td>"
            for place, cell in _cells(section, row)
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    label = _safe(section.title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cells(section: Section, row: int) -> list[tuple[int, str]]:
    return list(enumerate(section.table[row]))


def _side(section: Section, place: int) -> str:
    return ' class="right"' if place in section.right else ""


def _figure(chart: Any, words: str) -> str:
    """A chart as SVG inside the page, with its words for whoever does not see it; the table below has its numbers."""
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(chart.to_dict())
    body = re.sub(r"^<\?xml[^>]*>\s*", "", drawn)
    named = body.replace("<svg ", f'<svg role="img" aria-label="{_safe(words)}" ', 1)
    return f"<figure>{named}</figure>"


def _safe(text: str) -> str:
    """Escaped, and without what turns the direction of writing or ends a line."""
    return html.escape("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text))
