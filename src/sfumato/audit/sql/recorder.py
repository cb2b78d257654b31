"""A recorder in the place of the noise, and what it finds in runs of one question on neighboring tables.

Every release of a question goes through a `Releaser`, with the exact vector and with how far one unit can move it. The
recorder keeps both and returns what a script says: the same outputs on both sides, whatever the data, so that all that
is decided from outputs is decided alike. Then what reached each release on one side may differ from the other side by
no more than was claimed there, and what is made of the outputs may not differ at all. No statistics: a difference that
is too large is a proof. Exact numbers are watched as well: only a release may look at one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from sfumato.audit.sql.simulation import Dice
from sfumato.audit.sql.taint_tracking import Watched
from sfumato.curator.measurement.measure import Measured, measure_all
from sfumato.curator.measurement.release import vector_of
from sfumato.dataset.column import Key
from sfumato.engines.engine import Run
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.share import Share

Group = tuple[Key, ...]
Script = Callable[[str, Sequence[int]], list[int]]


@dataclass(frozen=True)
class Released:
    """What reached a release: the exact vector, and how far one unit may move it (in L2: the square)."""

    label: str
    exact: list[int]
    moves: int
    share: Share


@dataclass(frozen=True)
class Selected:
    """What reached a look for keys: the score of each, the threshold, and how far one unit may move the scores."""

    label: str
    exact: dict[Group, int]
    threshold: int
    moves: int
    share: Share


class Recorder:
    """A `Releaser` that keeps what arrives, and returns what a script says, which sees labels and vectors.

    Which keys are shown is decided by the first table: two of three, and nearly none of a second look. `shown` carries
    that from one table to the next.
    """

    def __init__(self, script: Script, shown: dict[str, set[Group]] | None = None) -> None:
        self.released: list[Released] = []
        self.selected: list[Selected] = []
        self.measured: list[Measured] = []
        self.looks: list[str] = []
        self._script = script
        self._shown = {} if shown is None else shown

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        """Keep the vector."""
        vector = [int(number) for number in exact]
        self.released.append(Released(label, vector, moves, share))
        return list(self._script(label, vector))

    def select(
        self, label: str, exact: Mapping[Group, int], threshold: int, moves: int, share: Share
    ) -> dict[Group, int]:
        """Keep the scores."""
        scores = {key: int(score) for key, score in exact.items()}
        self.selected.append(Selected(label, scores, threshold, moves, share))
        places = enumerate(sorted(exact, key=repr))
        shown = {key for place, key in places if (place % 3 != 1 if label == "keys 0" else place % 7 == 6)}
        return dict.fromkeys(self._shown.setdefault(label, shown), threshold + 1)


def record(plan: PricedPlan, run: Run, script: Script, shown: dict[str, set[Group]] | None = None) -> Recorder:
    """Run a question with a recorder in the place of the noise."""
    recorder, watched = Recorder(script, shown), Watched(run)
    recorder.measured = measure_all(plan, cast(Run, watched), recorder)
    recorder.looks = watched.looks
    return recorder


def zeros(label: str, exact: Sequence[int]) -> list[int]:
    """A script: nothing is ever there."""
    return [0] * len(exact)


def large(label: str, exact: Sequence[int]) -> list[int]:
    """A script: very much is everywhere."""
    return [10**9] * len(exact)


def seeded(seed: int) -> Script:
    """A script of any numbers, which follow from seed, label and length."""

    @cache
    def numbers(label: str, length: int) -> list[int]:
        dice = Dice(f"{seed} {label} {length}")
        size = dice.among((10, 10**4, 10**12))
        return [dice.among((0, 0, dice.between(-size, size))) for _ in range(length)]

    return lambda label, exact: numbers(label, len(exact))


def realistic(seed: int) -> Script:
    """A script: the first table's exact values with heavy noise; on all tables after it the same outputs again."""
    first: dict[str, list[int]] = {}

    def script(label: str, exact: Sequence[int]) -> list[int]:
        dice = Dice(f"{seed} {label}")
        if label not in first:
            boost = 1 if label.startswith("cells") else dice.among((1, 10**4))
            first[label] = [value * boost + dice.between(-3, 3) for value in exact]
        return first[label]

    return script


SCRIPTS: tuple[Callable[[int], Script], ...] = (lambda _: zeros, lambda _: large, seeded, realistic, realistic)


def violations(plan: PricedPlan, here: Recorder, there: Recorder) -> list[str]:
    """What two neighbors release differently, beyond what is claimed; and shares that do not add up."""
    paid = {vector_of(r.label): r.share.amount for r in here.released}  # once for all parts of a vector
    spent = sum(paid.values()) + sum(s.share.amount for s in here.selected)
    wrong = [] if spent == plan.whole.amount else ["the shares do not add up"]
    return [*wrong, *_moved_too_far(here, there), *_misplaced_keys(plan, here, there), *_let_through(here, there)]


def used(here: Recorder, there: Recorder) -> dict[str, float]:
    """By release, how much of the claimed distance two neighbors use; 1 is all of it."""
    pairs = zip(here.released, there.released, strict=False)
    alike = [(a, b) for a, b in pairs if len(a.exact) == len(b.exact)]
    moves = {vector_of(a.label): a.moves for a, _ in alike}
    return {label: distance / moves[label] for label, distance in _distances(alike).items()}


def _distances(pairs: Sequence[tuple[Released, Released]]) -> dict[str, int]:
    """How far apart two neighbors are in each vector, over all its parts."""
    distances: dict[str, int] = {}
    for here, there in pairs:
        vector = vector_of(here.label)
        distances[vector] = distances.get(vector, 0) + _distance(here, there)
    return distances


def _distance(here: Released, there: Released) -> int:
    power = 1 if here.share.norm is Norm.L1 else 2  # in L2 the squares are compared
    return sum(abs(a - b) ** power for a, b in zip(here.exact, there.exact, strict=True))


def _moved_too_far(here: Recorder, there: Recorder) -> list[str]:
    shapes = [[(r.label, len(r.exact), r.moves, r.share) for r in side.released] for side in (here, there)]
    if shapes[0] != shapes[1]:
        return ["labels, lengths, moves or shares depend on data"]
    labels = [r.label for r in here.released]
    if len(labels) > len(set(labels)):
        return ["something is released twice"]
    claimed = dict.fromkeys((vector_of(r.label), r.moves, r.share) for r in here.released)
    if len(claimed) > len({label for label, _, _ in claimed}):
        return ["two parts of one vector differ in moves or shares"]
    distances = _distances(list(zip(here.released, there.released, strict=True)))
    moved = [(label, distances[label], moves) for label, moves, _ in claimed]
    return [f"{label} moved by {distance}, claimed {moves}" for label, distance, moves in moved if distance > moves]


def _let_through(here: Recorder, there: Recorder) -> Iterator[str]:
    """What the answer is made of although no release gave it: it must be the same on both sides, also in its order."""
    if here.looks or there.looks:
        yield f"an exact number was looked at, by {(here.looks or there.looks)[0]}, where only a release may"
    order = [[[repr(key) for key in each.cells] for each in side.measured] for side in (here, there)]
    if order[0] != order[1] or here.measured != there.measured:
        yield "the answer differs although all releases gave the same"


def _misplaced_keys(plan: PricedPlan, here: Recorder, there: Recorder) -> Iterator[str]:
    """What is wrong with scores of keys: those on both sides moved too far, or one side's own are too heavy."""
    looks = () if plan.key_discovery is None else plan.key_discovery.rounds
    if not len(looks) == len(here.selected) == len(there.selected):
        yield "how often keys are looked for depends on data"
    for look, mine, theirs in zip(looks, here.selected, there.selected, strict=False):
        if (mine.threshold, mine.moves, mine.share) != (theirs.threshold, theirs.moves, theirs.share):
            yield f"{mine.label}: threshold, moves or share depend on data"
        power = 1 if mine.share.norm is Norm.L1 else 2
        both = mine.exact.keys() & theirs.exact.keys()
        distance = sum(abs(mine.exact[key] - theirs.exact[key]) ** power for key in both)
        if distance > mine.moves:
            yield f"{mine.label} moved by {distance}, claimed {mine.moves}"
        spelled = [{repr(key) for key in side.exact if key in both} for side in (mine, theirs)]
        if spelled[0] != spelled[1]:
            yield f"{mine.label}: a key is spelled as one unit spells it"
        for side in (mine, theirs):
            scores = [score for key, score in side.exact.items() if key not in both]
            if len(scores) > len(look.weights):
                yield f"{mine.label}: {len(scores)} keys of one unit, {len(look.weights)} may count"
            elif scores and max(scores) > look.weights[len(scores) - 1]:
                yield f"{mine.label}: {len(scores)} keys of one unit have {max(scores)}"
