"""How long algorithms take on encoded tables: local recoding from the top, patterns, microaggregation.

    python benchmarks/speed.py [--only localpk,patterns,mdav] [--json]

CPU seconds of the algorithm alone, kernels compiled before, best of 3 for runs of less than ten seconds. Rows of {what,
rows, cpu_s}, and for microaggregation in blocks ``loss``: its squared error over that of exact MDAV on the same table.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pyarrow as pa

from _only import asked
from hushtable.algorithms.base import Partition
from hushtable.datasets import adult_like, load_adult
from hushtable.engines import local
from hushtable.policy.policy import Policy

SEVEN = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]


def timed(table: pa.Table, algorithm: dict[str, Any], **policy: Any) -> tuple[float, Partition]:
    """Run an algorithm under 5-anonymity; the first run, on some of the rows, compiles."""
    plan = Policy(models=[{"k-anonymity": {"k": 5}}], algorithm=algorithm, **policy).plan()
    plan.algorithm.run(local.problem_of(table.slice(0, 5000), plan))
    problem = local.problem_of(table, plan)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        partition = plan.algorithm.run(problem)
        best = min(best, time.process_time() - start)
        if best > 10:
            break
    return best, partition


def localpk() -> list[dict[str, Any]]:
    """Localpk on Adult's complete records and on half a million like them, seven quasi-identifiers."""
    rows = []
    for table in (load_adult("complete45222"), adult_like(500_000)):
        seconds, _ = timed(table.select(SEVEN), {"localpk": {}}, quasi=SEVEN)
        rows.append({"what": "localpk", "rows": table.num_rows, "cpu_s": seconds})
    return rows


def patterns() -> list[dict[str, Any]]:
    """Anti-unification on Adult's complete records."""
    table = load_adult("complete45222").select([*SEVEN, "occupation"])
    seconds, _ = timed(table, {"anti-unification": {}}, quasi=SEVEN, sensitive=["occupation"])
    return [{"what": "patterns", "rows": table.num_rows, "cpu_s": seconds}]


def mdav() -> list[dict[str, Any]]:
    """MDAV on six independent Gaussian columns."""
    rows: list[dict[str, Any]] = []
    for n, quality in ((100_000, "balanced"), (1_000_000, "balanced"), (1_000_000, "fast")):
        points = np.random.default_rng(0).standard_normal((n, 6))
        table = pa.table({f"x{j}": points[:, j] for j in range(6)})
        seconds, partition = timed(table, {"mdav": {"quality": quality}}, quasi=table.column_names)
        name = "mdav" if quality == "balanced" else "mdav, fast"
        rows.append({"what": name, "rows": n, "cpu_s": seconds, "sse": squared_error(points, partition)})
    rows[-1]["loss"] = rows[-1]["sse"] / rows[-2]["sse"]
    return rows


def squared_error(points: np.ndarray, partition: Partition) -> float:
    """Squared distances from the groups' means, on standardized columns."""
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    sizes = np.bincount(partition.labels)
    total = 0.0
    for column in points.T:
        means = np.bincount(partition.labels, weights=column) / sizes
        total += float(((column - means[partition.labels]) ** 2).sum())
    return total


RUNS = {"localpk": localpk, "patterns": patterns, "mdav": mdav}


def main() -> None:
    """Run what is asked for, and print it."""
    chosen, as_json = asked(__doc__, RUNS)
    rows = [row for name in chosen for row in RUNS[name]()]
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        loss = f"  {row['loss']:.3f} times the loss" if "loss" in row else ""
        print(f"{row['what']:<12} {row['rows']:>10,} rows  {row['cpu_s']:>8.2f} s CPU{loss}")


if __name__ == "__main__":
    main()
