"""k-anonymity over subsets: 20 made-up columns, 100,000 rows, no three columns together show fewer than 5 people.

    python benchmarks/subsets.py [--json]

Columns of 2 to 12 values depend on each other, and rare values are rare. Time is of the whole run, from the table to
the verified release; the share is that of blanked cells.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SIZES = (2, 3, 4, 5, 6, 8, 10, 12)


def made_up(rows: int, columns: int) -> pa.Table:
    """Return a table of columns that depend on three hidden numbers of each person."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(rows, 3))
    made = {}
    for j in range(columns):
        value = hidden @ rng.normal(size=3) + rng.normal(size=rows) * 1.5
        share = np.cumsum(0.45 ** np.arange(SIZES[j % len(SIZES)]))
        made[f"c{j:02}"] = np.searchsorted(np.quantile(value, (share / share[-1])[:-1]), value).astype(str)
    return pa.table(made)


def run(rows: int, columns: int) -> dict[str, Any]:
    """Return time and blanks of one release."""
    from hushtable.api import anonymize
    from hushtable.policy.policy import Policy

    table = made_up(rows, columns)
    policy = Policy(
        columns={name: {"role": "quasi", "kind": "nominal"} for name in table.column_names},
        models=[{"k-anonymity": {"k": 5, "subsets": 3}}],
        algorithm="local-suppression",
    )
    wall, cpu = time.perf_counter(), time.process_time()
    release = anonymize(table, policy)
    found = {"rows": rows, "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    blank = sum(pc.sum(pc.equal(column, "*")).as_py() or 0 for column in release.frame.itercolumns())
    return {**found, "blank": blank / rows / columns}


def main() -> None:
    """Print the figures as a line or as JSON."""
    parser = argparse.ArgumentParser(description="k-anonymity over subsets of 20 columns.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    found = run(options.rows, 20)
    if options.json:
        print(json.dumps(found))
        return
    print(
        f"{found['rows']:,} rows, 20 columns: {found['wall_s']:.0f} s ({found['cpu_s']:.0f} s CPU), "
        f"{found['blank']:.1%} of the cells blanked"
    )


if __name__ == "__main__":
    main()
