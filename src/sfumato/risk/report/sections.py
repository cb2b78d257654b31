"""A report as its reader sees it: sections of words and a table, the same on a terminal, in a text and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.charts import in_words
from sfumato.risk.counting.partition import Uniqueness
from sfumato.risk.diversity import Diversity
from sfumato.risk.dominance import Dominance
from sfumato.risk.linkage import Linkage
from sfumato.risk.profile import Profile
from sfumato.risk.report.contents import NOTICE, Contents

MOST_SETS, MOST_CELLS = 15, 20  # lines of a table
_LONGEST = 60  # characters of a value
_NAMES = 12  # columns that a sentence lists
_ROLES = {
    "constant": "the same everywhere",
    "identifier": "direct identifier",
    "quasi": "possible quasi-identifier",
    "not counted": "not tried",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A title, what it says, a table whose first row is its head, and the columns of it that are numbers."""

    title: str
    words: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    right: tuple[int, ...] = ()


def sections(report: Contents) -> Iterator[Section]:
    """All parts, the most important first."""
    yield _summary(report)
    yield _next(report)
    yield _growth(report)
    if len(report.worst) > 1:
        yield _worst(report)
    yield _sets(report)
    yield _sizes(report)
    for each in report.diversity:
        yield _diversity(report, each)
    if report.dominance is not None:
        yield _dominance(report.dominance)
    if report.linkage is not None:
        yield _linkage(report, report.linkage)
    yield _columns(report)


def percent(share: float) -> str:
    """A share, never rounded to none or to all.

    >>> percent(7 / 24), percent(1e-9), percent(1 - 1e-9), percent(1.0)
    ('29.2 %', 'under 0.1 %', 'over 99.9 %', '100 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return "under 0.1 %" if share < 0.001 else "over 99.9 %" if share > 0.999 else f"{100 * share:.1f} %"


def value_of(value: Any) -> str:
    """A value of the table, short and printable."""
    text = in_words(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _summary(report: Contents) -> Section:
    whose = f" of {report.of:,} units ({', '.join(report.unit)})" if report.unit else ""
    k = report.anonymity.k
    words = [
        f"{report.source}: {report.rows:,} {'row' if report.rows == 1 else 'rows'}{whose}; others may know "
        f"{_few(report.columns)}.",
        f"{percent(report.share)} are unique: {report.anonymity.unique:,} of {report.of:,} {report.whom} have values "
        "that no one else has.",
        f"k-anonymity: k = {k}. "
        + (f"Every group has at least {k:,} {report.whom}." if k > 1 else "Someone is alone in a group."),
    ]
    words += _found(report)
    if report.suggested:
        words.append(f"Suggested quasi-identifiers, to coarsen or leave out: {', '.join(report.suggested)}.")
    words.append(
        "All counts are exact. Missing values count as equal, and so do NaN values; text is compared letter by letter."
    )
    return Section("Summary", (*words, *report.notes))


def _found(report: Contents) -> Iterator[str]:
    """What the other parts say, in a line each: nobody should take the first lines for all there is."""
    for each in report.diversity:
        share = percent(each.members / each.of) if each.of else "none"
        yield f"{share} are in a group in which all have the same {each.sensitive}: the group reveals it."
    if (sums := report.dominance) is not None:
        yield f"{sums.unsafe:,} of {sums.count:,} sums of {sums.column} are unsafe by the p-percent rule."
    if (link := report.linkage) is not None:
        yield f"{percent(link.share)} are found one to one in {link.outside}, by {_on(link)}."


def _next(report: Contents) -> Section:
    """What an owner does with it."""
    exposed = report.anonymity.unique or (report.linkage and report.linkage.linked)
    rows = "Do not share these rows, even without names" if exposed else "That no one is unique is no guarantee"
    sums = "Hold back the unsafe sums, or merge their cells: see below." if _unsafe(report) else ""
    words = (
        f"{rows}: other files, other columns and later releases add to what others know.",
        sums,
        "To publish numbers with a guarantee: sfumato init FILE drafts a project, sfumato ask answers with noise.",
        "To see what an attacker can do with the rows: sfumato attack linkage --data FILE --columns ... --secret ...",
    )
    return Section("What to do next", tuple(filter(None, words)))


def _unsafe(report: Contents) -> bool:
    return report.dominance is not None and report.dominance.unsafe > 0


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _line(each: Uniqueness, what: str) -> tuple[str, ...]:
    return (what, f"{each.unique:,}", percent(each.share), f"{each.groups:,}", f"{each.smallest:,}")


def _head(what: str) -> tuple[str, ...]:
    return (what, "unique", "share", "groups", "smallest group")


def _growth(report: Contents) -> Section:
    lines = [_line(each, ("+ " if place else "") + each.columns[-1]) for place, each in enumerate(report.growth)]
    words = ("The number of unique ones as columns are added in the order given:",)
    return Section("Growth", words, (_head("column"), *lines), (1, 2, 3, 4))


def _worst(report: Contents) -> Section:
    lines = [
        (*_line(each, ", ".join(each.columns) if place < report.size else f"... + {each.columns[-1]}"),
         "exact" if place < report.size or len(each.columns) == len(report.columns) else "greedy")
        for place, each in enumerate(report.worst)
    ]  # fmt: skip
    greedy = " Greedy: at least this many." if any(line[-1] == "greedy" for line in lines) else ""
    words = (f"For each number of columns, the set that singles out the most.{greedy}",)
    return Section("Worst sets", words, ((*_head("columns"), "search"), *lines), (1, 2, 3, 4))


def _sets(report: Contents) -> Section:
    listed = sorted(report.all_sets, key=lambda each: (-each.unique, len(each.columns), each.smallest))
    lines = [_line(each, ", ".join(each.columns)) for each in listed[:MOST_SETS]]
    words = [f"All {len(listed):,} sets of up to {report.size} of {len(report.columns)} columns were tried."]
    if len(listed) > MOST_SETS:
        words.append(f"These {MOST_SETS} single out the most; the JSON report has all.")
    return Section("Sets of columns", tuple(words), (_head("columns"), *lines), (1, 2, 3, 4))


def size_range(least: int, most: int | None) -> str:
    """A range of sizes in words."""
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"


def _sizes(report: Contents) -> Section:
    lines = [
        (size_range(least, most), f"{groups:,}", f"{members:,}")
        for least, most, groups, members in report.anonymity.sizes
    ]
    words = [f"The sizes of groups that share the values of {_few(report.columns)}."]
    if report.unit:
        words.append("A unit with different rows is in several groups.")
    return Section("Sizes of groups", tuple(words), (("size", "groups", report.whom), *lines), (1, 2))


def _diversity(report: Contents, each: Diversity) -> Section:
    share = percent(each.members / each.of) if each.of else "none"
    words = [
        f"l-diversity: l = {each.distinct} different values at least, {each.entropy:.2f} by entropy.",
        f"{each.homogeneous:,} of {each.groups:,} groups are homogeneous: {each.members:,} {report.whom} ({share}) "
        f"are in a group in which all have the same {each.sensitive}.",
        f"{each.several:,} of them are not alone: k-anonymity does not protect them.",
    ]
    if not each.examples:
        return Section(f"What groups reveal: {each.sensitive}", tuple(words))
    lines = [(*map(value_of, one.values), f"{one.size:,}", value_of(one.value)) for one in each.examples]
    head = (*each.columns, report.whom, f"all have {each.sensitive}")
    table = (head, *lines)
    return Section(f"What groups reveal: {each.sensitive}", tuple(words), table, (len(each.columns),))


def _dominance(each: Dominance) -> Section:
    who = f"contributors by {each.contributor}" if each.contributor else "every row is a separate contributor"
    by = f" by {', '.join(each.by)}" if each.by else ""
    words = [
        f"Sums of {each.column}{by}; {who}. {each.unsafe:,} of {each.count:,} are unsafe at p = {each.p:g} %.",
        "In an unsafe sum, the second largest contributor can subtract its part and learn the largest to within p %.",
        f"The largest divided by the sum of all but the second largest is then above {each.threshold:.3f} (the ratio).",
    ]
    if each.left_out:
        words.append(f"{each.left_out:,} rows without a finite number or a contributor are left out.")
    if each.negative:
        words.append(f"{each.negative:,} contributions are negative and count by their size.")
    if len(each.cells) > MOST_CELLS:
        words.append(f"The {MOST_CELLS} worst are shown.")
    head = (*(each.by or ("sum of",)), "contributors", "total", "largest", "second", "too high by", "ratio")
    lines = [
        (
            *(map(value_of, cell.keys) if each.by else ("all",)), f"{cell.contributors:,}", f"{cell.total:,.6g}",
            f"{cell.largest:,.6g}", f"{cell.second:,.6g}", f"{100 * cell.excess:.1f} %", f"{cell.ratio:.3f}",
        )
        for cell in each.cells[:MOST_CELLS]
    ]  # fmt: skip
    width = max(len(each.by), 1)
    return Section(
        f"Sums: the p-percent rule for {each.column}", tuple(words), (head, *lines) if lines else (),
        tuple(range(width, width + 6)),
    )  # fmt: skip


def _linkage(report: Contents, each: Linkage) -> Section:
    words = (
        f"{each.linked:,} of {each.of:,} {report.whom} ({percent(each.share)}) are linked one to one with "
        f"{each.outside} by {_on(each)}: alone with their values on both sides.",
        f"{each.candidates:,} have values that occur there at all; guessing links {_plain(each.expected)} of "
        "them correctly, if those of the smaller group are in the larger one.",
        f"{each.outside} has {each.outsiders:,} rows; missing values link no one.",
    )
    lines = [tuple(map(value_of, example)) for example in each.examples]
    head = tuple(here for here, _ in each.on)
    return Section(f"Linkage with {each.outside}", words, (head, *lines) if lines else ())


def _on(each: Linkage) -> str:
    return ", ".join(here if here == there else f"{here} = {there}" for here, there in each.on)


def _plain(expected: float) -> str:
    return f"{expected:,.1f}".removesuffix(".0")


def _columns(report: Contents) -> Section:
    lines = [_column(each, each.name in report.unit) for each in report.profiles]
    words = (
        '"adds" is how much a column adds to the share of unique ones, on average over the sets that were tried; '
        '"at most" is the largest. "about" marks an estimate.',
    )
    head = ("column", "type", "role", "values", "missing", "unique alone", "adds", "at most")
    if all(each.type == "varchar" for each in report.profiles):  # as in every CSV: nothing to tell, and a narrow screen
        return Section("Columns", words, tuple((name, *rest) for name, _, *rest in (head, *lines)), (2, 3, 4, 5, 6))
    return Section("Columns", words, (head, *lines), (3, 4, 5, 6, 7))


def _column(each: Profile, is_unit: bool) -> tuple[str, ...]:
    values = f"{each.distinct:,}" if each.is_exact else f"about {each.distinct:,}"
    return (
        each.name, each.type, "the unit" if is_unit else _ROLES[each.role], values, f"{each.missing:,}",
        "" if each.unique is None else f"{each.unique:,}",
        "" if each.gain is None else percent(each.gain), "" if each.most is None else percent(each.most),
    )  # fmt: skip


def as_text(report: Contents) -> str:
    """The whole report as plain text."""
    lines = [NOTICE]
    for section in sections(report):
        lines += ["", section.title, *section.words, *_aligned(section)]
    return "\n".join(lines)


def _aligned(section: Section) -> list[str]:
    if not section.table:
        return []
    widths = [max(map(len, column)) for column in zip(*section.table, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in section.right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in section.table
    ]
