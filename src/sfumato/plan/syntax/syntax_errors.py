"""Where the reader of SQL stumbled over a text, in words that are not its own, and what was probably meant."""

from __future__ import annotations

import difflib
import re

import sqlglot

DIALECT = "duckdb"
_KEYWORDS = frozenset(sqlglot.Dialect.get_or_raise(DIALECT).tokenizer_class.KEYWORDS)
_BEGINS = ("SELECT", "WITH", "FROM")
_CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")
_TEXTS = re.compile(r"'[^']*'|\"[^\"]*\"")
_PERCENT = re.compile(r"%s\b|%\(\w+\)s")  # how other libraries write a placeholder


def stumbled(text: str, error: Exception) -> str:
    """What is wrong with a text that cannot be read, and what helps if that can be guessed."""
    first = re.match(r"\s*(\w+)", text)
    if first is not None and first[1].upper() not in _BEGINS:
        return f"it begins with {first[1]}; ask with SELECT"
    if found := _PERCENT.search(_TEXTS.sub("", text)):
        return f"{found[0]} is no placeholder here; write ? or :name"
    return _place_of(error)


def _place_of(error: Exception) -> str:
    first = (getattr(error, "errors", None) or [{}])[0]
    if "line" not in first:
        return "it ends too early, nests too deeply, or calls a function in an unknown way"
    word, before = str(first.get("highlight") or ""), str(first.get("start_context") or "")
    place = f"line {first['line']}, column {max(1, int(first['col']) - len(word) + 1)}"
    match str(first.get("description")).split():
        case ["Expecting", ")", *_]:
            what = f"a closing parenthesis was expected before {word}"
        case ["Required", *_]:
            return f"something is missing after {word} ({place})"
        case _:
            what = f"{word} was not expected there"
    return f"{what} ({place}){_advice(before, word)}"


def _advice(before: str, word: str) -> str:
    """What was probably meant by the last words: a clause, or a name with a space in it."""
    last = re.search(r"(\w+)\s+$", before)
    if last is None:
        return ""
    if last[1].upper() in ("GROUP", "ORDER"):
        return f"; write {last[1].upper()} BY"
    pair = (last[1], word)
    if close := difflib.get_close_matches(last[1].upper(), _CLAUSES, n=1, cutoff=0.75):
        return f"; did you mean {close[0]} instead of {last[1]}?"
    if not all(each.isidentifier() and not _is_keyword(each) for each in pair):
        return ""
    return f'; a name with a space is written in double quotes: "{" ".join(pair)}"'


def _is_keyword(word: str) -> bool:
    return word.isupper() or word.upper() in _KEYWORDS
