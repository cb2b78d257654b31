"""A question in SQL under audit: on made-up neighbors of the declared tables; the real ones are never read."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from sfumato.audit.draw import Progress
from sfumato.audit.finding import Finding
from sfumato.audit.sql.question import Recorded, question_game, record_plan
from sfumato.cli._shared import options as given
from sfumato.cli._shared.screen import output, say, show
from sfumato.cli.audit.render import print_finding, put_json
from sfumato.cli.audit.zoo import Playing
from sfumato.curator.options import Options
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee


class Asking(Playing, Protocol):
    """An order that shows its progress."""

    @property
    def samples(self) -> int | None:
        """How many answers are sampled; none: the recorder alone."""

    def progress(self, what: str) -> AbstractContextManager[Progress]:
        """A bar on a terminal."""


def audit_question(text: str, epsilon: float | None, delta: float | None, where: Path | None, order: Asking) -> bool:
    """By a recorder; with --samples, or for a chart, by sampling as well."""
    with Ledger.in_memory() as ledger:
        curator = given.curator_for(given.load_project(where), text, ledger)
        claimed = 1.0 if epsilon is None else epsilon
        plan = curator.plan(text.strip().rstrip(";"), claimed, Options(delta=delta or 0))
        with order.progress("recording on neighboring tables") as progress:
            recorded = record_plan(plan, progress=progress)
        finding = None
        if order.samples is not None or order.plot is not None:
            with question_game(plan) as chosen:
                finding = order.play(chosen, samples=2_000)
    _report(recorded, finding, plan.promise, order)
    return recorded.refuted or (finding is not None and finding.refuted)


_RELEASES = {
    "contributions": "how much people contribute: the limit on one person is chosen by it",
    "magnitudes": "how large values are: their bounds are chosen by it",
    "averages": "where people's averages lie: the mean is taken about their middle",
    "cells": "the counts and sums of the answer",
    "keys": "how many people have a key: whether it is shown",
    "landmarks": "where all values lie, coarsely",
    "groups": "where each group's values lie, coarsely",
    "place": "the same, closer about the quantile",
    "around": "values about the quantile: the answer and its interval",
}


def _named(label: str) -> tuple[str, str]:
    """A release as the recorder calls it, and in words."""
    return label, _RELEASES.get(label.partition(" ")[0], "a release of this question")


def _report(recorded: Recorded, finding: Finding | None, claim: Guarantee, order: Asking) -> None:
    if finding is not None:
        order.draw(finding)
    if order.as_json:
        sampled = None if finding is None else finding.to_dict()
        content: dict[str, Any] = {
            "refuted": recorded.refuted or (finding is not None and finding.refuted),
            "claimed": {"epsilon": float(claim.epsilon), "delta": float(claim.delta)},
            "neighbors": claim.neighbors.value,
            "recorder": recorded.to_dict(),
            "sampling": sampled,
        }
        put_json(content)
        return
    console = output()
    verdict = "REFUTED" if recorded.refuted else "not refuted"
    say(console, f"{recorded.question}: {verdict}", "bold red" if recorded.refuted else "bold green")
    delta = f", delta {float(claim.delta):g}" if claim.delta else ""
    say(console, f"claimed    epsilon {float(claim.epsilon):g}{delta}, neighbors by {claim.neighbors.value}")
    if recorded.refuted:
        say(console, "\n".join(recorded.violations[:5]))
    elif not order.quiet:
        say(
            console,
            f"\nOn {recorded.pairs} pairs of made-up neighboring tables of the declared schema no release moved "
            "further than its noise is made for:",
        )
        rows = [["release", "what it is", "moved by, at most"]]
        show(console, rows + [[*_named(label), f"{part:.0%}"] for label, part in recorded.used.items()], right=(2,))
        say(
            console,
            "\n100% is all that the noise covers; more would refute the claim for certain. That none was found is no "
            "proof: other tables may tell more. No real row was read, nothing was charged.",
        )
    if finding is not None:
        say(console, "\nAnd by sampling what it answers:")
        print_finding(finding, quiet=order.quiet)
