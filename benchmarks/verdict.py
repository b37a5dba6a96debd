"""How long a verdict takes on a wide table, and what a starter policy gives: 200,000 rows and 42 columns.

    python benchmarks/verdict.py [--rows N] [--columns N] [--data FILE] [--json]

Two policies: the one that ``hushtable init`` writes, and one in which every column is a quasi-identifier, as earlier
versions wrote it. Prints the seconds of the run and of the verdict, the verdict's three numbers, and the changes that
its price list names.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

import hushtable as ht
from hushtable.io.sources import read_tables
from studio import table


def measured(data: pa.Table, policy: ht.Policy, name: str) -> dict[str, Any]:
    """Run a policy and judge its release."""
    began = time.perf_counter()
    release = ht.anonymize(data, policy)
    ran = time.perf_counter()
    verdict = release.verdict
    return {
        "policy": name,
        "quasi": len([c for c in policy.columns.values() if c.role == "quasi"]),
        "run_s": round(ran - began, 2),
        "verdict_s": round(time.perf_counter() - ran, 2),
        "grade": verdict.grade,
        **verdict.numbers.as_dict(),
        "tried": verdict.tried,
        "changes": [str(change) for change in verdict.changes],
    }


def all_quasi(policy: ht.Policy) -> ht.Policy:
    """Return the policy with every column as a quasi-identifier, except sensitive ones."""
    columns = policy.document()["columns"].items()
    return policy.changed(columns={n: c if c["role"] == "sensitive" else {"role": "quasi"} for n, c in columns})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=42)
    parser.add_argument("--data", type=Path, help="a table of your own")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data = table(given.rows, given.columns) if given.data is None else read_tables([given.data])
    starter = ht.draft_policy(data)
    found = [measured(data, starter, "starter"), measured(data, all_quasi(starter), "every column")]
    if given.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for row in found:
        sys.stdout.write(
            f"{row['policy']}: {row['quasi']} quasi-identifiers, run {row['run_s']} s, verdict {row['verdict_s']} s "
            f"({row['tried']} changes tried), {row['grade']}, ncp {row['ncp']:.3f}, query error "
            f"{row['query_error']:.3f}, pair error {row['pair_error']:.3f}\n"
        )
        sys.stdout.writelines(f"  {change}\n" for change in row["changes"])


if __name__ == "__main__":
    main()
