"""k-concealing on Adult's 30,162 rows, k=5, sets, next to the best classes: loss, time and what attacks get.

    python benchmarks/concealment.py [--json]

NCP as in ``local_recoding.py``. CPU and wall seconds are of the whole run, from the table to the verified release,
kernels compiled. Both releases are attacked alike; rates are shares of the records.
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


def main() -> None:
    """Print the rows as a table or as JSON."""
    parser = argparse.ArgumentParser(description="k-concealing on Adult next to classes.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--columns", type=int, nargs="*", default=[9, 8])
    parser.add_argument("--skip-classes", action="store_true")
    options = parser.parse_args()
    kinds = (False,) if options.skip_classes else (False, True)
    found = [run(columns, classes=classes) for columns in options.columns for classes in kinds]
    if options.json:
        print(json.dumps(found))
        return
    for row in found:
        kind = "classes" if row["classes"] else "k-concealing"
        rates = ", ".join(f"{name} {row[name]:.1%}" for name in ATTACKS)
        print(
            f"{row['quasi_identifiers']} columns, {kind:12}: NCP {row['ncp']:.5f} ({-row['saved']:+.1%}), "
            f"{row['cpu_s']:.0f} s CPU, {row['wall_s']:.0f} s; {rates}"
        )


if __name__ == "__main__":
    main()
