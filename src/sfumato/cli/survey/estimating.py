"""`sfumato survey estimate`: from what was collected to shares and means with intervals."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import charts
from sfumato.cli._shared import options as given
from sfumato.cli._shared.files import write
from sfumato.cli._shared.formats import Target
from sfumato.cli._shared.screen import errors, output, say, show
from sfumato.cli.survey.randomizing import DesignFile
from sfumato.errors import InvalidArgument
from sfumato.surveys.answers import Duplicates
from sfumato.surveys.design_file import FILE, load
from sfumato.surveys.estimates.cross import CrossTable
from sfumato.surveys.estimates.estimate import combine, cross_table
from sfumato.surveys.estimates.estimate import estimate as estimate_all
from sfumato.surveys.estimates.result import Estimates, Result
from sfumato.surveys.question import Number

_READ = (
    "estimate: unbiased, so it may lie below 0 or above 100 %. error: its standard error. tidy: adjusted for display "
    "to lie between 0 and 100 % and to be consistent with the other answers; slightly biased."
)
_SHOWN = 30  # answers of a question that a terminal shows, the largest


class Format(StrEnum):
    """How estimates are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


Source = Annotated[Path, typer.Argument(metavar="ANSWERS", help="A .csv or .jsonl file with what was sent.")]
Sure = Annotated[
    float,
    typer.Option(
        "--confidence",
        parser=given.number("--confidence"),
        metavar="NUMBER",
        help="The probability that an interval holds.",
    ),
]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="Make all intervals of a question hold at once.")]
Cross = Annotated[
    str | None, typer.Option("--cross", metavar="NAME,NAME", help="Estimate pairs of answers to two questions.")
]
Strata = Annotated[
    list[str] | None,
    typer.Option("--stratum", metavar="NAME=SHARE", help="The share of a stratum in the population; may be repeated."),
]
Twice = Annotated[
    str,
    typer.Option("--duplicates", help="For respondents who appear twice: 'refuse', or keep the 'first' row of each."),
]
Written = Annotated[Format, typer.Option("--format", help="The format of the estimates.")]
Out = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the estimates to a file.")]
Only = Annotated[
    str | None, typer.Option("--only", metavar="NAME", help="Estimate only this question, also in the chart.")
]
Rounds = Annotated[
    list[Path] | None,
    typer.Option(
        "--round", metavar="FILE", help="Answers of another round with fresh noise, combined; may be repeated."
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a chart with error bars: .svg, .png or .html.")
]


def estimate(
    answers: Source,
    design: DesignFile = Path(FILE),
    confidence: Sure = 0.95,
    simultaneous: Simultaneous = False,
    cross: Cross = None,
    strata: Strata = None,
    duplicates: Twice = "refuse",
    written: Written = Format.TABLE,
    out: Out = None,
    only: Only = None,
    rounds: Rounds = None,
    plot: Plot = None,
    quiet: given.Quiet = False,
) -> None:
    """Estimate shares and means, with intervals.

    Example: sfumato survey estimate sent.csv --design survey.toml --plot shares.svg
    """
    Target(output=out, plot=plot).check()
    if duplicates not in ("refuse", "first"):
        raise InvalidArgument(f"--duplicates must be 'refuse' or 'first'; got {duplicates!r}; leave it out")
    kept: Duplicates = "first" if duplicates == "first" else "refuse"
    survey = load(design)
    found: Estimates | CrossTable
    if cross is not None:
        if strata or simultaneous or only or rounds or written is Format.CSV:
            raise InvalidArgument("--cross stands alone, as table or json; got other options with it; leave them out")
        found = cross_table(survey, answers, *_two(cross), confidence=confidence, duplicates=kept)
    else:
        options: dict[str, Any] = {
            "questions": None if only is None else [only],
            "confidence": confidence,
            "simultaneous": simultaneous,
            "strata": dict(map(_share, strata)) if strata else None,
            "duplicates": kept,
        }
        each = [(survey, estimate_all(survey, file, **options)) for file in (answers, *(rounds or []))]
        found = combine(each) if rounds else each[0][1]
    if plot is not None:
        write(plot, lambda file: charts.save(found.plot(), file))
    _write(found, written, out)
    if plot is not None:
        say(errors(), f"chart: {plot}")
    if isinstance(found, Estimates) and not quiet:
        console = output() if written is Format.TABLE and out is None else errors()
        if written is Format.TABLE and out is None:
            say(console, _READ)
        for note in (*found.notes, *(f"{name}: {note}" for name, r in found.results.items() for note in r.notes)):
            say(console, f"Note: {note}", indent="      ")


def _two(text: str) -> tuple[str, str]:
    names = [each.strip() for each in text.split(",")]
    if len(names) != 2:
        raise InvalidArgument(f"--cross must name two questions; got {text!r}; for example --cross party,smoker")
    return names[0], names[1]


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    try:
        return name.strip(), float(share)
    except ValueError:
        raise InvalidArgument(f"--stratum must be NAME=SHARE; got {text!r}; for example --stratum north=0.4") from None


def _write(found: Estimates | CrossTable, written: Format, out: Path | None) -> None:
    if written is Format.TABLE and out is None:
        _show_cross(found) if isinstance(found, CrossTable) else _show(found)
        return
    is_csv = isinstance(found, Estimates) and (written is Format.CSV or (out is not None and out.suffix == ".csv"))
    if is_csv and isinstance(found, Estimates):
        text = found.to_csv()
    else:
        text = json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n"
    if out is None:
        print(text, end="")
        return
    write(out, lambda file: file.write_text(text, encoding="utf-8"))
    say(errors(), f"estimates: {out}")


def _show(found: Estimates) -> None:
    console = output()
    for result in found.results.values():
        say(console, f"{result.question.text}  ({result.people:,} answers, epsilon {result.epsilon:.4g})", "bold")
        is_share = not isinstance(result.question, Number)
        rows = sorted(result.rows, key=lambda row: -row.value)[:_SHOWN] if len(result.rows) > _SHOWN else result.rows
        head = ("answer", "estimate", "error", f"{100 * result.confidence:.4g} % interval", "tidy (biased)")
        show(console, [head, *(_row(row, is_share) for row in rows)], right=(1, 2, 3, 4))
        if len(rows) < len(result.rows):
            say(console, f"The largest {len(rows)} of {len(result.rows)} answers are shown; --format csv has all.")
        _tell_zero(result)


def _tell_zero(result: Result) -> None:
    unsure = sum(row.interval[0] <= 0 for row in result.rows)
    if not isinstance(result.question, Number) and unsure == len(result.rows):
        say(output(), "No answer is certainly above 0. Ask more people, or use a larger epsilon.")


def _row(row: Any, is_share: bool) -> tuple[str, ...]:
    def said(value: float) -> str:
        if not math.isfinite(value):
            return "-"
        return f"{100 * value:.2f} %" if is_share else f"{value:,.5g}"

    low, high = row.interval
    return row.label, said(row.value), said(row.error), f"[{said(low)}, {said(high)}]", said(row.tidy)


def _show_cross(table: CrossTable) -> None:
    console = output()
    sure = f"{100 * table.confidence:.4g} %"
    say(console, f"{table.rows} by {table.columns} ({table.people:,} people): share of all, ± {sure} interval", "bold")
    head = (table.rows, *table.column_labels)
    rows = [
        (label, *(f"{100 * cell.value:.1f} ± {100 * table.reach * cell.error:.1f} %" for cell in line))
        for label, line in zip(table.row_labels, table.cells, strict=True)
    ]
    show(console, [head, *rows], right=range(1, len(head)))
    if all(cell.interval[0] <= 0 for line in table.cells for cell in line):
        say(
            console,
            "No pair is certainly above 0. Pairs need many more people than single answers, or a larger epsilon.",
        )
    elif any(not 0 <= cell.value <= 1 for line in table.cells for cell in line):
        say(console, "Estimates are unbiased, so some lie below 0 or above 100 %.")
