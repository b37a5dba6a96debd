"""What an adversary who knows the algorithm guesses right, by algorithm, beside the promise and version 0.1.0.

    python benchmarks/known_algorithm.py [--people 120] [--tables 6] [--worlds 240]

Tables are drawn at random: an age that nobody shares, a postcode that some do, eight diseases of unequal frequency.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa

import hushtable as ht
from hushtable import registry
from hushtable.attacks.confidence import wilson
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


def row(algorithm: str, level: int, guard: bool, arguments: argparse.Namespace) -> dict[str, float] | None:
    policy = ht.Policy(
        quasi=["age", "zip"], sensitive=["disease"], models=[ht.ProbabilisticL(l=level)], algorithm=algorithm,
        guard=["minimality"] if guard else [],
    )  # fmt: skip
    right, targets, promised, openly = 0, 0, 0.0, 0.0
    for seed in range(arguments.tables):
        release = ht.anonymize(people(arguments.people, seed), policy)
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
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--worlds", type=int, default=240)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else list(registry.algorithms)
    print("| algorithm | reads | l | right (95%) | promised | shares alone | 0.1.0 |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: |")
    for name in wanted:
        for guard in (False, True):
            for level in (2, 3, 4):
                try:
                    found = row(name, level, guard, arguments)
                except HushtableError as error:
                    if level == 2:
                        what = f"{name}{', guarded' if guard else ''}"
                        print(f"| {what} | | | {type(error).__name__} | | | |", flush=True)
                    break
                assert found is not None
                reads = registry.algorithms[name].reads_sensitive.value
                before = RECORDED.get((name, level))
                print(
                    f"| {name}{', guarded' if guard else ''} | {reads} | {level} | {found['rate']:.0%} "
                    f"({found['low']:.0%} to {found['high']:.0%}) | {found['promise']:.0%} | {found['openly']:.0%} | "
                    f"{'' if before is None else f'{before:.0%}'} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
