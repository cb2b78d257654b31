"""Writes docs/reference/*.md from signatures and docstrings: `python docs/build.py`, or `--check` to compare only.

What is public is listed in `PAGES`. Examples are copied as they are; they run where they stand, as doctests of their
modules. Nothing on a page depends on the machine.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import sfumato
from sfumato import accounting, attacks, audit, dbapi, errors, mechanisms, project, risk, surveys
from sfumato.accounting import filter as filters
from sfumato.curator import curator, options
from sfumato.curator.answers import answer
from sfumato.curator.budgeting import planning, quote
from sfumato.curator.tabulate import axis, histogram
from sfumato.ledger import ledger
from sfumato.ledger import transaction as draft
from sfumato.ledger.backup import verify
from sfumato.ledger.records import entry, request
from sfumato.privacy import loss
from sfumato.statistics import estimate as value

FOLDER = Path(__file__).parent / "reference"
HEAD = "<!-- Written by docs/build.py from the docstrings; change those. -->"
PRIVATE = re.compile(r"\b_[A-Z]")  # what takes a private class is not called by a reader
NAMED_LINE = re.compile(r"^(\w[\w, ]*?) {2,}(\S.*)$")


def all_of(module: ModuleType) -> list[Any]:
    """The functions and classes that a module has in public, in its own order."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    found = [getattr(module, name) for name in names]
    is_package = hasattr(module, "__path__")
    return [each for each in found if _is_documented(each) and (is_package or each.__module__ == module.__name__)]


def _is_documented(thing: Any) -> bool:
    return inspect.isfunction(thing) or inspect.isclass(thing)


# Page, its title, the prefix with which a reader writes its names, and what is on it.
PAGES: tuple[tuple[str, str, str, list[Any]], ...] = (
    ("sfumato", "Tables, one-line questions and the vocabulary", "sfumato.",
     [each for each in all_of(sfumato) if each is not curator.Curator]),
    ("curator", "Curator", "sfumato.", [curator.Curator, options.Options, quote.Quote, quote.Expected,
                                           planning.BudgetPlan, planning.PlannedQuestion]),
    ("answer", "Answer", "", [answer.Answer, answer.Receipt, value.Estimate]),
    ("histogram", "Histogram", "", [histogram.Histogram, axis.Axis, axis.Bin]),
    ("ledger", "Ledger", "", [ledger.Ledger, draft.Policy, request.Request, request.Reservation, request.Replay,
                              entry.Entry, verify.Verified, filters.Remaining]),
    ("mechanisms", "Mechanisms", "sfumato.mechanisms.", [*all_of(mechanisms), loss.Loss]),
    ("survey", "Surveys", "sfumato.surveys.", all_of(surveys)),
    ("accounting", "Accounting", "sfumato.accounting.", all_of(accounting)),
    ("audit", "Audit", "sfumato.audit.", all_of(audit)),
    ("risk", "Risk report", "sfumato.risk.", all_of(risk)),
    ("attacks", "Attacks", "sfumato.attacks.", all_of(attacks)),
    ("project", "Project files", "sfumato.project.", [project.load, project.Project]),
    ("dbapi", "DB-API 2.0", "sfumato.dbapi.",
     [dbapi.connect, dbapi.Connection, dbapi.Cursor, dbapi.TypeObject]),
    ("errors", "Errors", "sfumato.errors.", all_of(errors)),
)  # fmt: skip


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    return {f"{name}.md": _page(title, prefix, things) for name, title, prefix, things in PAGES}


def _page(title: str, prefix: str, things: list[Any]) -> str:
    parts = [f"{HEAD}\n# {title}"]
    modules = {inspect.getmodule(thing) for thing in things}
    if len(modules) == 1:
        parts += _blocks(inspect.getdoc(modules.pop()) or "")
    for thing in things:
        parts += _entry(thing, prefix if _is_reached(prefix, thing) else "", "##")
    return "\n\n".join(parts) + "\n"


def _is_reached(prefix: str, thing: Any) -> bool:
    """Whether a thing has its name in the module that a prefix names."""
    return getattr(sys.modules.get(prefix.rstrip(".")), thing.__name__, None) is thing


def _entry(thing: Any, prefix: str, level: str) -> Iterator[str]:
    """A heading, the way it is called, its docstring, and its public members."""
    yield f"{level} `{prefix}{thing.__name__}`"
    called = _called(thing)
    if called and not PRIVATE.search(called):
        yield f"```text\n{textwrap.fill(thing.__name__ + called, 110, subsequent_indent='    ')}\n```"
    yield from _blocks(inspect.getdoc(thing) or "")
    if inspect.isclass(thing):
        for name, member in _members(thing).items():
            if isinstance(member, property):
                yield f"{level}# `{thing.__name__}.{name}`"
                yield from _blocks(inspect.getdoc(member) or "")
            else:
                yield from _entry(getattr(thing, name), f"{thing.__name__}.", f"{level}#")


def _members(kind: type) -> dict[str, Any]:
    """Public methods and properties of a class and of those of this package that it extends, as they are written."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith("sfumato"):
            found |= {name: member for name, member in vars(each).items() if not name.startswith("_")}
    kinds = (property, staticmethod, classmethod)
    return {name: member for name, member in found.items() if isinstance(member, kinds) or inspect.isfunction(member)}


def _called(thing: Any) -> str:
    """The arguments as the source has them: a default by its name, not by its place in the memory."""
    if inspect.isclass(thing):
        made = vars(thing).get("__init__")
        return _called(made).removesuffix(" -> None") if _has_source(made) else _fields(thing)
    node = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(thing)))).body[0]
    assert isinstance(node, ast.FunctionDef)
    for listed in (node.args.posonlyargs, node.args.args):
        listed[:] = [argument for argument in listed if argument.arg not in ("self", "cls")]
    return f"({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def _has_source(made: Any) -> bool:
    """Whether somebody wrote it; that of a dataclass was made."""
    return inspect.isfunction(made) and made.__code__.co_filename != "<string>"


def _fields(kind: type) -> str:
    """The fields of a dataclass as arguments, with their defaults."""
    listed: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if "__dataclass_fields__" not in vars(each):
            continue
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for field in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
                default = "" if field.value is None else f"={ast.unparse(field.value)}"
                default = "" if default.startswith("=field(") and "default" not in default else default
                listed[ast.unparse(field.target)] = f": {ast.unparse(field.annotation)}{default}"
    return f"({', '.join(name + rest for name, rest in listed.items())})" if listed else ""


def _blocks(docstring: str) -> Iterator[str]:
    """Paragraphs; examples and drawings as code, aligned names as a list."""
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        lines = block.split("\n")
        if lines[0].startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        elif all(line.startswith("    ") for line in lines):
            yield f"```text\n{textwrap.dedent(block)}\n```"
        elif all(NAMED_LINE.match(line) for line in lines):
            yield "\n".join(NAMED_LINE.sub(r"- `\1`: \2", line) for line in lines)
        elif block.strip():
            yield block


def main() -> int:
    """Write the pages, or say which are not as they would be written."""
    stale = [
        name
        for name, text in pages().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != text
    ]
    if "--check" in sys.argv:
        print(f"not as written: {', '.join(stale)}; run make docs" if stale else "the reference is as written")
        return 1 if stale else 0
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(PAGES)} pages, {len(stale)} of them changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
