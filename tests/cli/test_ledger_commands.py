"""`sfumato ledger` and `sfumato budget`: bars, checks, copies, grants."""

from __future__ import annotations

import csv
import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from sfumato.cli._shared.cost import bar, how_many, used
from sfumato.ledger.balance import Account
from sfumato.ledger.records.amount import UNIT, Amount
from sfumato.ledger.records.budget import Budget
from sfumato.privacy.loss import Loss
from sfumato.project import load

OTHER = COUNT.replace(" n ", " other ")


@pytest.fixture
def asked(call: Call) -> Call:
    """Two questions: 1 by ana, 0.5 by ben."""
    call("ask", COUNT, "-e", "1", "--as", "ana")
    call("ask", OTHER, "-e", "0.5", "--as", "ben")
    return call


def test_the_budget_is_drawn_by_table_and_analyst(asked: Call) -> None:
    """Half of it is spent: half of the bar is full; each part has its own."""
    shown = asked("ledger", "show")
    bars = {line[:16].strip(): line for line in shown.out.splitlines() if "░" in line}
    assert set(bars) == {"everyone", "table visits", "analyst ana", "analyst ben"}
    assert bars["everyone"].count("█") == 15 and bars["everyone"].endswith(" 50%") and " 1.5   3 " in bars["everyone"]
    assert bars["analyst ana"].endswith(" 33%") and bars["analyst ben"].endswith(" 17%")
    assert re.search(r"number +time +what +population +analyst +table +epsilon", shown.out)
    assert re.search(r"reserved +everyone +ben +visits +0.5", shown.out)
    assert re.search(r"^Head: 6-[0-9a-f]{16}…$", shown.out, re.MULTILINE)
    assert "reserved" not in asked("ledger", "show", "--entries", "0").out


def test_before_the_first_question_the_budget_is_whole(call: Call, folder: Path) -> None:
    """And looking makes no ledger."""
    shown = call("ledger", "show")
    assert re.search(r"everyone +0 +3 +░{30} +0%", shown.out) and "Nothing was asked yet" in shown.out
    assert "all; nothing asked yet" in call("budget", "show").out
    assert not (folder / "ledger.db").exists()


def test_a_whole_ledger_is_verified_against_a_receipt(asked: Call) -> None:
    """The right head is in order; another one is not, with exit code 5."""
    shown = asked("ledger", "verify")
    assert shown.code == 0 and shown.out.startswith("In order: 6 entries; head 6-")
    head = shown.out.rsplit(" ", 1)[1].strip().rstrip(".")
    assert asked("ledger", "verify", "--head", head).code == 0
    assert asked("ledger", "verify", "--head", "3-" + "0" * 16).code == 5
    assert asked("ledger", "verify", "--head", "99-" + "0" * 16).code == 5


def test_exports_and_backups_come_back(asked: Call, folder: Path) -> None:
    """CSV and JSON Lines; a backup restores into a new ledger with the same head."""
    assert "Wrote 6 entries" in asked("ledger", "export", "all.csv").out
    assert len(list(csv.DictReader((folder / "all.csv").read_text().splitlines()))) == 6
    asked("ledger", "export", "all.jsonl")
    assert "SELECT" not in (folder / "all.jsonl").read_text()
    asked("ledger", "export", "with.jsonl", "--payloads")
    assert "SELECT" in (folder / "with.jsonl").read_text()
    head = asked("ledger", "verify").out.rsplit(" ", 1)[1]
    for name in ("copy.db", "copy.jsonl"):
        assert asked("ledger", "backup", name).code == 0
        for left in folder.glob("ledger.db*"):
            left.unlink()
        shown = asked("ledger", "restore", name)
        assert shown.code == 0 and shown.out.rsplit(" ", 1)[1] == head
    older = asked("ledger", "restore", "all.jsonl", "--ledger", "third.db")
    assert older.code == 3 and "sfumato ledger backup FILE" in older.err


def test_an_older_backup_is_refused_and_a_copy_can_be_merged(asked: Call, folder: Path) -> None:
    """What a copy spent on its own is counted once."""
    asked("ledger", "backup", "copy.db")
    asked("ask", COUNT, "-e", "0.25", "--as", "cy")
    shown = asked("ledger", "restore", "copy.db")
    assert shown.code == 3 and "sfumato ledger merge FILE" in shown.err
    asked("ledger", "backup", "own.db")
    shutil.copy("copy.db", "ledger.db")  # the copy goes its own way
    for left in (*folder.glob("ledger.db-*"),):
        left.unlink()
    asked("ask", OTHER, "-e", "0.125", "--as", "dan")
    asked("ledger", "backup", "theirs.db")
    assert "1 spends were new" in asked("ledger", "merge", "theirs.db", "--ledger", "own.db").out
    assert "0 spends were new" in asked("ledger", "merge", "theirs.db", "--ledger", "own.db").out
    assert "1.875" in asked("ledger", "show", "--ledger", "own.db").out


def test_erasing_needs_a_yes_and_leaves_what_was_spent(asked: Call, folder: Path) -> None:
    """The question's text is gone; the chain is whole; asking again costs again."""
    number = re.search(r"(\d+) .*reserved +everyone +ana", asked("ledger", "show").out)
    assert number is not None
    assert asked("ledger", "erase", number[1]).code == 2
    assert "stays spent" in asked("ledger", "erase", number[1], "--yes").out
    assert "was erased before" in asked("ledger", "erase", number[1], "--yes").out
    assert "2 texts erased" in asked("ledger", "verify").out
    assert "Left: epsilon 0.5 of 3" in asked("ask", COUNT, "-e", "1", "--as", "ana").out


def test_a_paused_analyst_may_ask_again_after_the_owner_looked(asked: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure pauses, show tells the command, and the command ends it."""

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr("sfumato.engines.sql.run.SqlRun.prepare", fail)
        assert asked("ask", OTHER, "-e", "0.25", "--as", "ana").code == 4
    assert asked("ask", OTHER, "-e", "0.125", "--as", "ana").code == 3
    assert "sfumato ledger resume ana visits" in asked("ledger", "show").out
    assert asked("ledger", "resume", "ana", "visits").out == "ana may ask visits again.\n"
    assert asked("ledger", "resume", "ana", "visits").out == "ana was not paused on visits.\n"
    assert asked("ask", OTHER, "-e", "0.125", "--as", "ana").code == 0


def test_an_analyst_has_an_budget_of_his_own(call: Call) -> None:
    """After the first grant only those with one may ask; what is left is the smaller of both; it can be revoked."""
    shown = call("budget", "grant", "ana", "--epsilon", "0.5", "--until", "2999-12-31")
    assert shown.code == 0 and "only analysts with a budget" in shown.out
    assert call("ask", COUNT, "-e", "0.25", "--as", "ben").code == 3
    assert "Left: epsilon 0.25 of 0.5; one more" in call("ask", COUNT, "-e", "0.25", "--as", "ana").out
    listed = call("budget", "show").out
    assert re.search(r"everyone +3 +0 +epsilon 2.75 of 3", listed)
    assert re.search(r"  ana +0.5 +0 +3000-01-01 00:00:00 UTC +epsilon 0.25 of 0.5", listed)
    assert call("ask", OTHER, "-e", "0.5", "--as", "ana").code == 3
    assert "Revoked" in call("budget", "revoke", "ana", "--why", "left").out
    assert re.search(r"  ana +revoked", call("budget", "show").out)
    refused = call("ask", OTHER, "-e", "0.25", "--as", "ana")
    assert refused.code == 3 and "sfumato budget show" in refused.err


def test_the_budget_of_all_follows_the_project_file(asked: Call, folder: Path) -> None:
    """A changed file is refused until it is granted, and the hint says how; revoking needs a yes."""
    toml = (folder / "sfumato.toml").read_text()
    (folder / "sfumato.toml").write_text(toml.replace("epsilon = 3.0", "epsilon = 4.0"))
    refused = asked("ask", COUNT, "-e", "0.1")
    assert refused.code == 3 and "the owner applies it: sfumato budget apply" in refused.err
    assert "Granted to everyone: epsilon 4, delta 0. Left: epsilon 2.5 of 4." in asked("budget", "grant").out
    assert asked("ask", COUNT, "-e", "0.1").code == 0
    assert asked("budget", "revoke").code == 2
    assert asked("budget", "revoke", "--yes").code == 0
    assert asked("ask", COUNT, "-e", "0.2").code == 3
    assert asked("budget", "grant").code == 0 and asked("ask", COUNT, "-e", "0.2").code == 0


def test_two_populations_are_told_apart(call: Call, folder: Path) -> None:
    """--population is needed, and each has its bar."""
    (folder / "staff.csv").write_text("id,pay\n1,2\n2,3\n")
    more = '[populations.staff]\ntables = ["staff"]\nepsilon = 1.0\n[tables.staff]\nsource = "staff.csv"\n'
    (folder / "sfumato.toml").write_text((folder / "sfumato.toml").read_text() + more)
    assert call("budget", "grant", "ana", "-e", "1").code == 2
    assert call("budget", "grant", "ana", "-e", "1", "--population", "staff").code == 0
    call("ask", COUNT, "-e", "1")
    shown = call("ledger", "show").out
    assert re.search(r"^staff +0 +1 ", shown, re.MULTILINE) and re.search(r"^everyone +1 +3 ", shown, re.MULTILINE)


def test_how_many_fit_is_what_the_budget_admits() -> None:
    """By epsilon, and beyond it by rho, where there is a delta."""
    third = Amount.of(Loss.pure(0.3))
    assert how_many([Account(Budget(Fraction("1")))], third) == 3
    assert how_many([], third) == 0
    small = Amount.of(Loss.pure(0.01))
    with_delta = Budget(Fraction("1"), Fraction("1e-9"))
    found = how_many([Account(with_delta)], small)
    assert found > 100  # rho adds up to less than epsilon does
    spent = Amount(found * (small.epsilon or 0), found * (small.rho or 0), 0)
    assert with_delta.admits(spent) and not with_delta.admits(spent.plus(small))
    assert used(Account(with_delta, spent=spent)) > Fraction("0.99")
    assert how_many([Account(Budget(Fraction("1"))), Account(Budget(Fraction("0.1")))], small) == 10


def test_a_bar_shows_what_is_not_nothing() -> None:
    """A thousandth is seen, and more than all is full."""
    assert bar(Fraction("0"), 4) == "░░░░" and bar(Fraction("0.001"), 4) == "█░░░"
    assert bar(Fraction("0.5"), 4) == "██░░" and bar(Fraction("2"), 4) == "████"


def test_the_json_of_an_export_is_the_ledger(asked: Call, folder: Path) -> None:
    """Sums of its lines are what show says."""
    asked("ledger", "export", "all.jsonl")
    lines = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()[1:-1]]
    assert sum(int(line["epsilon"]) for line in lines if line["kind"] == "reserved") == 1.5 * UNIT
    with load(folder).open_ledger() as ledger:
        assert ledger.head.number == len(lines)


def test_an_export_has_amounts_as_decimals_beside_the_exact_ones(asked: Call, folder: Path) -> None:
    """Next to each other; a copy with both can be restored."""
    asked("ask", COUNT, "-e", "0.1", "--delta", "1e-9", "--noise", "gaussian")  # delta is more than is allowed
    asked("ledger", "export", "all.csv")
    head, *rows = csv.reader((folder / "all.csv").read_text().splitlines())
    start = head.index("epsilon")
    assert head[start : start + 6] == ["epsilon", "rho", "delta", "epsilon_decimal", "rho_decimal", "delta_decimal"]
    (ana,) = (row for row in rows if "reserved" in row and "ana" in row)
    assert ana[start : start + 6] == ["1000000000", "500000000", "0", "1", "0.5", "0"]
    asked("ledger", "export", "all.jsonl", "--payloads")
    line = json.loads((folder / "all.jsonl").read_text().splitlines()[-3])
    assert (line["epsilon"], line["epsilon_decimal"]) == ("500000000", "0.5")
    assert asked("ledger", "restore", "all.jsonl", "--ledger", "new.db").code == 0


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_copy_does_not_replace_a_file_by_itself(asked: Call, folder: Path, command: str) -> None:
    """It may be the only one of what was lost since; --force does."""
    (folder / "copy.jsonl").write_text("mine")
    shown = asked("ledger", command, "copy.jsonl")
    assert shown.code == 2 and "must not exist yet" in shown.err and "--force" in shown.err
    assert (folder / "copy.jsonl").read_text() == "mine"
    assert asked("ledger", command, "copy.jsonl", "--force").code == 0
    assert (folder / "copy.jsonl").read_text() != "mine"


def test_a_grant_above_that_of_all_is_warned_of_and_given(call: Call) -> None:
    """Both limits hold; one within says nothing of it."""
    shown = call("budget", "grant", "ana", "-e", "8")
    assert shown.code == 0 and "Note: this is more than the total budget of everyone (epsilon 3)" in shown.out
    assert re.search(r"  ana +8 +0 ", call("budget", "show").out)
    assert "Note" not in call("budget", "grant", "ana", "-e", "3").out


def test_an_analyst_without_a_grant_has_no_limit_of_his_own(asked: Call) -> None:
    """Which is said in words; after a grant to another it also says that he may not ask."""
    assert re.search(r"  ben +- +no budget of their own\n", asked("budget", "show").out)
    asked("budget", "grant", "ana", "-e", "2")
    shown = asked("budget", "show").out
    assert re.search(r"  ben +- +no budget of their own; may not ask, because others have one", shown)
    assert re.search(r"  ana +2 +0 +epsilon 1 of 2", shown) and "epsilon 0" not in shown
