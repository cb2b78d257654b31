"""One file has one name: under a second one, the same people would have a second budget."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from ledger.mounting import CAN_MOUNT, run_mounted
from sfumato import mounts
from sfumato.curator.curator import Curator
from sfumato.dataset.one_file import aliases, check_one_file
from sfumato.dataset.population import Population, check_apart
from sfumato.dataset.public_table import public
from sfumato.dataset.sources.source import read_source
from sfumato.dataset.table import Table, table
from sfumato.errors import InvalidArgument
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee

needs_mounts = pytest.mark.skipif(not CAN_MOUNT, reason="mounts need root; what tells two names apart is tested alone")

ASK = """
import sys
import sfumato as sf
from sfumato.errors import SfumatoError
path, population, ledger, *others = sys.argv[1:]
def show(what):
    try:
        print(what())
    except SfumatoError as refusal:
        print(type(refusal).__name__, refusal)
def curator(path, population=population):
    return sf.Curator({"t": sf.table(path, unit="p")}, budget=1, ledger=ledger, population=population)
show(lambda: len(curator(path).ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows))
for other in others:
    show(lambda: len(curator(other, "q").ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows))
    both = {"t": sf.table(path, unit="p"), "s": sf.table(other, unit="p")}
    show(lambda: sf.Curator(both, budget=1, population=population))
    known = lambda: {"t": sf.table(path, unit="p"), "s": sf.public(other)}
    show(lambda: sf.Curator(known(), budget=1, population=population))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (folder := tmp_path / "folder").mkdir()
    (folder / "people.csv").write_text("p,x\n1,1\n2,2\n", encoding="utf-8")
    with duckdb.connect(str(folder / "people.db")) as engine:
        engine.execute("CREATE TABLE people (p BIGINT); CREATE TABLE shops (p BIGINT)")
    return folder


@pytest.fixture
def second_name(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder under another name, as a mount makes it: no link is seen on the way there."""
    (second := tmp_path / "second").symlink_to(folder)
    really = os.path.realpath
    monkeypatch.setattr(
        os.path, "realpath", lambda path: os.path.abspath(path) if "second" in str(path) else really(path)
    )
    return second


@pytest.mark.parametrize("name", ["people.csv", "people.db#people"])
def test_a_source_that_is_mounted_by_itself_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Behind links as well; what is beside it is not, and without the table of mounts nobody can tell."""
    path, database = str(folder / name), "#" in name
    listed = tmp_path / "mountinfo"
    listed.write_bytes(b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n35 22 8:1 /srv %s rw - ext4 x rw" % os.fsencode(folder))
    monkeypatch.setattr(mounts, "MOUNTS", listed)
    (tmp_path / "link").symlink_to(folder)
    sources = [f"duckdb:///{each}" if database else each for each in (path, str(tmp_path / "link" / name))]
    assert len({read_source(each).identity for each in sources}) == 1
    listed.write_bytes(b"35 22 8:1 /srv %s rw - ext4 x rw\n" % os.fsencode(path.partition("#")[0]))
    for each in sources:
        with pytest.raises(InvalidArgument, match=r"is mounted by itself.*mount the folder that holds it"):
            _ = read_source(each).identity
    listed.unlink()
    with pytest.raises(InvalidArgument, match="cannot be read; mount /proc"):
        _ = read_source(sources[0]).identity


def test_names_are_of_one_file_by_what_they_lead_to_now(folder: Path, second_name: Path) -> None:
    """Of a database each table is a source; what is gone, or no file, has no second name."""
    one, two = str(folder / "people.csv"), str(second_name / "people.csv")
    tables = [f"{each / 'people.db'}#{table}" for each in (folder, second_name) for table in ("people", "shops")]
    assert list(aliases([one], [one, two, *tables])) == [(one, two)]
    assert list(aliases(tables, tables)) == [(tables[n], tables[(n + 2) % 4]) for n in range(4)]
    assert not list(aliases([f"{one}.gone", "frame:1", "postgresql:1", "/\0"], [one, f"{two}.gone", "frame:1", "/\0"]))
    check_one_file([one, tables[0]], [one, *tables[:2]])


def test_a_file_under_two_names_is_in_no_two_populations(folder: Path, second_name: Path) -> None:
    """Nor twice in one, nor private and public: in one project, in one curator, or by one ledger."""
    one, two = (table(each / "people.csv", unit="p") for each in (folder, second_name))
    other = table(f"duckdb:///{folder / 'people.db'}#people", unit="p")

    def named(name: str, each: Table) -> Population:
        return Population(name, Guarantee(1), {name: each})

    check_apart([named("p", one), named("q", other)])
    with pytest.raises(InvalidArgument, match=r"people\.csv, which is the same file as people\.csv in another folder"):
        check_apart([named("p", one), named("q", two)])
    with pytest.raises(InvalidArgument, match="must have one name"):
        Curator({"one": one, "two": two}, budget=1)
    with pytest.raises(InvalidArgument, match="must be public or private"):
        Curator({"one": one, "two": public(second_name / "people.csv")}, budget=1)
    ledger = Ledger.in_memory()
    Curator({"one": one}, budget=1, ledger=ledger, population="p")
    with pytest.raises(InvalidArgument, match="write the name by which it was declared first"):
        Curator({"two": two}, budget=1, ledger=ledger, population="q")
    assert list(ledger.balance().populations) == ["p"]
    with pytest.raises(InvalidArgument, match="must be public or private"):
        Curator({"o": other, "two": public(second_name / "people.csv")}, budget=1, ledger=ledger, population="q")


@needs_mounts
def test_a_file_that_is_really_mounted_by_itself_has_no_second_budget(folder: Path, tmp_path: Path) -> None:
    """As a container does with a single file."""
    (second := tmp_path / "other.csv").touch()
    mount = f'mount --bind "{folder / "people.csv"}" "{second}"'
    first, *rest = run_mounted(mount, ASK, folder / "people.csv", "p", tmp_path / "l.db", second).splitlines()
    assert first == "1" and len(rest) == 3
    assert all("other.csv is mounted by itself" in said for said in rest)


@needs_mounts
def test_a_folder_that_is_really_mounted_twice_has_no_second_budget(folder: Path, tmp_path: Path) -> None:
    """Where both names are seen; a process that does not see the first one cannot tell."""
    (second := tmp_path / "mounted").mkdir()
    mount, names = f'mount --bind "{folder}" "{second}"', (folder / "people.csv", second / "people.csv")
    said = run_mounted(mount, ASK, names[0], "p", tmp_path / "l.db", names[1]).splitlines()
    assert said[0] == "1" and len(said) == 4
    assert all("same file as people.csv in another folder" in each for each in said[1:3])
    assert "must be public or private" in said[3]
    again = run_mounted(mount, ASK, names[1], "q", tmp_path / "l.db")  # another process, and the same ledger
    assert "same file as people.csv in another folder" in again
