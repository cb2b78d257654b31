"""Every refusal that can reach the command line speaks its words: options, commands, lines of the project file."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Call
from cli.running import ROOT
from sfumato.cli.failure import in_shell, read
from sfumato.errors import UnsupportedQuery

SOURCE = ROOT / "src/sfumato"
PYTHON = re.compile(r"\b[a-z_]+=(?!=)|\bsf\.|\b[a-z_]+\.[a-z_]+\(|\bTrue\b|\bFalse\b|to_pandas|to_csv")
# What only a program can be told, since the command line cannot give it: frames, tables, arguments of another type.
FOR_PROGRAMS = (
    "tables must map names", "data must map names", "columns must map names", "must be True or False", "must be a Guar",
    "with a time zone", "sf.ask(", "sf.table(", "the column's own name stands before", "a cursor must be open",
    "a ledger in memory must", "frame.collect()", "pyarrow.Table.from_batches", "rows are left out here",
    "uniqueness must be asked of a set that was tried", "names of columns must be texts", "True or False",
)  # fmt: skip


def messages() -> Iterator[tuple[str, str]]:
    """All texts of the floors below the command line that may be part of a message, formatted parts left open."""
    programs = ("cli", "mechanisms", "accounting", "privacy", "dbapi.py", "charts")
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in programs or path.name in ("tabulate.py", "histogram.py"):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Return | ast.Assign | ast.Dict)]
        parts = {id(part): part for each in raised for part in ast.walk(each)}
        inside = {id(part) for node in parts.values() if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in (part for key, part in parts.items() if key not in inside):
            text = _text(node)
            if text is not None and re.search(r"\w \w+ \w", text) and "SELECT" not in text and "<" not in text:
                yield f"{path.name}:{getattr(node, 'lineno', 0)}", text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_part, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return "'a'" if node.conversion == ord("r") else "0"
    return str(node.value) if isinstance(node, ast.Constant) else ""


def test_no_message_speaks_python() -> None:
    """Found in the source itself, so that a new one is found as well."""
    found = list(messages())
    spoken = [
        (place, said)
        for place, text in found
        if PYTHON.search(said := in_shell(text)) and not any(part in text for part in FOR_PROGRAMS)
    ]
    assert spoken == [] and len(found) > 150
    assert sum(in_shell(text) != text for _, text in found) > 15  # and some were translated


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("ask with epsilon=0.2", "ask with --epsilon 0.2"),
        ("give delta=1e-9, or leave noise out", "give --delta 1e-9, or leave --noise out"),
        ("give bound=, or ask with more", "give --bound, or ask with more"),
        ("buy them: bounds='auto'", "buy them: --bounds auto"),
        ("noise='gaussian' needs a delta", "--noise gaussian needs a delta"),
        ("within='5%'", "--within 5%"),
        ("declare type='double' if", "declare type = 'double' if"),
        ("declare keys=sf.dates(first, last)", "declare dates = [first, last]"),
    ],
)
def test_hints_become_options_and_lines_of_the_project_file(python: str, shell: str) -> None:
    """One place translates them all."""
    assert in_shell(python) == shell


@pytest.mark.parametrize("name", ["region", "zip code", "straße", "it's"])
def test_a_missing_declaration_is_a_line_to_paste(name: str) -> None:
    """It is TOML, whatever the column is called."""
    refusal = UnsupportedQuery(f"GROUP BY x needs keys; declare them: columns={{{name!r}: sf.column(keys=['a', 'b'])}}")
    assert tomllib.loads(read(refusal).hint.splitlines()[1]) == {name: {"keys": ["a", "b"]}}


def test_keys_that_nobody_declared_can_be_pasted(call: Call, folder: Path) -> None:
    """The line of the hint, put where it says, makes the question work."""
    toml = (folder / "sfumato.toml").read_text()
    (folder / "sfumato.toml").write_text(re.sub(r"(region|day) = .*\n", "", toml))
    for column in ("region", "day"):
        shown = call("explain", f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}")
        line = shown.err.splitlines()[-1].strip()
        assert shown.code == 3 and "below [tables.NAME.columns]" in shown.err
        assert line == f'{column} = {{ keys = ["...", "..."] }}'
    with (folder / "sfumato.toml").open("a") as file:
        file.write(line.replace('"..."', '"2026-01-01"', 1))
    assert call("explain", "SELECT day, COUNT(*) AS n FROM visits GROUP BY day").code == 0


@pytest.mark.parametrize("option", ["--epsilon", "--delta", "--confidence"])
def test_a_decimal_comma_is_told_as_any_other_slip(call: Call, option: str) -> None:
    """Not in the words of the library that reads options."""
    shown = call("quote", "SELECT COUNT(*) AS n FROM visits", "-e", "1", option, "0,5")
    assert shown.code == 2
    assert shown.err == f"usage: {option} must be a number; got '0,5'\n  hint: for example 0.5\n"
