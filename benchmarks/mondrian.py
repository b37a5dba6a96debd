"""Mondrian: ours at any size, next to information cuts, and beside the Python peers on Adult.

    python benchmarks/mondrian.py [--rows 1000000] [--peers] [--json]

Ours runs on encoded arrays, warm. Information cuts run on the same arrays in the same process, and the ratio of CPU
times is printed. With --peers the pip-installable peers are installed into a virtual environment of
the benchmark's own (below the user's cache folder), anonymize the same table in processes of their own, and the ratio
of CPU times is printed: a peer's over ours, ours counted from the DataFrame to the verified release.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tracemalloc
import venv

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.algorithms.partition.information_cuts import InformationCuts
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.api import run_plan
from hushtable.datasets.adult_like import adult_like_codes
from hushtable.datasets.loaders import load_adult
from hushtable.datasets.locate import cache_dir
from hushtable.hierarchy.flat import Flat
from hushtable.models.compose import AllOf
from hushtable.policy.policy import Policy
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable

QUASI = ["age", "education", "marital-status", "native-country", "race", "sex", "workclass", "occupation"]

SETTINGS = {
    "k-anonymity": [("k-anonymity", {"k": 5})],
    "k + entropy-l + t-closeness": [
        ("k-anonymity", {"k": 5}),
        ("entropy-l", {"l": 3}),
        ("t-closeness", {"t": 0.5}),
    ],
}

PEERS = {
    "anonypy": ["anonypy==0.2.1"],
    "anonypyx": ["anonypyx==0.2.11"],
    "lighthouse": ["project-lighthouse-anonymize==1.0.0"],
}

PEER = """
import json, sys, time
import pandas as pd
name, path, quasi = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
frame = pd.read_csv(path)
for column in frame.columns:
    if column != "age":
        frame[column] = frame[column].astype("category")
start = time.process_time()
if name == "anonypy":
    import anonypy
    rows = anonypy.Preserver(frame, quasi, "salary-class").anonymize_k_anonymity(k=5)
elif name == "anonypyx":
    import anonypyx
    rows = anonypyx.Anonymiser(
        frame, k=5, algorithm="Mondrian", feature_columns=quasi, sensitive_column="salary-class"
    ).anonymise()
else:
    import logging
    from project_lighthouse_anonymize.wrappers.k_anonymize import k_anonymize
    for column in quasi:
        if column != "age":
            frame[column] = frame[column].cat.codes.astype("int64")
    frame["salary-class"] = frame["salary-class"].astype(str)
    frame["id"] = [str(i) for i in range(len(frame))]
    rows, _, _ = k_anonymize(logging.getLogger("quiet"), frame, quasi, 5, {}, "id", parallelism=None)
print(json.dumps({"cpu_s": time.process_time() - start, "rows": len(rows)}))
"""


def encoded(n: int) -> EncodedTable:
    quasi, sensitive = [], []
    for name, codes in adult_like_codes(n).items():
        size = int(codes.max()) + 1
        counts = np.ones(size, dtype=np.int64)
        coded = Flat().code(pa.array(np.arange(size)), Kind.NUMERIC, missing=False, column=name, counts=counts)
        if name == "occupation":
            sensitive.append(SensitiveColumn(name, codes, coded))
        else:
            quasi.append(QuasiColumn(name, codes, coded))
    return EncodedTable(tuple(quasi), tuple(sensitive), n, n)


def working_memory(problem: Problem) -> int:
    """Peak of what a run allocates beside the encoded table, the partition that it returns included."""
    tracemalloc.start()
    Mondrian().run(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def timed(algorithm: Algorithm, problem: Problem) -> tuple[list[tuple[float, float]], Partition]:
    """Wall and CPU times of three runs, and the partition."""
    times = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        partition = algorithm.run(problem)
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return times, partition


def ours(rows: int) -> list[dict[str, object]]:
    out = []
    table = encoded(rows)
    for name, wanted in SETTINGS.items():
        model = AllOf.bound_to([models.build(m, p) for m, p in wanted], ("occupation",))
        problem = Problem(table, model, table.reference(model.histogram_keys()))
        times, partition = timed(Mondrian(), problem)
        informed, _ = timed(InformationCuts(), problem)
        out.append(
            {
                "models": name,
                "rows": rows,
                "seconds": min(t[0] for t in times),
                "cpu_s": min(t[1] for t in times),
                "groups": partition.n_groups,
                "information_cuts_s": min(t[0] for t in informed),
                "information_cuts_ratio": min(t[1] for t in informed) / min(t[1] for t in times),
                "table_bytes_per_row": table.bytes_per_row,
                "working_bytes_per_row": working_memory(problem) / rows,
            }
        )
    return out


def peers() -> list[dict[str, object]]:
    adult = load_adult("30162")
    folder = cache_dir() / "benchmark-peers"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "pandas<3",
            "scikit-learn",
            *(r for wanted in PEERS.values() for r in wanted),
        ]
        subprocess.run(install, check=True)
    path = folder / "adult.csv"
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.table({n: adult[n].cast(pa.string()) for n in [*QUASI, "salary-class"]}), path)
    policy = Policy(quasi=QUASI, sensitive=["salary-class"], models=[{"k-anonymity": {"k": 5}}])
    table = adult.select([*QUASI, "salary-class"])
    run_plan(table, policy.plan())
    times = []
    for _ in range(3):
        cpu = time.process_time()
        release = run_plan(table, policy.plan())
        times.append(time.process_time() - cpu)
    mine = min(times)
    out: list[dict[str, object]] = [
        {"tool": "hushtable (DataFrame to verified release)", "cpu_s": mine, "classes": release.verification.classes}
    ]
    for name in PEERS:
        done = subprocess.run(
            [str(python), "-c", PEER, name, str(path), json.dumps(QUASI)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            out.append({"tool": name, "error": done.stderr.strip().splitlines()[-1]})
            continue
        cpu_s = json.loads(done.stdout.strip().splitlines()[-1])["cpu_s"]
        out.append({"tool": name, "cpu_s": cpu_s, "ratio": cpu_s / mine})
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1_000_000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = {"ours": ours(int(options.rows)), "peers": peers() if options.peers else []}
    if options.json:
        print(json.dumps(result))
        return
    for row in result["ours"]:
        print(
            f"{row['models']:28} {row['rows']:>12,} rows  {row['seconds']:.3f} s  {row['cpu_s']:.3f} s CPU  "
            f"{row['groups']:,} groups, {row['table_bytes_per_row']} bytes a row encoded "
            f"+ {row['working_bytes_per_row']:.1f} working; information cuts {row['information_cuts_s']:.3f} s, "
            f"{row['information_cuts_ratio']:.1f}x Mondrian"
        )
    for row in result["peers"]:
        ratio = f"  {row['ratio']:.0f}x ours" if "ratio" in row else ""
        print(f"{row['tool']:44} " + (f"{row['cpu_s']:.3f} s CPU{ratio}" if "cpu_s" in row else str(row["error"])))


if __name__ == "__main__":
    sys.exit(main())
