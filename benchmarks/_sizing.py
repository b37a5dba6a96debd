"""How much memory and time a run takes, by rows and columns: the table in docs/operations.md.

    nice python benchmarks/_sizing.py            # a markdown table; some minutes, 2 GB of disk
    nice python benchmarks/_sizing.py 1000,5     # rows,columns of a single line

Half of the columns are quasi-identifiers (at most eight), one is sensitive, the others are published as they are. Each
run is a process of its own, as in production: `hushtable run`, 5-anonymity and 3-diversity, Mondrian, Parquet to CSV.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZES = [(10_000, 5), (10_000, 20), (100_000, 5), (100_000, 20), (1_000_000, 5), (1_000_000, 20), (10_000_000, 5)]


def write(path: Path, rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Write a table; return the quasi-identifiers and the others."""
    draw = np.random.default_rng(rows + columns)
    quasi = [f"q{i}" for i in range(min(8, columns // 2))]
    others = [f"x{i}" for i in range(columns - 1 - len(quasi))]
    table = {name: draw.integers(0, 100, rows) for name in quasi[::2]}
    table |= {name: draw.choice(list("abcdefgh"), rows) for name in quasi[1::2]}
    table |= {name: draw.integers(0, 10, rows) for name in others}
    table["s"] = draw.choice([f"v{i}" for i in range(12)], rows)
    pq.write_table(pa.table(table), path)
    return quasi, others


def measure(place: Path, rows: int, columns: int) -> tuple[float, float, float]:
    """MiB of memory at most, seconds of processor time, and seconds that passed."""
    quasi, others = write(place / "t.parquet", rows, columns)
    lines = ["columns:", *(f"  {name}: {{role: quasi}}" for name in quasi)]
    lines += [*(f"  {name}: {{role: insensitive}}" for name in others), "  s: {role: sensitive}"]
    lines += ["models: [k-anonymity: {k: 5}, distinct-l: {l: 3, on: s}]"]
    (place / "policy.yaml").write_text("\n".join(lines) + "\n")
    words = ["run", "policy.yaml", "--data", "t.parquet", "--output", f"release-{rows}-{columns}", "--quiet"]
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "hushtable", *words], cwd=place)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{rows} x {columns}: the run failed")
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, time.monotonic() - start


def main() -> None:
    """Print the table."""
    sizes = [tuple(map(int, text.split(","))) for text in sys.argv[1:]] or SIZES
    print("| rows | columns | memory | processor time | elapsed |\n| ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), 200_000, 6)  # kernels are compiled once
        for rows, columns in sizes:
            memory, busy, passed = measure(Path(folder), rows, columns)
            print(f"| {rows:,} | {columns} | {memory:,.0f} MiB | {busy:.1f} s | {passed:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
