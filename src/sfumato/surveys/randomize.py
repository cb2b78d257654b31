"""Answers randomized: of one person on the person's own device, or of many at once; and the device's memory.

A person who answers again would pay again: an average over many noisy answers uncovers the true one. So a device keeps
what it sent, and sends that again. It is kept for the design and for a `period`, a public label such as "2027": a new
period has new noise, and costs epsilon again, as does a design of which a single letter is another; `Memory.spent`
adds them up. Kept is one report a question, whatever the answer is by now; keeping one for each answer would show when
the answer changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, SourceNotFound, UnknownName
from sfumato.input_files import parse_json, read_text
from sfumato.mechanisms.local.odds import below
from sfumato.mechanisms.samplers import uniform
from sfumato.suggestions import nearest
from sfumato.surveys.answers import DESIGN, read_columns
from sfumato.surveys.design import Design
from sfumato.surveys.design_file import digest, short
from sfumato.surveys.item import Item

_ASKED, _EPSILON = "(asked)", "(epsilon)"  # no names of questions
_PAID = re.compile("[0-9]{1,400}(/0*[1-9][0-9]{0,400})?")  # an epsilon, as a fraction
_WAIT = 10.0  # seconds for another that writes the same memory


def randomize(
    survey: Design,
    answers: Mapping[str, Any],
    *,
    memory: Memory | None = None,
    period: str = "",
    entropy: Entropy = SYSTEM,
) -> dict[str, str]:
    """What one person sends for these true answers: a text a question, and which design they belong to.

    answers    by question; what is left out or None was not answered, which is seen
    memory     what this device sent before; it is sent again
    period     the label of the period for which a memory keeps it
    """
    _check_names(survey, answers)
    if memory is None:
        return {DESIGN: short(survey), **_sent(survey, answers, {}, entropy)[0]}
    with memory.locked():  # of two at once the second must see what the first has drawn
        sent, keep = _sent(survey, answers, memory.kept(survey, period), entropy)
        memory.keep(survey, period, keep)
    return {DESIGN: short(survey), **sent}


def _sent(
    survey: Design, answers: Mapping[str, Any], kept: Mapping[str, str], entropy: Entropy
) -> tuple[dict[str, str], dict[str, str]]:
    """What is sent, and what is to be kept of it."""
    asked = _asked(survey, kept, entropy)
    sent = {item.name: "" for item in survey.items}
    for item in asked:
        sent[item.name] = kept[item.name] if item.name in kept else item.send(answers.get(item.name), entropy)
    drawn = {_ASKED: asked[0].name} if survey.ask == "one" else {}
    return sent, {**drawn, _EPSILON: str(survey.epsilon), **{name: text for name, text in sent.items() if text}}


def randomize_all(survey: Design, answers: Any, entropy: Entropy = SYSTEM) -> dict[str, list[str]]:
    """What many people send: columns of texts in the order of the rows.

    `answers` are true ones: a .csv or .jsonl file, columns, dictionaries or a frame. Columns that are no questions are
    passed on as they are only if they stand beside answers by their name (respondent, weight, stratum).
    """
    columns = read_columns(answers)
    _check_names(survey, {name: None for name in columns if name not in ("respondent", "weight", "stratum")})
    people = len(next(iter(columns.values()), ()))
    sent: dict[str, list[str]] = {DESIGN: [short(survey)] * people}
    sent |= {name: list(map(str, columns[name])) for name in ("respondent", "weight", "stratum") if name in columns}
    drawn = uniform(sum(item.share for item in survey.items), people, entropy) if survey.ask == "one" else None
    start = 0
    for item in survey.items:
        true = columns.get(item.name, [None] * people)
        asked = None if drawn is None else ((start <= drawn) & (drawn < start + item.share)).tolist()
        sent[item.name] = item.send_all(true, entropy, asked)
        start += item.share
    return sent


def _check_names(survey: Design, answers: Mapping[str, Any]) -> None:
    known = [item.name for item in survey.items]
    for name in answers:
        if name not in known:
            raise UnknownName(f"unknown question {name!r}; {nearest(name, known)} (leave out what is no question)")


def _asked(survey: Design, kept: Mapping[str, str], entropy: Entropy) -> list[Item]:
    """All questions, or the one that is drawn, or was."""
    if survey.ask == "all":
        return list(survey.items)
    if _ASKED in kept:
        return [survey.item(kept[_ASKED])]
    drawn = below(sum(item.share for item in survey.items), entropy)
    for item in survey.items:
        drawn -= item.share
        if drawn < 0:
            return [item]
    raise AssertionError


def _is_memory(found: Any, deep: int = 3) -> TypeGuard[dict[str, dict[str, dict[str, str]]]]:
    """Whether it holds texts by question, by period, by design."""
    if not deep:
        return isinstance(found, str) and _is_encodable(found)
    if not isinstance(found, dict) or not all(map(_is_encodable, found)):
        return False
    is_paid = deep > 1 or _EPSILON not in found or _PAID.fullmatch(str(found[_EPSILON])) is not None
    return is_paid and all(_is_memory(each, deep - 1) for each in found.values())


def _is_encodable(text: str) -> bool:
    """Whether it can be written again: JSON may hold halves of characters, which UTF-8 has not."""
    return text.isascii() or text.encode("utf-8", "ignore").decode("utf-8") == text


@dataclass(frozen=True, slots=True)
class Memory:
    """A file on the respondent's device that holds what was sent; no true answer is in it.

    >>> import tempfile, sfumato as sf
    >>> smoking = sf.survey.design("Health", [sf.survey.yes_no("smoker")], epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memory = Memory(Path(folder) / "sent.json")
    ...     sent = [sf.survey.randomize(smoking, {"smoker": "yes"}, memory=memory)["smoker"] for _ in range(20)]
    >>> len(set(sent))
    1
    """

    path: str | Path

    @property
    def spent(self) -> Fraction:
        """What everything that was sent with this memory has cost in all: designs and periods add up."""
        each = (Fraction(kept.get(_EPSILON, 0)) for periods in self._read().values() for kept in periods.values())
        return sum(each, Fraction(0))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else draws with this memory meanwhile."""
        import sqlite3  # its locks are those of every system, and end with their process

        file = Path(self.path)
        try:
            lock = sqlite3.connect(file.with_name(file.name + ".lock"), timeout=_WAIT, isolation_level=None)
        except (sqlite3.Error, ValueError):  # a ValueError: no file has this name
            raise self._unwritten("its folder takes no file") from None
        with closing(lock):
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error:
                raise self._unwritten("another program uses it, or its folder takes no file") from None
            yield

    def _unwritten(self, why: str) -> InvalidArgument:
        name = Path(self.path).name
        return InvalidArgument(f"{name} cannot be written: {why}; nothing was sent; choose another folder")

    def kept(self, survey: Design, period: str) -> dict[str, str]:
        """What was sent for this design in this period, by question."""
        return dict(self._read().get(digest(survey), {}).get(period, {}))

    def keep(self, survey: Design, period: str, sent: Mapping[str, str]) -> None:
        """Keep what is about to be sent; it is on the disk before this returns."""
        everything = self._read()
        everything.setdefault(digest(survey), {})[period] = dict(sent)
        file = Path(self.path)
        fresh = file.with_name(file.name + ".new")
        try:
            with fresh.open("w", encoding="utf-8") as opened:
                json.dump(everything, opened, ensure_ascii=False)
                opened.flush()
                os.fsync(opened.fileno())
            fresh.replace(file)
        except OSError as error:
            raise self._unwritten(str(error.strerror)) from None

    def _read(self) -> dict[str, dict[str, dict[str, str]]]:
        file = Path(self.path)
        try:
            found = parse_json(read_text(file, ""))
        except SourceNotFound:
            return {}
        except ValueError:
            found = None
        if not _is_memory(found):
            raise InvalidArgument(
                f"{file.name} must be a memory of what was sent; got something else; restore it: to answer without it "
                "costs epsilon again"
            )
        return found
