"""What an adversary who knows the algorithm guesses right, by algorithm, beside the promise and version 0.1.0.

    python benchmarks/known_algorithm.py [--only anatomy,p-first] [--people 120] [--tables 4] [--worlds 240] [--json]

Tables are drawn at random: an age that nobody shares, a postcode that some do, eight diseases of unequal frequency.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import pyarrow as pa

import hushtable as ht
from hushtable import registry
from hushtable.attacks.base import wilson
from hushtable.errors import HushtableError

RECORDED = {("anatomy", 2): 0.97, ("anatomy", 3): 0.92, ("anatomy", 4): 0.82}
"""Share of people guessed right in releases of 0.1.0, as measured from outside."""

SHARES = np.array([0.2, 0.18, 0.15, 0.13, 0.12, 0.1, 0.07, 0.05])


def people(n: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "age": random.permutation(3 * n)[:n],
            "zip": random.integers(0, n // 3, n),
            "disease": random.choice([f"d{i}" for i in range(8)], n, p=SHARES),
        }
    )


def row(algorithm: str, level: int, guard: bool, arguments: argparse.Namespace) -> dict[str, float]:
    policy = ht.Policy(
        quasi=["age", "zip"], sensitive=["disease"], models=[ht.ProbabilisticL(l=level)], algorithm=algorithm,
        guard=["minimality"] if guard else [],
    )  # fmt: skip
    right, targets, promised, openly = 0, 0, 0.0, 0.0
    for seed in range(arguments.tables):
        # another seed, so that the adversary walks another way
        release = ht.anonymize(people(arguments.people, seed), policy.changed(seed=seed))
        result = release.attack("known-algorithm", worlds=arguments.worlds)
        right, targets = right + result.successes, targets + result.targets
        promised += result.baseline * result.targets
        openly += result.counts["right by the published shares alone, expected"] * result.targets
    low, high = wilson(right, targets)
    rates = {"rate": right / targets, "low": low, "high": high}
    return {**rates, "promise": promised / targets, "openly": openly / targets}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=120)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--worlds", type=int, default=240)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else list(registry.algorithms)
    found = []
    for name in wanted:
        for guard in (False, True):
            for level in (2, 3, 4):
                try:
                    rates = row(name, level, guard, arguments)
                except HushtableError:
                    break  # not with this model or guard
                reads = registry.algorithms[name].reads_sensitive.value
                before = RECORDED.get((name, level)) if not guard else None
                found.append({"algorithm": name, "guard": guard, "reads": reads, "l": level, "before": before, **rates})
    if arguments.json:
        print(json.dumps(found))
        return
    print("| algorithm | guard | use of values | l | right (95%) | promised | shares alone | 0.1.0 | ratio |")
    print("| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for r in found:
        before, ratio = ("", "") if r["before"] is None else (f"{r['before']:.0%}", f"{r['before'] / r['rate']:.1f}")
        print(
            f"| {r['algorithm']} | {'minimality' if r['guard'] else ''} | {r['reads']} | {r['l']} | {r['rate']:.0%} "
            f"({r['low']:.0%} to {r['high']:.0%}) | {r['promise']:.0%} | {r['openly']:.0%} | {before} | {ratio} |"
        )


if __name__ == "__main__":
    main()
