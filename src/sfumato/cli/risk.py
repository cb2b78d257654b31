"""`sfumato risk`: what a raw table gives away, for its owner."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import charts
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.failure import INTERRUPTED
from sfumato.cli._shared.files import write
from sfumato.cli._shared.formats import Target
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.screen import can_ask, errors, output, say, show
from sfumato.dataset.sources.files import split_header
from sfumato.errors import InvalidArgument
from sfumato.risk.assess import MEMORY, risk_report
from sfumato.risk.counting.search import Estimate
from sfumato.risk.report.contents import NOTICE
from sfumato.risk.report.report import Report
from sfumato.risk.report.sections import sections

_LIST = "COLUMN,..."


class Format(StrEnum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"


class _TooLong(Exception):
    def __init__(self, estimate: Estimate) -> None:
        super().__init__(str(estimate))
        self.estimate = estimate


Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A .csv or .parquet file, a glob, or duckdb:///file.db#table.")
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", "-c", metavar=_LIST, help="The columns that others may know (default: likely ones)."),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", metavar=_LIST, help="The column that identifies a person, if people have several rows."),
]
Sensitive = Annotated[
    str | None, typer.Option("--sensitive", metavar=_LIST, help="The columns that no one should learn (l-diversity).")
]
Sum = Annotated[
    str | None, typer.Option("--sum", metavar="COLUMN", help="Check sums of this column by the p-percent rule.")
]
By = Annotated[str | None, typer.Option("--by", metavar=_LIST, help="With --sum: the columns that group the sums.")]
Contributor = Annotated[
    str | None,
    typer.Option(
        "--contributor",
        metavar="COLUMN",
        help="With --sum: the column that identifies a contributor with several rows.",
    ),
]
Percent = Annotated[
    float,
    typer.Option("--p", parser=given.number("--p"), metavar="NUMBER", help="With --sum: the percentage of the rule."),
]
Link = Annotated[str | None, typer.Option("--link", metavar="FILE", help="An outside table to link with.")]
On = Annotated[
    str | None, typer.Option("--on", metavar=_LIST, help="With --link: columns that both tables have, or HERE=THERE.")
]
Subsets = Annotated[
    int | None,
    typer.Option("--subsets", metavar="NUMBER", help="Try all sets of up to NUMBER columns."),
]
Memory = Annotated[
    float,
    typer.Option("--memory", parser=given.number("--memory"), metavar="GIGABYTES", help="The most memory to use."),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a chart of uniqueness: .svg, .png or .html.")
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the whole report as one HTML page.")]
As = Annotated[Format, typer.Option("--format", help="A table, or JSON.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file.")]


def risk(
    data: Data,
    columns: Columns = None,
    unit: Unit = None,
    sensitive: Sensitive = None,
    sum_of: Sum = None,
    by: By = None,
    contributor: Contributor = None,
    p: Percent = 10.0,
    link: Link = None,
    on: On = None,
    subsets: Subsets = None,
    memory: Memory = MEMORY,
    plot: Plot = None,
    html: Html = None,
    format: As = Format.TABLE,
    file: Output = None,
    yes: given.Yes = False,
    quiet: given.Quiet = False,
) -> None:
    """Report what a raw table reveals, for its owner only.

    Shows which columns single people out. The report is exact and not private.
    """
    Target(output=file, plot=plot).check()
    Target(output=html).check()

    def report(confirmed: bool | Callable[[Estimate], bool]) -> Report:
        with working("reading the table", hidden=quiet) as told:
            return risk_report(
                data, columns=_names("--columns", columns), unit=_names("--unit", unit),
                sensitive=_names("--sensitive", sensitive), sums=sum_of, by=_names("--by", by), contributor=contributor,
                p=p, link=link, on=_pairs(on), subsets=subsets, memory=memory, yes=confirmed, progress=told,
            )  # fmt: skip

    try:
        made = _confirmed(report, yes)
    except KeyboardInterrupt:
        say(errors(), "interrupted: nothing was written", "bold red")
        raise typer.Exit(INTERRUPTED) from None
    _write(made, format, file, plot, html, quiet)


def _confirmed(report: Callable[[bool | Callable[[Estimate], bool]], Report], yes: bool) -> Report:
    """The report; what takes long is asked on a terminal, where no bar is drawn meanwhile."""
    if yes or not can_ask():
        return report(yes)
    try:
        return report(_too_long)
    except _TooLong as long:
        say(errors(), f"This takes a long time. {long.estimate}.", "bold yellow")
    typer.confirm("Continue? Fewer columns or smaller sets are faster", abort=True, err=True)
    return report(True)


def _too_long(estimate: Estimate) -> bool:
    raise _TooLong(estimate)


def _names(option: str, text: str | None) -> list[str] | None:
    """Names between commas; one with a comma stands in quotes."""
    if text is None:
        return None
    names = split_header(text, ",")
    if not names or not all(names):
        raise InvalidArgument(f"{option} must be names between commas; got {text!r}; for example age,sex,zip")
    return list(names)


def _pairs(text: str | None) -> dict[str, str] | None:
    names = _names("--on", text)
    if names is None:
        return None
    pairs = {}
    for name in names:
        here, equals, there = name.partition("=")
        pairs[here.strip()] = there.strip() if equals else here.strip()
    return pairs


def _write(
    report: Report, format: Format, file: Path | None, plot: Path | None, html: Path | None, quiet: bool
) -> None:
    written: list[tuple[str, Path | None, Callable[[Path], Any]]] = [
        ("report", file, lambda path: path.write_text(_text(report, format), encoding="utf-8")),
        ("page", html, report.to_html),
        ("chart", plot, lambda path: charts.save(report.plot(), path)),
    ]
    for _, path, writer in written:
        if path is not None:
            write(path, writer, private=True)
    if file is None and format is Format.JSON:
        output().out(report.to_json().rstrip("\n"), highlight=False)
    elif file is None:
        _show(report)
    for what, path, _ in written:
        if path is not None and not quiet:
            say(errors(), f"{what}: {path} (for the owner only: not private)")


def _text(report: Report, format: Format) -> str:
    return report.to_json() if format is Format.JSON else report.describe() + "\n"


def _show(report: Report) -> None:
    console = output()
    say(console, NOTICE, "bold red")
    for section in sections(report):
        say(console, f"\n{section.title}", "bold")
        for text in section.words:
            say(console, text)
        if section.table:
            show(console, section.table, right=section.right)


_EXAMPLES = (
    "sfumato risk people.csv",
    "sfumato risk people.csv --columns age,sex,zip --sensitive diagnosis --html risk.html",
    "sfumato risk people.csv --columns age,zip --link voters.csv --on age,zip=place",
    "sfumato risk firms.csv --columns region --sum revenue --by region",
)
COMMANDS = (Command(risk, _EXAMPLES),)
