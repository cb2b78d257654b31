"""Every example in the README and in docs/ runs, and every link points somewhere.

Python blocks of one page share one namespace, in order. A block of `>>>` lines is a doctest; another block runs, and a
`text` block that follows it is what it prints. A `console` block has commands after `$`, and what they print. Noise
differs from run to run, so printed outputs are compared by `printed_outputs.py`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from printed_outputs import difference

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("decisions/*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
ATTEMPTS = 5  # a printed output must agree in one of them: by noise alone it differs in less than one run of 20
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

each = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong example fails here, with its page and line; files that it writes are its own."""
    monkeypatch.chdir(tmp_path)
    run_examples(page)


def test_pages_that_keep_a_ledger_can_be_run_again_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger remembers, so each page says how to begin anew, and none meets the ledger of another."""
    monkeypatch.chdir(tmp_path)
    kept = [page for page in PAGES if re.search(r'ledger\.db\*|ledger\*"', page.read_text())]
    assert {"tutorial.md", "keep-a-ledger.md", "use-from-other-tools.md"} == {page.name for page in kept}
    for page in (*kept, *kept):
        run_examples(page)


def test_the_printed_outputs_of_a_page_are_what_a_run_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every page that shows commands with their output; false alarms are below 1e-6 (see `ATTEMPTS`)."""
    monkeypatch.chdir(tmp_path)
    shown = [(page, block[1]) for page in PAGES for block in CONSOLE.finditer(page.read_text())]
    assert "README.md" in {page.name for page, _ in shown}
    for page, block in shown:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, written = part.partition("\n")
            program, *arguments = shlex.split(command)
            assert program == "sfumato", f"{page.name}: {command}"
            said = often(written, lambda given=arguments: ran(given))
            assert said == "", f"{page.name}: sfumato {shlex.join(arguments)}: {said}"


def ran(arguments: list[str]) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "sfumato", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def often(written: str, run: Callable[[], str]) -> str:
    """How what is written differs from all of a few runs; empty: it agrees with one of them."""
    found = ""
    for _ in range(ATTEMPTS):
        found = difference(written, run())
        if not found:
            break
    return found


def run_examples(page: Path) -> None:
    """The blocks of a page, in order; from the beginning again where noise may be why an output differs."""
    for attempt in range(ATTEMPTS):
        found = _run_once(page)
        if not found:
            return
        assert attempt + 1 < ATTEMPTS, f"{page.name}: {found}"


def _run_once(page: Path) -> str:
    """Run a page, and say how a printed output differs."""
    text, names = page.read_text(), {"__name__": "__example__"}
    found = ""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start())
        if ">>>" in block[1]:
            example = doctest.DocTestParser().get_doctest(block[1], names, str(page), str(page), line)
            runner.run(example, clear_globs=False)
            names = {**names, **example.globs}  # for the next block
        else:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile("\n" * (line + 1) + block[1], str(page), "exec"), names)
            found = found or (difference(block[2], printed.getvalue()) if block[2] else "")
    assert runner.failures == 0
    return found


@each
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """A relative link names a file that exists."""
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_every_proof_that_a_module_names_has_its_page() -> None:
    """The head of a module that makes a claim names its proof, and the page is there."""
    for module in (ROOT / "src/sfumato").rglob("*.py"):
        for page in re.findall(r"docs/proofs/\w+\.md", module.read_text()):
            assert (ROOT / page).exists(), f"{module.name} points to {page}"


def test_examples_that_are_wrong_are_found() -> None:
    """The check can fail: a page with a false example does."""
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", "wrong", 0), out=lambda text: None)
    assert runner.failures == 1


@each
def test_a_doctest_block_ends_with_a_blank_line(page: Path) -> None:
    """Else plain doctest takes the closing fence for output."""
    blocks = [block[1] for block in BLOCK.finditer(page.read_text()) if ">>>" in block[1]]
    assert [block for block in blocks if not block.endswith("\n\n")] == []


@pytest.mark.parametrize("folder", ["concepts", "course", "how-to", "proofs"])
def test_the_index_of_a_folder_lists_every_page_of_it(folder: str) -> None:
    """And the README points at the index."""
    index = ROOT / "docs" / folder / "index.md"
    linked = set(LINK.findall(index.read_text()))
    assert {page.name for page in index.parent.glob("*.md")} - {"index.md"} <= linked
    assert f"docs/{folder}/index.md" in (ROOT / "README.md").read_text()


def test_the_words_are_all_explained() -> None:
    """Every term of the vocabulary has its row."""
    words = (ROOT / "docs/concepts/words.md").read_text()
    for word in (
        *("unit", "neighbors", "sensitivity", "mechanism", "loss", "guarantee", "zCDP", "rho"),
        *("dominating pair", "lattice", "bracket", "filter", "odometer"),
    ):
        assert f"\n| {word} | " in words
