"""Running an algorithm under guards: the only place where the three points at which guards act come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.release.recode import Recoded
from hushtable.release.settle import settle

if TYPE_CHECKING:
    from hushtable.release.guards.base import Guard

__all__ = ["group_and_recode"]


def group_and_recode(
    problem: Problem, algorithm: Algorithm, guards: Sequence[Guard] = ()
) -> tuple[Partition, Recoded | None]:
    """Return the algorithm's groups and what they publish, as the guards have them.

    Without guards this is the algorithm and ``settle``. The second is None where no grouping could be settled.
    """
    given = problem
    for guard in guards:
        given = guard.given(given)
    partition = algorithm.run(given)
    if guards:
        # what the algorithm proved, it proved of its own groups
        notes = {k: v for k, v in partition.notes.items() if not k.endswith("_proven")}
        said = {guard.name: guard.values() for guard in guards}
        partition = replace(partition, notes={**notes, "guards": said})
    coins = [problem.coins.purse(f"guard/{guard.name}") for guard in guards]
    for guard, toss in zip(guards, coins, strict=True):
        found = guard.grouped(problem, partition, algorithm.recoding, toss)
        if found is None:
            return partition, None
        partition = found
    problem.progress(1.0, "recoding")
    recoded = settle(problem, partition, algorithm.recoding)
    for guard, toss in zip(guards, coins, strict=True):
        recoded = recoded and guard.recoded(problem, recoded, toss)
    return partition, recoded
