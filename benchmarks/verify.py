"""Verifying a published Parquet file: time and peak memory.

    python benchmarks/verify.py [--rows 10000000] [--json]

Makes an Adult-like release with Mondrian, writes it as Parquet, and verifies the file in a process of its own, so that
the peak memory is that of verifying alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VERIFY = """
import json, sys, time
start, cpu = time.perf_counter(), time.process_time()
from hushtable.api import verify
from hushtable.policy.files import load_policy
imported = time.perf_counter()
found = verify(sys.argv[1], load_policy(sys.argv[2]))
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "import_s": imported - start,
    "cpu_s": time.process_time() - cpu,
    # ru_maxrss would count the parent's memory too
    "peak_mib": int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024,
    "rows": found.rows, "classes": found.classes, "satisfied": found.ok,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from hushtable.api import run_plan
    from hushtable.datasets.adult_like import adult_like
    from hushtable.policy.policy import Policy

    table = adult_like(int(options.rows))
    policy = Policy(
        quasi=[n for n in table.column_names if n != "occupation"],
        sensitive=["occupation"],
        models=[{"k-anonymity": {"k": 5}}],
    )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "release"
        start = time.perf_counter()
        run_plan(table, policy.plan()).save(target, format="parquet")
        made = time.perf_counter() - start
        result = {}
        for run in ("cold", "warm"):
            command = [sys.executable, "-c", VERIFY, str(target / "release.parquet"), str(target / "policy.yaml")]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            result[run] = json.loads(done.stdout)
    result["release_s"] = made
    if options.json:
        print(json.dumps(result))
        return
    warm = result["warm"]
    print(f"{warm['rows']:,} rows x 8 quasi-identifiers, {warm['classes']:,} classes: satisfied={warm['satisfied']}")
    print(
        f"verify from Parquet: {warm['seconds']:.2f} s wall, {warm['cpu_s']:.2f} s CPU, {warm['peak_mib']:.0f} MiB peak"
    )
    print(f"(anonymizing, verifying and writing it took {made:.1f} s)")


if __name__ == "__main__":
    main()
