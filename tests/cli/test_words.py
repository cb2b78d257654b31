"""Every refusal that can reach the command line speaks its words: options, commands, lines of the project file."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command

from cli.conftest import Call
from cli.running import ROOT
from sfumato.cli import app
from sfumato.cli._shared.failure import read
from sfumato.cli._shared.words import COMMANDS, in_shell
from sfumato.errors import InvalidArgument, NotGranted, SfumatoError, UnsupportedQuery
from sfumato.phrases import Action, ColumnSetting, Dates, Option, Phrase, Setting

SOURCE = ROOT / "src/sfumato"
PYTHON = re.compile(r"\b[a-z_]+=(?!=)|\bsf\.|\b[a-z_]+\.[a-z_]+\(|\bTrue\b|\bFalse\b|to_pandas|to_csv")
TERMS = {"Option", "Setting", "ColumnSetting", "Dates", "Action"}
# Floors whose messages no command shows, and texts that are no messages, such as keys of stored answers.
ELSEWHERE = (
    "cli", "mechanisms", "accounting", "privacy", "charts", "dbapi.py", "phrases.py", "errors.py",
    "curator/tabulate", "plan/binding/replay_text.py",
)  # fmt: skip
# What only a program can be told, since the command line cannot give it: frames, tables, arguments of another type.
FOR_PROGRAMS = (
    "tables must map names", "data must map names", "columns must map names", "must be True or False", "must be a Guar",
    "with a time zone", "a ledger in memory must", "frame.collect()", "pyarrow.Table.from_batches",
    "rows are left out here", "uniqueness must be asked of a set that was tried", "names of columns must be texts",
    "True or False", "resources must be sf.Resources",
)  # fmt: skip


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Every file below the command line whose messages a command can show."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(ELSEWHERE):
            yield place, ast.parse(path.read_text("utf-8"))


def calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    """The calls of functions with these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def messages() -> Iterator[tuple[str, str]]:
    """All texts that may be part of a message, formatted parts left open, but for those inside a term."""
    for place, tree in trees():
        raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.Return | ast.Assign | ast.Dict)]
        parts = {id(part): part for each in raised for part in ast.walk(each)}
        inside = {id(part) for term in calls(tree, TERMS) for part in ast.walk(term)}
        inside |= {id(part) for node in parts.values() if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in (part for key, part in parts.items() if key not in inside):
            text = _text(node)
            if text is not None and re.search(r"\w \w+ \w|=\{", text) and "SELECT" not in text and "<" not in text:
                yield f"{place}:{getattr(node, 'lineno', 0)}", text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_part, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return "'a'" if node.conversion == ord("r") else "0"
    return str(node.value) if isinstance(node, ast.Constant) else ""


def constants(names: set[str]) -> set[str]:
    """The first argument of every term of these kinds in the source, where it is written out."""
    first = [call.args[0] for _, tree in trees() for call in calls(tree, names)]
    return {str(node.value) for node in first if isinstance(node, ast.Constant)}


def every_command(group: click.Command | None = None, path: str = "sfumato") -> Iterator[tuple[str, click.Command]]:
    """Each command of the command line, by what is typed."""
    command = group or get_command(app)
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from every_command(inner, f"{path} {name}")


def test_no_message_speaks_python() -> None:
    """What an option, a declaration or a call is stands in a term: no text outside of one does."""
    found = list(messages())
    spoken = [one for one in found if PYTHON.search(one[1]) and not any(part in one[1] for part in FOR_PROGRAMS)]
    assert spoken == [] and len(found) > 150
    for part in FOR_PROGRAMS:
        assert any(part in text for _, text in found), f"no message says {part!r} any more"


def test_every_option_of_a_message_is_one_of_a_command() -> None:
    """Spelled as the command line has it; a new message is found in the source."""
    flags = {flag for _, command in every_command() for option in command.params for flag in option.opts}
    options = constants({"Option"})
    assert {"epsilon", "delta", "estimate_bounds", "create"} <= options and len(options) > 15
    spelled = {in_shell(Phrase(Option(name))) for name in options}
    assert spelled <= flags


def test_every_call_of_a_message_has_its_command() -> None:
    """The table has them all and nothing else, and the commands that it names exist."""
    assert constants({"Action"}) == set(COMMANDS)
    typed = {path for path, _ in every_command()}
    named = {part for said in COMMANDS.values() for part in re.findall(r"sfumato(?: [a-z]+)+", said)}
    assert len(named) > 4 and named <= typed


@pytest.mark.parametrize(
    ("phrase", "python", "shell"),
    [
        (Phrase(Option("epsilon", 0.2)), "epsilon=0.2", "--epsilon 0.2"),
        (Phrase(Option("delta", 1e-9)), "delta=1e-9", "--delta 1e-9"),
        (Phrase(Option("max_rows_per_unit")), "max_rows_per_unit", "--max-rows-per-unit"),
        (Phrase(Option("estimate_bounds", True)), "estimate_bounds=True", "--estimate-bounds"),
        (Phrase(Option("noise", "gaussian")), "noise='gaussian'", "--noise gaussian"),
        (Phrase(Option("noise", ("uniform", 2))), "noise=('uniform', 2)", "--noise uniform:2"),
        (Phrase(Option("within", "5%")), "within='5%'", "--within 5%"),
        (Phrase(Option("columns", ["age", "zip"])), "columns=['age', 'zip']", "--columns age,zip"),
        (Phrase(Option("patience", 60)), "patience=60", "--yes"),
        (Phrase(Setting("temp_directory", "/var/tmp")), "temp_directory='/var/tmp'", "temp_directory = '/var/tmp'"),
        (Phrase(Setting("unit", {"person": "id"})), "unit={'person': 'id'}", "unit = { person = 'id' }"),
        (Phrase(Setting("keys", Dates("a", "b"))), "keys=sf.dates('a', 'b')", "dates = ['a', 'b']"),
        (Phrase(Action("ledger.reconcile()")), "ledger.reconcile()", "sfumato ledger reconcile"),
        (Phrase("a = 1; epsilon=2"), "a = 1; epsilon=2", "a = 1; epsilon=2"),
    ],
)
def test_a_term_is_spelled_by_each_surface(phrase: Phrase, python: str, shell: str) -> None:
    """Text between terms is left alone, whatever it looks like."""
    assert (str(phrase), in_shell(phrase)) == (python, shell)


@pytest.mark.parametrize("name", ["region", "zip code", "straße", "it's"])
def test_a_missing_declaration_is_a_line_to_paste(name: str) -> None:
    """It is TOML, whatever the column is called."""
    line = ColumnSetting(name, (Setting("keys", ["a", "it's"]),))
    refusal = UnsupportedQuery("GROUP BY x needs keys", fix=Phrase("declare them: ", line))
    assert tomllib.loads(read(refusal).hint.splitlines()[1]) == {name: {"keys": ["a", "it's"]}}


@pytest.mark.parametrize(
    ("error", "line", "hint"),
    [
        (
            NotGranted("zoe has no budget.", fix="Ask the owner."),
            "zoe has no budget.",
            "Ask the owner. See who may ask",
        ),
        (InvalidArgument("x must be 1; got 2"), "x must be 1; got 2", "sfumato --help"),
        (InvalidArgument("x must be 1; got 2; say 1"), "x must be 1; got 2", "say 1"),
        (
            InvalidArgument(Phrase(Option("other_group"), " must say; got none"), fix="name a column").at("t"),
            "t: --other-group must say; got none",
            "name a column",
        ),
    ],
)
def test_what_helps_is_the_hint(error: SfumatoError, line: str, hint: str) -> None:
    """Given apart, or the last part of a message that has several."""
    failure = read(error)
    assert failure.line == line and failure.hint.startswith(hint)


def test_keys_that_nobody_declared_can_be_pasted(call: Call, folder: Path) -> None:
    """The line of the hint, put where it says, makes the question work."""
    toml = (folder / "sfumato.toml").read_text()
    (folder / "sfumato.toml").write_text(re.sub(r"(region|day) = .*\n", "", toml))
    for column in ("region", "day"):
        shown = call("explain", f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}")
        line = shown.err.splitlines()[-1].strip()
        assert shown.code == 3 and "below [tables.NAME.columns]" in shown.err
        assert line == f"{column} = {{ keys = ['...', '...'] }}"
    with (folder / "sfumato.toml").open("a") as file:
        file.write(line.replace("'...'", "'2026-01-01'", 1))
    assert call("explain", "SELECT day, COUNT(*) AS n FROM visits GROUP BY day").code == 0


@pytest.mark.parametrize("option", ["--epsilon", "--delta", "--confidence"])
def test_a_decimal_comma_is_told_as_any_other_slip(call: Call, option: str) -> None:
    """Not in the words of the library that reads options."""
    shown = call("quote", "SELECT COUNT(*) AS n FROM visits", "-e", "1", option, "0,5")
    assert shown.code == 2
    assert shown.err == f"usage: {option} must be a number; got '0,5'\n  hint: for example 0.5\n"
