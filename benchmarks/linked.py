"""Linked tables: a generated hospital, k = 5, m = 2. Time and memory from the tables to the verified release.

    python benchmarks/linked.py [--people 1000000] [--json]

The share of events that are suppressed or published above their block: ICD-10 codes above the block, ATC codes above
the pharmacological subgroup, dates above the quarter, tests not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from typing import Any

BLOCK = {"code": 2, "drug": 2, "admitted": 2, "test": 0}
"""The highest level of each column that is not above the block."""


def run(people: int) -> dict[str, Any]:
    """Return time, memory and loss of one release."""
    from hushtable.datasets import hospital, hospital_policy
    from hushtable.linked.policy import LinkedPolicy
    from hushtable.linked.run import anonymize_linked

    tables = hospital(people)
    wall, cpu = time.perf_counter(), sum(os.times()[:2])
    release = anonymize_linked(tables, LinkedPolicy(**hospital_policy()))
    found: dict[str, Any] = {"people": people, "wall_s": time.perf_counter() - wall, "cpu_s": sum(os.times()[:2]) - cpu}
    found["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lost = events = 0.0
    for entry in release.measures["tables"].values():
        ((column, shares),) = entry["levels"].items()
        events += entry["events"]
        lost += entry["events"] * (1 - sum(shares[: BLOCK[column] + 1]))
    return {**found, "events": int(events), "suppressed": release.measures["suppressed"], "above_block": lost / events}


def main() -> None:
    """Print the figures as a line or as JSON."""
    parser = argparse.ArgumentParser(description="People and their events, protected together.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--people", type=int, default=100_000)
    found = run(parser.parse_args().people)
    if parser.parse_args().json:
        print(json.dumps(found))
        return
    size = f"{found['people']:,} people, {found['events']:,} events"
    cost = f"{found['wall_s']:.0f} s ({found['cpu_s']:.0f} s CPU), {found['peak_gib']:.1f} GiB"
    print(f"{size}: {cost}; {found['suppressed']:.1%} suppressed, {found['above_block']:.1%} with blocks exceeded")


if __name__ == "__main__":
    main()
