"""To add an engine takes its folder and its line in `dataset/sources/server.py`; it keeps the contract of all engines.

The sample is `tests/engines/shelf.py`; `tests/engines/test_another.py` runs `EngineTests` on it.
"""

from __future__ import annotations

from pathlib import Path

from recipes.house import House

SHELF = Path(__file__).parents[1] / "engines" / "shelf.py"
PROGRAM = """
import pyarrow as pa
import sfumato as sf
from sfumato.engines.shelf import SHELF
SHELF["t"] = pa.table({"pid": list(range(40)), "x": [1.0] * 40})
table = sf.table("shelf:t", unit="pid", columns={"x": sf.column(bounds=(0, 2))}, max_rows_per_unit=1)
curator = sf.Curator({"t": table}, budget=sf.Guarantee(20_000))
row = curator.ask("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t", epsilon=10_000).rows[0]
print(*(round(row[name]) for name in "nsa"))
"""


def test_an_engine_is_its_folder_and_its_line(tmp_path: Path) -> None:
    """With an epsilon of 10,000 the noise is below a half but with a probability of exp(-1000)."""
    house = House(tmp_path)
    house.add("engines/shelf/__init__.py", SHELF.read_text())
    house.insert(
        "dataset/sources/server.py", '    "spark:": "sfumato.engines.spark",', '    "shelf:": "sfumato.engines.shelf",'
    )
    assert house.touched == {"engines/shelf/__init__.py", "dataset/sources/server.py"}
    run = house.run("-c", PROGRAM)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "40 40 1\n"
