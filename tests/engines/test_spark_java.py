"""Without the Java that Spark's driver needs: what a user reads, and how tests install it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.engines.spark import _opening as opening
from sfumato.engines.spark._java import wanting

PROGRAMS = Path(__file__).parent.parent / "programs.py"


def _program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ('openjdk version "11.0.22" 2024-01-16', "the Java of this machine has version 11"),
        ('java version "1.8.0_392"', "the Java of this machine has version 8"),
        ("not a word of a version", "the Java of this machine does not start"),
        ('openjdk version "17.0.15" 2025-04-15', ""),
        ('openjdk version "21-ea" 2025-04-15', ""),
    ],
)
def test_the_version_is_read(said: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java says it on the stream of errors, old ones as 1.8."""
    _program(tmp_path / "bin", "java", f"echo '{said}' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert wanting() == wrong


def test_no_java_is_said_with_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a driver is started, whose own words are those of a shell script; over Connect none is needed."""
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(opening.Unreachable, match=r"needs Java 17 or newer here; no Java was found .*install Java 17"):
        opening._started(None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(opening.Unreachable, match=r"JAVA_HOME is .*, where no Java is; install Java 17"):
        opening._started(None)


@pytest.mark.parametrize("works", (True, False))
def test_tests_install_what_is_missing(works: bool, tmp_path: Path) -> None:
    """By Debian's packages, with a PATH that has apt-get and nothing else; what fails there is said and fails here."""
    _program(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/done; exit {0 if works else 100}')
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, str(PROGRAMS)], env=environment, capture_output=True, text=True)
    if os.geteuid() != 0:
        assert done.returncode == 1 and "As root: apt-get -y -q" in done.stderr
        return
    asked = (tmp_path / "done").read_text().splitlines()
    assert asked[0] == "-q update" and done.returncode == (0 if works else 100)
    assert works == (asked[-1].endswith("install chromium openjdk-17-jre-headless"))
    assert works == (not done.stderr)
