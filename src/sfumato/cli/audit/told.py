"""A finding as its reader sees it: a table of what was tested, a verdict, or JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Protocol

from sfumato.audit.finding import Finding, floor, said
from sfumato.cli.screen import output, say, show


class Order(Protocol):
    """What is asked of a report."""

    @property
    def as_json(self) -> bool:
        """For a program."""

    @property
    def quiet(self) -> bool:
        """The verdict alone."""

    @property
    def plot(self) -> Path | None:
        """Where a chart is wanted."""

    def draw(self, finding: Finding) -> None:
        """The chart, if one was asked for."""


def put_json(content: Any) -> None:
    """As one text on the output."""
    output().out(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False), highlight=False)


def show_finding(finding: Finding, order: Order) -> None:
    """Print it, and draw it where that was asked for."""
    if order.as_json:
        put_json(finding.to_dict())
    else:
        _print(finding, quiet=order.quiet)
    order.draw(finding)


def _print(finding: Finding, *, quiet: bool) -> None:
    console = output()
    claim = finding.claim
    delta = f", delta {float(claim.delta):g}" if claim.delta else ""
    verdict = "REFUTED" if finding.refuted else "not refuted"
    say(console, f"{finding.name}: {verdict}", "bold red" if finding.refuted else "bold green")
    say(console, f"claimed    epsilon {float(claim.epsilon):g}{delta}, neighbours by {claim.neighbours.value}")
    say(console, f"certified  epsilon at least {floor(finding.certified)}, with confidence {said(finding.confidence)}")
    if quiet:
        return
    rows = [["event", "likelier on", "there", "on the other", "epsilon at least"]]
    rows += [
        [each.words, each.likelier, f"{each.hits:,}", f"{each.others:,}", floor(each.certified)]
        for each in finding.tested
    ]
    say(console, f"\nTested on {finding.best.trials:,} new outputs a side, after learning from as many:")
    show(console, rows, right=(2, 3, 4))
    say(console, _meaning(finding))


def _meaning(finding: Finding) -> str:
    """What follows, and what does not."""
    if finding.refuted:
        return (
            "\nThe claim is false, if these inputs are neighbours: an honest mechanism shows this less often than once "
            f"in {_rarely(finding)}"
        )
    most = f"{finding.samples:,} samples a side can certify at most {floor(finding.ceiling)}"
    if not finding.could_refute:
        return f"\n{most}: too few to refute this claim. Take more: --samples {10 * finding.samples}"
    return f"\nNothing was found. That is no proof: other neighbours may tell more; {most}."


def _rarely(finding: Finding) -> str:
    return f"{math.floor(1 / (1 - finding.confidence) + 0.5):,} audits."
