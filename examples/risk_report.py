"""Who among 24 students is unique: `python examples/risk_report.py`.

A table without names, made up such that it has the uniqueness of a real one: 7 of 24 by sex and age, 18 by five
harmless facts. The report is for the table's owner only. Writes a chart, risk_report.svg unless another name is given.
"""

from __future__ import annotations

import sys

import pyarrow as pa

import sfumato as sf

COLUMNS = ("sex", "age", "first_semester", "worst_grade", "siblings")
# Groups by sex and age; within each the further facts that tell its members apart, or do not.
STUDENTS = (
    *(("f", age, 1, 2, 1) for age in (27, 29, 31)),  # alone with their sex and age
    *(("m", age, 1, 2, 1) for age in (26, 28, 30, 35)),
    ("f", 21, 1, 3, 0), ("f", 21, 2, 3, 0), ("f", 21, 3, 3, 0), ("f", 21, 4, 3, 0),  # told apart by the semester
    ("m", 22, 1, 3, 2), ("m", 22, 2, 3, 2), ("m", 22, 3, 3, 2), ("m", 22, 4, 3, 2),
    ("f", 20, 1, 1, 1), ("f", 20, 1, 4, 1), ("f", 20, 1, 4, 1),  # one of them by the worst grade
    ("m", 21, 1, 2, 0), ("m", 21, 1, 2, 0), ("m", 21, 1, 2, 1), ("m", 21, 1, 2, 2),  # two of them by siblings
    ("m", 20, 1, 3, 1), ("m", 20, 1, 3, 1),  # and two not at all
)  # fmt: skip


def students() -> pa.Table:
    """The table."""
    return pa.table({name: [row[place] for row in STUDENTS] for place, name in enumerate(COLUMNS)})


def main(path: str = "risk_report.svg") -> sf.risk.Report:
    """Report, print, draw, and return the report."""
    report = sf.risk_report(students(), columns=COLUMNS)
    print(report)
    report.plot().save(path)
    print(f"\nchart: {path}")
    return report


if __name__ == "__main__":
    main(*sys.argv[1:2])
