"""Programs that tests need beside Python's packages: `python tests/programs.py` installs what is missing.

`make test` does so. Tests that need one call `program`, which fails with the way out and never skips; those of Spark
install Java themselves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection

PACKAGES = {"chromium": "chromium", "java": "openjdk-17-jre-headless"}  # the program, and Debian's package that has it


def program(name: str) -> str:
    """Where a program lies."""
    found = shutil.which(name)
    assert found, f"{name} is missing: run python tests/programs.py, or install the package {PACKAGES[name]}"
    return found


def install(names: Collection[str] = tuple(PACKAGES)) -> int:
    """Install what is missing; what may not be installed is named."""
    packages = [PACKAGES[name] for name in names if shutil.which(name) is None]
    if not packages:
        return 0
    words = ["apt-get", "-y", "-q", "--no-install-recommends", "install", *packages]
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print(f"The tests need programs that are missing. As root: {' '.join(words)}", file=sys.stderr)
        return 1
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "-q", "update"], words):
        code = subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False).returncode
        if code:
            print(f"failed: {' '.join(command)}", file=sys.stderr)
            return code
    return 0


if __name__ == "__main__":
    sys.exit(install())
