"""Drawing rows from a release of counts, next to writing them, and condensation next to both.

    python benchmarks/sample.py [--rows 1000000] [--k 10] [--format csv] [--json]
    python benchmarks/sample.py --correlations [--k 10] [--json]

Makes an Adult-like release with Mondrian and 'cells: counts', draws a sample from its table, and writes the sample to a
file. Drawing should take no longer than writing.

With --correlations: six numeric columns of Census (1,080 records), and by how much the correlations of all pairs differ
from the original's, on average, in rows drawn from counts (Mondrian; mean of ten seeds) and in condensed rows (MDAV and
Mondrian; mean of ten secrets).
"""

from __future__ import annotations

import argparse
import json
import os
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
    parser.add_argument("--correlations", action="store_true")
    options = parser.parse_args()
    if options.correlations:
        found = correlations(options.k)
        print(json.dumps(found) if options.json else "\n".join(f"{how:24} {off:.4f}" for how, off in found.items()))
        return
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


def correlations(k: int) -> dict[str, float]:
    """Return the mean error of correlations for each way of drawing."""
    import numpy as np

    import hushtable as ht
    from hushtable.datasets import load_census

    table = load_census().select(range(6))
    names = table.column_names

    def matrix(drawn):
        return np.corrcoef([drawn.column(name).to_numpy() for name in names])

    wanted, pairs = matrix(table), np.triu_indices(len(names), 1)
    found: dict[str, list[float]] = {}

    def add(how, drawn):
        found.setdefault(how, []).append(float(np.abs(matrix(drawn) - wanted)[pairs].mean()))

    policy = {"quasi": names, "models": [ht.KAnonymity(k=k)], "cells": {"counts": {"digits": 0}}}
    releases = {name: ht.anonymize(table, ht.Policy(**policy, algorithm=name)) for name in ("mondrian", "mdav")}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(10):
            os.environ["HUSHTABLE_SECRET"] = str(Path(folder) / str(turn))
            add("counts, mondrian", releases["mondrian"].sample(seed=turn))
            for name, release in releases.items():
                add(f"condensation, {name}", release.condense())
    return {how: float(np.mean(errors)) for how, errors in found.items()}


if __name__ == "__main__":
    main()
