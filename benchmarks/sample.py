"""Drawing rows from a release of counts, next to writing them.

    python benchmarks/sample.py [--rows 1000000] [--k 10] [--format csv] [--json]

Makes an Adult-like release with Mondrian and 'cells: counts', draws a sample from its table, and writes the sample to a
file. Drawing should take no longer than writing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--cells", default="counts")
    parser.add_argument("--format", default="csv", choices=["csv", "parquet"])
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from hushtable.api import run_plan
    from hushtable.datasets.adult_like import adult_like
    from hushtable.io.files import write_table
    from hushtable.policy.policy import Policy
    from hushtable.release.sample.opened import sample_release

    table = adult_like(int(options.rows))
    quasi = [n for n in table.column_names if n != "occupation"]
    models = [{"k-anonymity": {"k": options.k}}]
    policy = Policy(quasi=quasi, sensitive=["occupation"], models=models, cells=options.cells)
    release = run_plan(table, policy.plan())
    found = {"rows": table.num_rows, "columns": table.num_columns, "classes": release.verification.classes}
    with tempfile.TemporaryDirectory() as folder:
        for run in ("cold", "warm"):
            start = time.perf_counter()
            drawn = sample_release(release, seed=1, where=options.where)
            sampled = time.perf_counter()
            write_table(drawn, Path(folder) / f"microdata.{options.format}")
            found[run] = {"sample_s": sampled - start, "write_s": time.perf_counter() - sampled}
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['rows']:,} rows, {found['columns']} columns, {found['classes']:,} classes")
    for run in ("cold", "warm"):
        print(f"{run}: drawn in {found[run]['sample_s']:.2f} s, written in {found[run]['write_s']:.2f} s")


if __name__ == "__main__":
    main()
