"""Texts read as numbers, truth values, dates and times, from version 15 on, by casts that cannot fail.

There is no TRY_CAST, so a pattern decides, and a CASE takes to a cast only what has its form. What a cast would make of
it is bounded by the pattern, or in NUMERIC, which holds all such numbers; a calendar is checked in whole numbers. What
DuckDB reads of the same text is the same, or this is NULL (`tests/engines/test_postgres_texts.py`).
"""

from __future__ import annotations

from sfumato.dataset.kind import Kind

_REAL = "DOUBLE PRECISION"
_BLANK = r"E' \t\n\x0B\f\r'"
_LONGEST = 400  # bytes of a number; a longer one is none
_SURE = 18  # bytes of one with underscores, or of a whole one with an exponent: with more, DuckDB reads them otherwise
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_NUMBER = f"'^[+-]?(?:{_DIGITS}[.]?(?:{_DIGITS})?|[.]{_DIGITS})(?:[eE][+-]?0*[0-9]{{1,4}})?$'"
_NUMERIC = "CAST(replace(t, '_', '') AS NUMERIC)"  # of 131,072 digits
_SHORT = "'^[+-]?[0-9]{1,15}(?:[.][0-9]{1,15})?$'"  # neither too large nor too small for a double
_WHOLE = "'^[+-]?[0-9]{1,18}$'"
_MOST, _LEAST = "1.797693134862315807e308", "2.4703282292062328e-324"  # from here on a double is infinite, or zero
_DAY = "|".join(f"[0-9]{{1,4}}{part}[0-9]{{1,2}}{part}[0-9]{{1,2}}" for part in ("-", "/", " ", r"\\"))
_CLOCK = "[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]*)?)?"
_ZONE = "(?: ?Z| UTC| GMT| ?[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)?"
_TIME = f"(?:[[:space:]]+|T){_CLOCK}{_ZONE} *"
_PARTS = ("y", "m", "d", "h", "mi", "s")
_FIGURES = "'0123456789'"
_LEAP = "y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0)"
_DAYS = f"CASE WHEN m = 2 THEN CASE WHEN {_LEAP} THEN 29 ELSE 28 END WHEN m IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
_IS_DAY = f"y >= 1 AND m BETWEEN 1 AND 12 AND d BETWEEN 1 AND {_DAYS}"
_IS_TIME = "h <= 24 AND mi <= 59 AND s <= 59 AND (h < 24 OR mi + s + us = 0)"
_TRUE, _FALSE = "('true', 't', 'yes', 'y', '1')", "('false', 'f', 'no', 'n', '0')"


def parsed(text: str, kind: Kind) -> str:
    """A text as another kind; what has not its form is NULL."""
    match kind:
        case Kind.REAL:
            return _once(_real(), f"btrim({text}, {_BLANK}) AS t")
        case Kind.INTEGER:
            return _once(_integer(), f"btrim({text}, {_BLANK}) AS t")
        case Kind.BOOLEAN:
            return _once(f"CASE WHEN t IN {_TRUE} THEN TRUE WHEN t IN {_FALSE} THEN FALSE END", f"lower({text}) AS t")
        case Kind.DATE:
            return _dated(text, f"'^(?:{_DAY})(?:{_TIME}|[[:space:]]*)$'", "make_date(y, m, d)")
        case Kind.TIMESTAMP:
            micros = "CAST((h * 3600 + mi * 60 + s) * CAST(1000000 AS BIGINT) + us AS DOUBLE PRECISION)"
            moment = f"CAST(make_date(y, m, d) AS TIMESTAMP) + {micros} * INTERVAL '1 microsecond'"
            return _dated(text, f"'^(?:{_DAY})(?:{_TIME})?$'", moment)
    return text


def _once(sql: str, *computed: str) -> str:
    """SQL over columns that are computed once for a row, and not before."""
    return f"(SELECT {sql} FROM (SELECT {', '.join(computed)} OFFSET 0) AS v)"


def _real() -> str:
    infinite = f"CAST('Infinity' AS {_REAL})"
    fitted = (
        f"CASE WHEN n > {_MOST} THEN {infinite} WHEN n < -{_MOST} THEN -{infinite} WHEN abs(n) < {_LEAST} THEN 0 "
        f"ELSE CAST(n AS {_REAL}) END"
    )
    return (
        f"CASE WHEN octet_length(t) > {_LONGEST} THEN NULL WHEN t ~ {_SHORT} THEN CAST(t AS {_REAL}) "
        f"WHEN t ~ {_NUMBER} AND (octet_length(t) <= {_SURE} OR t !~ '_') "
        f"THEN {_once(fitted, f'{_NUMERIC} AS n')} "
        f"WHEN lower(t) IN ('inf', '+inf', 'infinity', '+infinity') THEN {infinite} "
        f"WHEN lower(t) IN ('-inf', '-infinity') THEN -{infinite} END"
    )


def _integer() -> str:
    fitted = f"CASE WHEN n BETWEEN {-(2**63)} AND {2**63 - 1} THEN CAST(n AS BIGINT) END"
    return (
        f"CASE WHEN octet_length(t) > {_LONGEST} THEN NULL WHEN t ~ {_WHOLE} THEN CAST(t AS BIGINT) "
        f"WHEN t ~ {_NUMBER} AND (octet_length(t) <= {_SURE} OR t !~ '[eE_]') "
        f"THEN {_once(fitted, f'round({_NUMERIC}) AS n')} END"
    )


def _dated(text: str, pattern: str, made: str) -> str:
    """Taken apart only where it has the form; by the letters between numbers, since PostgreSQL is slow at patterns."""
    day = "substr(t, length(split_part(t, sep, 1)) + length(split_part(t, sep, 2)) + 3)"
    rows = f"SELECT t, left(ltrim(t, {_FIGURES}), 1) AS sep OFFSET 0"
    rows = f"SELECT split_part(t, sep, 1) AS y, split_part(t, sep, 2) AS m, {day} AS day FROM ({rows}) AS a OFFSET 0"
    rows = f"SELECT y, m, {_first('day')} AS d, {_rest('day', 'T')} AS clock FROM ({rows}) AS b OFFSET 0"
    clock = ", ".join(f"split_part(clock, ':', {place}) AS {name}" for place, name in enumerate(("h", "mi", "s"), 1))
    rows = f"SELECT y, m, d, {clock} FROM ({rows}) AS c OFFSET 0"
    seconds = f"CASE WHEN ltrim(mi, {_FIGURES}) = '' THEN s ELSE '' END"  # else what follows is of the zone
    rows = f"SELECT y, m, d, h, {_first('mi')} AS mi, {seconds} AS s FROM ({rows}) AS d OFFSET 0"
    numbers = [f"CAST(coalesce(NULLIF({_first(name)}, ''), '0') AS INTEGER) AS {name}" for name in _PARTS]
    micros = f"CAST(rpad(left({_first(_rest('s', '.'))}, 6), 6, '0') AS INTEGER) AS us"
    rows = f"SELECT {', '.join(numbers)}, {micros} FROM ({rows}) AS e OFFSET 0"
    found = f"(SELECT CASE WHEN {_IS_DAY} AND {_IS_TIME} THEN {made} END FROM ({rows}) AS f)"
    return _once(f"CASE WHEN t ~ {pattern} THEN {found} END", f"ltrim({text}, {_BLANK}) AS t")


def _first(text: str) -> str:
    """The digits that a text begins with."""
    return f"left({text}, length({text}) - length(ltrim({text}, {_FIGURES})))"


def _rest(text: str, mark: str) -> str:
    """What follows them, and what is between."""
    return f"ltrim(ltrim({text}, {_FIGURES}), {_BLANK} || '{mark}')"
