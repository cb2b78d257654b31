"""The license is in the repository and in what is built from it; `make wheel` builds both archives and checks them."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tomllib
import zipfile
from pathlib import Path

import packed

ROOT = Path(__file__).resolve().parents[1]
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # the text that apache.org publishes


def test_the_license_is_the_whole_text_of_apache_2() -> None:
    """Letter by letter."""
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE


def test_the_package_declares_the_license_and_its_file() -> None:
    """For wheel and sdist, and the Makefile looks into both."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert declared["project"]["license"] == "Apache-2.0"
    assert declared["project"]["license-files"] == ["LICENSE"]
    assert "LICENSE" in declared["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert "tests/packed.py build/sdist build/wheel" in (ROOT / "Makefile").read_text()


def _archives(folder: Path, text: bytes | None) -> list[str]:
    """A wheel and an sdist with this license."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "x-1.whl", "w") as wheel:
        wheel.writestr("x/__init__.py", "")
        if text is not None:
            wheel.writestr("x-1.dist-info/licenses/LICENSE", text)
    with tarfile.open(folder / "x-1.tar.gz", "w:gz") as sdist:
        for name, content in (("x-1/pyproject.toml", b""), ("x-1/LICENSE", text)):
            if content is not None:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                sdist.addfile(member, io.BytesIO(content))
    return packed.without_license(str(folder))


def test_the_check_of_the_archives_can_fail(tmp_path: Path) -> None:
    """Archives with the license pass; without it, or with another text, both are named, and so is an empty folder."""
    text = (ROOT / "LICENSE").read_bytes()
    assert _archives(tmp_path / "with", text) == []
    assert sorted(_archives(tmp_path / "without", None)) == ["x-1.tar.gz", "x-1.whl"]
    assert sorted(_archives(tmp_path / "other", text[:-10])) == ["x-1.tar.gz", "x-1.whl"]
    assert packed.without_license(str(tmp_path)) == [f"{tmp_path} (empty)"]
