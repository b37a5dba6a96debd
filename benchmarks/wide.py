"""Microaggregation of wide tables, on the processor and on a card, compared with sdcMicro's recorded times.

    python benchmarks/wide.py [--sizes 20000x20,20000x50,20000x100] [--device cpu] [--cores 1,2] [--json]

Gaussian columns, k = 5, MDAV. Rows of {size, device, cores, seconds, cpu_seconds, sdcmicro_cpu_seconds, ratio,
sse_percent, groups}: wall and CPU seconds from standardized numbers to groups (transfers to the card included),
SSE/SST, and the start of the SHA-256 of the groups, which no device may change. The first run of a process, which loads
kernels, is not counted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hushtable.kernels.device import use
from hushtable.kernels.metric import Metric
from hushtable.kernels.unassigned import Unassigned, all_unassigned

# sdcMicro 5.8.1 (C++), one core of a machine of this kind, CPU seconds
SDCMICRO = {"20000x6": 1.00, "20000x20": 2.57, "20000x50": 7.53, "20000x100": 17.18}
K = 5


def table(size: str) -> np.ndarray:
    n, d = (int(part) for part in size.split("x"))
    points = np.random.default_rng(0).normal(size=(n, d))
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return points[np.argsort(points[:, 0], kind="stable")]


def mdav(left: Unassigned) -> Iterator[np.ndarray]:
    """What algorithms/cluster/mdav.py does: a benchmark on a bare machine has no tables to read."""
    yield from left.opposites(K)
    if left.units >= 2 * K:
        yield left.take(left.farthest_from_centroid(), K)
    if len(left):
        yield left.rows()


def error(points: np.ndarray, labels: np.ndarray) -> float:
    """SSE/SST in percent."""
    counts, total = np.bincount(labels), 0.0
    for column in points.T:
        total += float(((column - (np.bincount(labels, weights=column) / counts)[labels]) ** 2).sum())
    return 100 * total / float(((points - points.mean(axis=0)) ** 2).sum())


def row(size: str, device: str, cores: int) -> dict[str, Any]:
    points = table(size)
    os.environ["HUSHTABLE_THREADS"] = str(cores)
    begin, cpu = time.perf_counter(), time.process_time()
    with use(device):
        groups = list(mdav(all_unassigned(points, Metric.of_numbers(points.shape[1]))))
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        labels = np.empty(len(points), dtype=np.int64)
        for number, members in enumerate(groups):
            labels[members] = number
        out = {"size": size, "device": device, "cores": cores, "seconds": round(seconds, 3)}
        out["cpu_seconds"] = round(cpu, 3)
        if device == "cpu" and size in SDCMICRO:
            out |= {"sdcmicro_cpu_seconds": SDCMICRO[size], "ratio": round(SDCMICRO[size] / cpu, 1)}
    digest = hashlib.sha256(labels.astype("<i8").tobytes()).hexdigest()[:16]
    return {**out, "sse_percent": round(error(points, labels), 6), "groups": digest}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="20000x20,20000x50,20000x100")
    parser.add_argument("--device", default="cpu", help="cpu, gpu, or both separated by a comma")
    parser.add_argument("--cores", default="1", help="numbers of cores, separated by commas")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    rows = []
    for device in given.device.split(","):
        row("20000x20", device, 1)
        for size in given.sizes.split(","):
            for cores in given.cores.split(","):
                rows.append(row(size, device, int(cores)))
                if not given.json:
                    print("  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
    if given.json:
        print(json.dumps(rows, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
