"""The zoo on the command line: one broken mechanism with its story, or all of them."""

from __future__ import annotations

from typing import Any, Protocol

from sfumato.audit.exact import ExactFinding, judge
from sfumato.audit.finding import Finding, floor
from sfumato.audit.game import Game
from sfumato.audit.zoo import ZOO, Broken
from sfumato.cli._shared.screen import output, say, show
from sfumato.cli.audit.render import Order, print_finding, put_json
from sfumato.errors import InvalidArgument, MechanismFailed, SfumatoError


class Playing(Order, Protocol):
    """An order that can play."""

    def play(self, chosen: Game, samples: int = ...) -> Finding:
        """Sample, with a bar."""


def audit_broken(broken: Broken, order: Playing) -> bool:
    """One of them, with its story."""
    if broken.masses is not None and order.plot is not None:
        raise InvalidArgument(f"{broken.name} is refuted by exact probabilities, without a chart; leave --plot out")
    found = _found(broken, order)
    if isinstance(found, Finding):
        order.draw(found)
    if order.as_json:
        put_json(found.to_dict())
        return found.refuted
    if not order.quiet:
        say(output(), broken.story)
        say(output(), "\n")
    if isinstance(found, Finding):
        print_finding(found, quiet=order.quiet)
    else:
        claimed = f"claimed    {_claimed(broken)}, neighbors by {broken.game.claim.neighbors.value}"
        say(output(), f"{broken.name}: REFUTED by exact probabilities", "bold red")
        say(output(), f"{claimed}\ncertified  delta at least {found.delta:.3g} at this epsilon, for certain")
    return found.refuted


def audit_zoo(order: Playing) -> bool:
    """All of them; that they are refuted is as it should be, so the zoo as a whole never is."""
    rows, listed = [["broken mechanism", "claimed", "certified", "by the event"]], list[dict[str, Any]]()
    missed = []
    for broken in ZOO:
        try:
            found = _found(broken, order)
        except MechanismFailed as error:  # such as too few samples to tell what its outputs are
            raise error.at(broken.name) from None
        listed.append({"story": broken.story, **found.to_dict()})
        rows.append([broken.name, _claimed(broken), *_certified(found)])
        missed += [] if found.refuted else [broken.name]
    if order.as_json:
        put_json(listed)
    else:
        show(output(), rows)
        say(output(), f"\n{len(ZOO) - len(missed)} of {len(ZOO)} caught. The story of one: sfumato audit {ZOO[0].name}")
    if missed:
        raise SfumatoError(
            f"every broken mechanism must be caught; got {', '.join(missed)} uncaught; give more samples, or leave "
            "--samples and --confidence out"
        )
    return False


def _found(broken: Broken, order: Playing) -> Finding | ExactFinding:
    if broken.masses is not None:
        return judge(broken.name, *broken.masses, broken.game.claim)
    return order.play(broken.game, broken.samples)


def _claimed(broken: Broken) -> str:
    claim = broken.game.claim
    return f"epsilon {float(claim.epsilon):g}" + (f", delta {float(claim.delta):g}" if claim.delta else "")


def _certified(found: Finding | ExactFinding) -> tuple[str, str]:
    """What is certain, and what shows it."""
    if isinstance(found, ExactFinding):
        return f"delta {found.delta:.3g}", "exact probabilities"
    return f"epsilon {floor(found.certified)}" + ("" if found.refuted else ": not caught"), found.best.words
