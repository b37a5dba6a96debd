"""Microaggregation: the loss of MDAV and of a chosen quality on any table, and its time.

    python benchmarks/microaggregation.py FILE.csv [--k 3,5,10] [--quality best] [--algorithm mdav] [--json]

All numeric columns of the file are standardized and taken as quasi-identifiers; incomplete records are left out. Rows
of {k, mdav, ours, cpu_s, smallest_group}: the two losses as 100 SSE/SST, from the published cells, and the CPU seconds
of ours from the table to the verified release. The first run in a process also loads the kernels.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from hushtable.algorithms.cluster.microaggregation import Microaggregation
from hushtable.api import anonymize
from hushtable.engines.release import Release
from hushtable.errors import HushtableError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms


def microaggregations() -> list[str]:
    """Return the algorithms that publish centroids and take a quality."""
    return [name for name in algorithms if issubclass(algorithms[name], Microaggregation)]


def numeric_columns(path: str) -> pa.Table:
    """Read a file's numeric columns that vary, without records that lack one."""
    try:
        table = pa.csv.read_csv(path)
    except FileNotFoundError:
        raise SystemExit(f"{path} does not exist.") from None
    except (pa.ArrowException, OSError):
        # Arrow's own words would quote the line
        raise SystemExit(f"{path} is not a CSV file with one header line and equally long rows.") from None
    numeric = [f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
    if not numeric:
        raise SystemExit(f"{path} has no numeric column.")
    table = table.select(numeric).drop_null()
    varies = [name for name in numeric if len(pc.unique(table[name])) > 1]
    if not varies:
        raise SystemExit(f"No numeric column of {path} varies.")
    return table.select(varies)


def release_of(table: pa.Table, k: int, algorithm: str, quality: str) -> Release:
    """Anonymize the table."""
    quasi = {name: {"kind": "numeric"} for name in table.column_names}
    chosen = algorithms.build(algorithm, {"quality": quality})
    return anonymize(table, Policy(quasi=quasi, models=[KAnonymity(k=k)], algorithm=chosen))


def compare(table: pa.Table, k: int, algorithm: str, quality: str) -> dict[str, Any]:
    """Return one row."""
    plain = release_of(table, k, "mdav", "balanced").measure("sse")
    begin = time.process_time()
    release = release_of(table, k, algorithm, quality)
    seconds = time.process_time() - begin
    smallest = int(np.bincount(release.verification.labels[: release.table.num_rows]).min())
    return {
        "k": k,
        "mdav": round(plain, 4),
        "ours": round(release.measure("sse"), 4),
        "cpu_s": round(seconds, 2),
        "smallest_group": smallest,
    }


def sizes(text: str) -> list[int]:
    """Read the group sizes."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("whole numbers separated by commas are needed, such as 3,5,10") from None
    if min(found) < 2:
        raise argparse.ArgumentTypeError("a group has at least 2 records")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--k", default="3,5,10", type=sizes, help="sizes, separated by commas")
    parser.add_argument("--quality", default="best", choices=["fast", "balanced", "best"])
    parser.add_argument("--algorithm", default="mdav", choices=microaggregations())
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    table = numeric_columns(given.file)
    try:
        rows = [compare(table, k, given.algorithm, given.quality) for k in given.k]
    except HushtableError as error:
        raise SystemExit(str(error)) from None
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'k':>4} {'mdav':>9} {'ours':>9} {'saved':>7} {'cpu s':>7} {'smallest':>9}")
    for row in rows:
        saved = 100 * (1 - row["ours"] / row["mdav"]) if row["mdav"] else 0.0
        print(
            f"{row['k']:>4} {row['mdav']:>9.4f} {row['ours']:>9.4f} {saved:>6.1f}% {row['cpu_s']:>7.2f} "
            f"{row['smallest_group']:>9}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
