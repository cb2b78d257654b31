"""Every way to a noisy value: through the ledger, or a mechanism that somebody uses directly."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import sfumato as sf
from sfumato.curator.curator import Curator

SOURCE = Path(inspect.getfile(sf)).parent
DRAWS = {"draw", "draw_lifted", "draw_one", "release"}  # what turns exact numbers into noisy ones
CHARGED = {
    ("curator/zoom.py", "release"),
    ("curator/release.py", "release"),
    ("curator/measure.py", "release"),
    ("curator/release.py", "draw"),
}  # reached from `Curator._compute` only
AUDITED = {
    ("audit/game.py", "release"),
    ("audit/game.py", "draw"),
    ("audit/noise.py", "release"),
    ("audit/noise.py", "draw"),
    ("audit/zoo/broken.py", "draw"),
}  # on inputs that the auditor is given or makes up; no row of a table is there
AT_HOME = {
    ("surveys/item.py", "release"),
    ("surveys/item.py", "draw"),
}  # the local model: a respondent's own answer, by the price of the design that is published
LOCKS = {("engines/failing.py", "release"), ("threads.py", "release")}  # of threads, never of numbers


def calls(name: str) -> dict[str, set[str]]:
    """File by file, the functions that call something by a name."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                called = node.func if isinstance(node, ast.Call) else None
                if getattr(called, "attr", getattr(called, "id", None)) == name:
                    found.setdefault(str(path.relative_to(SOURCE)), set()).add(function.name)
    return found


def test_noise_is_drawn_by_mechanisms_and_by_the_curator_only() -> None:
    """No other module calls a sampler or a release; whoever adds one must pass the ledger, and say so here.

    The ledger itself, and what starts threads, release locks only; floors keep them from importing a mechanism.
    """
    found = {(file, name) for name in DRAWS for file in calls(name)}
    outside = {(file, name) for file, name in found if not file.startswith(("mechanisms/", "cli/", "ledger/"))}
    assert outside == CHARGED | AUDITED | AT_HOME | LOCKS


def test_the_curator_computes_nothing_before_it_has_reserved() -> None:
    """One caller in a row: _ask, then _answer, then _compute, then measure_all; and _ask reserves first.

    An audit measures too, on tables that `neighbourhood` makes up: it never opens those of a curator.
    """
    audits = {"audit/question.py": {"_answer"}, "audit/recorder.py": {"record"}}
    assert calls("measure_all") == {"curator/curator.py": {"_compute"}, **audits}
    assert calls("_compute") == {"curator/curator.py": {"_answer"}}
    assert calls("_answer")["curator/curator.py"] == {"_ask"}
    assert set(calls("_answer")) <= {"curator/curator.py", "audit/question.py"}
    text = inspect.getsource(Curator._ask)
    assert text.index("self.ledger.reserve(") < text.index("self._answer(")


def test_the_public_names_are_known() -> None:
    """A new public name is a decision: does it return a noisy value, and if so, is it charged?"""
    assert set(sf.__all__) == {
        "Curator", "Guarantee", "Neighbours", "Norm", "Resources", "Sensitivity", "Unit", "accounting", "ask",
        "attacks", "audit", "column", "dates", "histogram", "keys_from", "mechanisms", "public", "risk_report", "survey", "table",
        "through",
    }  # fmt: skip
    methods = {name for name, _ in inspect.getmembers(Curator, inspect.isfunction) if not name.startswith("_")}
    assert methods == {"ask", "explain", "plan", "plan_allowance", "quote", "remaining"}
