"""Local recoding on Adult's 30,162 rows, k=5, no record suppressed: loss and time, next to ARX's best.

    python benchmarks/local_recoding.py [--json]

NCP of a column is the mean over records of (leaves that the cell covers - 1) / (leaves of the hierarchy file - 1); the
figure is the mean over the columns. Times are CPU seconds of the algorithm on an encoded table, kernels compiled.
Every row was verified from its published cells.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

ARX = {9: {"ncp": 0.0591, "dm": 237_496, "cavg": 30_162 / 4_557 / 5, "cpu_s": 3.4},
       8: {"ncp": 0.0329, "dm": 569_482, "cavg": 30_162 / 3_394 / 5, "cpu_s": 0.60}}  # fmt: skip

RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nodes", {"lattice-sweep": {}}),
    ("nodes", {"lattice-sweep": {"refine": True}}),
    ("sets", {"mondrian": {}}),
    ("sets", {"mondrian": {"refine": True}}),
)


def policy_of(columns: int, cells: str, algorithm: dict[str, Any]) -> Any:
    """Return the policy of one run: 9 quasi-identifiers, or 8 with the occupation as sensitive column."""
    from hushtable.datasets import adult_hierarchies
    from hushtable.policy.policy import Policy

    roles: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": str(file)}
        for name, file in adult_hierarchies().items()
        if columns == 9 or name != "occupation"
    }
    if columns == 8:
        roles["occupation"] = {"role": "sensitive"}
    return Policy(columns=roles, models=[{"k-anonymity": {"k": 5}}], algorithm=algorithm, cells=cells)


def run(columns: int, cells: str, algorithm: dict[str, Any]) -> dict[str, Any]:
    """Run one algorithm, kernels compiled on some of the rows before, and measure its verified release."""
    from hushtable.datasets import load_adult
    from hushtable.engines import local
    from hushtable.release.comparison import RowComparison
    from hushtable.release.settle import settle
    from hushtable.utility.summary import measure_all

    plan = policy_of(columns, cells, algorithm).plan()
    table = load_adult("30162").select([c.name for c in plan.table.columns])
    local.run(table.slice(0, 5000), plan)
    problem = local.problem_of(table, plan)
    start = time.process_time()
    partition = plan.algorithm.run(problem)
    seconds = time.process_time() - start
    recoded = settle(problem, partition)
    assert recoded is not None
    outcome = local.finish(table, plan, problem, partition, recoded)
    release = RowComparison(outcome.problem.table, outcome.recoded.labels, outcome.recoded.cells, k=5)
    got = measure_all(release, ["ncp", "discernibility", "cavg"])
    ((name, options),) = algorithm.items()
    return {
        "recoding": cells,
        "quasi_identifiers": columns,
        "algorithm": name + ("+refine" if options.get("refine") else ""),
        "ncp": got["ncp"],
        "dm": int(got["discernibility"]),
        "cavg": got["cavg"],
        "cpu_s": seconds,
    }


def rows() -> list[dict[str, Any]]:
    """Return one row for each run, ARX's first."""
    out: list[dict[str, Any]] = [
        {"recoding": "nodes", "quasi_identifiers": n, "algorithm": "ARX local recoding (measured)", **figures}
        for n, figures in ARX.items()
    ]
    return out + [run(columns, cells, algorithm) for columns in (9, 8) for cells, algorithm in RUNS]


def main() -> None:
    """Print the rows as a table or as JSON."""
    parser = argparse.ArgumentParser(description="Local recoding on Adult next to ARX.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = rows()
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'recoding':8} {'QI':>2} {'algorithm':30} {'NCP':>7} {'to ARX':>7} {'DM':>9} {'CAVG':>6} {'CPU s':>7}")
    for row in found:
        change = row["ncp"] / ARX[row["quasi_identifiers"]]["ncp"] - 1
        print(
            f"{row['recoding']:8} {row['quasi_identifiers']:2} {row['algorithm']:30} {row['ncp']:7.4f} {change:+7.1%} "
            f"{row['dm']:9,} {row['cavg']:6.3f} {row['cpu_s']:7.2f}"
        )


if __name__ == "__main__":
    main()
