"""The contract of every algorithm against an adversary who knows it: guesses no better than the model allows.

The attack ``known-algorithm`` is run against small releases under many models. If secret coins decide, the share of
correct guesses may not exceed what the published classes show. If sensitive values are only checked, or a public rule
uses them, it may exceed what the models promise by no more than is declared (``Reads.excess``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.algorithms.base import Algorithm, Reads
from hushtable.attacks.base import wilson
from hushtable.attacks.known_algorithm import KnownAlgorithm
from hushtable.attacks.view import View
from hushtable.engines import local
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound, UsageError
from hushtable.models.base import PrivacyModel, SensitiveModel
from hushtable.registry import models as known_models
from hushtable.testing.cases import Case, random_case
from hushtable.testing.examples import model_examples
from hushtable.testing.require import require


@dataclass(frozen=True)
class Guesses:
    """Totals of the adversary's guesses.

    Attributes
    ----------
    releases : int
        Number of attacked releases.
    targets, right : int
    promised, openly : float
        Correct guesses that the models allow, and those to expect from the published shares alone.
    """

    releases: int = 0
    targets: int = 0
    right: int = 0
    promised: float = 0.0
    openly: float = 0.0

    def __add__(self, other: Guesses) -> Guesses:
        return Guesses(
            self.releases + other.releases,
            self.targets + other.targets,
            self.right + other.right,
            self.promised + other.promised,
            self.openly + other.openly,
        )


def guesses(models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, worlds: int = 48) -> Guesses:
    """Release a case, if possible, and let the adversary guess the values of its disease column."""
    case = case.suited(algorithm)
    try:
        plan = case.plan(models, algorithm, seed=case.seed)
        release = local.run(case.table, plan)
    except (IncompatibleError, Infeasible, NotFound):
        return Guesses()
    except DataError as error:
        if error.code != "all-unknown":
            raise
        return Guesses()
    view = View.of(release)
    # a plug-in's algorithm need not be registered
    vars(view)["algorithm"] = algorithm
    try:
        result = KnownAlgorithm(worlds=worlds, on="disease").run(view)
    except UsageError as error:
        raise AssertionError(f"{algorithm.name} does not reproduce its own release: {error}") from error
    openly = result.counts["right by the published shares alone, expected"]
    return Guesses(1, result.targets, result.successes, result.baseline * result.targets, openly * result.targets)


def check_known_algorithm(
    algorithm: Algorithm, *, models: Sequence[str] | None = None, seed: int = 0, worlds: int = 48
) -> Guesses:
    """Check that an adversary who knows the algorithm guesses no better than its models promise.

    Parameters
    ----------
    algorithm : Algorithm
    models : sequence of str, optional
        Names of registered models. Defaults to all that use a sensitive column.
    seed : int
        Seed of the first table.
    worlds : int
        Number of worlds that the adversary tries for each release.

    Returns
    -------
    Guesses
        The totals.

    Raises
    ------
    AssertionError
        If more guesses are correct than the algorithm declares, beyond the confidence interval.
    """
    names = [n for n, cls in known_models.items() if issubclass(cls, SensitiveModel)] if models is None else models
    found = Guesses()
    for i, name in enumerate(names):
        case = random_case(seed + i, 20)
        for example in model_examples(known_models[name], case, 1):
            found += guesses([example], algorithm, case, worlds=worlds)
    if found.targets:
        low, _ = wilson(found.right, found.targets)
        reads = algorithm.reads_sensitive
        promised = found.openly if reads is Reads.COINS else found.promised
        allowed = promised / found.targets + reads.excess
        require(
            low <= allowed,
            f"an adversary who knows {algorithm.name} guesses {found.right} of {found.targets} values correctly; "
            f"{allowed:.0%} of them are allowed",
        )
    return found
