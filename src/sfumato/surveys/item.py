"""A question with the mechanism that randomizes its answers: what is sent, as a text, and how it is read back.

Numbers are written in decimal digits; rows of bits (unary, every-box) in hexadecimal ones, two a byte, answer i being
bit i % 8 of byte i // 8. What a device has to do is in docs/concepts/what-a-respondent-sends.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.entropy import Entropy
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms import Geometric
from sfumato.mechanisms.local import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    PaddedResponse,
    PiecewiseResponse,
    UnaryResponse,
)
from sfumato.mechanisms.samplers import discrete_laplace
from sfumato.surveys.question import Boxes, Choice, Number, Question, in_rows

Randomizer = (
    BlockResponse | UnaryResponse | BoxResponse | PaddedResponse | DuchiResponse | PiecewiseResponse | Geometric
)
Received = NDArray[Any]  # whole numbers, or rows of bytes
FARTHEST = 1 << 60  # of what Laplace noise may send
LARGEST_EPSILON = 1_000  # of one question: beyond, the odds alone are a page of digits
MOST_SHARES = 1_000_000  # a number that every language holds exactly
_WHOLE = re.compile("-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Item:
    """A question of a design; `share` is its part of epsilon, or of the people where each is asked one question."""

    question: Question
    epsilon: Fraction
    mechanism: Randomizer
    share: int = 1

    def __post_init__(self) -> None:
        if checks.whole(least=1, share=self.share) > MOST_SHARES:
            raise InvalidArgument(f"share must be at most {MOST_SHARES:,}; got {self.share}; 1 is usual")
        if self.epsilon > LARGEST_EPSILON:
            raise InvalidArgument(
                f"{self.name}: epsilon must be at most {LARGEST_EPSILON:,}; got {float(self.epsilon):g}; "
                f"{checks.HELP['epsilon']}"
            )
        if Fraction(self.mechanism.epsilon) > self.epsilon or not self._fits():
            raise InvalidArgument(
                f"{self.name}: the mechanism must be one for its answers that costs at most epsilon "
                f"{float(self.epsilon):g}; got another; let `design` choose it"
            )

    def _fits(self) -> bool:
        """Whether the mechanism is one for the answers to this question."""
        match self.mechanism, self.question:
            case (BlockResponse() | UnaryResponse()) as mechanism, Choice() as question:
                return tuple(mechanism.categories) == question.categories
            case (BoxResponse() | PaddedResponse()) as mechanism, Boxes() as question:
                return (tuple(mechanism.boxes), mechanism.most) == (question.answers, question.most)
            case (DuchiResponse() | PiecewiseResponse()) as mechanism, Number() as question:
                return mechanism.scale == question.scale
            case Geometric() as mechanism, Number() as question:
                return mechanism.sensitivity == question.scale.steps
        return False

    @property
    def name(self) -> str:
        """The question's name."""
        return self.question.name

    @property
    def oracle(self) -> str:
        """The word for the mechanism in a design file."""
        match self.mechanism:
            case BlockResponse():
                return self.mechanism.blocks.name
            case UnaryResponse():
                return "unary"
            case BoxResponse():
                return "every-box" if self.mechanism.every else "one-box"
            case PaddedResponse():
                return "padded"
            case DuchiResponse():
                return "duchi"
            case PiecewiseResponse():
                return "piecewise"
        return "laplace"

    @property
    def bits(self) -> int | None:
        """How many bits are sent where they stand in bytes; None: a whole number is sent."""
        match self.mechanism:
            case UnaryResponse():
                return len(self.mechanism.categories)
            case BoxResponse(every=True):
                return len(self.mechanism.boxes)
        return None

    def send(self, answer: Any, entropy: Entropy) -> str:
        """What one person sends; nothing, if the question was not answered and this may be seen."""
        place: Any = self.question.place(answer)
        if place is None:
            return ""
        match self.mechanism, self.question:
            case (BlockResponse() | UnaryResponse()) as mechanism, Choice() as question:
                sent = mechanism.release(question.categories[place], entropy)
            case (BoxResponse() | PaddedResponse()) as mechanism, Boxes() as question:
                sent = mechanism.release([question.answers[each] for each in place], entropy)
            case (DuchiResponse() | PiecewiseResponse()) as mechanism, Number(scale=scale):
                sent = mechanism.release(scale.low + (scale.high - scale.low) * place / scale.steps, entropy)
            case Geometric() as mechanism, _:
                sent = mechanism.release(place, entropy)
            case _:
                raise TypeError(self.oracle)
        return str(sent) if self.bits is None else sent.to_bytes((self.bits + 7) // 8, "little").hex()

    def send_all(self, answers: Sequence[Any], entropy: Entropy, asked: Sequence[bool] | None = None) -> list[str]:
        """What many people send, one each, in their order; `asked`: who is asked at all."""
        places = self.check(answers)
        is_asked = [True] * len(places) if asked is None else asked
        answered = [i for i, place in enumerate(places) if place is not None and is_asked[i]]
        sent = self._released([places[i] for i in answered], entropy) if answered else np.empty(0, np.int64)
        texts = [row.tobytes().hex() for row in sent] if sent.ndim == 2 else list(map(str, sent.tolist()))
        if len(answered) == len(places):
            return texts
        every = [""] * len(places)
        for i, text in zip(answered, texts, strict=True):
            every[i] = text
        return every

    def check(self, answers: Sequence[Any]) -> list[Any]:
        """The places of answers; refuse those that are none."""
        if isinstance(self.question, Choice):
            return [*self.question.places(answers)]
        found: list[Any] = []
        strange: list[tuple[int, OutsideRange]] = []
        for row, answer in enumerate(answers):
            try:
                found.append(self.question.place(answer))
            except OutsideRange as refusal:
                strange.append((row, refusal))
        if strange:
            row, first = strange[0]
            told, apart, hint = str(first).rpartition("; ")
            raise OutsideRange(f"{told}{in_rows(len(strange), len(answers), row)}{apart}{hint}")
        return found

    def _released(self, places: list[Any], entropy: Entropy) -> Received:
        match self.mechanism:
            case BoxResponse() | PaddedResponse():
                ticks = np.zeros((len(places), len(self.mechanism.boxes)), np.bool_)
                for row, chosen in zip(ticks, places, strict=True):
                    row[list(chosen)] = True
                return self.mechanism.release_all(ticks, entropy)
            case Geometric():
                scale = Fraction(self._steps) / self.epsilon
                return np.array(places) + discrete_laplace(scale).draw(len(places), entropy)
        return self.mechanism.release_all(np.array(places, np.int64), entropy)

    @property
    def _steps(self) -> int:
        assert isinstance(self.question, Number)
        return self.question.scale.steps

    def receive(self, texts: Sequence[str]) -> Received:
        """What was sent, read back; every text must be one that this question's mechanism can send."""
        if self.bits is not None:
            return self._bytes(texts, (self.bits + 7) // 8)
        if strange := sum(not _is_whole(text) for text in texts):
            raise self._strange(strange)
        numbers = np.array([int(text) for text in texts], np.int64)
        is_sent = self._is_sent(numbers)
        if not is_sent.all():
            raise self._strange(int((~is_sent).sum()))
        return numbers

    def _is_sent(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        match self.mechanism:
            case BlockResponse():
                return self.mechanism.blocks.is_output(len(self.mechanism.categories), numbers)
            case PaddedResponse():
                return self.mechanism.blocks.is_output(len(self.mechanism.boxes) + 1, numbers)
            case BoxResponse():
                return np.asarray((numbers >= 0) & (numbers < 2 * len(self.mechanism.boxes)))
            case DuchiResponse():
                return np.asarray((numbers == 0) | (numbers == 1))
            case PiecewiseResponse():
                return np.asarray((numbers >= 0) & (numbers < self._steps + int(self.mechanism.width or 0)))
        return np.abs(numbers) <= FARTHEST

    def _bytes(self, texts: Sequence[str], wide: int) -> Received:
        try:
            rows = np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), wide)
        except ValueError:
            rows = np.zeros((0, wide), np.uint8)
        spare = 8 * wide - int(self.bits or 0)
        is_right = len(rows) == len(texts) and all(len(text) == 2 * wide for text in texts)
        if not is_right or (rows[:, -1] >> (8 - spare)).any():
            raise self._strange(sum(len(text) != 2 * wide for text in texts))
        return rows

    def _strange(self, count: int) -> OutsideRange:
        return OutsideRange(
            f"{self.name} must hold what its {self.oracle} mechanism sends; got something else in "
            f"{max(1, count)} rows; are these true answers, or those of another design?"
        )


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and abs(int(text)) < 1 << 63
