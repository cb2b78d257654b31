"""`sfumato budget grant` changes what it is told to change; `ledger show` and `erase` take the id of a receipt."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call


def listed(call: Call, name: str) -> list[str]:
    """Epsilon, delta and the end of a grant, as `budget show` lists them."""
    line = next(line for line in call("budget", "show").out.splitlines() if line.strip().startswith(name))
    return re.split(r" {2,}", line.strip())[1:4]


def test_a_grant_keeps_what_it_is_not_told_to_change(call: Call) -> None:
    """Delta and the last day, and epsilon too; each can be said anew, also that there is none."""
    end = "3000-01-01 00:00:00 UTC"
    assert call("budget", "grant", "ana", "-e", "0.5", "--delta", "1e-9", "--until", "2999-12-31").code == 0
    shown = call("budget", "grant", "ana", "-e", "1")
    assert "Granted to ana: epsilon 1, delta 1e-09, until 3000-01-01 00:00 UTC." in shown.out, shown.err
    assert listed(call, "ana") == ["1", "1e-09", end]
    assert call("budget", "grant", "ana", "--delta", "0").code == 0
    assert listed(call, "ana") == ["1", "0", end]
    assert call("budget", "grant", "ana", "--until", "2998-12-31").code == 0
    assert listed(call, "ana") == ["1", "0", "2999-01-01 00:00:00 UTC"]
    assert "until" not in call("budget", "grant", "ana", "--until", "never").out
    assert listed(call, "ana")[:2] == ["1", "0"] and "UTC" not in listed(call, "ana")[2]


def test_the_grant_of_all_keeps_its_end(call: Call) -> None:
    """Its epsilon and delta are the project file's."""
    assert call("ask", COUNT, "-e", "0.25").code == 0
    assert call("budget", "grant", "--until", "2999-12-31").code == 0
    assert call("budget", "grant").code == 0
    assert listed(call, "everyone") == ["3", "0", "3000-01-01 00:00:00 UTC"]


def test_the_end_of_a_grant_that_is_past_is_not_kept_in_silence(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it dropped: the owner says when the new one ends. A revoked grant leaves nothing to keep."""
    assert call("budget", "grant", "ana", "-e", "0.5", "--until", "2999-12-31").code == 0
    with monkeypatch.context() as later:
        later.setattr("sfumato.cli.budget.system_clock", lambda: 40_000_000_000_000_000)
        refused = call("budget", "grant", "ana", "-e", "1")
    assert refused.code == 2
    assert "the earlier grant ended on 3000-01-01" in refused.err and "--until never" in refused.err
    assert listed(call, "ana")[0] == "0.5"
    assert call("budget", "revoke", "ana").code == 0
    assert call("budget", "grant", "ana").code == 2
    assert "delta 0. Left" in call("budget", "grant", "ana", "-e", "1").out


def test_the_id_of_a_receipt_shows_and_erases_its_question(call: Call, folder: Path) -> None:
    """It is printed whole, in words and as JSON; a receipt of another ledger is refused."""
    id = call("ask", COUNT, "-e", "0.5").out.split()[-1]
    assert re.fullmatch(r"\d+-[0-9a-f]{64}", id)
    assert json.loads(call("ask", COUNT, "-e", "0.5", "--format", "json").out)["receipt"] == id
    shown = call("ledger", "show", id)
    assert shown.code == 0 and id in shown.out and COUNT in shown.out and re.search(r"epsilon +0.5\b", shown.out)
    assert call("ledger", "show", id.partition("-")[0]).out == shown.out == call("ledger", "show", id[:20]).out
    assert "1" in call("ledger", "show", "1").out
    other = f"{id.partition('-')[0]}-{'0' * 64}"
    for command in (("show",), ("erase", "--yes")):
        refused = call("ledger", *command, other)
        assert refused.code == 2 and "the receipt is of another ledger" in refused.err
    assert call("ledger", "verify", "--head", id).code == 0
    assert "stays spent" in call("ledger", "erase", id, "--yes").out
    assert re.search(r"question +erased", call("ledger", "show", id).out)
    for number in ("99", "9" * 30):
        refused = call("ledger", "show", number)
        assert refused.code == 2 and "see the numbers: sfumato ledger show" in refused.err


def test_an_emptied_ledger_is_refused_until_the_owner_says_create(call: Call, folder: Path) -> None:
    """With a hint that names the option; then it is announced, on standard error, once."""
    assert call("ask", COUNT, "-e", "0.5").code == 0
    (folder / "ledger.db").write_bytes(b"")
    for command in (("ask", COUNT, "-e", "0.5"), ("budget", "grant")):
        refused = call(*command)
        assert (
            refused.code == 5
            and "it is empty" in refused.err
            and "begin a new one: --create" in " ".join(refused.err.split())
        )
        assert "sfumato ledger restore FILE" in refused.err
    assert (folder / "ledger.db").stat().st_size == 0
    created = call("ask", COUNT, "-e", "0.5", "--create", "--quiet")
    assert created.code == 0 and created.err.startswith(f"New ledger: {folder}/ledger.db.")
    assert call("ask", COUNT, "-e", "0.25", "--create", "--quiet").err == ""


def test_a_grant_may_begin_the_ledger(call: Call, folder: Path) -> None:
    """And says so."""
    (folder / "ledger.db").touch()
    assert call("budget", "grant", "ana", "-e", "1").code == 5
    shown = call("budget", "grant", "ana", "-e", "1", "--create")
    assert shown.code == 0 and shown.err.startswith("New ledger: ")


def test_the_witness_of_a_project_stops_a_ledger_that_was_lost(call: Call, folder: Path) -> None:
    """Every command that would spend or judge refuses; after `ledger reconcile` the lost spend is spent."""
    (folder / "safe").mkdir()
    project = folder / "sfumato.toml"
    project.write_text('[ledger]\nwitness = "safe/ledger.witness"\n' + project.read_text())
    assert call("ask", COUNT, "-e", "0.5").code == 0
    assert (folder / "safe" / "ledger.witness").exists()
    (folder / "ledger.db").unlink()
    refused = call("ask", COUNT, "-e", "0.5")
    assert refused.code == 5 and refused.err.startswith("New ledger: ")
    assert "which its witness has seen" in refused.err and "sfumato ledger reconcile" in refused.err
    assert call("ledger", "verify").code == 5 and call("budget", "grant").code == 5
    assert "which its witness has seen" in call("doctor").out
    assert call("ledger", "reconcile").code == 2
    assert "Counted as spent by analyst on everyone: epsilon 0.5." in call("ledger", "reconcile", "--yes").out
    assert "Left: epsilon 2 of 3" in call("ask", COUNT, "-e", "0.5").out
    assert call("ledger", "verify").code == 0


@pytest.mark.parametrize("written", ["witness = 7", "witnes = 'x'"])
def test_a_witness_in_the_project_file_is_read_like_all_else(call: Call, folder: Path, written: str) -> None:
    """With its place."""
    project = folder / "sfumato.toml"
    project.write_text(f"[ledger]\n{written}\n" + project.read_text())
    refused = call("quote", COUNT, "-e", "1")
    assert refused.code == 2 and "ledger.witnes" in refused.err
