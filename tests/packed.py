"""What must be in the built archives: `python tests/packed.py build/sdist build/wheel`; `make wheel` runs it."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

LICENSE = Path(__file__).resolve().parents[1] / "LICENSE"


def licenses(archive: Path) -> list[bytes]:
    """The license files in an archive: at the top of an sdist, in the metadata of a wheel."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [wheel.read(name) for name in wheel.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    with tarfile.open(archive) as sdist:
        members = [member for member in sdist.getmembers() if member.name.split("/")[1:] == ["LICENSE"]]
        return [opened.read() for member in members if (opened := sdist.extractfile(member)) is not None]


def without_license(*folders: str) -> list[str]:
    """The archives that do not hold the license as it is in the repository; a folder without archives counts too."""
    wrong = []
    for folder in map(Path, folders):
        archives = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
        wrong += [each.name for each in archives if licenses(each) != [LICENSE.read_bytes()]]
        wrong += [] if archives else [f"{folder} (empty)"]
    return wrong


if __name__ == "__main__":
    missing = without_license(*sys.argv[1:])
    sys.exit(f"no license in: {', '.join(missing)}" if missing or len(sys.argv) < 2 else 0)
