"""What of a CSV cannot be read is told to the owner by `init` and `doctor`, before a question is charged for nothing.

Counts and line numbers are told, never a value; and nothing of it gets into the project file, which others read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Call

Rows = Callable[[int], str]


def _file(head: str, row: Rows, count: int = 60) -> bytes:
    return (head + "\n" + "".join(row(i) + "\n" for i in range(count))).encode()


BOUNDS = ("--column", "spent=0 100")
# The file, what is declared of it, and what both commands must say.
FAULTS: dict[str, tuple[bytes, tuple[str, ...], str]] = {
    "semicolons and decimal commas": (
        _file("person;region;spent", lambda i: f"{i};north;{i},5"),
        BOUNDS,
        "'spent': all 60 values cannot be read as double and count as missing; all 60 look like numbers with a decimal",
    ),
    "tabs and decimal commas": (
        _file("person\tspent", lambda i: f"{i}\t{i},55"),
        BOUNDS,
        "'spent': all 60 values cannot be read as double",
    ),
    "quoted decimal commas": (
        _file("person,spent", lambda i: f'{i},"{i},5"'),
        BOUNDS,
        "'spent': all 60 values cannot be read as double",
    ),
    "some decimal commas": (
        _file("person;spent", lambda i: f"{i};{i},5" if i < 6 else f"{i};{i}"),
        BOUNDS,
        "'spent': 6 of 60 values cannot be read as double",
    ),
    "bare decimal commas": (
        _file("person,region,spent", lambda i: f"{i},north,{i},5"),
        BOUNDS,
        "all 60 rows do not have the 3 fields that the first line names, the first is in line 2",
    ),
    "thousands by commas": (
        _file("person,spent", lambda i: f'{i},"{i + 1},500"'),
        BOUNDS,
        "all 60 look like numbers with thousands separators",
    ),
    "thousands by points": (
        _file("person,spent", lambda i: f"{i},{i + 1}.500.000"),
        BOUNDS,
        "all 60 look like numbers with thousands separators",
    ),
    "words for numbers": (
        _file("person,spent", lambda i: f"{i},{i} EUR"),
        BOUNDS,
        "'spent': all 60 values cannot be read as double and count as missing; write numbers with digits",
    ),
    "dates of another country": (
        _file("person,day", lambda i: f"{i},{1 + i % 28:02d}.01.2026"),
        ("--column", "day=2026-01-01 2026-12-31"),
        "'day': all 60 values cannot be read as date and count as missing; write dates as 2026-12-31",
    ),
    "keys in other letters": (
        _file("person,region", lambda i: f"{i},North"),
        ("--column", "region=north, south"),
        "'region': all 60 values are none of the declared keys",
    ),
    "no head": (
        _file("ann,north,rich", lambda i: f"p{i},{('north', 'south')[i % 2]},rich"),
        (),
        "words of the first line occur again as values",
    ),
    "one name for several columns": (
        _file("person", lambda i: f"{i};north;3"),
        (),
        "the first line has one name, but all 60 rows hold a ';'",
    ),
    "a quotation that does not end": (
        _file("person,region", lambda i: f"{i},north" if i != 9 else '9,"nor', 300),
        (),
        "a quotation mark in line 11 is not closed",
    ),
    "latin-1": (
        b"person,region\n" + "".join(f"{i},zürich\n" for i in range(60)).encode("latin-1"),
        (),
        "60 lines are not UTF-8, the first is line 2",
    ),
    "rows that are too short": (
        _file("person,region,spent", lambda i: f"{i},north,7" if i != 30 else "30,north"),
        (),
        "1 of 60 rows do not have the 3 fields that the first line names, the first is in line 32",
    ),
}


@pytest.fixture
def drafted(tmp_path: Path, call: Call) -> Callable[..., tuple[str, str, int]]:
    """What `init` and `doctor` say of a file, and the exit code of the second; blanks are as in a line of text."""

    def draft(content: bytes, *declared: str) -> tuple[str, str, int]:
        (tmp_path / "odd.csv").write_bytes(content)
        begun = call("init", "odd.csv", "--output", "sfumato.toml", "--force", "--row-each", *declared)
        assert begun.code == 0, begun.err
        looked = call("doctor")
        lines = [line for line in looked.out.splitlines() if line.startswith(("table ", "No problems"))]
        return begun.out.replace("\xa0", " "), "\n".join(lines), looked.code

    return draft


@pytest.mark.parametrize("name", FAULTS)
def test_the_owner_is_told_what_cannot_be_read(
    name: str, tmp_path: Path, drafted: Callable[..., tuple[str, str, int]]
) -> None:
    """By both commands; `doctor` does not say that all is well; and the draft holds nothing of the rows."""
    content, declared, said = FAULTS[name]
    begun, looked, code = drafted(content, *declared)
    assert said in begun and "Fix these first" in begun
    assert said in looked and "faulty" in looked and "No problems found" not in looked and code == 1
    plain = (tmp_path / "sfumato.toml").read_text("utf-8")
    assert "cannot be read" not in plain and "values" not in plain.split("[tables", 1)[1]


def test_decimal_commas_are_told_before_anything_is_declared(drafted: Callable[..., tuple[str, str, int]]) -> None:
    """`init` knows no type of a column yet; that its numbers would not be read is seen all the same."""
    begun, looked, code = drafted(_file("person;spent;note", lambda i: f"{i};{i},5;{i} apples"))
    assert "column 'spent': all 60 values look like numbers with a decimal comma; a declaration of bounds" in begun
    assert "'note'" not in begun
    assert (code, "No problems found" in looked) == (0, True)  # nothing is declared, so nothing is read wrongly


GOOD: dict[str, bytes] = {
    "commas": _file("person,region,spent", lambda i: f"{i},north,{i}.5"),
    "semicolons": _file("person;region;spent", lambda i: f"{i};north;{i}.5"),
    "tabs, a byte order mark and line ends of Windows": b"\xef\xbb\xbf"
    + _file("person\tregion\tspent", lambda i: f"{i}\tnorth\t{i}").replace(b"\n", b"\r\n"),
    "quotations with commas, quotes and line ends": _file(
        "person,note,spent", lambda i: f'{i},"a, ""b""\nc",1e{i % 2}'
    ),
    "gaps": _file("person,region,spent", lambda i: f"{i},,{'' if i % 3 else i}"),
    "no rows": b"person,region,spent\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_file_that_can_be_read_is_not_complained_of(name: str, drafted: Callable[..., tuple[str, str, int]]) -> None:
    """Also one that is written unusually."""
    begun, looked, code = drafted(GOOD[name], *BOUNDS)
    assert "Fix these first" not in begun
    assert (code, "No problems found" in looked) == (0, True)


def test_a_few_values_that_are_missing_by_another_name_are_counted_and_no_fault(
    drafted: Callable[..., tuple[str, str, int]],
) -> None:
    """They count as missing, as they should; so do values of keys that nobody declared."""
    rows = _file("person,region,spent", lambda i: f"{i},{('north', 'east')[i == 3]},{'N/A' if i % 10 == 0 else i}")
    _, looked, code = drafted(rows, *BOUNDS, "--column", "region=north, south")
    assert "'spent': 6 of 60 values cannot be read as double and count as missing" in looked
    assert "'region': 1 of 60 values are none of the declared keys" in looked
    assert (code, "No problems found" in looked) == (0, True)


def test_no_value_is_shown(drafted: Callable[..., tuple[str, str, int]]) -> None:
    """Not even to the owner, whose terminal others may see."""
    rows = _file("person,spent", lambda i: f"{i},sekret{i}" if i != 7 else '7,"sekret')
    begun, looked, _ = drafted(rows, *BOUNDS)
    assert "Fix these first" in begun and "faulty" in looked
    assert "sekret" not in begun + looked


def test_texts_in_parquet_and_duckdb_are_counted_too(tmp_path: Path, call: Call) -> None:
    """They are declared as numbers, and hold some that are none."""
    import duckdb

    rows = "SELECT i AS person, CASE WHEN i < 5 THEN '1,5' ELSE '1.5' END AS spent FROM range(60) AS t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{tmp_path / 'odd.parquet'}'")
    with duckdb.connect(str(tmp_path / "odd.duckdb")) as engine:
        engine.execute(f"CREATE TABLE odd AS {rows}")
    for source in ("odd.parquet", "duckdb:///odd.duckdb#odd"):
        (tmp_path / "sfumato.toml").write_text(
            f'[budget]\nepsilon = 1\n[tables.odd]\nsource = "{source}"\n'
            '[tables.odd.columns]\nspent = { type = "double", bounds = [0, 9] }\n',
            encoding="utf-8",
        )
        looked = call("doctor")
        assert "'spent': 5 of 60 values cannot be read as double" in looked.out and looked.code == 1


@pytest.mark.parametrize("name", ["a[1].csv", "a*b.csv", "what?.parquet"])
def test_a_file_whose_name_looks_like_a_pattern_can_be_asked(name: str, tmp_path: Path) -> None:
    """DuckDB was allowed the name and given the pattern for it: the question was charged, and failed."""
    import glob

    import duckdb

    import sfumato as sf

    file = tmp_path / name
    duckdb.execute(f"COPY (SELECT i AS person, 3 AS spent FROM range(60) AS t(i)) TO '{tmp_path}/plain{file.suffix}'")
    (tmp_path / f"plain{file.suffix}").rename(file)
    table = sf.table(glob.escape(str(file)), columns={"spent": sf.column(bounds=(0, 9))})
    curator = sf.Curator({"odd": table}, budget=sf.Guarantee(epsilon=100))
    answer = curator.ask("SELECT AVG(spent) AS spent FROM odd", epsilon=100)
    assert 2.5 < answer.rows[0]["spent"] < 3.5
