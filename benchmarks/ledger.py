"""How long the ledger takes to judge a release: many people in three releases, and many releases.

    python benchmarks/ledger.py [--people 1000000] [--releases 3] [--json]

Classes of ten people with twenty values, of the same people. ``same``: the same classes again; ``leave``: five people
of some classes leave; ``single``: one person of some classes leaves; ``merge``: classes are united; ``shuffle``:
everybody is in other company. k-anonymity (5) and distinct-l (3), promised by every release.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from typing import Any

import numpy as np

from hushtable.arrays import IntArray
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge
from hushtable.ledger.promise import Promise
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.table.reference import Attribute, Reference

VALUES, SIZE = 20, 10
CASES = ("same", "leave", "single", "merge", "shuffle")


def described(people: IntArray, classes: IntArray, value: IntArray, promise: Promise) -> Described:
    """A release of these people."""
    _, label = np.unique(classes, return_inverse=True)
    own = value[people]
    key, count = np.unique(label * VALUES + own, return_counts=True)
    entry = Entry(
        "", "", "", ("illness",), 1, np.column_stack([people, people]).astype(np.uint64), people.astype(np.uint64),
        label.astype(np.int64), np.zeros(int(label.max()) + 1, dtype=np.int64), (tuple(map(str, range(VALUES))),),
        key // VALUES, count.astype(np.int64), (key % VALUES)[:, None], entry_rows=count.astype(np.int64),
        tags=(people * 64 + own + 1)[:, None].astype(np.uint64),
    )  # fmt: skip
    return Described(entry, own[:, None], promise)


def history(case: str, people: int, releases: int) -> list[Described]:
    """Releases of the same people."""
    rng = np.random.default_rng(1)
    value, base = rng.integers(0, VALUES, people), np.arange(people) // SIZE
    table = Reference.of(people, Attribute.of("illness", [str(v) for v in range(VALUES)], np.bincount(value)))
    models = AllOf((KAnonymity(k=5), DistinctL(l=3, on="illness")))
    out = []
    for e in range(releases):
        there, classes = np.arange(people), base
        if case in ("leave", "single") and e:
            some = rng.random(len(np.unique(base))) < 0.02
            there = np.flatnonzero(~(some[base] & (np.arange(people) % SIZE < (5 if case == "leave" else 1))))
        if case == "shuffle" and e:
            classes = rng.permutation(base)
        if case == "merge":
            classes = base // 2**e
        out.append(described(there, classes[there], value, Promise(e, f"release {e + 1}", models, table)))
    return out


def main() -> None:
    """Judge the last release of every case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for case in CASES:
        *earlier, now = history(case, options.people, options.releases)
        promises = [now.promise, *(d.promise for d in earlier)]
        start = time.perf_counter()
        verdict = judge(now, [d.entry for d in earlier], promises)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows.append({"case": case, "seconds": round(seconds, 1), "peak_mib": peak, "accepted": verdict.ok})
    if options.json:
        print(json.dumps({"people": options.people, "releases": options.releases, "rows": rows}))
        return
    for row in rows:
        print(f"{row['case']:<8} {row['seconds']:>6} s {row['peak_mib']:>6} MiB  accepted: {row['accepted']}")


if __name__ == "__main__":
    sys.exit(main())
