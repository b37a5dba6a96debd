"""The optimal lattice search on 1,000,000 rows against 30,162: what more rows cost once duplicates are collapsed.

    python benchmarks/lattice_rows.py [--rows 1000000] [--json]

Two tables with Adult's nine quasi-identifiers and hierarchies, k = 5, loss: Adult's own records drawn with replacement,
whose combinations do not grow in number, and generated ones (``adult_like``), whose combinations do. CPU
milliseconds of the search on the encoded table, duplicates collapsed, warm, best of 5; 0%, 2% and 100% suppression.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.datasets import adult_hierarchies, adult_like, load_adult
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Kind, Role
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, TablePlan

FEW = 30_162
LIMITS = (0.0, 0.02, 1.0)


def encoded(table: pa.Table) -> EncodedTable:
    """Encode Adult's nine columns with the published hierarchies."""
    files = adult_hierarchies()
    columns = tuple(ColumnPlan(name, Role.QUASI, Kind.NOMINAL, Taxonomy(str(file))) for name, file in files.items())
    return encode(pa.table({name: table.column(name).cast(pa.string()) for name in files}), TablePlan(columns=columns))


def search_ms(table: EncodedTable, suppression: float) -> float:
    """CPU milliseconds of the fastest of five searches."""
    model = AllOf.bound_to((KAnonymity(k=5),), ())
    best = float("inf")
    for _ in range(5):
        problem = Problem(table, model, table.reference(model.histogram_keys()), suppression=suppression)
        start = time.process_time()
        Optimal().run(problem)
        best = min(best, time.process_time() - start)
    return 1000 * best


def measure(name: str, few: pa.Table, many: pa.Table) -> list[dict[str, Any]]:
    """Search both tables at every suppression limit."""
    small, large = encoded(few), encoded(many)
    rows = []
    for limit in LIMITS:
        a, b = search_ms(small, limit), search_ms(large, limit)
        rows.append(
            {
                "table": name,
                "suppression": limit,
                "rows": [few.num_rows, many.num_rows],
                "combinations": [len(t.distinct(())[1]) for t in (small, large)],
                "ms": [round(a, 1), round(b, 1)],
                "ratio": round(b / a, 2),
            }
        )
    return rows


def main() -> None:
    """Measure both tables and print a line for each suppression limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    adult = load_adult("30162")
    drawn = adult.take(pa.array(np.random.default_rng(7).integers(0, adult.num_rows, options.rows)))
    rows = [
        *measure("adult drawn with replacement", adult, drawn),
        *measure("adult_like", adult_like(FEW), adult_like(options.rows)),
    ]
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        few, many = row["combinations"]
        print(
            f"{row['table']:<30} {row['suppression']:>4.0%}  {few:>7,} -> {many:>7,} combinations  "
            f"{row['ms'][0]:>7.1f} -> {row['ms'][1]:>7.1f} ms  {row['ratio']:>5.2f}x"
        )


if __name__ == "__main__":
    main()
