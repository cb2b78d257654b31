r"""What the page and the sheet say around the questions: in English, or in the words of a file.

A file has the keys of `english.toml`, all of them, and no others; what stands in braces is filled in. The texts are
plain: where they get into a page they are escaped. What they promise is up to whoever writes them.

>>> english().text("tick_most", most=3)
'Tick at most 3'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.errors import InvalidArgument, UnknownName
from sfumato.input_files import read_toml
from sfumato.suggestions import nearest
from sfumato.surveys.web.files import escape, read

ENGLISH = "english.toml"
_TABLES = ("page", "question", "paper", "script")
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*")
_PART = re.compile(r"\{([a-z]+)\}")
# Signs that end a line, or turn what stands behind them around; those that join letters are part of some scripts.
_UNFIT = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONGEST = 2_000  # characters of a phrase
_FROM_RIGHT = ("ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi")
_NAMED = 5  # of the phrases that are missing
_ISOLATED = "\N{FIRST STRONG ISOLATE}{}\N{POP DIRECTIONAL ISOLATE}"


@dataclass(frozen=True, slots=True)
class Words:
    """The phrases of a page by their keys, their language, and where its lines begin."""

    language: str
    is_from_right: bool
    tables: Mapping[str, Mapping[str, str]] = field(hash=False)

    def text(self, key: str, **parts: object) -> str:
        """A phrase as plain text; from right to left each part keeps its own direction."""
        shown = {name: _ISOLATED.format(part) if self.is_from_right else str(part) for name, part in parts.items()}
        return _PART.sub(lambda found: shown[found[1]], self._phrase(key))

    def html(self, key: str, **parts: str) -> str:
        """A phrase as HTML; its parts are HTML already."""
        return _PART.sub(lambda found: parts[found[1]], escape(self._phrase(key)))

    def _phrase(self, key: str) -> str:
        return next(table[key] for table in self.tables.values() if key in table)

    def escaped(self, table: str) -> dict[str, str]:
        """The phrases of a table that have no parts, as HTML."""
        return {key: escape(phrase) for key, phrase in self.tables[table].items() if not _PART.search(phrase)}

    @property
    def script(self) -> dict[str, str]:
        """What the script says."""
        return dict(self.tables["script"])

    @property
    def attributes(self) -> str:
        """Of the page as a whole: its language, and its direction where that is not the usual one."""
        return f'lang="{self.language}"' + (' dir="rtl"' if self.is_from_right else "")


@cache
def english() -> Words:
    """Those of a page unless others are given."""
    return _words(tomllib.loads(read(ENGLISH)), ENGLISH)


def read_words(given: str | Path | None) -> Words:
    """The words of a file, or English."""
    if given is None:
        return english()
    file = Path(given)
    raw = read_toml(file, f"no file {file.name!r} with words; write one: sfumato survey words")
    words = _words(raw, file.name)
    _check(words, file.name)
    return words


def read_language(language: object) -> str:
    """A tag of a language."""
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        raise InvalidArgument(f"language must be a tag such as 'en', 'de' or 'pt-BR'; got {language!r}; leave it out")
    return language


def _words(raw: dict[str, Any], name: str) -> Words:
    _only(raw, ("language", "direction", *_TABLES), name)
    tables = {table: raw.get(table, {}) for table in _TABLES}
    if not all(isinstance(table, dict) for table in tables.values()):
        raise InvalidArgument(f"{name} must have the tables {', '.join(_TABLES)}; got something else; mend it")
    if "language" not in raw:
        raise InvalidArgument(f"{name} must say its language; got none; for example language = 'de'")
    language = read_language(raw["language"])
    usual = "rtl" if language.lower().partition("-")[0] in _FROM_RIGHT else "ltr"
    direction = raw.get("direction", usual)
    if direction not in ("ltr", "rtl"):
        raise InvalidArgument(f"{name}: direction must be 'ltr' or 'rtl'; got {direction!r}; leave it out")
    return Words(language, direction == "rtl", tables)


def _check(words: Words, name: str) -> None:
    """Refuse phrases that are missing, unknown, or without what is filled in."""
    for table, phrases in english().tables.items():
        given = words.tables[table]
        _only(given, phrases, f"{name}, [{table}]")
        if missing := [key for key in phrases if key not in given]:
            more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
            raise InvalidArgument(
                f"{name} must have every phrase; got none for {', '.join(missing[:_NAMED])}{more} below [{table}]; "
                "translate them: sfumato survey words -o words.toml writes all of them in English"
            )
        for key, phrase in phrases.items():
            _check_phrase(given[key], phrase, f"{name}, {key}")


def _check_phrase(given: object, english: str, where: str) -> None:
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST or _UNFIT.search(given):
        raise InvalidArgument(
            f"{where} must be a text of one line, without signs that turn its direction; got something else; mend it"
        )
    wanted, got = set(_PART.findall(english)), set(_PART.findall(given))
    if wanted != got:
        raise InvalidArgument(
            f"{where} must have {_listed(wanted)} in it; got {_listed(got)}; keep what stands in braces as it is"
        )


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(f"{{{part}}}" for part in sorted(parts)) or "no part in braces"


def _only(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for key in given:
        if key not in known:
            raise UnknownName(f"{where}: unknown phrase {key!r}; {nearest(key, list(known))}")
