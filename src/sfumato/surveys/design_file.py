"""A design as a file that can be published, `survey.toml`, and the hash by which everybody knows that it is the same.

    format = 1
    title = "Health"
    epsilon = "1"
    ask = "all"
    hash = "64 hexadecimal digits"
    [[questions]]
    name = "smoker"
    kind = "yes-no"
    text = "Do you smoke?"
    answers = ["yes", "no"]
    epsilon = "1"
    ...

The hash is SHA-256 of everything else as JSON: keys sorted, no blanks, UTF-8. Whatever is no small whole number is
written as a text, so that every language reads the same. A draft, made by hand, may leave out the hash, the epsilon of
the questions and everything about mechanisms.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.checks import number as read_number
from sfumato.errors import DesignChanged, InvalidArgument, UnknownName
from sfumato.input_files import holds, printable, read_toml
from sfumato.mechanisms import Geometric
from sfumato.mechanisms.local import (
    BlockResponse,
    Blocks,
    BoxResponse,
    DuchiResponse,
    Hyperplanes,
    PaddedResponse,
    PiecewiseResponse,
    Rows,
    Singles,
    Subsets,
    UnaryResponse,
)
from sfumato.mechanisms.local.scale import Scale
from sfumato.phrases import Option, Phrase
from sfumato.suggestions import at, nearest
from sfumato.surveys.design import Design, design
from sfumato.surveys.item import Item, Randomizer
from sfumato.surveys.oracle import CHOICE, KNOWN
from sfumato.surveys.question import Boxes, Choice, Number, Question, yes_no

FORMAT = 1
FILE = "survey.toml"
SHORT = 16  # digits of the hash that stand beside each answer
_DIGITS = re.compile("[0-9]{1,1000}")
_FRACTION = re.compile("[+-]?[0-9]{1,400}([.][0-9]{1,400}|/[0-9]{1,400})?")  # no exponent: it may be any
_SHOWN = 40  # characters of a text that is no number
_TOP = ("format", "title", "epsilon", "ask", "hash", "questions")
_CHOICE = ("answers", "skip", "keep", "truth")  # the last two in a draft alone
_BOXES = ("answers", "most")
_NUMBER = ("low", "high", "steps")
_ASKED = ("name", "kind", "text", "epsilon", "share", "oracle", "odds")
_SETTINGS = ("size", "bits", "order", "dimension", "modulus", "width", "blocks")
_KINDS = {"yes-no": _CHOICE, "one-of": _CHOICE, "ordinal": _CHOICE, "several-of": _BOXES, "number": _NUMBER}


def content(survey: Design) -> dict[str, Any]:
    """Everything that a design says, in plain values."""
    return {
        "format": FORMAT,
        "title": survey.title,
        "epsilon": _exact(survey.epsilon),
        "ask": survey.ask,
        "questions": [_content(item) for item in survey.items],
    }


def digest(survey: Design) -> str:
    """The hash of a design."""
    return _digest(content(survey))


def _digest(plain: dict[str, Any]) -> str:
    # a date is none of a design's values, but may stand in a file that was changed
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def short(survey: Design) -> str:
    """The first digits of the hash, which stand beside each answer that is collected."""
    return digest(survey)[:SHORT]


def write(survey: Design) -> str:
    """The text of the file."""
    plain = content(survey)
    lines = [
        "# A survey in the local model: each answer is randomized before it is sent. Public, and not to be changed:"
    ]
    lines += ["# answers carry the first digits of the hash. Read it with sfumato survey."]
    top = {**{key: plain[key] for key in _TOP if key in plain and key != "questions"}, "hash": _digest(plain)}
    lines += [f"{key} = {_toml(value)}" for key, value in top.items()]
    for asked in plain["questions"]:
        lines += ["", "[[questions]]", *(f"{key} = {_toml(value)}" for key, value in asked.items())]
    return "\n".join(lines) + "\n"


def save(survey: Design, path: str | Path = FILE, *, force: bool = False) -> None:
    """Write the file; one that is there already is replaced only by force: answers may have been collected with it."""
    file = Path(path)
    if not force and os.path.exists(file) and not holds(file, write(survey)):
        raise InvalidArgument(
            f"{file.name} must not be there already: answers may have been collected with it; got another design",
            fix=Phrase("choose another name, or ", Option("force", True)),
        )
    try:
        file.write_text(write(survey), encoding="utf-8")
    except (OSError, ValueError) as error:  # a ValueError: no file has this name
        why = getattr(error, "strerror", None) or "no file has such a name"
        raise InvalidArgument(f"{printable(file.name)} cannot be written: {why}; choose another folder") from None


def load(path: str | Path = FILE) -> Design:
    """Read a published design; refuse one that was changed, and one that is a draft."""
    survey, was_frozen = _read(path)
    if not was_frozen:
        raise InvalidArgument(
            f"{Path(path).name} must be a design with its hash; got a draft; freeze it: sfumato survey design "
            f"{Path(path).name} --output survey.toml"
        )
    return survey


def load_draft(path: str | Path) -> Design:
    """Read a draft, or a published design."""
    return _read(path)[0]


def _read(path: str | Path) -> tuple[Design, bool]:
    file = Path(path)
    raw = read_toml(file, f"no design at {file.name!r}; make one: sfumato survey design --help")
    with at(file.name):
        _only(raw, _TOP)
        if raw.get("format", FORMAT) != FORMAT:
            raise InvalidArgument(f"format must be {FORMAT}; got {raw['format']!r}; a newer Sfumato may read it")
        asked = raw.get("questions")
        if not isinstance(asked, list) or not asked:
            raise InvalidArgument("questions must be listed; got none; write [[questions]] before each")
        if "hash" not in raw:
            return _drafted(raw, asked), False
        survey = Design(
            raw.get("title", ""), tuple(map(_item, asked)), _fraction(raw, "epsilon"), raw.get("ask", "all")
        )
        written = {key: value for key, value in raw.items() if key != "hash"}
        if raw["hash"] != digest(survey) or written != content(survey):
            raise DesignChanged(
                f"the design must be the one published with the hash {str(raw['hash'])[:SHORT]}...; got one that was "
                f"changed (its hash is {_digest(written)[:SHORT]}...); restore the file, or make a new survey of it"
            )
        return survey, True


def _drafted(raw: dict[str, Any], asked: list[Any]) -> Design:
    questions = [_question(each) for each in asked]
    for each in asked:
        if extra := {"epsilon", "odds", *_SETTINGS} & set(each):
            raise InvalidArgument(f"a draft must leave out {', '.join(sorted(extra))}; got them; they are worked out")
    shares = {each["name"]: each["share"] for each in asked if "share" in each}
    oracles = {each["name"]: each["oracle"] for each in asked if "oracle" in each}
    epsilon = _fraction(raw, "epsilon") if "epsilon" in raw else None
    return design(
        raw.get("title", "Survey"), questions, epsilon, shares=shares, ask=raw.get("ask", "all"), oracles=oracles
    )


def _content(item: Item) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": item.name, "kind": item.question.kind, "text": item.question.text}
    match item.question:
        case Choice(answers=answers, skip=skip):
            plain |= {"answers": list(answers), "skip": skip}
        case Boxes(answers=answers, most=most):
            plain |= {"answers": list(answers), "most": most}
        case Number(scale=scale):
            plain |= {"low": _exact(scale.low), "high": _exact(scale.high), "steps": scale.steps}
    plain |= {"epsilon": _exact(item.epsilon), "share": item.share, "oracle": item.oracle}
    if not isinstance(item.mechanism, Geometric):
        plain["odds"] = [str(each) for each in Fraction(item.mechanism.odds or 0).as_integer_ratio()]
    match item.mechanism:
        case BlockResponse(blocks=blocks):
            plain |= blocks.settings()
        case PaddedResponse(blocks=blocks):
            plain |= {"blocks": blocks.name, **blocks.settings()}
        case PiecewiseResponse(width=width):
            plain["width"] = width
    return plain


def _question(raw: Any) -> Question:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise InvalidArgument("a question must have a name; got none; write name = 'smoker' below [[questions]]")
    with at(f"questions.{raw['name']}"):
        kind: Any = raw.get("kind")
        if str(kind) not in _KINDS:  # a list cannot be looked up
            raise UnknownName(f"unknown kind {kind!r}; {nearest(str(kind), _KINDS)}")
        _only(raw, (*_ASKED, *_SETTINGS, *_KINDS[kind]))
        name, text = raw["name"], str(raw.get("text", raw["name"]))
        if kind == "number":
            scale = Scale.read((_fraction(raw, "low"), _fraction(raw, "high")), raw.get("steps", 1_000))
            return Number(name, text, scale)
        answers = raw.get("answers", ["yes", "no"] if kind == "yes-no" else None)
        if not isinstance(answers, list):
            raise InvalidArgument("answers must be a list of texts; got none; for example answers = ['red', 'green']")
        if kind == "several-of":
            return Boxes(name, text, tuple(answers), raw.get("most", len(answers)))
        if kind == "yes-no":
            return yes_no(
                name, text, answers, keep=raw.get("keep"), truth=raw.get("truth"), skip=raw.get("skip", "public")
            )
        return Choice(name, text, kind, tuple(answers), raw.get("skip", "public"))


def _item(raw: Any) -> Item:
    question = _question(raw)
    with at(f"questions.{question.name}"):
        epsilon = _fraction(raw, "epsilon")
        mechanism = _mechanism(question, epsilon, raw)
        return Item(question, epsilon, mechanism, raw.get("share", 1))


def _mechanism(question: Question, epsilon: Fraction, raw: dict[str, Any]) -> Randomizer:
    """As it was written; that its odds cost no more than its epsilon is checked where it is made."""
    oracle = raw.get("oracle")
    odds = None if oracle == "laplace" else _odds(raw)
    match question, oracle:
        case Choice(), "unary":
            return UnaryResponse(epsilon, question.categories, odds)
        case Choice(), str() if oracle in CHOICE:
            return BlockResponse(epsilon, question.categories, _blocks(oracle, raw), odds)
        case Boxes(), "one-box" | "every-box":
            return BoxResponse(epsilon, question.answers, oracle == "every-box", question.most, odds)
        case Boxes(), "padded":
            return PaddedResponse(epsilon, question.answers, question.most, _blocks(raw.get("blocks"), raw), odds)
        case Number(scale=scale), "duchi":
            return DuchiResponse(epsilon, (scale.low, scale.high), scale.steps, odds)
        case Number(scale=scale), "piecewise":
            return PiecewiseResponse(epsilon, (scale.low, scale.high), scale.steps, raw.get("width"), odds)
        case Number(scale=scale), "laplace":
            return Geometric(scale.steps, epsilon, neighbors="replace")
    raise UnknownName(f"unknown oracle {oracle!r}; known are {', '.join(KNOWN[type(question)])}")


def _blocks(name: object, raw: dict[str, Any]) -> Blocks:
    match name, raw:
        case "response", _:
            return Singles()
        case "subset", {"size": int(size)}:
            return Subsets(size)
        case "hadamard", {"bits": int(bits)}:
            return Rows(bits)
        case "projective", {"order": int(order), "dimension": int(dimension)}:
            return Hyperplanes(order, dimension)
    raise InvalidArgument(f"the numbers that {name!r} needs must be whole; got none; restore the file")


def _odds(raw: dict[str, Any]) -> Fraction:
    match raw.get("odds"):
        case [str(high), str(low)] if _DIGITS.fullmatch(high) and _DIGITS.fullmatch(low) and int(low):
            return Fraction(int(high), int(low))
    raise InvalidArgument("odds must be two whole numbers as texts; got something else; for example ['3', '1']")


def _fraction(raw: dict[str, Any], key: str) -> Fraction:
    value = raw.get(key)
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        top, _, bottom = value.partition("/")
        if not bottom or int(bottom):
            return Fraction(top) / int(bottom or 1)
    elif value is not None and not isinstance(value, str):
        return read_number(**{key: value})
    raise InvalidArgument(f"{key} must be a number; got {str(value)[:_SHOWN]!r}; for example {key} = 1")


def _only(raw: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in raw:
        if key not in known:
            raise UnknownName(f"unknown key {key!r}; {nearest(key, known)}")


def _exact(number: Fraction) -> str:
    """As a decimal if it has one, else as a fraction: equal numbers have one text.

    >>> _exact(Fraction(1, 2)), _exact(Fraction(1, 3)), _exact(Fraction(1000))
    ('0.5', '1/3', '1000')
    """
    rest, places = number.denominator, 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest, places = rest // (10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2), places + 1
    if rest != 1 or places > 30:
        return str(number)
    if places == 0:
        return str(number.numerator)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def _toml(value: Any) -> str:
    """Texts as JSON writes them, which TOML reads alike: they are printable."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
