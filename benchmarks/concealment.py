"""k-concealing on Adult's 30,162 rows, k=5, sets, next to the best classes: loss, time and what attacks get.

    python benchmarks/concealment.py [--json] [--bound]

NCP as in ``local_recoding.py``. CPU and wall seconds are of the whole run, from the table to the verified release,
kernels compiled. Both releases are attacked alike; rates are shares of the records.

``--bound`` proves what crowds of k with everybody in k cannot beat: if no crowd costs less than its people pay, the sum
of their prices bounds the cost. It takes about ten minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from local_recoding import policy_of

BEST = {9: 0.0105, 8: 0.00532}
"""NCP of mondrian with refine; see ``local_recoding.py``."""

ATTACKS = ("linkage", "downcoding")


def run(columns: int, *, classes: bool) -> dict[str, Any]:
    """Return the loss, the time and the attacks' rates of one release."""
    from hushtable.api import anonymize
    from hushtable.datasets import load_adult

    policy = policy_of(columns, "sets", {"mondrian": {"refine": True}})
    if not classes:
        policy = policy.changed(models=[{"k-concealment": {"k": 5}}], algorithm="k-concealing")
    table = load_adult("30162").select(list(policy.columns))
    anonymize(table.slice(0, 2000), policy)
    wall, cpu = time.perf_counter(), time.process_time()
    release = anonymize(table, policy)
    found = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    rates = {name: release.attack(name).rate for name in ATTACKS}
    ncp = release.measure("ncp")
    saved = 1 - ncp / BEST[columns]
    return {"quasi_identifiers": columns, "classes": classes, "ncp": ncp, "saved": saved, **found, **rates}


def bound(columns: int) -> dict[str, Any]:
    """Return a lower bound of the NCP, and the cost of the cheapest mixture found, which no bound can exceed."""
    import numpy as np

    from hushtable.algorithms.concealing import k_concealing as own
    from hushtable.datasets import load_adult
    from hushtable.engines import local
    from hushtable.kernels.crowds import exchange, nearest_tuples, underpriced
    from hushtable.kernels.grouping import number_rows
    from hushtable.rng import exponential_quantiles

    policy = policy_of(columns, "sets", {"mondrian": {}})
    table = local.problem_of(load_adult("30162").select(list(policy.columns)), policy.plan()).table
    tuples, first = number_rows([c.codes for c in table.quasi], [c.coded.size for c in table.quasi])
    codes = np.column_stack([c.codes[first] for c in table.quasi]).astype(np.int32)
    times, weights = np.bincount(tuples), own._weights(table)
    crowds = np.sort(tuples)[own._rings(np.zeros(len(tuples), np.int64), 5)].astype(np.int32)
    near, heat = nearest_tuples(codes, weights, 16), 0.4 * float(own._costs(codes, weights, crowds).mean())
    swapped = exchange(codes, weights, times, near, crowds, 2000 * len(tuples), heat, exponential_quantiles(4096))
    known = np.unique(np.sort(np.concatenate([crowds, swapped]).astype(np.int64), axis=1), axis=0)
    unit = own._SCALE * len(tuples) * columns
    proved, reached, steady, trials = 0.0, 1.0, None, own._TRIALS
    while True:
        solved = own._mixture(known, own._costs(codes, weights, known), times)
        assert solved is not None
        before, reached = reached, float(solved[0] @ own._costs(codes, weights, known)) / unit
        if before - reached < 0.002 * reached:
            # near the end, searches are short, and only complete ones prove something
            trials = 10**9
        steady = solved[1] if steady is None else (steady + solved[1]) // 2
        more = [known]
        for prices in (steady, solved[1]):
            found = underpriced(codes, weights, times, prices, 5, 1, trials)
            more.append(found)
            # a leader whose price falls by the gain of its best crowd leads none that gains
            gains = prices[found].sum(axis=1) - own._costs(codes, weights, found).astype(np.int64)
            place = np.argsort(np.argsort(-prices, kind="stable"))
            leaders = found[np.arange(len(found)), np.argmin(place[found], axis=1)]
            low = prices.copy()
            low[leaders] -= gains
            if trials == 10**9:
                proved = max(proved, float(5 * (low * times).sum()) / unit)
        if reached - proved < 0.002 * reached:
            saved = 1 - proved / BEST[columns]
            return {"quasi_identifiers": columns, "bound": proved, "mixture": reached, "saved": saved}
        known = np.unique(np.concatenate(more), axis=0)


def main() -> None:
    """Print the rows as a table or as JSON."""
    parser = argparse.ArgumentParser(description="k-concealing on Adult next to classes.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--columns", type=int, nargs="*", default=[9, 8])
    parser.add_argument("--skip-classes", action="store_true")
    parser.add_argument("--bound", action="store_true")
    options = parser.parse_args()
    if options.bound:
        for found in map(bound, options.columns):
            print(json.dumps(found), flush=True)
        return
    kinds = (False,) if options.skip_classes else (False, True)
    rows = [run(columns, classes=classes) for columns in options.columns for classes in kinds]
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        kind = "classes" if row["classes"] else "k-concealing"
        rates = ", ".join(f"{name} {row[name]:.1%}" for name in ATTACKS)
        print(
            f"{row['quasi_identifiers']} columns, {kind:12}: NCP {row['ncp']:.5f} ({-row['saved']:+.1%}), "
            f"{row['cpu_s']:.0f} s CPU, {row['wall_s']:.0f} s; {rates}"
        )


if __name__ == "__main__":
    main()
