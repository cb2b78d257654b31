"""The course as notebooks: `python docs/course/notebooks.py build/course`, or `make course`.

A page becomes text cells and code cells, in its order. Prompts and printed results go, since a notebook makes its own;
pictures are carried inside; links lead back to the pages; the code of a solution is folded.
"""

from __future__ import annotations

import base64
import doctest
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|attachment:)([^)#]+)")
PICTURE = re.compile(r"\]\((\.\./images/([\w-]+\.svg))\)")
Cell = dict[str, Any]


def notebook(page: Path, folder: Path) -> dict[str, Any]:
    """A page as a notebook that will lie in a folder."""
    text, cells, start = page.read_text("utf-8"), [], 0
    for block in BLOCK.finditer(text):
        before = text[start : block.start()]
        cells += _text(before, page, folder)
        folded = text.count("<details>", 0, block.start()) > text.count("</details>", 0, block.start())
        cells += [_code(source, folded, raises) for source, raises in sources(block[1])]
        start = block.end()
    cells += _text(text[start:], page, folder)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def sources(block: str) -> Iterator[tuple[str, bool]]:
    """The code of a block as cells, each with whether it raises: all of it, or what leads to one result each."""
    if ">>>" not in block:
        yield block.rstrip("\n"), False
        return
    gathered = ""
    for example in doctest.DocTestParser().get_examples(block):
        gathered += example.source
        if example.want:
            yield gathered.rstrip("\n"), example.exc_msg is not None
            gathered = ""
    if gathered:
        yield gathered.rstrip("\n"), False


def _text(text: str, page: Path, folder: Path) -> list[Cell]:
    """One cell, or none for nothing; a notebook folds solutions by itself."""
    text = re.sub(r"<details><summary>(.*?)</summary>", r"*\1*", text).replace("</details>", "").strip("\n")
    pictures = {name: (page.parent / path).read_bytes() for path, name in PICTURE.findall(text)}
    text = PICTURE.sub(r"](attachment:\2)", text)
    text = LINK.sub(lambda link: f"]({os.path.relpath(page.parent / link[1], folder)}", text)
    cell: Cell = {"cell_type": "markdown", "metadata": {}, "source": text}
    if pictures:
        cell["attachments"] = {
            name: {"image/svg+xml": base64.b64encode(data).decode()} for name, data in pictures.items()
        }
    return [cell] if text else []


def _code(source: str, folded: bool, raises: bool) -> Cell:
    """A cell; one that is meant to raise does not stop the others."""
    known: dict[str, Any] = {"jupyter": {"source_hidden": True}} if folded else {}
    known |= {"tags": ["raises-exception"]} if raises else {}
    return {"cell_type": "code", "metadata": known, "source": source, "outputs": [], "execution_count": None}


def main(where: str = "build/course") -> None:
    """Write a notebook for each lesson."""
    folder = Path(where).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted(HERE.glob("[0-9]*.md")):
        written = json.dumps(notebook(page, folder), indent=1, ensure_ascii=False)
        (folder / f"{page.stem}.ipynb").write_text(written + "\n", "utf-8")
    print(f"{len(list(HERE.glob('[0-9]*.md')))} notebooks in {where}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
