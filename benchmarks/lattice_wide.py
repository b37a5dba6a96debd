"""The optimal search on a wide table: the best node within a budget of judged nodes, and a bound of the optimum.

    python benchmarks/lattice_wide.py [FILE.csv] [--columns 20] [--nodes 2000] [--suppression 0.02] [--k 5] [--json]

Takes the columns with 3 to 100 values, those with most values first, and gives each a hierarchy that merges two
neighbors at a time in sorted order, up to ``*``. Prints, for every objective, the size of the lattice, the value of
the best node, the proved lower bound of the optimum, the nodes judged and CPU seconds. Without a file it is the
generated table of ``studio.py``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.io.files import read_table
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Kind, Role
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, TablePlan
from studio import table as generated

OBJECTIVES = ("loss", "entropy", "prec", "discernibility", "average-class-size")


def halving(values: list[str]) -> Taxonomy:
    """Return a hierarchy whose levels merge 2, 4, 8, ... neighbors."""
    height = max(math.ceil(math.log2(len(values))), 1)
    rows = []
    for i, value in enumerate(values):
        above = [f"{h}:{i >> h}" for h in range(1, height)]
        rows.append((value, *above, "*"))
    return Taxonomy(rows=tuple(rows))


def encoded(table: pa.Table, columns: int) -> EncodedTable:
    """Encode the columns with most values, but at most 100."""
    texts = {name: pc.fill_null(table.column(name).cast(pa.string()), "") for name in table.column_names}
    values = {name: sorted(pc.unique(text).to_pylist()) for name, text in texts.items()}
    chosen = sorted((n for n in values if 3 <= len(values[n]) <= 100), key=lambda n: (-len(values[n]), n))[:columns]
    plans = tuple(ColumnPlan(n, Role.QUASI, Kind.NOMINAL, halving(values[n])) for n in chosen)
    return encode(pa.table({n: texts[n] for n in chosen}), TablePlan(columns=plans))


def measure(table: EncodedTable, objective: str, options: argparse.Namespace) -> dict[str, Any]:
    """Search once."""
    model = AllOf.bound_to((KAnonymity(k=options.k),), ())
    problem = Problem(table, model, table.reference(), suppression=options.suppression)
    start = time.process_time()
    notes = Optimal.build({"objective": objective, "nodes": options.nodes}).run(problem).notes
    return {**notes, "columns": len(table.quasi), "rows": table.n_rows, "cpu_s": round(time.process_time() - start, 2)}


def main() -> None:
    """Measure every objective and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--suppression", type=float, default=0.02)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--objective", action="append", help="one of them; may be repeated")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = encoded(read_table(options.file) if options.file else generated(200_000, 42), options.columns)
    rows = []
    for objective in options.objective or OBJECTIVES:
        row = measure(table, objective, options)
        rows.append(row)
        if not options.json:
            print(
                f"{objective:<20} {row['columns']} columns, {row['rows']:,} rows, {row['nodes']:.2g} nodes: "
                f"best {row['value']:.6g}, optimum at least {row['lower_bound']:.6g}; {row['nodes_judged']:,} judged, "
                f"{row['cpu_s']} s CPU",
                flush=True,
            )
    if options.json:
        print(json.dumps(rows, default=str))


if __name__ == "__main__":
    main()
