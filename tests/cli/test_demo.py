"""The demo, run as a user would, and that what it claims is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.running import Ran, on_terminal, run
from sfumato.charts import Point
from sfumato.cli.demo import QUESTIONS, attack, city
from sfumato.cli.demo.chart import bar_with_whisker
from sfumato.ledger.ledger import Ledger
from sfumato.project import load


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    """One run as a pipe, into a folder that is kept."""
    folder = tmp_path_factory.mktemp("demo")
    return run("demo", "--keep", "city", folder=folder), folder / "city"


def test_the_demo_says_how_long_it_took(shown: tuple[Ran, Path]) -> None:
    """How long that may be is a matter of bench/start.py."""
    ran, _ = shown
    assert ran.code == 0, ran.err
    assert re.search(r"The demo took [\d.]+ s\.", ran.out)


def test_private_answers_stand_beside_the_exact_ones(shown: tuple[Ran, Path]) -> None:
    """Each exact value is that of the data; it says that this is a demo; the intervals hold about as often as said."""
    ran, folder = shown
    assert "This demo shows exact values beside the private ones." in ran.out
    for _, question, _ in QUESTIONS:
        assert question in ran.out
        for key, value in city.exact(folder, question):
            assert re.search(rf"^{str(key)[:10]} +[-\d,.]+ .*  {value:,.0f}$", ran.out, re.MULTILINE), key
    hold = re.search(r"(\d+) of 26 intervals contain the exact value", ran.out)
    # of 26 at 95 % fewer than 17 hold once in four million runs; at 50 % in 92 of 100
    assert hold is not None and int(hold[1]) >= 17


def test_the_city_is_as_large_as_is_said(shown: tuple[Ran, Path]) -> None:
    """200,000 rows with people, households, regions, incomes and days, all within what is declared."""
    _, folder = shown
    ((rows, people, homes, low, high, first, last),) = city.exact(
        folder,
        "SELECT count(*), count(DISTINCT person), count(DISTINCT household), min(income), max(income), "
        "min(day), max(day) FROM visits",
    )
    assert rows == 200_000 and 35_000 < people <= 40_000 and homes < people
    assert 0 <= low < high <= 200_000 and (str(first), str(last)) == ("2026-01-01", "2026-12-31")


def test_the_chart_is_drawn_in_letters_and_as_svg(shown: tuple[Ran, Path]) -> None:
    """A line with whisker or dot for each region, a bar unless the whisker begins at zero; the file has the names."""
    ran, folder = shown
    lines = [line for line in ran.out.splitlines() if re.search("●|├.*┤", line)]
    assert [line.split()[0] for line in lines] == list(city.REGIONS)
    assert all("█" in line or "├" in line for line in lines) and any("█" in line for line in lines)
    svg = (folder / "income.svg").read_text()
    assert svg.startswith("<svg") and all(f">{name}<" in svg for name in city.REGIONS)


def test_the_attack_fails_and_the_exact_counts_betray(shown: tuple[Ran, Path]) -> None:
    """The exact difference is one person; the private one fits both answers, but for unlikely noise."""
    ran, folder = shown
    assert re.search(r"difference +1 +between -?\d+ and -?\d+", ran.out)
    assert "The exact counts reveal the answer." in ran.out
    project = load(folder)
    failures = 0
    for _ in range(5):
        curator = project.curator(ledger=Ledger.in_memory())
        found = attack.run(curator, folder)
        assert found.exact[0] - found.exact[1] == 1
        assert found.difference[1] - found.difference[0] > 10  # far wider than the one person it should tell
        failures += found.fails
    assert failures >= 1  # each fails with a probability of more than 95 %: none of five in three of ten million runs


def test_the_budget_bar_is_what_the_ledger_says(shown: tuple[Ran, Path]) -> None:
    """Three questions and two of the attack: 3 of 5."""
    ran, folder = shown
    assert re.search(r"spent █{18}░{12} 60%; left: epsilon 2 of 5", ran.out)
    with load(folder).open_ledger() as ledger:
        assert float(ledger.remaining("everyone").epsilon) == 2
        assert ledger.verify().entries == 12


def test_the_next_commands_work_as_they_are_printed(shown: tuple[Ran, Path]) -> None:
    """In the folder that it names."""
    ran, folder = shown
    lines = [line.strip() for line in ran.out.partition("Your turn\n")[2].splitlines()]
    assert lines[0] == "cd city"
    for line in lines[1:4]:
        program, *arguments = shlex.split(line)
        assert program == "sfumato" and run(*arguments, folder=folder).code == 0


def test_what_is_not_a_terminal_gets_whole_lines_without_trailing_blanks(shown: tuple[Ran, Path]) -> None:
    """Nothing is boxed, colored or wrapped."""
    lines = shown[0].out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert not set("│┃━┏\x1b") & set("".join(lines))


def test_on_a_terminal_it_is_drawn_and_fits(tmp_path: Path) -> None:
    """Boxes, and no line wider than the terminal but for paths and commands."""
    ran = on_terminal("demo", "--keep", "d", folder=tmp_path, width=80)
    assert ran.code == 0 and "┃" in ran.out
    wide = [line for line in ran.out.splitlines() if len(line.rstrip()) > 80 and "sfumato" not in line]
    assert wide == []


def test_an_output_that_is_not_utf_8_gets_plain_signs(tmp_path: Path) -> None:
    """No crash, and +/- for the sign that may be missing."""
    ran = run("demo", "--keep", "d", folder=tmp_path, PYTHONIOENCODING="ascii")
    assert ran.code == 0, ran.err
    assert re.search(r"north +[\d,]+ \+/- \d+", ran.out) and "####" in ran.out
    assert ran.out.isascii()


@pytest.mark.parametrize(
    ("point", "drawn"),
    [
        (Point("a", 10, 10, 10), "█████████●"),
        (Point("a", 0, -3, 3), "●─┤       "),
        (Point("a", 5, 2, float("inf")), "█├──●────┤"),
    ],
)
def test_a_bar_stays_within_its_width(point: Point, drawn: str) -> None:
    """Also at zero, below it, and without an upper end."""
    assert bar_with_whisker(point, top=10, width=10) == drawn
