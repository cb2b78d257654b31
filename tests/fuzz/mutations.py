"""Files as they come from broken disks, careless editors and hostile hands; every mutation follows from its number."""

from __future__ import annotations

import copy
import datetime
import json
import math
import random
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

NASTY: Sequence[bytes] = (
    b"\x00", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1a", b"\x85", b"\r", b"\r\n", b"\x0c",
    b"9" * 400, b"-" + b"9" * 400, b"9" * 5000, b"1e400", b"1e-400", b"1e999999999", b"0x" + b"f" * 400, b"1/0", b"0/0",
    b"0." + b"0" * 400 + b"1", b"18446744073709551616", b"-9223372036854775809", b"nan", b"-inf", b"Infinity", b"1_000",
    b"[" * 3000, b"{\"a\":" * 3000, b"[[" * 500 + b"]]" * 500, b"'''", b'"', b'"""', b"\\", b"\\ud800", b"\\x00",
    b"0000-00-00", b"9999-99-99", b"99999-01-01", b"2026-02-30", b"0001-01-01T25:00:00", b"2026-01-01 00:00:00+99:99",
    b"true", b"null", b"{}", b"[]", b"[0]", b"{a=1}", b"#", b",", b";", b"\t", b"=", b".", b"..", b"../", b"%s", b"{0}",
    "\u202e\u2028\ufeff".encode(), "\U0001f600".encode(), "e\u0301".encode(), b"a" * 70_000, b"\n" * 5000, b"*", b"?[",
)  # fmt: skip


def mutate(seed: bytes, number: int) -> bytes:
    """The mutation of this number: one to three changes of a text or of bytes."""
    chance = random.Random(number)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        seed = chance.choice(_CHANGES)(seed, chance)
    return seed


def _flip(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) or 1)
    return data[:place] + bytes([(data[place] if data else 0) ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _without(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.choice((1, 2, 5, 30)) :]


def _nasty(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + chance.choice(NASTY) + data[start + chance.choice((0, 0, 1, 4)) :]


def _value(data: bytes, chance: random.Random) -> bytes:
    """Something nasty in the place of a word or a number."""
    words = [(i, len(word)) for i, word in _words(data)]
    start, length = chance.choice(words) if words else (0, 0)
    return data[:start] + chance.choice(NASTY) + data[start + length :]


def _line(data: bytes, chance: random.Random) -> bytes:
    """A line twice, gone, or somewhere else."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines[chance.randrange(len(lines))]
    match chance.randrange(3):
        case 0:
            lines.remove(line)
        case 1:
            lines.insert(chance.randrange(len(lines) + 1), line)
        case _:
            chance.shuffle(lines)
    return b"".join(lines)


def _words(data: bytes) -> list[tuple[int, bytes]]:
    found, start = [], None
    for place, byte in enumerate((*data[:20_000], 32)):
        is_part = chr(byte).isalnum() or byte in b"_.-"
        if is_part and start is None:
            start = place
        elif not is_part and start is not None:
            found.append((start, data[start:place]))
            start = None
    return found


_CHANGES: Sequence[Callable[[bytes, random.Random], bytes]] = (
    *(_flip, _cut, _without, _nasty, _nasty, _value, _value, _line),
)


# ---------------------------------------------------------------- files that are well formed, but mean nothing

VALUES: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2, 10**18, 2**63, -(2**63) - 1, 10**399, -(10**399), 10**4000, 0.5, -0.0, 1e308,
    5e-324, -1e308, math.nan, math.inf, -math.inf, "", " ", "0", "-1", "1e400", "1e999999999", "9" * 400, "9" * 5000,
    "1/0", "0/1", "1/3", "nan", "inf", "\x00", "a\x00b", "\n", "a" * 5000, "\u202e", "'", '"', "*", "../..", "/",
    "/dev/null", "x.csv", "x.parquet", "postgresql://", "spark:", "duckdb:///", "duckdb:///x#y", "2026-02-30",
    "0000-01-01", "9999-12-31", [], [[]], [None], [0], [0, 1], [1, 0], [0, 10**18], [0.5, 1.5], [math.nan, 1], ["a"],
    ["a", "a"], [{}], [[0] * 3] * 3, {}, {"": ""}, {"a": {"a": {"a": 1}}}, datetime.date(1, 1, 1),
    datetime.date(9999, 12, 31), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), datetime.time(23, 59),
    ["0001-01-01", "9999-12-31"], ["2026-01-01", "2026-12-31", "century"], [datetime.date(2026, 1, 1), "2027-01-01"],
    {"through": "people", "on": "person"}, {"through": "nobody", "on": []}, "people", ["person", "person"],
)  # fmt: skip


def mutate_tree(tree: Any, number: int) -> Any:
    """A tree of lists and dictionaries with one to three of its values or names replaced, added, doubled or gone."""
    chance, tree = random.Random(number), copy.deepcopy(tree)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(_places(tree))
        if not places:
            return chance.choice(VALUES)
        holder, key = chance.choice(places)
        match chance.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[chance.choice(("", "a", "hash", "unit", "\x00", str(key) + " ", str(key).upper()))] = holder.pop(
                    key
                )
            case 2:
                other, elsewhere = chance.choice(places)
                holder[key] = copy.deepcopy(other[elsewhere]) if elsewhere in _keys(other) else None
            case _:
                holder[key] = copy.deepcopy(chance.choice(VALUES))
    return tree


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(tree, dict | list):
        for key in list(_keys(tree)):
            yield tree, key
            yield from _places(tree[key])


def mutate_toml(seed: bytes, number: int) -> bytes:
    """Every other mutation is one of bytes, every other one of what the file says."""
    if number % 2:
        return mutate(seed, number)
    tree = mutate_tree(tomllib.loads(seed.decode()), number)
    return to_toml(tree if isinstance(tree, dict) else {"a": tree}).encode("utf-8", "replace")


def mutate_json(seed: bytes, number: int) -> bytes:
    """The same for JSON."""
    if number % 2:
        return mutate(seed, number)
    return json.dumps(mutate_tree(json.loads(seed), number), default=str).encode()


def mutate_lines(seed: bytes, number: int) -> bytes:
    """The same for one object a line."""
    if number % 2:
        return mutate(seed, number)
    lines = seed.splitlines()
    chosen = random.Random(number).randrange(len(lines))
    lines[chosen] = json.dumps(mutate_tree(json.loads(lines[chosen]), number), default=str).encode()
    return b"\n".join(lines)


def to_toml(tree: dict[str, Any]) -> str:
    """A tree as TOML, on as few lines as it needs."""
    return "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in tree.items())


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(each)}" for key, each in value.items()) + "}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case bool() | str() | None:
            return (
                json.dumps(value or "").replace("\x7f", "")
                if value is None or isinstance(value, str)
                else json.dumps(value)
            )
        case float():
            return repr(value)
        case int():
            return str(value) if abs(value) < 10**4000 else "9" * 4000 + "0" * 1000
    return str(value.isoformat())
