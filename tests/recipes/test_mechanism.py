"""To add a mechanism takes its file, its line in `mechanisms/__init__.py` (an import and its name), and its proof."""

from __future__ import annotations

from pathlib import Path

from recipes.house import House
from recipes.yes_no import YesNo
from sfumato.testing import MechanismTests

FILE = Path(__file__).parent / "yes_no.py"


class TestYesNo(MechanismTests):
    """The sample keeps the contract of all mechanisms; its examples are its own."""

    mechanisms = (YesNo,)


def test_a_mechanism_is_its_file_and_its_line(tmp_path: Path) -> None:
    """The command line then audits it by its name, on its own neighbors."""
    house = House(tmp_path)
    assert house.run("-m", "sfumato", "audit", "yes-no").returncode == 2
    registry = "mechanisms/__init__.py"
    house.add("mechanisms/yes_no.py", FILE.read_text())
    house.insert(
        registry,
        "from sfumato.mechanisms.truncated_geometric import TruncatedGeometric",
        "from sfumato.mechanisms.yes_no import YesNo",
    )
    house.insert(registry, "MECHANISMS = (", "    YesNo,")
    assert house.touched == {"mechanisms/yes_no.py", registry}
    run = house.run("-m", "sfumato", "audit", "yes-no", "--epsilon", "2", "--samples", "2000")
    assert run.returncode == 0, run.stderr
    assert "YesNo" in run.stdout and "REFUTED" not in run.stdout
