"""One file, one name, one log: what a ledger's file may be, and where it may lie."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger.asking import question, reserve
from ledger.mounting import CAN_MOUNT, SPEND, run, run_mounted
from sfumato import mounts as mounts_module
from sfumato.errors import LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store.place import check_one_name, may_write, reading
from sfumato.mounts import mount_points
from sfumato.privacy.guarantee import Guarantee

MOUNTS = rb"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
35 22 8:1 /srv/ledger.db /data/ledger.db rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 8:1 /srv/x /my\040data/a\134b\011c\012d.db rw - ext4 /dev/sda1 rw
37 22 0:50 / /caf\303\251 rw - tmpfs tmpfs rw

38 torn
"""

mounts = pytest.mark.skipif(not CAN_MOUNT, reason="mounts need root; the reader of the table of mounts is tested apart")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of epsilon 1, of which half is spent, and open no more."""
    path = tmp_path / "folder" / "ledger.db"
    path.parent.mkdir()
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        for number in range(5):
            ledger.settle(reserve(ledger, question(f"{number}")), "7")
    return path


def test_the_table_of_mounts_is_read_with_its_escapes() -> None:
    """Blank, tab, line feed and backslash are octal there; other letters are as they are, or octal too."""
    assert mount_points(MOUNTS) == {b"/", b"/data/ledger.db", b"/my data/a\\b\tc\nd.db", "/café".encode()}


@pytest.mark.parametrize("name", ["ledger.db", "my data/led\\ger\t\xe9.db"])
def test_a_file_in_the_table_of_mounts_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With the cure; its folder, and another file in it, are not."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    (other := tmp_path / "other.db").touch()
    escaped = os.fsencode(file).replace(b"\\", b"\\134").replace(b" ", b"\\040").replace(b"\t", b"\\011")
    table = tmp_path / "mountinfo"
    table.write_bytes(b"22 1 8:1 / %s rw - ext4 /dev/sda1 rw\n" % os.fsencode(tmp_path))
    monkeypatch.setattr(mounts_module, "MOUNTS", table)
    check_one_name(str(file))
    table.write_bytes(b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n35 22 8:1 /srv/l %s rw - ext4 /dev/sda1 rw\n" % escaped)
    check_one_name(str(other))
    with pytest.raises(LedgerUnavailable, match="mount the folder that holds it instead"):
        check_one_name(str(file))
    table.unlink()
    with pytest.raises(LedgerUnavailable, match="cannot be read; mount /proc"):
        check_one_name(str(file))


def test_two_processes_under_two_names_of_a_hard_link_spend_nothing_twice(path: Path) -> None:
    """Five tenths are left; the file has two names, so neither process gets an answer, and both are told the cure."""
    other = path.parent / "other.db"
    os.link(path, other)
    for name in (path, other):
        said, answers = run(SPEND, name, name.name).splitlines()
        assert answers == "0"
        assert "it has several (hard links)" in said and "sfumato ledger backup FILE" in said
    other.unlink()
    assert run(SPEND, path, "alone") == "5"


def test_a_name_that_is_added_while_a_ledger_is_open_stops_it(path: Path) -> None:
    """Before the next spend."""
    with Ledger.open(path) as ledger:
        reserve(ledger, question("before"))
        os.link(path, path.parent / "other.db")
        with pytest.raises(LedgerUnavailable, match="remove the other names"):
            ledger.reserve(question("after"))
        (path.parent / "other.db").unlink()
        assert ledger.verify().entries == 12


@mounts
def test_a_file_that_is_mounted_by_itself_spends_nothing_twice(path: Path, tmp_path: Path) -> None:
    """As a container does: while one process spends at the first name, another at the second name is refused."""
    second = tmp_path / "other folder" / "other.db"
    second.parent.mkdir()
    second.touch()
    with Ledger.open(path) as ledger:
        said, answers = run_mounted(f'mount --bind "{path}" "{second}"', SPEND, second, "inside").splitlines()
        assert answers == "0" and "mount the folder that holds it instead" in said
        for number in range(5):
            reserve(ledger, question(f"outside {number}"))
    assert not list(second.parent.glob("*-wal"))


@mounts
def test_a_folder_that_is_mounted_twice_is_one_ledger(path: Path, tmp_path: Path) -> None:
    """The log lies in the folder, so both names share it: five answers fit, wherever they are asked."""
    second = tmp_path / "mounted"
    second.mkdir()
    with Ledger.open(path) as ledger:
        reserve(ledger, question("outside"))
        assert run_mounted(f'mount --bind "{path.parent}" "{second}"', SPEND, second / path.name, "inside") == "4"


def test_links_lead_to_one_ledger(path: Path, tmp_path: Path) -> None:
    """To the file, to its folder, and with dots between: the log lies beside the file itself."""
    (tmp_path / "by file.db").symlink_to(path)
    (tmp_path / "by folder").symlink_to(path.parent)
    names = [tmp_path / "by file.db", tmp_path / "by folder" / path.name, path.parent / ".." / "folder" / path.name]
    with Ledger.open(path) as ledger:
        for number, name in enumerate(names):
            with Ledger.open(name) as other:
                assert other.label == ledger.label
                reserve(other, question(f"by {number}"))
        assert ledger.verify().entries == 11 + len(names)
    assert not list(tmp_path.glob("*-wal")) and not list(tmp_path.glob("*-shm"))


def test_a_link_that_leads_nowhere_yet_makes_the_ledger_where_it_leads(tmp_path: Path) -> None:
    """And stays a link."""
    (tmp_path / "there").mkdir()
    (link := tmp_path / "ledger.db").symlink_to(tmp_path / "there" / "real.db")
    Ledger.open(link).close()
    assert link.is_symlink() and (tmp_path / "there" / "real.db").stat().st_size


READ = """
import sys
from ledger.asking import question
from sfumato.errors import SfumatoError
from sfumato.ledger.ledger import Ledger
with Ledger.open(sys.argv[1], create=False) as ledger:
    print(ledger.verify().entries, ledger.remaining("people").epsilon)
    try:
        ledger.reserve(question("new"))
    except SfumatoError as refusal:
        print(type(refusal).__name__, refusal)
"""
READ_ONLY = 'mount --bind "{0}" "{0}"; mount -o remount,ro,bind "{0}"'


@mounts
def test_a_ledger_on_read_only_media_is_verified_and_not_spent(path: Path) -> None:
    """Where root may not write either."""
    entries, refusal = run_mounted(READ_ONLY.format(path.parent), READ, path).splitlines()
    assert entries == "11 1/2"
    assert refusal.startswith("LedgerUnavailable") and "it may only be read" in refusal


@mounts
def test_a_log_on_read_only_media_is_read_or_refused(path: Path) -> None:
    """What is in the log counts; where SQLite cannot read it, an older balance is not shown in its place."""
    with Ledger.open(path) as ledger:
        engine = ledger._writer.store.engine
        engine.dispose()
        with engine.connect() as held:  # a reader, because of which the log cannot be written into the file
            held.exec_driver_sql("SELECT * FROM sfumato_entry").fetchall()
            reserve(ledger, question("in the log"))
            with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as alone:
                assert alone.execute("SELECT max(number) FROM sfumato_entry").fetchone() == (11,)
            assert run_mounted(READ_ONLY.format(path.parent), READ, path).startswith("12 2/5")
            (copy := path.parent / "copy").mkdir()
            for end in ("", "-wal"):
                (copy / f"copy.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    with pytest.raises(AssertionError, match="copy the ledger and its -wal file into a folder of your own"):
        run_mounted(READ_ONLY.format(copy), READ, copy / "copy.db")


def test_how_a_ledger_is_read_that_may_not_be_written(tmp_path: Path) -> None:
    """As unchanging if nothing is in a log; with the log if its index is there; otherwise not at all."""
    path = str(tmp_path / "ledger.db")
    assert may_write(str(tmp_path)) and not may_write(path)  # which is not there
    assert reading(path) == "mode=ro&immutable=1"
    Path(f"{path}-wal").touch()
    assert reading(path) == "mode=ro&immutable=1"
    Path(f"{path}-wal").write_text("frames")
    with pytest.raises(LedgerUnavailable, match="copy the ledger and its -wal file"):
        reading(path)
    Path(f"{path}-shm").touch()
    assert reading(path) == "mode=ro"
