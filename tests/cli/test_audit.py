"""`sfumato audit`: what it says, its exit codes, its chart and its JSON, and whatever is given wrongly.

Audits draw fresh randomness here; at this confidence an honest mechanism is accused once in 10^7 runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.conftest import COUNT, Call
from cli.running import on_terminal, run
from sfumato.audit.by_name import is_mechanism
from sfumato.audit.zoo import ZOO
from sfumato.cli._shared.failure import REFUTED

SURE = ("--confidence", "0.9999999")
MODULE = """
import time

import sfumato as sf
from sfumato.audit import game


def exact(rows):
    return len(rows)


def raises(value):
    raise RuntimeError("no such luck")


def quits(value):
    raise SystemExit(0)


def texts(value, seen=[0]):
    seen[0] += 1
    return f"about {seen[0]}"


def slow(value):
    time.sleep(60)


def ends(value):
    raise SystemExit(0)


def prints(value):
    print("on the way")
    return value


class Own:
    guarantee = sf.Guarantee(epsilon=0.5)

    def release(self, value):
        return honest.release(value)


own = Own()
honest = sf.mechanisms.Geometric(sensitivity=1, epsilon=0.5)
whole = game(honest, 3, 4, name="three and four")
number = 3
"""


@pytest.fixture
def module(folder: Path) -> Path:
    """A module of one's own."""
    (folder / "my_module.py").write_text(MODULE, encoding="utf-8")
    (folder / "my_quitting_module.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    (folder / "my_broken_module.py").write_text("1 / 0\n", encoding="utf-8")
    return folder


def test_an_honest_mechanism_ends_with_code_0(call: Call) -> None:
    """What is claimed, what is certified, what was tested, and what it does not prove."""
    shown = call("audit", "laplace", "--epsilon", "1", "-n", "20000", *SURE)
    assert shown.code == 0, shown.err
    for said in (
        "Laplace: not refuted",
        "claimed    epsilon 1",
        "certified  epsilon at least 0.",
        "can certify at most",
    ):
        assert said in shown.out
    assert "That is no proof" in shown.out and "inputs     value 0.0, neighbor 1.0" in shown.out


def test_an_audit_that_saw_nothing_says_so(call: Call) -> None:
    """No event that always happens is shown as a find, and where to look is said."""
    shown = call("audit", "laplace", "-e", "0.1", "-n", "200", *SURE)
    assert shown.code == 0 and "No event told them apart" in shown.out and "says little" in shown.out
    assert "on neighbor" not in shown.out


def test_without_a_name_the_names_are_listed(call: Call) -> None:
    """Mechanisms and the zoo, as one types them; each of them is known, however it is spelled."""
    shown = call("audit")
    assert shown.code == 0 and "permute-and-flip" in shown.out and ZOO[-1].name in shown.out
    listed = json.loads(call("audit", "--json").out)
    assert listed["zoo"] == [each.name for each in ZOO] and all(map(is_mechanism, listed["mechanisms"]))
    assert call("audit", "Threshold_Off_By_One").code == REFUTED


def test_a_broken_one_ends_with_code_6(call: Call) -> None:
    """With its story and the event that shows it."""
    shown = call("audit", "float-laplace", *SURE)
    assert shown.code == REFUTED == 6
    assert "float-laplace: REFUTED" in shown.out and "lowest set bit" in shown.out and "Mironov" in shown.out
    rare = call("audit", "lecture-propose-test-release")
    assert rare.code == REFUTED and "by exact probabilities" in rare.out


def test_too_few_samples_are_said(call: Call) -> None:
    """With how many to take."""
    shown = call("audit", "laplace", "-e", "8", "-n", "200")
    assert shown.code == 0 and "too few to refute this claim. Take more: --samples 2000" in shown.out


def test_the_json_is_the_report_for_a_program(call: Call) -> None:
    """The same figures."""
    shown = call("audit", "geometric", "--with", "sensitivity=2", "-n", "5000", "--json", *SURE)
    content = json.loads(shown.out)
    assert content["mechanism"] == "Geometric" and content["refuted"] is False
    assert 0 < content["certified_epsilon"] <= 1 and content["samples"] == 5_000
    assert content["events"][0]["hits"] > content["events"][0]["others"]
    exact = json.loads(call("audit", "threshold-off-by-one", "--json").out)
    assert exact["refuted"] and exact["delta_at_least"] > exact["claimed"]["delta"]


@pytest.mark.parametrize("name", ("chart.svg", "chart.png", "chart.html"))
def test_a_chart_shows_both_sides(call: Call, folder: Path, name: str) -> None:
    """In a file of the wanted kind, which loads nothing from elsewhere."""
    shown = call("audit", "laplace", "-n", "2000", "--plot", name, *SURE)
    assert shown.code == 0 and f"chart: {name}" in shown.err
    if name.endswith("svg"):
        text = (folder / name).read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "Audit of Laplace" in text and "neighbor" in text and "shaded: output" in text
    else:
        assert (folder / name).stat().st_size > 1_000


def test_a_chart_of_categories_is_drawn(call: Call, folder: Path) -> None:
    """By their labels."""
    assert call("audit", "randomized-response", "-n", "2000", "--plot", "r.svg", *SURE).code == 0
    text = (folder / "r.svg").read_text(encoding="utf-8")
    assert "yes" in text and "no" in text


def test_a_question_is_audited_on_made_up_neighbors(call: Call, folder: Path) -> None:
    """No row of the table is read, no ledger is made."""
    (folder / "visits.csv").write_text("person,region,spent,day\n", encoding="utf-8")
    shown = call("audit", COUNT)
    assert shown.code == 0, shown.err
    assert "not refuted" in shown.out and "cells 0" in shown.out and "No real row was read" in shown.out
    assert not (folder / "ledger.db").exists()
    both = call("audit", COUNT, "-n", "300", "--json")
    content = json.loads(both.out)
    assert content["recorder"]["violations"] == [] and content["sampling"]["samples"] == 300
    assert content["refuted"] is False and content["claimed"]["epsilon"] == 1
    (folder / "question.sql").write_text(COUNT, encoding="utf-8")
    for arguments in (("@question.sql",), ("--file", "question.sql")):
        again = call("audit", *arguments)
        assert again.code == 0 and again.out == shown.out, again.err


def test_a_function_of_ones_own_is_audited(call: Call, module: Path) -> None:
    """A function, a mechanism, or a whole game."""
    exact = call("audit", "my_module:exact", "--value", "[1, 2]", "--neighbor", "[1]", "-e", "1", "-n", "1000", *SURE)
    assert exact.code == REFUTED and "my_module:exact: REFUTED" in exact.out
    honest = call("audit", "my_module:honest", "-n", "1000", "-q", *SURE)
    assert honest.code == 0 and "claimed    epsilon 0.5" in honest.out and "Tested" not in honest.out
    assert "three and four" in call("audit", "my_module:whole", "-n", "1000", *SURE).out
    own = call("audit", "my_module:own", "-n", "1000", *SURE)
    assert own.code == 0 and "claimed    epsilon 0.5" in own.out, own.err


def test_a_mechanism_that_prints_spoils_no_report(folder: Path, module: Path) -> None:
    """What it prints goes where errors go."""
    shown = run("audit", "my_module:prints", "-n", "200", "--json", folder=folder)
    assert shown.code == REFUTED and json.loads(shown.out)["refuted"] and "on the way" in shown.err


WRONG = (
    (("my_module:raises",), "it raised RuntimeError: no such luck", "call it by itself first"),
    (("my_module:texts", "-n", "1000"), "got values of type str, nearly all of them different", "return the number"),
    (("my_module:slow", "--limit", "0.3"), "within 0.3 seconds; got 0 by then", "--limit"),
    (("my_module:number",), "a function of one input", "wrap it in a function"),
    (("my_module:exakt",), "my_module has no 'exakt'", "did you mean 'exact'"),
    (("my_module:exact", "--value", "[1]", "--neighbor", "[1, 2, 3]"), "must differ by one row", "one row only"),
    (("my_module:exact", "--value", "[1]", "--neighbor", "[1]"), "got the same twice", "change one"),
    (("my_module:quits",), "it raised SystemExit: 0", "call it by itself first"),
    (("my_quitting_module:x",), "it raised SystemExit: 0", "run it by itself"),
    (("my_module:exact", "--with", "size=3"), "a mechanism of your own takes no --with", "leave --with out"),
    (("my_module:honest", "--delta", "0.1"), "--delta must come with --epsilon", "a claim of its own"),
    (("my_module:whole", "-e", "0.1"), "is a whole game, and it takes no", "leave --epsilon out"),
    (("my_module:whole", "--value", "7"), "is a whole game, and it takes no", "leave --value out"),
    (("subsampled", "--value", "[9]", "--neighbor", "[]"), "which are no neighbors", "move one of them"),
    (("my_broken_module:x",), "it raised ZeroDivisionError: division by zero", "run it by itself"),
    (("none_such:x",), "module 'none_such' must be in this folder or installed", "check the name"),
    (("none such:x",), "must be module:name", "for example noise:my_count"),
    (("laplce",), "unknown mechanism 'laplce'", "did you mean 'laplace'"),
    (("",), "got an empty text", "sfumato audit lists the names"),
    (("my_module",), "'my_module' is a module", "my_module:my_count"),
    (("my_module.py:exact",), "not a file", "write my_module:exact"),
    (("my_modul:exact",), "module 'my_modul' must be in this folder", "did you mean 'my_module'?"),
    (("my_module:Own",), "got the class Own", "make one of it: Own(...)"),
    (("my_module:ends", "-n", "200"), "it raised SystemExit: 0", "call it by itself first"),
    (("my_quitting_module:x",), "it raised SystemExit: 0", "run it by itself first"),
    (("my_module:honest", "--value", "0", "--neighbor", "5"), "which are no neighbors", "larger sensitivity"),
    (("my_module:honest", "--value", "0"), "both inputs must be given", "--value and --neighbor"),
    (("my_module:honest", "--with", "size=3"), "takes no --with", "leave --with out"),
    (("my_module:whole", "-e", "2"), "is a whole game", "leave --epsilon out"),
    (("laplace", "--value", "5"), "both inputs must be given", "--value and --neighbor"),
    (("laplace", "-n", "0"), "samples must be at least 100 a side; got 0", "100,000 finds most"),
    (("laplace", "-n", "1e10"), "samples must be at most 100,000,000 a side", "100,000 finds most"),
    (("laplace", "-n", "many"), "--samples must be a whole number; got 'many'", "for example 100000"),
    (("laplace", "-e", "1", "--with", "epsilon=2"), "epsilon must be given once", "leave one out"),
    (("laplace", "--delta", "1e-6"), "Laplace has no parameter 'delta'", "leave --delta out"),
    (("subsampled", "-e", "1"), "Subsampled has no parameter 'epsilon'", "audit noise:tenth"),
    (("exponential", "--with", "candidates=x,y"), "candidates must be a list; got the text 'x,y'", "write ['a', 'b']"),
    (("laplace", "--value", "0", "--neighbor", "5"), "which are no neighbors", "larger sensitivity"),
    (("laplace", "-n", "50"), "samples must be at least 100 a side; got 50", "100,000 finds most"),
    (("laplace", "-e", "-1"), "epsilon must be positive", "choose 1 or less"),
    (("laplace", "--confidence", "1"), "confidence must be above 0 and below 1", "for example 0.95"),
    (("laplace", "--with", "size"), "--with must be NAME=VALUE", "--with size=3"),
    (("laplace", "--with", "color=3"), "Laplace has no parameter 'color'", "known are"),
    (("float-laplace", "-e", "2"), "takes no --epsilon", "leave --epsilon out"),
    (("zoo", "--plot", "z.svg"), "the zoo takes no --plot", "leave --plot out"),
    (("threshold-off-by-one", "--plot", "t.svg"), "without a chart", "leave --plot out"),
    ((COUNT, "--value", "3"), "a question takes no --value", "leave --value out"),
    (("laplace", "--plot", "chart.pdf"), "--plot must end in .svg, .png, .html", "rename it"),
)


@pytest.mark.parametrize(("arguments", "line", "hint"), WRONG, ids=lambda each: str(each)[:40])
def test_a_slip_is_one_line_and_one_hint(
    call: Call, module: Path, arguments: tuple[str, ...], line: str, hint: str
) -> None:
    """Usage, no traceback, nothing on the output."""
    shown = call("audit", *arguments)
    assert shown.code == 2, shown.err
    said, _, hints = shown.err.partition("\n  hint: ")
    assert line in said and hint in hints, shown.err
    assert shown.out == "" and "Traceback" not in shown.err and shown.err.count("\n") == 2


def test_a_question_that_is_not_answered_is_refused(call: Call) -> None:
    """As `ask` refuses it."""
    assert call("audit", "SELECT MODE(spent) AS s FROM visits").code == 3
    slip = call("audit", "SELEC COUNT(*) AS n FROM visits")
    assert slip.code == 3 and "ask with SELECT" in slip.err


def test_a_chart_that_cannot_be_written_is_told(call: Call, folder: Path) -> None:
    """After the report, in one line."""
    (folder / "full.svg").symlink_to("/dev/full")
    shown = call("audit", "laplace", "-n", "200", "--plot", "full.svg", *SURE)
    assert shown.code == 2 and "'full.svg' cannot be written: No space left on device" in shown.err


def test_the_zoo_is_caught(folder: Path) -> None:
    """Each in its line; exit code 0, since that is as it should be."""
    shown = run("audit", "zoo", folder=folder)
    assert shown.code == 0, shown.err
    assert f"{len(ZOO)} of {len(ZOO)} caught" in shown.out
    assert all(broken.name in shown.out for broken in ZOO)


def test_a_terminal_shows_a_bar(folder: Path) -> None:
    """While samples are drawn."""
    shown = on_terminal("audit", "laplace", "-n", "20000", *SURE, folder=folder, bar_from="drawing samples")
    assert shown.code == 0 and "drawing samples" in shown.out and "not refuted" in shown.out
