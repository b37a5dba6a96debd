"""Running the algorithms of Sun et al. on one table, each setting once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray
from hushtable.engines.local import check_feasible, finish, problem_of
from hushtable.models.base import PrivacyModel
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_alpha_sensitive import PAlphaSensitive
from hushtable.models.p_plus_sensitive import PPlusSensitive
from hushtable.models.p_sensitive import PSensitive
from hushtable.registry import algorithms
from hushtable.release.plan import Plan
from hushtable.release.settle import settle
from hushtable.table.coins import Coins
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Attribute
from hushtable.table.stats import GroupStats

ALGORITHMS: Mapping[str, Mapping[str, str]] = {"localpk": {}, "incognito": {"objective": "height"}, "k-member": {}}
"""The paper's algorithms; Clustering is k-member, and Incognito yields its minimal table with least distortion."""

NAMES = ("model 1: p", "model 2: p+", "model 3: (p, alpha)")

COINS = Coins(b"hushtable reproduces Sun et al.")
"""The same on every machine, since nothing is published here."""

_TIMES = {"localpk": 3, "incognito": 3, "k-member": 1}
"""Timed runs of each algorithm; the slow one has a single run."""

Models = tuple[PrivacyModel, ...]


def models_of(*, k: int, p: int, alpha: float) -> tuple[Models, Models, Models]:
    """Return the paper's models 1 to 3.

    Examples
    --------
    >>> [m[1].name for m in models_of(k=3, p=2, alpha=1)]
    ['p-sensitive', 'p-plus-sensitive', 'p-alpha-sensitive']
    """
    size = KAnonymity(k=k)
    return (size, PSensitive(p=p)), (size, PPlusSensitive(p=p)), (size, PAlphaSensitive(p=p, alpha=alpha))


def open_to_similarity(groups: GroupStats, attribute: Attribute) -> BoolArray:
    """Return which groups have values of only one category.

    Examples
    --------
    >>> disease = Attribute.of("d", ["HIV", "cancer", "flu"], [1, 1, 1], categories=[0, 0, 1])
    >>> open_to_similarity(GroupStats.of(sizes=[2, 2], d=[[1, 1, 0], [1, 0, 1]]), disease).tolist()
    [True, False]
    """
    if attribute.categories is None:
        raise TypeError(f"{attribute.name} has no categories")
    return np.asarray(groups.histogram(attribute.key).relabel(attribute.categories).distinct() == 1)


@dataclass(frozen=True)
class Disclosures:
    """How many classes disclose their people's category, by several readings of "attribute disclosure".

    Attributes
    ----------
    one : int
        Classes wholly in one category.
    top : int
        Classes wholly in the most sensitive one.
    half : int
        Classes with one category over half.
    records : int
        Records in classes wholly in one category.
    """

    one: int
    top: int
    half: int
    records: int

    @classmethod
    def of(cls, groups: GroupStats, attribute: Attribute) -> Disclosures:
        """Count.

        Examples
        --------
        >>> disease = Attribute.of("d", ["HIV", "cancer", "flu"], [1, 1, 1], categories=[0, 0, 1])
        >>> groups = GroupStats.of(sizes=[2, 2, 3, 2], d=[[1, 1, 0], [1, 0, 1], [0, 1, 2], [0, 0, 2]])
        >>> Disclosures.of(groups, disease)
        Disclosures(one=2, top=1, half=3, records=4)
        """
        alike = open_to_similarity(groups, attribute)
        assert attribute.categories is not None
        counted = groups.histogram(attribute.key).relabel(attribute.categories)
        most, people = counted.max(counted.units), counted.sum(counted.units)
        # the first entry of a class in one category is that category
        first = np.full(len(groups), -1, dtype=np.int64)
        filled = counted.lengths > 0
        first[filled] = counted.values[counted.offsets[:-1][filled]]
        return cls(
            int(alike.sum()), int((alike & (first == 0)).sum()), int((2 * most > people).sum()),
            int(groups.units[alike].sum()),
        )  # fmt: skip


@dataclass(frozen=True)
class Result:
    """The result of one run: CPU seconds of the algorithm, disclosing classes, number of classes, and losses.

    ``seconds`` is the fastest of several runs, ``slowest`` the slowest.
    """

    seconds: float
    slowest: float
    disclosures: Disclosures
    classes: int
    distortion: float
    discernibility: float
    cavg: float


class Bench:
    """A table, a plan for each number of quasi-identifiers, and the results so far.

    Parameters
    ----------
    table : pyarrow.Table
    plans : mapping of int to TablePlan
        By the number of quasi-identifiers.
    """

    def __init__(self, table: pa.Table, plans: Mapping[int, TablePlan]) -> None:
        self.table, self._plans = table, plans
        self._warm: set[str] = set()
        self._done: dict[tuple[int, Models, str], Result] = {}

    def run(self, size: int, models: Models, algorithm: str) -> Result:
        """Return the result of a setting, which is run on first use."""
        key = size, models, algorithm
        if key not in self._done:
            self._done[key] = self._run(*key)
        return self._done[key]

    def _run(self, size: int, models: Models, algorithm: str) -> Result:
        plan = Plan(self._plans[size], models, algorithms.build(algorithm, ALGORITHMS[algorithm]), coins=COINS)
        table = self.table.select([c.name for c in plan.table.columns])
        problem = problem_of(table, plan)
        check_feasible(problem)
        if algorithm not in self._warm:
            # compiling and loading kernels does not count
            plan.algorithm.run(problem)
            self._warm.add(algorithm)
        times = []
        for _ in range(_TIMES[algorithm]):
            begin = time.process_time()
            partition = plan.algorithm.run(problem)
            times.append(time.process_time() - begin)
        recoded = settle(problem, partition)
        if recoded is None:
            raise plan.algorithm.not_found(problem)
        release = finish(table, plan, problem, partition, recoded)
        attribute = problem.reference.attribute((problem.table.sensitive[0].name,))
        losses = release.measures(["distortion", "discernibility", "cavg"])
        return Result(
            round(min(times), 4),
            round(max(times), 4),
            Disclosures.of(release.verification.stats, attribute),
            release.verification.classes,
            round(losses["distortion"], 4),
            losses["discernibility"],
            round(losses["cavg"], 4),
        )
