"""The contract of every guard: a release that a recount confirms, repeatable in any order of rows, or a refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.base import Algorithm
from hushtable.errors import IncompatibleError
from hushtable.models.base import PrivacyModel
from hushtable.registry import algorithms as known_algorithms
from hushtable.registry import models as known_models
from hushtable.release.guard import Guard
from hushtable.testing.cases import Case, chosen_forms, random_case
from hushtable.testing.examples import model_examples
from hushtable.testing.naive import recheck
from hushtable.testing.release_checks import Answer
from hushtable.testing.repeat_checks import attempt
from hushtable.testing.require import require

_ROWS = 26


def check_guard(
    guard: Guard | type[Guard], *, algorithms: Sequence[str] | None = None, models: Sequence[str] | None = None,
    seed: int = 0,
) -> Counter[str]:  # fmt: skip
    """Check the contract of a guard, with every registered algorithm and model.

    Parameters
    ----------
    guard : class or instance
        A class is built with its default parameters.
    algorithms, models : sequence of str, optional
        Some of the registered ones.
    seed : int
        Seed of the first table.

    Returns
    -------
    Counter
        How often each answer occurred.

    Raises
    ------
    AssertionError
        With a sentence about the broken promise.

    Examples
    --------
    >>> from hushtable.release.guards.downcoding import DowncodingGuard
    >>> check_guard(DowncodingGuard, algorithms=["mondrian"], models=["k-anonymity"])["released"] > 0
    True
    """
    built = guard if isinstance(guard, Guard) else guard.build({})
    done: Counter[str] = Counter()
    for i, (algorithm, model) in enumerate(_pairs(algorithms or known_algorithms, models or known_models)):
        cells = chosen_forms()[(seed + i) % len(chosen_forms())]
        case = random_case(seed + i, _ROWS, cells=cells, entity=(seed + i) % 3 == 2).suited(algorithm)
        for example in model_examples(model, case, 1):
            done[check_guarded(built, [example], algorithm, case, suppression=0.1 * (i % 2)).value] += 1
    require(done[Answer.RELEASED.value], f"{built.name} never allowed a release; choose algorithms that it can guard")
    return done


def _pairs(algorithms: Iterable[str], models: Iterable[str]) -> Iterator[tuple[Algorithm, type[PrivacyModel]]]:
    for algorithm in algorithms:
        for model in models:
            yield known_algorithms.build(algorithm), known_models[model]


def check_guarded(
    guard: Guard, models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Run under a guard, recount the release from its published cells, and repeat it with shuffled rows."""
    try:
        plan = case.plan(models, algorithm, suppression=suppression, seed=case.seed)
    except IncompatibleError:
        return Answer.INCOMPATIBLE
    try:
        plan = replace(plan, guards=(guard,))
    except IncompatibleError as error:
        require(
            guard.name in error.message and error.hint, f"{guard.name} refuses without stating its name or a remedy"
        )
        return Answer.INCOMPATIBLE
    release = attempt(case.table, plan)
    shuffled = pa.array(np.argsort(rng.bits(case.seed, "disorder", case.table.num_rows), kind="stable"))
    again = attempt(case.table.take(shuffled), plan)
    if isinstance(release, Answer) or isinstance(again, Answer):
        both = isinstance(release, Answer) and isinstance(again, Answer)
        require(both, f"{guard.name} gives a release only for some orders of the rows")
        return release if isinstance(release, Answer) else Answer.RELEASED
    require(release.table.equals(again.table), f"{guard.name}: the release depends on the order of the rows")
    require(release.verification.ok, f"{guard.name}: a release was returned that its own verification rejects")
    recheck(case.table, plan, release)
    require(guard.name in release.partition.notes.get("guards", {}), f"{guard.name}: the release does not name it")
    return Answer.RELEASED
