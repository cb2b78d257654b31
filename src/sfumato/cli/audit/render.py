"""A finding as its reader sees it: a table of what was tested, a verdict, or JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Protocol

from sfumato.audit.finding import Finding, Tested, floor, said
from sfumato.cli._shared.screen import output, say, show

_LINE = 50  # characters of two inputs on one line


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
        """The chart, if one was asked for; before anything is printed."""


def put_json(content: Any) -> None:
    """As one text on the output."""
    output().out(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False), highlight=False)


def show_finding(finding: Finding, order: Order) -> None:
    """Draw it where that was asked for, and print it."""
    order.draw(finding)
    if order.as_json:
        put_json(finding.to_dict())
    else:
        print_finding(finding, quiet=order.quiet)


def print_finding(finding: Finding, *, quiet: bool) -> None:
    """Its verdict, and what was tested."""
    console = output()
    claim = finding.claim
    delta = f", delta {float(claim.delta):g}" if claim.delta else ""
    say(console, f"{finding.name}: {'REFUTED' if finding.refuted else 'not refuted'}", _style(finding))
    say(console, f"claimed    epsilon {float(claim.epsilon):g}{delta}, neighbors by {claim.neighbors.value}")
    say(console, f"certified  epsilon at least {floor(finding.certified)}, with confidence {said(finding.confidence)}")
    if finding.refuted:
        say(console, f"exceeded   the claim by {floor(finding.excess)}, at least")
    if quiet:
        return
    value, neighbor = finding.inputs
    apart = "\n           " if len(value) + len(neighbor) > _LINE else ", "
    say(console, f"inputs     value {value}{apart}neighbor {neighbor}")
    if finding.durations is not None:
        say(console, f"measured   {finding.measured}")
    if telling := [each for each in finding.tested if each.certified > 0]:
        rows = [["event", "on value", "on neighbor", "epsilon at least"]]
        rows += [[each.words, *_counts(each), floor(each.certified)] for each in telling]
        say(console, f"\nTested on {finding.best.trials:,} new outputs a side, after learning from as many:")
        show(console, rows, right=(1, 2, 3))
    else:
        say(console, f"\nNo event told them apart on {finding.best.trials:,} new outputs a side.")
    say(console, f"\n{_meaning(finding)}")


def _style(finding: Finding) -> str:
    """Green for a bound that says something; yellow where next to nothing was seen."""
    if finding.refuted:
        return "bold red"
    return "bold green" if finding.could_refute and finding.certified > 0 else "bold yellow"


def _counts(tested: Tested) -> tuple[str, str]:
    """How often it happened on the value and on the neighbor."""
    both = f"{tested.hits:,}", f"{tested.others:,}"
    return both if tested.likelier == "value" else (both[1], both[0])


def _meaning(finding: Finding) -> str:
    """What follows, and what does not."""
    if finding.refuted:
        wrong = math.floor(1 / (1 - finding.confidence) + 0.5)
        chance = f"unless this is the one audit in {wrong:,} that may accuse an honest mechanism"
        if finding.durations is not None:
            return f"Someone who times releases on this machine learns more than the claim allows, {chance}."
        return f"The claim is false, {chance}."
    most = f"{finding.samples:,} samples a side can certify at most {floor(finding.ceiling)}"
    if not finding.could_refute:
        return f"{most}: too few to refute this claim. Take more: --samples {10 * finding.samples}"
    if finding.certified == 0:
        return (
            f"That is no proof, and says little: {most}, but nothing was seen on these inputs. Others may show more "
            f"(--value and --neighbor), and so may more samples: --samples {10 * finding.samples}"
        )
    if finding.durations is not None:
        more = "other neighbors, another machine or a quieter one may tell more"
        return f"Nothing was found. That is no proof: {more}; {most}."
    return f"Nothing was found. That is no proof: other neighbors may tell more; {most}."
