"""The course is whole: what each lesson has, pictures that say what their code says, notebooks with the same code.

That every example runs is tested with all other pages (test_documents.py).
"""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs/course"
LESSONS = sorted(FOLDER.glob("[0-9]*.md"))
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n(.*?)</details>", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")

RAISED = "Traceback (most recent call last):\n    ...\nZeroDivisionError: division by zero\n"

each = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"course_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


charts, notebooks = _script("charts"), _script("notebooks")


@each
def test_a_lesson_has_all_that_a_lesson_needs(lesson: Path) -> None:
    """A number, its way to the others, a note for the instructor, a picture, exercises and their solutions in code."""
    text = lesson.read_text("utf-8")
    assert text.startswith(f"# {int(lesson.name[:2])}. ")
    assert "[all lessons](index.md)" in text
    minutes = re.search(r"> \*\*For the instructor\.\*\* (\d+) minutes", text)
    assert minutes is not None and "> **Often misunderstood.**" in text
    assert re.search(rf"\]\({lesson.name}\) \| {minutes[1]} \|", (FOLDER / "index.md").read_text("utf-8"))
    assert re.search(r"!\[.{30,}\]\(\.\./images/course-", text)
    exercises, solutions = re.findall(r"^\*\*\d\.\*\*", text, re.MULTILINE), SOLUTION.findall(text)
    assert 2 <= len(exercises) == len(solutions) <= 4
    assert all("```python" in solution and "assert" in solution for solution in solutions)


def test_lessons_lead_to_each_other_in_order() -> None:
    """Each names the one before and the next."""
    for before, after in itertools.pairwise(LESSONS):
        assert re.search(rf"Next: \[[^]]+\]\({after.name}\)", before.read_text("utf-8"))
        assert re.search(rf"Before: \[[^]]+\]\({before.name}\)", after.read_text("utf-8"))


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_stored_picture_is_what_its_code_draws(name: str, tmp_path: Path) -> None:
    """Texts are the same, and marks lie where they should, to half a point; else run docs/course/charts.py."""
    charts.CHARTS[name]().save(str(tmp_path / "now.svg"))
    stored, now = (_drawn(path) for path in (charts.FOLDER / f"{name}.svg", tmp_path / "now.svg"))
    assert stored[0] == now[0]
    assert stored[1] == pytest.approx(now[1], abs=0.5)
    assert len(now[1]) > 10


def _drawn(path: Path) -> tuple[list[str], list[float]]:
    """What a picture says, and where its lines and bars go (not its letters, whose widths depend on the machine)."""
    said, places = [], []
    for node in ElementTree.parse(path).getroot().iter():
        said += [node.attrib["aria-label"]] if "aria-label" in node.attrib else []
        if node.attrib.get("aria-roledescription") in ("line mark", "bar", "rule", "point", "circle"):
            places += [float(number) for number in NUMBER.findall(node.attrib.get("d", ""))]
    return said, places


def test_every_picture_of_the_course_has_its_code_and_its_place() -> None:
    """No picture without a function that draws it, and none that no lesson shows."""
    stored = {path.stem for path in charts.FOLDER.glob("course-*.svg")}
    shown = {name for lesson in LESSONS for name in re.findall(r"images/(course-[\w-]+)\.svg", lesson.read_text())}
    assert stored == set(charts.CHARTS) == shown


@each
def test_a_notebook_has_the_code_of_its_page(lesson: Path, tmp_path: Path) -> None:
    """All of it, in order, with nothing else; texts without fences, pictures inside, links that lead somewhere."""
    made = notebooks.notebook(lesson, tmp_path)
    blocks = [block[1] for block in notebooks.BLOCK.finditer(lesson.read_text("utf-8"))]
    code = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert "\n".join(code) == "\n".join(source for block in blocks for source, _ in notebooks.sources(block))
    for cell in code:
        compile(cell, str(lesson), "exec")
    texts = [cell for cell in made["cells"] if cell["cell_type"] == "markdown"]
    assert not any("```python" in cell["source"] or "details>" in cell["source"] for cell in texts)
    assert any("image/svg+xml" in held for cell in texts for held in cell.get("attachments", {}).values())
    missing = [
        link
        for cell in texts
        for link in notebooks.LINK.findall(cell["source"])
        if not (tmp_path / link).exists()
    ]  # fmt: skip
    assert missing == []
    assert any(cell["metadata"].get("jupyter") for cell in made["cells"] if cell["cell_type"] == "code")


def test_the_code_of_examples_with_prompts_is_cut_where_something_is_shown() -> None:
    """A notebook shows the last value of a cell, so each shown value ends one; what raises is marked."""
    block = ">>> a = 1\n>>> a\n1\n>>> def f():\n...     return 1 / 0\n>>> f()\n" + RAISED + ">>> b = 3\n\n"
    cells = [("a = 1\na", False), ("def f():\n    return 1 / 0\nf()", True), ("b = 3", False)]
    assert list(notebooks.sources(block)) == cells


def test_all_notebooks_are_written(tmp_path: Path) -> None:
    """One for each lesson, and those that show a refusal go on after it."""
    notebooks.main(str(tmp_path))
    written = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.ipynb")}
    assert set(written) == {lesson.stem for lesson in LESSONS}
    refused = {lesson.stem for lesson in LESSONS if "Traceback (most recent call last)" in lesson.read_text("utf-8")}
    assert {stem for stem, text in written.items() if "raises-exception" in text} == refused != set()
