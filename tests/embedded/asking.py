"""A process that asks a question which does not fit into its memory: `asking.py FILE MEMORY`."""

from __future__ import annotations

import sys

import sfumato as sf

if __name__ == "__main__":
    declared = sf.table(sys.argv[1], unit="person", columns={"x": sf.column(bounds=(0, 1))})
    resources = sf.Resources(threads=2, memory_limit=sys.argv[2])
    curator = sf.Curator({"t": declared}, budget=9, resources=resources)
    print("ready", flush=True)
    sys.stdin.readline()
    print(round(curator.ask("SELECT AVG(x) AS a, COUNT(*) AS n FROM t", epsilon=1).rows[0]["n"], -3), flush=True)
    sys.stdin.readline()
