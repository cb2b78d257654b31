"""Find the keys of a question that nobody listed, privately; what follows treats them as if they were declared.

Proof: docs/proofs/unknown_keys.md.
"""

from __future__ import annotations

from sfumato.curator.measurement.release import Releaser
from sfumato.dataset.column import Key
from sfumato.engines.engine import Run
from sfumato.plan.pricing.key_discovery import KeyDiscovery


def find_keys(key_discovery: KeyDiscovery, run: Run, releaser: Releaser) -> dict[tuple[Key, ...], int]:
    """The keys that enough units have, in order, with their noisy scores."""
    found: dict[tuple[Key, ...], int] = {}
    for number, look in enumerate(key_discovery.rounds):
        scores = run.scores(look.weights, found.keys())
        found |= releaser.select(f"keys {number}", scores, look.threshold, look.moves, look.share)
    listed = sorted(found)
    run.choose(listed)
    return {key: found[key] for key in listed}
