"""Whole commands on Adult, from the start of the process to its end.

    python benchmarks/commands.py [--only help,run,report,compare] [--json]

Seconds by the clock of ``hushtable --help``, ``run`` (30,162 records, Mondrian, k = 5), ``report`` with all attacks,
and ``compare`` over 4 algorithms and 5 values of k; the best of 3 for the first two, after one that compiles. Rows of
{what, seconds}; ``report`` has ``mib``, the size of the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv

from _only import asked
from hushtable.datasets import adult_hierarchies, load_adult
from hushtable.policy.policy import Policy

ALGORITHMS = "mondrian,datafly,optimal,lattice-sweep"
SIZES = "2,5,10,25,50"


def hushtable(folder: Path, *arguments: str) -> float:
    """Run a command in a folder; its seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "hushtable", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def prepare(folder: Path) -> None:
    """Write Adult and a policy for it."""
    pacsv.write_csv(load_adult("30162"), folder / "adult.csv")
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": str(file)} for name, file in adult_hierarchies().items()
    }
    columns["occupation"] = {"role": "sensitive"}
    policy = Policy(columns=columns, models=[{"k-anonymity": {"k": 5}}], algorithm={"mondrian": {}})
    (folder / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")


def help_(folder: Path) -> dict[str, Any]:
    """Time ``--help``."""
    return {"seconds": min(hushtable(folder, "--help") for _ in range(3))}


def run(folder: Path) -> dict[str, Any]:
    """Time ``run``; the first one compiles."""
    arguments = ("run", "policy.yaml", "--data", "adult.csv", "--output", "release", "--overwrite")
    hushtable(folder, *arguments)
    return {"seconds": min(hushtable(folder, *arguments) for _ in range(3))}


def report(folder: Path) -> dict[str, Any]:
    """Time ``report`` of a release."""
    hushtable(folder, "run", "policy.yaml", "--data", "adult.csv", "--output", "release", "--overwrite")
    seconds = hushtable(folder, "report", "release", "--data", "adult.csv", "--output", "report.html")
    return {"seconds": seconds, "mib": (folder / "report.html").stat().st_size / 2**20}


def compare(folder: Path) -> dict[str, Any]:
    """Time ``compare``."""
    arguments = ("compare", "policy.yaml", "--data", "adult.csv", "--output", "comparison", "--fresh")
    return {"seconds": hushtable(folder, *arguments, "--algorithms", ALGORITHMS, "--k", SIZES)}


RUNS: dict[str, Callable[[Path], dict[str, Any]]] = {"help": help_, "run": run, "report": report, "compare": compare}


def main() -> None:
    """Run what is asked for, and print it."""
    chosen, as_json = asked(__doc__, RUNS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for name in chosen:
            rows.append({"what": name, **RUNS[name](Path(folder))})
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        size = f"  {row['mib']:.1f} MiB" if "mib" in row else ""
        print(f"{row['what']:<10} {row['seconds']:>8.2f} s{size}")


if __name__ == "__main__":
    main()
