"""Every way to a noisy value: through the ledger, or a mechanism that somebody uses directly."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import sfumato as sf
from sfumato.curator.asking import Asking
from sfumato.curator.curator import Curator

SOURCE = Path(inspect.getfile(sf)).parent
DRAWS = {"draw", "draw_lifted", "draw_one", "release"}  # what turns exact numbers into noisy ones
CHARGED = {
    ("curator/measurement/quantile_search.py", "release"),
    ("curator/measurement/release.py", "release"),
    ("curator/measurement/measure.py", "release"),
    ("curator/measurement/release.py", "draw"),
}  # reached from `Curator._compute` only
AUDITED = {
    ("audit/game.py", "release"),
    ("audit/game.py", "draw"),
    ("audit/sql/noise.py", "release"),
    ("audit/sql/noise.py", "draw"),
    ("audit/zoo/broken.py", "draw"),
}  # on inputs that the auditor is given or makes up; no row of a table is there
AT_HOME = {
    ("surveys/item.py", "release"),
    ("surveys/item.py", "draw"),
}  # the local model: a respondent's own answer, by the price of the design that is published
SUITES = {
    ("testing/mechanisms.py", "release"),
    ("testing/odd_parameters.py", "release"),
}  # of mechanisms under test, on inputs that the suites make up
LOCKS = {("engines/guard.py", "release"), ("threads.py", "release")}  # of threads, never of numbers


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
    assert outside == CHARGED | AUDITED | AT_HOME | SUITES | LOCKS


def test_the_curator_computes_nothing_before_it_has_reserved() -> None:
    """One caller in a row: answer, then _answer, then _compute, then measure_all; and `answer` reserves first.

    An audit and the suite of engines measure too, on tables that they make up: they never open those of a curator.
    """
    audits = {"audit/sql/question.py": {"_answer"}, "audit/sql/recorder.py": {"record"}}
    audits["testing/engine_tables.py"] = {"recorded"}
    assert calls("measure_all") == {"curator/asking.py": {"_compute"}, **audits}
    assert calls("_compute") == {"curator/asking.py": {"_answer"}}
    assert calls("_answer")["curator/asking.py"] == {"answer"}
    assert set(calls("_answer")) <= {"curator/asking.py", "audit/sql/question.py"}
    text = inspect.getsource(Asking.answer)
    assert text.index("self.ledger.reserve(") < text.index("self._answer(")


def test_the_public_names_are_known() -> None:
    """A new public name is a decision: does it return a noisy value, and if so, is it charged?"""
    assert set(sf.__all__) == {
        "Curator", "Guarantee", "Ledger", "Neighbors", "Norm", "Resources", "Sensitivity", "Unit", "accounting", "ask",
        "attacks", "audit", "column", "dates", "histogram", "keys_from", "mechanisms", "public", "risk_report",
        "survey", "table", "through",
    }  # fmt: skip
    methods = {name for name, _ in inspect.getmembers(Curator, inspect.isfunction) if not name.startswith("_")}
    assert methods == {"ask", "explain", "plan", "plan_budget", "quote", "remaining"}
