"""The contract of every algorithm against an adversary who knows it: guesses no better than the model allows.

The attack ``known-algorithm`` is run against small releases under many models. If secret coins decide, the share of
correct guesses may not exceed what the published classes show, and two people of a class who exchange their values must
nearly always give the same release: otherwise, one person's value would reveal those of others. If sensitive values are
only checked, or a public rule uses them, guesses may exceed what the models promise by no more than is declared
(``Reads.excess``). Whatever an algorithm does, secret coins decide which of several people with equal quasi-identifiers
join which group: their values would follow from a public rule.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Reads
from hushtable.attacks.base import wilson
from hushtable.attacks.known_algorithm import KnownAlgorithm, exchanges
from hushtable.attacks.view import View
from hushtable.engines import local
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound, UsageError
from hushtable.models.base import PrivacyModel, SensitiveModel
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models as known_models
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins
from hushtable.testing.cases import Case, random_case
from hushtable.testing.examples import model_examples
from hushtable.testing.require import require

EQUALS = (2, 5, 2, 4, 5, 6)
"""Numbers of people with equal quasi-identifiers in the tables of ``splits_of_equals``."""

_LEAST_SAME = 0.8
"""Share of exchanges that give the same release; unions of regions and of equal records prevent some of them."""


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
    exchanges, same : int
        If secret coins decide: number of pairs who exchanged their values, and number of those after which the release
        stayed the same.
    """

    releases: int = 0
    targets: int = 0
    right: int = 0
    promised: float = 0.0
    openly: float = 0.0
    exchanges: int = 0
    same: int = 0

    def __add__(self, other: Guesses) -> Guesses:
        return Guesses(*map(operator.add, astuple(self), astuple(other)))


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
    tossed = algorithm.reads_sensitive is Reads.COINS and bool(view.model.histogram_keys())
    try:
        # both use worlds, each of which runs the algorithm once
        result = KnownAlgorithm(worlds=worlds - worlds // 4 * tossed, on="disease").run(view)
        tried, same = exchanges(view, worlds // 4) if tossed else (0, 0)
    except UsageError as error:
        raise AssertionError(f"{algorithm.name} does not reproduce its own release: {error}") from error
    right, promised = result.successes, result.baseline * result.targets
    openly = result.counts["right by the published shares alone, expected"] * result.targets
    return Guesses(1, result.targets, right, promised, openly, tried, same)


def splits_of_equals(algorithm: Algorithm, case: Case) -> set[tuple[tuple[tuple[int, str], ...], ...]]:
    """Return the groups that different coins give, if people with equal quasi-identifiers are in several of them.

    A group is made of pairs: the combination of quasi-identifiers, and the disease.
    """
    case = case.suited(algorithm)
    table, block = case.table, np.repeat(np.arange(len(EQUALS)), EQUALS)
    for name in case.columns.named(Role.QUASI):
        equal = table.column(name).take(pa.array(block))
        table = table.set_column(table.column_names.index(name), name, equal)
    ill = np.array(table.column("disease").to_pylist(), dtype=object).astype(str)
    plan = case.plan([KAnonymity(k=3), DistinctL(l=2, on="disease")], algorithm, seed=case.seed)
    found, several = set(), False
    for number in range(6):
        labels = View.of(local.run(table, replace(plan, coins=Coins(bytes([number]))))).labels[: len(block)]
        several |= any(len(np.unique(labels[block == b])) > 1 for b in np.unique(block))
        groups = ([*zip(block[labels == g].tolist(), ill[labels == g], strict=True)] for g in set(labels.tolist()))
        found.add(tuple(sorted(tuple(sorted(group)) for group in groups)))
    return found if several else set()


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
        If more guesses are correct than the algorithm declares, beyond the confidence interval; or if coins are said to
        decide, and too few exchanges of values give the same release.
    """
    names = [n for n, cls in known_models.items() if issubclass(cls, SensitiveModel)] if models is None else models
    splits: list[int] = []
    for i in range(8):
        try:
            splits.append(len(splits_of_equals(algorithm, random_case(seed + i, sum(EQUALS)))))
        except (IncompatibleError, Infeasible, NotFound):
            continue
    require(
        2 * splits.count(1) <= len(splits) - splits.count(0),
        f"an adversary who knows {algorithm.name} knows which of several people with equal quasi-identifiers join "
        f"which group: in {splits.count(1)} of {len(splits) - splits.count(0)} tables, it does not depend on the coins",
    )
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
    if found.exchanges:
        _, high = wilson(found.same, found.exchanges)
        require(
            high >= _LEAST_SAME,
            f"an adversary who knows {algorithm.name} and one person's value learns those of others: only {found.same} "
            f"of {found.exchanges} exchanges of two values within a class give the same release",
        )
    return found
