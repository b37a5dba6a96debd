"""The minimality guard: groups are made without using sensitive values, and merged more than the models require.

Wong et al.'s remedy first makes groups without using sensitive values, and only then treats those that violate the
model, in a way that does not distinguish them from the others. Here, the algorithm gets only the models that use no
sensitive value, a size below which no model can hold, and a table without sensitive columns, in which secret lots order
people with equal quasi-identifiers. Its groups become the leaves of a binary tree over the quasi-identifiers, and
siblings are merged if one violates a model and, with probability ``extra ** h`` at height h, if none does. (Wong et al.
distort the values of violating groups instead; this guard changes none.)

The promise: take a class of 2^h blind groups, and two assignments of its values to its people. An adversary who knows
everything but the coins sees such a class with probability 1 if it was needed, and at least extra^h if it was not. So
the odds of one assignment against the other change by a factor of at most (1/extra)^h: by 4 for a pair of groups with
``extra`` = 1/4. Without a guard, they may change without bound.

A global recoding generalizes whole columns instead: levels are raised in an order that is fixed before any sensitive
value is used, until the models hold, and by at least j steps with probability extra^j.

If even the whole table violates a model and records may be suppressed, those with values that are too frequent are
suppressed, as without the guard, which does not hide this.

The guard needs models that survive merging. m-confidentiality bounds what one refused block reveals; the guard protects
against adversaries who replay the whole run. Algorithms that number their groups (anatomy, m-invariant) assign
sensitive values to them, and cannot ignore these.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007;
G. Cormode, N. Li, T. Li, D. Srivastava, "Minimizing minimality and maximizing utility", 2010.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, TypeAlias

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.pairing import pair_up
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, IntArray, inverted, scattered
from hushtable.errors import IncompatibleError
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.params import Between
from hushtable.release.guard import Guard
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats

_Climb: TypeAlias = Callable[[Problem, Partition, Coins], Partition | None]


def blind_part(model: AllOf) -> AllOf:
    """Return the models that use no sensitive value, and the group size that the others require.

    Examples
    --------
    >>> from hushtable.models.probabilistic_l import ProbabilisticL
    >>> [(m.name, m.bound) for m in blind_part(AllOf((ProbabilisticL(l=3, on="disease"),))).members]
    [('k-anonymity', 3)]
    """
    looking = {Stat.HISTOGRAM, Stat.BACKGROUND}
    members = tuple(m for m in model.members if not (m.histogram_keys() or m.stats_needed() & looking))
    least = max(model.min_group_size(), 2)
    if AllOf(members).min_group_size() < least:
        members = (KAnonymity(k=least), *members)
    return AllOf(members)


@dataclass(frozen=True)
class MinimalityGuard(Guard):
    """Makes groups without using sensitive values, and merges more of them than the models require.

    Parameters
    ----------
    extra : float
        The probability that two groups are merged unnecessarily; at height h of the tree, extra ** h.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [20, 20, 60, 60, 60, 60, 60],
    ...                   "disease": ["HIV", "HIV", "flu", "gout", "cold", "ulcer", "cough"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.ProbabilisticL(l=2)], guard=["minimality"])
    >>> ht.anonymize(table, policy).attack("minimality").lift
    0.0
    """

    extra: Annotated[float, Between(0, 1, closed="neither"), "probability of merging groups unnecessarily"] = 0.25

    name: ClassVar[str] = "minimality"
    answers: ClassVar[str] = "minimality"

    def check(self, algorithm: Algorithm, model: AllOf, suppression: float) -> None:
        """Refuse models that do not survive merging, and algorithms that group by sensitive values."""
        if algorithm.recoding.by_number:
            raise IncompatibleError(
                f"{algorithm.name} assigns sensitive values to groups, so it cannot ignore them as the minimality "
                "guard requires.",
                hint="Remove 'minimality' from 'guard', or choose an algorithm that generalizes.",
            )
        if looked_at := getattr(algorithm, "target", None) or getattr(algorithm, "within", None):
            raise IncompatibleError(
                f"{algorithm.name} is guided by the values of {looked_at!r}, which the minimality guard hides from it.",
                hint="Remove 'target', 'within' or the guard.",
            )
        if fixed := getattr(algorithm, "fixed", None):
            raise IncompatibleError(
                f"{algorithm.name} keeps {', '.join(map(repr, fixed))} at one level, but the minimality guard raises "
                "levels.",
                hint="Remove 'fixed' or 'minimality'.",
            )
        self.needs_merging(model, "merges groups")
        algorithm.check(blind_part(model), suppression)

    def given(self, problem: Problem) -> Problem:
        """Return the problem without sensitive columns and the models that use them."""
        lots = problem.coins.purse("guard/minimality/equals").lots(problem.table)
        ranks = np.argsort(np.argsort(lots[: problem.table.n_sample], kind="stable"), kind="stable")
        blind = replace(problem.table, sensitive=(), tie_rank=ranks)
        return replace(problem, store=blind, model=blind_part(problem.model), tossed=problem.coins)

    def grouped(self, problem: Problem, partition: Partition, recoding: Recoding, coins: Coins) -> Partition | None:
        """Merge groups, or raise levels, until the models hold, and more at random."""
        climb = self._climb if recoding is Recoding.GLOBAL else self._pair
        return climb(problem, partition, coins) or self._trimmed(problem, partition, coins, climb)

    def _trimmed(self, problem: Problem, partition: Partition, coins: Coins, climb: _Climb) -> Partition | None:
        """Try again without the records that make even the whole table violate a model, if the limit allows."""
        kept = trim(problem) if problem.budget else None
        if kept is None:
            return None
        labels = np.where(kept, partition.labels, -1)
        table, gone = problem.table, labels[: problem.table.n_sample] < 0
        lost = int(table.units_of(np.flatnonzero(gone)).sum())
        used, labels = np.unique(np.append(labels, -1), return_inverse=True)
        if lost > problem.budget or len(used) < 2:
            return None
        return climb(problem, replace(partition, labels=labels[:-1] - 1, n_groups=len(used) - 1), coins)

    def _pair(self, problem: Problem, partition: Partition, coins: Coins) -> Partition | None:
        table, model, n = problem.table, problem.model, partition.n_groups
        if not n:
            return None
        labels = np.asarray(partition.labels, dtype=np.int64)
        order = spread_order(group_centres(table, labels, n), _ranks(problem, labels, n))
        stats = table.stats_of(labels, n, model.histogram_keys()).take(order)
        groupwise = model.part(table_level=False)

        def satisfied(groups: GroupStats) -> BoolArray:
            # groups with only population rows have no records
            return np.asarray(groupwise.satisfied(groups, problem.reference) | (groups.units == 0))

        for floor in range(max(n - 1, 0).bit_length() + 1):
            problem.progress(1.0, "guarding")
            classes = pair_up(stats, satisfied, self.extra, coins, floor)
            if classes is None:
                return None
            of_group = np.empty(n, dtype=np.int64)
            of_group[order] = classes
            m = int(classes.max()) + 1
            whole = stats.merge(classes, m)
            if bool(model.table_satisfied(whole.take(whole.units > 0), problem.reference)[0]):
                merged = np.where(labels >= 0, of_group[labels], -1)
                return replace(partition, labels=merged, n_groups=m, regions=None)
        return None

    def _climb(self, problem: Problem, partition: Partition, coins: Coins) -> Partition | None:
        table, model = problem.table, problem.model
        chance, least = coins.uniform("steps", 1)[0], 0
        while least < 64 and chance < self.extra ** (least + 1):
            least += 1
        found = None
        for step, rung in enumerate(rungs(table, partition)):
            problem.progress(1.0, "guarding")
            stats = table.stats_of(np.asarray(rung.labels), rung.n_groups, model.histogram_keys())
            stats = stats.take(stats.units > 0)
            fits = model.satisfied(stats, problem.reference).all()
            if fits and bool(model.table_satisfied(stats, problem.reference)[0]):
                found = rung
                if step >= least:
                    break
        return found


def _ranks(problem: Problem, labels: IntArray, n: int) -> IntArray:
    """Rank groups by their first record, independently of the input's order."""
    rank = inverted(problem.order)
    first = np.full(n, len(rank), dtype=np.int64)
    inside = labels >= 0
    np.minimum.at(first, labels[inside], rank[inside])
    return first


# An order of groups in which adjacent ones are close together: its halves, quarters and eighths are regions.
#
# Groups are divided recursively along the column with the widest spread, at a power of two, so that the ``i``-th
# stretch of ``2**h`` groups is one node of a binary tree over all of them. Only quasi-identifiers are used.


def group_centres(table: EncodedTable, labels: IntArray, n_groups: int) -> IntArray:
    """Return the middle of every group in every quasi-identifier, rounded down."""
    rows = np.flatnonzero(labels[: table.n_sample] >= 0)
    owner = labels[rows]
    centres = np.zeros((n_groups, len(table.quasi)), dtype=np.int64)
    for j, column in enumerate(table.quasi):
        place = column.positions[column.codes[rows]]
        low = np.full(n_groups, np.iinfo(np.int64).max)
        high = np.full(n_groups, np.iinfo(np.int64).min)
        np.minimum.at(low, owner, place)
        np.maximum.at(high, owner, place)
        centres[:, j] = np.where(low <= high, low // 2 + high // 2, 0)
    return centres


def spread_order(centres: IntArray, rank: IntArray) -> IntArray:
    """Return the groups in an order in which runs of a power of two are close together.

    Parameters
    ----------
    centres : int64 array, group by column
    rank : int64 array
        Breaks ties; no two groups share a value.

    Examples
    --------
    >>> spread_order(np.array([[0, 9], [5, 9], [1, 0], [6, 0]]), np.arange(4)).tolist()
    [2, 3, 0, 1]
    """
    n = len(centres)
    order = np.argsort(rank, kind="stable")
    width = 1 << max(n - 1, 0).bit_length()
    while width > 1:
        segment = np.arange(n) // width
        starts = np.arange(0, n, width)
        here = centres[order]
        spread = np.maximum.reduceat(here, starts, axis=0) - np.minimum.reduceat(here, starts, axis=0)
        widest = np.argmax(spread, axis=1)
        key = np.take_along_axis(here, widest[segment][:, None], axis=1)[:, 0]
        order = order[np.lexsort((rank[order], key, segment))]
        width //= 2
    return order


# Generalizing whole columns: one level of one column at a time, chosen without using sensitive values.


def rungs(table: EncodedTable, partition: Partition) -> Iterator[Partition]:
    """Yield a global recoding, then coarser and coarser ones up to a single class.

    Each step raises the column whose next level adds least to the covered share of its domain, averaged over the
    records. Suppressed records stay suppressed.
    """
    cuts = [c.copy() for c in _cuts(table, partition)]
    labels = np.asarray(partition.labels, dtype=np.int64)
    kept = np.flatnonzero(labels[: table.n_sample] >= 0)
    counts = [np.bincount(c.codes[kept], minlength=c.coded.size) for c in table.quasi]
    yield partition
    while True:
        open_to = [j for j, c in enumerate(table.quasi) if int(cuts[j].min()) < c.coded.height]
        if not open_to:
            return
        raised = {j: np.maximum(cuts[j], cuts[j].min() + 1) for j in open_to}
        more = [_rise(table.quasi[j], counts[j], cuts[j], raised[j]) for j in open_to]
        best = open_to[int(np.argmin(more))]
        cuts[best] = raised[best]
        yield _at(table, partition, labels, cuts)


def _cuts(table: EncodedTable, partition: Partition) -> tuple[IntArray, ...]:
    if partition.cuts is not None:
        return partition.cuts
    levels = partition.levels or (0,) * len(table.quasi)
    return tuple(np.full(c.coded.size, h, dtype=np.int64) for c, h in zip(table.quasi, levels, strict=True))


def _nodes(column: QuasiColumn, cut: IntArray) -> tuple[IntArray, int]:
    """Number the nodes of a cut: the number above every leaf, and the number of nodes."""
    coded = column.coded
    start = np.cumsum([0, *(len(names) for names in coded.labels)])
    levels = np.array(coded.levels)
    return start[cut] + levels[cut, np.arange(coded.size)], int(start[-1])


def _rise(column: QuasiColumn, counts: IntArray, cut: IntArray, raised: IntArray) -> float:
    """The growth of the share of the domain that cells cover, weighted and summed over the records."""
    covered = []
    for level in (cut, raised):
        node, n = _nodes(column, level)
        covered.append(int((np.bincount(node, minlength=n)[node] * counts).sum()))
    return (covered[1] - covered[0]) / column.coded.size * column.weight


def _at(table: EncodedTable, partition: Partition, labels: IntArray, cuts: list[IntArray]) -> Partition:
    inside = np.flatnonzero(labels >= 0)
    above = [_nodes(c, cut) for c, cut in zip(table.quasi, cuts, strict=True)]
    numbers, first = number_rows(
        [node[c.codes[inside]] for c, (node, _) in zip(table.quasi, above, strict=True)], [n for _, n in above]
    )
    merged = scattered(numbers, inside, len(labels))
    levels = None
    if partition.cuts is None:
        levels = tuple(int(cut[0]) for cut in cuts)
    notes = dict(partition.notes)
    if levels is not None and "levels" in notes:
        notes["levels"] = dict(zip((c.name for c in table.quasi), levels, strict=True))
    return replace(
        partition, labels=merged, n_groups=len(first), levels=levels,
        cuts=None if partition.cuts is None else tuple(cuts), regions=None, notes=notes,
    )  # fmt: skip
