"""The reference is what the docstrings say, on every machine alike."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sfumato
from sfumato import accounting, attacks, audit, dbapi, mechanisms, risk, surveys

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"


def builder() -> ModuleType:
    """docs/build.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("build_reference", ROOT / "docs" / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILD = builder()
PAGES = BUILD.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_what_the_docstrings_say(name: str) -> None:
    """Else run `make docs` and look at what changed."""
    assert (REFERENCE / name).read_text("utf-8") == PAGES[name], f"{name} is stale; run make docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_names_no_machine(name: str) -> None:
    """No address in the memory, no path, no value that was read when it was written."""
    assert not re.findall(r"0x[0-9a-f]{6,}|/(?:home|root|tmp|work|usr)/|<\w+ object", PAGES[name])


@pytest.mark.parametrize(
    "module", (sfumato, mechanisms, accounting, audit, risk, attacks, surveys), ids=lambda module: module.__name__
)
def test_every_public_name_is_in_the_reference(module: ModuleType) -> None:
    """Functions and classes by a heading of their own."""
    text = "\n".join(PAGES.values())
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert f"\n## `{module.__name__}.{name}`\n" in text, name


def test_every_method_of_a_listed_class_has_words() -> None:
    """A docstring, and under it nothing that is private."""
    assert f"### `Cursor.{dbapi.Cursor.fetchmany.__name__}`" in PAGES["dbapi.md"]
    for name, text in PAGES.items():
        assert not re.search(r"^#+ `\w+\._", text, re.MULTILINE), name
        assert not re.search(r"^#+ `.*`\n\n(```text\n[^`]*```\n\n)?#", text, re.MULTILINE), name


def test_the_index_links_every_page() -> None:
    """Also those that are written by hand."""
    index = (REFERENCE / "index.md").read_text("utf-8")
    assert [page.name for page in REFERENCE.glob("*.md") if f"({page.name})" not in index] == ["index.md"]


def test_the_check_finds_a_stale_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script says which, and writes it anew."""
    monkeypatch.setattr(BUILD, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["build.py", "--check"])
    assert BUILD.main() == 1
    monkeypatch.setattr(sys, "argv", ["build.py"])
    assert BUILD.main() == 0 and {page.name for page in tmp_path.iterdir()} == set(PAGES)
    run = subprocess.run(
        [sys.executable, ROOT / "docs" / "build.py", "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
