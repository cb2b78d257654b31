"""The game of an audit: two neighboring inputs, a mechanism that gets one of them, and what it claims.

>>> from sfumato.mechanisms import Geometric
>>> finding = game(Geometric(sensitivity=1, epsilon=1), 0, 1).play(samples=20_000)
>>> 0.7 < finding.certified < 1.1, finding.refuted
(True, False)
"""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato import checks, rounding
from sfumato.audit.draw import Outputs, Patience, Progress, Sample, draw, words
from sfumato.audit.finding import Finding, Tested, ceiling, short
from sfumato.audit.outputs.events import MOST_EVENTS, Event, MoreLenses, Parts, learn, no_lenses
from sfumato.audit.outputs.outputs import Floats, Reader
from sfumato.audit.picture import picture
from sfumato.audit.timing import Clock, draw_timed, timing_lenses
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, MechanismFailed, SfumatoError
from sfumato.mechanisms.mechanism import Declared
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors, Relation

LEAST, MOST, SAMPLES, CONFIDENCE, SECONDS = 100, 100_000_000, 100_000, 0.999, 300.0


@contextmanager
def _reading() -> Iterator[None]:
    """Outputs are somebody else's as well, and may do anything when they are compared."""
    try:
        yield
    except SfumatoError:
        raise
    except (Exception, SystemExit) as error:
        raise MechanismFailed(
            f"outputs must be numbers, vectors, sets of keys, or one of few categories; reading one raised "
            f"{words(error)}; return plain values"
        ) from error


def _silent(done: int, of: int) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Game:
    """A mechanism as something to draw outputs from, two neighbors and a claim; made by `game`."""

    name: str
    sample: Sample = field(repr=False)
    value: Any
    neighbor: Any
    claim: Guarantee
    words: tuple[str, str] | None = None  # what the inputs are called where they do not say it themselves

    def play(
        self,
        samples: int = SAMPLES,
        confidence: checks.Number = CONFIDENCE,
        *,
        entropy: Entropy = SYSTEM,
        seconds: checks.Number = SECONDS,
        progress: Progress = _silent,
    ) -> Finding:
        """Draw so many outputs for each neighbor, learn events from one half and test them on the other.

        With probability `confidence` at least the bound that is found holds, so an honest mechanism is accused no more
        often than that. Outputs must not depend on each other: a mechanism that remembers earlier calls is not audited
        by this. `progress` is called with the samples drawn so far, and with how many there will be.
        """
        count, began = _read_samples(samples), time.monotonic()
        patience = Patience(float(checks.positive(seconds=seconds)))
        both = draw(self.sample, (self.value, self.neighbor), count, entropy, patience, progress)
        with _reading():
            reader = _reader(both)
            rows = [reader.read(side) for side in both]
        return self._found(reader, rows, confidence, began)

    def play_timing(
        self,
        samples: int = SAMPLES,
        confidence: checks.Number = CONFIDENCE,
        *,
        entropy: Entropy = SYSTEM,
        seconds: checks.Number = SECONDS,
        progress: Progress = _silent,
        clock: Clock = time.perf_counter_ns,
    ) -> Finding:
        """Measure how long each release takes and certify what the output and its duration tell together.

        The two neighbors are released in turns, in random order, so that a machine that slows down slows both alike.
        The bound holds for this machine, this clock and the load during the audit: it says what someone saw who timed
        these releases, not what everyone can see. `clock` returns the time in nanoseconds.
        """
        count, began = _read_samples(samples), time.monotonic()
        patience = Patience(float(checks.positive(seconds=seconds)))
        timed = draw_timed(self.sample, (self.value, self.neighbor), count, entropy, patience, progress, clock)
        with _reading():
            reader = _reader(timed.outputs)
            rows = [
                np.column_stack([reader.read(outputs), durations])
                for outputs, durations in zip(timed.outputs, timed.durations, strict=True)
            ]
        medians = tuple(float(np.median(side)) for side in timed.durations)
        return self._found(reader, rows, confidence, began, timing_lenses, (medians[0], medians[1]))

    def _found(
        self,
        reader: Reader,
        rows: list[Floats],
        confidence: checks.Number,
        began: float,
        more: MoreLenses = no_lenses,
        durations: tuple[float, float] | None = None,
    ) -> Finding:
        """Learn events from the first half of the rows and test them on the second."""
        miss = float(1 - checks.inside(confidence=confidence)) / (2 * MOST_EVENTS)
        delta, count = rounding.up(self.claim.delta), len(rows[0])
        half = count // 2
        early, late = ([side[cut] for side in rows] for cut in (slice(half), slice(half, None)))
        events = learn(reader, _parts(early), delta, miss, more)
        tested = sorted((_test(event, late, delta, miss) for event in events), key=lambda pair: -pair[0].certified)
        return Finding(
            self.name,
            self.claim,
            count,
            float(confidence),
            tested[0][0].certified,
            ceiling(count - half, delta, miss),
            tuple(each for each, _ in tested),
            time.monotonic() - began,
            tested[0][1].lens.name,
            picture(reader, tested[0][1], late),
            self.words or (short(self.value), short(self.neighbor)),
            durations,
        )


def game(
    mechanism: Any,
    value: Any,
    neighbor: Any,
    *,
    epsilon: checks.Number | None = None,
    delta: checks.Number = 0,
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE,
    name: str | None = None,
) -> Game:
    """Let a mechanism be audited on two neighboring inputs.

        mechanism   a mechanism of this package, or a function of one input that returns one output. Where it has a
                    method `sample(value, count)`, that is called for many outputs at once
        value       one input, and `neighbor` the other: numbers, vectors, lists of rows, whatever it takes
        epsilon     what it claims; left out: what the mechanism's own `guarantee` says; with `delta` and `neighbors`

    >>> game(lambda count: count, 3, 4, epsilon=1).play(samples=1_000).refuted  # no noise at all
    True
    """
    own = getattr(mechanism, "guarantee", None)
    if epsilon is not None:
        claim = Guarantee(epsilon, delta, neighbors)
    elif isinstance(own, Guarantee):
        claim = own
    else:
        raise InvalidArgument("epsilon must be given, since the mechanism does not say what it claims; for example 1")
    _check_neighbors(value, neighbor, claim.neighbors)
    if epsilon is None:  # its own claim is about inputs as near as it declares; another claim is the caller's
        _check_apart(mechanism, value, neighbor)
    called: str = name or getattr(mechanism, "__name__", None) or type(mechanism).__name__
    return Game(called, _sampled(mechanism), value, neighbor, claim)


def _check_apart(mechanism: Any, value: Any, neighbor: Any) -> None:
    """Refuse inputs that are further apart than the mechanism itself says; of others nothing is known."""
    if isinstance(mechanism, Declared):
        mechanism.check_neighbors(value, neighbor)


def _sampled(mechanism: Any) -> Sample:
    """Many outputs at once where the mechanism offers it, else one after another."""
    if isinstance(mechanism, type):
        raise InvalidArgument(
            f"a mechanism must be a function of one input, or have a method release; got the class "
            f"{mechanism.__name__}; make one of it: {mechanism.__name__}(...)"
        )
    if callable(many := getattr(mechanism, "sample", None)):
        return lambda value, count, entropy: many(value, count)
    if callable(release := getattr(mechanism, "release", None)):
        if _takes_entropy(release):
            return lambda value, count, entropy: [release(value, entropy) for _ in range(count)]
        return lambda value, count, entropy: [release(value) for _ in range(count)]
    if callable(mechanism):
        return lambda value, count, entropy: [mechanism(value) for _ in range(count)]
    raise InvalidArgument(
        f"a mechanism must be a function of one input, or have a method release; got a {type(mechanism).__name__}; "
        "wrap it in a function"
    )


def _takes_entropy(release: Callable[..., Any]) -> bool:
    """Whether it takes a source of randomness beside its value, as mechanisms of this package do."""
    try:
        return "entropy" in inspect.signature(release).parameters
    except (TypeError, ValueError):  # it does not say
        return False


def _check_neighbors(value: Any, neighbor: Any, relation: Neighbors) -> None:
    """Refuse inputs that are certainly no neighbors: the same, or rows that differ by more than one of them."""
    both = value, neighbor
    if type(value) is type(neighbor) and _same(value, neighbor):
        raise InvalidArgument("value and neighbor must differ by one unit; got the same twice; change one of them")
    if not all(isinstance(each, list | tuple) for each in both) or len(value) == len(neighbor):
        return  # numbers, or vectors of the same length: how far they may be apart is not known here
    if relation is Neighbors.REPLACE:
        raise InvalidArgument(
            f"neighbors under replace must have as many rows; got {len(value)} and {len(neighbor)}; change one row"
        )
    small, large = sorted(both, key=len)
    if len(large) - len(small) > 1 or Counter(map(repr, small)) - Counter(map(repr, large)):
        raise InvalidArgument(
            f"neighbors must differ by one row; got {len(value)} and {len(neighbor)} rows that differ by more; "
            "add or remove one row only"
        )


def _same(value: Any, neighbor: Any) -> bool:
    if isinstance(value, np.ndarray):  # whose texts leave out the middle
        return bool(value.shape == neighbor.shape and value.tobytes() == neighbor.tobytes())
    return repr(value) == repr(neighbor)


def _read_samples(samples: int) -> int:
    count = checks.whole(least=0, samples=max(samples, 0) if isinstance(samples, int) else samples)
    for wrong, rule in ((count < LEAST, f"at least {LEAST}"), (count > MOST, f"at most {MOST:,}")):
        if wrong:
            raise InvalidArgument(f"samples must be {rule} a side; got {samples:,}; 100,000 finds most")
    return count


def _joined(mine: Outputs, theirs: Outputs) -> Outputs:
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray) and mine.shape == theirs.shape:
        return np.concatenate([mine, theirs])
    return [*mine, *theirs]


def _reader(both: Sequence[Outputs]) -> Reader:
    """How to read outputs, learned from the first half of them."""
    half = len(both[0]) // 2
    first = both[0][:half], both[1][:half]
    return Reader.learn(_joined(*first), first)


def _parts(early: list[Floats]) -> Parts:
    """The first half again in two: to order, and to choose."""
    middle = len(early[0]) // 2
    return Parts((early[0][:middle], early[1][:middle]), (early[0][middle:], early[1][middle:]))


def _test(event: Event, late: list[Floats], delta: float, miss: float) -> tuple[Tested, Event]:
    value, neighbor = (int(np.count_nonzero(event.holds(rows))) for rows in late)
    hits, others = (neighbor, value) if event.swapped else (value, neighbor)
    return Tested.of(event.words, event.swapped, hits, others, len(late[0]), delta, miss), event
