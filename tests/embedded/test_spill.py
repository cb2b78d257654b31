"""Folders for spilled rows: who may enter them, and which left-overs are removed."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.embedded import spill
from sfumato.errors import InvalidArgument

PREFIX = f"sfumato-spill-{os.geteuid()}-"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for temporary files that was not swept yet."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    for root in [each for each in spill._here.roots if each.startswith(str(tmp_path))]:
        os.close(spill._here.roots.pop(root).lock)


def left_over(place: Path, name: str = f"{PREFIX}abcd1234", mode: int = 0o700) -> Path:
    """What a killed process leaves."""
    folder = place / name
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "duckdb_temp_storage.tmp").write_text("a row", encoding="utf-8")
    folder.chmod(mode)
    return folder


def test_a_folder_is_new_and_nobody_elses(place: Path) -> None:
    """Whatever the umask allows to others."""
    before = os.umask(0)
    try:
        one, two = spill.fresh(), spill.fresh()
    finally:
        os.umask(before)
    assert one and two and one != two and Path(one).parent == Path(two).parent
    assert Path(one).parent.parent == place and Path(one).parent.name.startswith(PREFIX)
    for folder in (one, two, Path(one).parent):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


def test_a_left_over_is_removed(place: Path) -> None:
    """With all that is in it."""
    dead = left_over(place)
    spill.sweep()
    assert not dead.exists() and place.exists()


def test_a_folder_whose_process_lives_is_kept(place: Path) -> None:
    """The lock says so: another process holds it, whatever its number is."""
    alive = left_over(place)
    holder = os.open(alive, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        spill.sweep()
        assert (alive / "1").is_dir()
    finally:
        os.close(holder)


def test_no_link_is_followed(place: Path, tmp_path: Path) -> None:
    """Who may write to the place could point to the user's own folders, by the name or inside a folder."""
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o700)
    (precious / "file").write_text("keep", encoding="utf-8")
    (place / f"{PREFIX}link0000").symlink_to(precious)
    inner = left_over(place)
    (inner / "1" / "link").symlink_to(precious)
    spill.sweep()
    assert (precious / "file").read_text(encoding="utf-8") == "keep"
    assert (place / f"{PREFIX}link0000").is_symlink() and not inner.exists()


@pytest.mark.parametrize(
    ("name", "mode"),
    (
        (f"{PREFIX}abcd1234", 0o755),  # not made by us
        ("sfumato-spill-987654-abcd1234", 0o700),  # another user's
        (f"{PREFIX}abcd1234.bak", 0o700),
        (f"my-{PREFIX}abcd1234", 0o700),
        ("sfumato-demo-abcd1234", 0o700),
    ),
)
def test_what_is_not_surely_ours_is_kept(place: Path, name: str, mode: int) -> None:
    """A name alone is no reason to delete."""
    other = left_over(place, name, mode)
    spill.sweep()
    assert (other / "1" / "duckdb_temp_storage.tmp").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_kept(place: Path) -> None:
    """Also by root, who could remove it."""
    other = left_over(place)
    os.chown(other, 12345, -1)
    spill.sweep()
    assert other.exists()


def test_a_place_where_others_could_swap_folders_is_refused(tmp_path: Path) -> None:
    """Without the sticky bit whoever may write there could put a folder of his own under the name of ours."""
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(InvalidArgument, match="others can rename what is in it; chmod go-w"):
        spill.fresh(place)
    place.chmod(0o1777)
    folder = spill.fresh(place)
    assert folder is not None and Path(folder).parent.parent == place
    os.close(spill._here.roots.pop(str(place)).lock)


def test_a_folder_around_the_place_is_as_dangerous(tmp_path: Path) -> None:
    """Whoever can rename it can put another folder, with the same names inside, where ours was."""
    outer = tmp_path / "outer"
    place = outer / "between" / "place"
    place.mkdir(parents=True)
    for mode in (0o777, 0o775):
        outer.chmod(mode)
        with pytest.raises(
            InvalidArgument, match=r"others can rename what is in the folder '.*/outer' around it; chmod"
        ):
            spill.fresh(place)
        assert list(place.iterdir()) == []
    outer.chmod(0o1777)
    folder = spill.fresh(place)
    assert folder is not None and Path(folder).parent.parent == place
    os.close(spill._here.roots.pop(str(place)).lock)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_around_the_place_must_not_be_another_users(tmp_path: Path) -> None:
    """Also where a sticky bit keeps all others out: its owner may rename what is in it."""
    place = tmp_path / "outer" / "place"
    place.mkdir(parents=True)
    for mode in (0o755, 0o1777):
        place.parent.chmod(mode)
        os.chown(place.parent, 12345, -1)
        with pytest.raises(InvalidArgument, match="outer' around it belongs to another user, who can rename"):
            spill.fresh(place)
    assert list(place.iterdir()) == []


def test_rows_go_to_no_folder_that_took_the_name_of_ours(place: Path) -> None:
    """The lock is held on ours; what has its name now may be read by whoever put it there."""
    first = spill.fresh()
    assert first is not None
    ours = Path(first).parent
    ours.rename(place / "away")
    ours.mkdir(mode=0o777)
    second = spill.fresh()
    assert second is not None and Path(second).parent not in (ours, place / "away")
    assert list(ours.iterdir()) == []


def test_the_working_directory_is_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor a folder in it, also where TMPDIR says so."""
    inside = tmp_path / "tmp"
    inside.mkdir()
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, inside):
        monkeypatch.setenv("TMPDIR", str(folder))
        assert spill._places() == [os.path.realpath(each) for each in ("/tmp", "/var/tmp")]


def test_without_a_place_nothing_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A database then has its memory only, and no `.tmp` in the working directory."""
    from sfumato.embedded.database import connected

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spill, "_places", lambda: [str(tmp_path / "nowhere")])
    with connected() as engine:
        assert engine.execute("SELECT current_setting('temp_directory')").fetchone() == ("",)
    with pytest.raises(InvalidArgument, match="set TMPDIR"), spill.temporary():
        pass


def test_a_folder_that_was_cleaned_away_is_made_anew(place: Path) -> None:
    """By somebody who empties the place while the process lives."""
    first = spill.fresh()
    assert first is not None
    os.rmdir(first)
    os.rmdir(Path(first).parent)
    second = spill.fresh()
    assert second is not None and os.path.isdir(second) and Path(second).parent != Path(first).parent


FORKS = """
import os, sys
from sfumato.embedded import spill
mine = spill.fresh()
child = os.fork()
if not child:
    theirs = spill.fresh()
    assert theirs and os.path.dirname(theirs) != os.path.dirname(mine)
    sys.exit(0)                     # its handlers run
assert os.waitpid(child, 0)[1] == 0
assert os.path.isdir(mine)
print(os.path.dirname(mine), flush=True)
sys.stdin.readline()
"""


def test_a_child_has_a_folder_of_its_own_and_leaves_its_parents(place: Path) -> None:
    """Its end neither removes the parent's folder nor gives up the lock on it."""
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert [folder] == list(place.iterdir())
        spill.sweep()
        assert folder.is_dir()
        process.communicate("\n", timeout=120)
    assert process.returncode == 0 and list(place.iterdir()) == []
