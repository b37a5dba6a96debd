"""Local suppression: blanks as few cells as possible instead of generalizing them.

Every record keeps its values, except for cells that must be blanked so that it looks like enough others. A blanked
cell costs the weight of its column in the policy: a column of weight 2 is blanked only if that saves two cells of
weight 1. If costs are equal, columns with more values are blanked first.

Small tables under models that only count people are solved exactly: an integer program chooses which patterns (some
values kept, the others blank) are published and which records publish each. Otherwise, sets of columns are blanked in
order of cost, for all records that are then in an acceptable class; among sets with equal cost, the one that places
the most records goes first. Then records move to cheaper patterns, classes are dissolved into others, and new classes
are formed if that saves cells, until nothing improves.

Models that evaluate cells (k-anonymity with ``subsets``) need no classes: individual cells are blanked until no
combination of cells is rare.

A blanked cell is published as ``*``, a separate category: the records of a class have the same values and the same
blanks, and every model holds for every such class. So even someone who knows all of a person's true values finds the
whole class: at least k records under k-anonymity. In the weaker interpretation, a blank matches any value. It follows
for models that survive merging, and sdcMicro uses it: it accepts a record with a blank if k records are consistent with
it for someone who sees only the published table. But someone who knows the blanked value can exclude records that show
another one, and may be left with a single record. hushtable never relies on the weaker interpretation; ``missing:
wildcard`` verifies it in addition, for cells that were missing in the input.

When to use
-----------
For categorical columns whose combinations are mostly common: few cells are lost, and the others stay exact. The usual
method in official statistics.

When not
--------
For numeric columns with many values and for many columns: nearly every record is rare, and most cells are blanked.
Generalize first (give such columns a coarser hierarchy level), or use mondrian.

Cost
----
One grouping for each set of columns (2 to the power of their number; beyond ten columns, only sets of up to two and a
chain of growing sets), plus some rounds of improvement. Adult with six columns takes a few seconds.

References
----------
M. Templ, A. Kowarik, B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", Journal
of Statistical Software 67(4), 2015. A. Meyerson, R. Williams, "On the complexity of optimal k-anonymity", PODS 2004
(the minimum is NP-hard to find).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.pattern.groups import PatternGroups
from hushtable.algorithms.pattern.improve_blanks import improve_blanks
from hushtable.algorithms.pattern.join import join_rest, merge_worst
from hushtable.algorithms.pattern.search import Records
from hushtable.algorithms.trim import trim
from hushtable.arrays import BoolArray, FloatArray, IntArray, inverted, scattered
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.table.stats import GroupStats

ALL_SETS = 10
"""Maximum number of columns for which every set is tried."""


@dataclass(frozen=True)
class LocalSuppression(Algorithm):
    """Blanks few cells and leaves the others unchanged.

    Examples
    --------
    >>> LocalSuppression().values()
    {}
    """

    name: ClassVar[str] = "local-suppression"
    recoding: ClassVar[Recoding] = Recoding.PATTERN
    reads_cells: ClassVar[bool] = True

    def run(self, problem: Problem) -> Partition:
        """Blank cells until the models hold; see the module's docstring."""
        judged = [Stat.CELLS in member.stats_needed() for member in problem.model.members]
        if not any(judged):
            return self._classes(problem)
        found = blank_rare_cells(problem) if all(judged) else None
        if found is not None and len(problem.table.quasi) > ALL_SETS:
            return found
        classes = self._classes(problem.of_classes())
        fewer = found is not None and found.notes["blanked_cells"] <= classes.notes["blanked_cells"]
        return found if found is not None and fewer else classes

    def _classes(self, problem: Problem) -> Partition:
        """Blank cells until every class satisfies the models."""
        table = problem.table
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        records = Records(
            [c.codes for c in table.quasi], [c.coded.size for c in table.quasi], [False] * len(table.quasi)
        )
        weights = np.array([c.weight for c in table.quasi])
        alone = np.zeros(table.n_rows, dtype=np.int64)
        groups = PatternGroups(problem, records, alone, np.full(table.n_rows, -1, dtype=np.int64))
        groups.leave_out(~kept)
        budget = problem.budget - groups.units(np.flatnonzero(~kept))
        proven = fewest_blanks(groups, weights, budget)
        if not proven:
            _place(groups, weights, budget)
            if not join_rest(groups, budget):
                groups.labels, groups.n_groups = np.where(kept, 0, -1).astype(np.int64), 1
                groups.labels[table.n_sample :] = -1
            improve_blanks(groups, weights)
        placed = merge_worst(problem, records, groups.labels, groups.n_groups)
        if placed is None:
            raise self.not_found(problem)
        labels, n_groups = placed
        rows, offsets = group_rows(labels, n_groups)
        blank = records.describe(rows, offsets)[0] > 1
        cells = int((blank.sum(axis=1) * np.diff(offsets)).sum())
        return Partition(labels, n_groups, notes={"blanked_cells": cells, "optimum_proven": proven})


def _place(groups: PatternGroups, weights: FloatArray, budget: int) -> None:
    """Blank sets of columns, the cheapest first, for records that are then in acceptable classes."""
    columns = range(len(weights))
    steps = _sets(groups.records.sizes, weights) if len(weights) <= ALL_SETS else _few_sets(groups, weights)
    for done, tied in enumerate(steps):
        if not len(groups.rest):
            return
        groups.problem.progress(done / 2 ** len(columns) if len(columns) <= ALL_SETS else 0.5, "blanking")
        if len(tied[0]) == len(columns) and groups.units(groups.rest) <= budget:
            return
        # the number a set places can only shrink as others are placed, so an old number is a bound, with rare
        # exceptions
        bounds = [groups.units(groups.rest)] * len(tied)
        while tied:
            best = int(np.argmax(bounds))
            rows, labels, n = _acceptable(groups, tied[best])
            units = groups.units(rows)
            if units < max(bounds[:best] + bounds[best + 1 :], default=0):
                bounds[best] = units
                continue
            groups.labels[rows] = groups.n_groups + labels
            groups.n_groups += n
            del tied[best], bounds[best]
            if units == 0:
                break


def _sets(sizes: Sequence[int], weights: FloatArray) -> Iterator[list[tuple[int, ...]]]:
    """All sets of columns, in steps of equal cost; columns with more values come first."""
    columns = sorted(range(len(weights)), key=lambda j: (-sizes[j], j))
    sets = [s for n in range(len(columns) + 1) for s in combinations(columns, n)]
    costs = [round(float(weights[list(s)].sum()), 9) for s in sets]
    for cost in sorted(set(costs)):
        yield [s for s, c in zip(sets, costs, strict=True) if c == cost]


def _few_sets(groups: PatternGroups, weights: FloatArray) -> Iterator[list[tuple[int, ...]]]:
    """Sets of up to two columns, then a chain that adds the column that leaves the fewest classes for its weight."""
    columns = sorted(range(len(weights)), key=lambda j: (-groups.records.sizes[j], j))
    for n in range(3):
        for chosen in combinations(columns, n):
            yield [chosen]
    chain: list[int] = []
    while len(chain) < len(columns):
        rest = groups.rest
        if not len(rest):
            return
        left = {j: [q for q in columns if q not in chain and q != j] for j in columns if j not in chain}
        classes = {j: _number(groups, rest, others)[1] for j, others in left.items()}
        chain.append(min(left, key=lambda j: (classes[j] * weights[j], columns.index(j))))
        if len(chain) > 2:
            yield [tuple(chain)]


def _number(groups: PatternGroups, rows: IntArray, columns: list[int]) -> tuple[IntArray, int]:
    """Number rows by these columns."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64), 1
    records = groups.records
    labels, first = number_rows([records.columns[j][rows] for j in columns], [records.sizes[j] for j in columns])
    return labels, len(first)


def _acceptable(groups: PatternGroups, blank: tuple[int, ...]) -> tuple[IntArray, IntArray, int]:
    """Ungrouped rows whose classes the models accept if these columns are blank, and their classes."""
    rest = groups.rest
    if not len(rest):
        return rest, rest, 0
    labels, n = _number(groups, rest, [j for j in range(len(groups.records.columns)) if j not in blank])
    order, offsets = group_rows(labels, n)
    good: BoolArray = groups.judge(rest[order], offsets)[0]
    inside = good[labels]
    return rest[inside], (np.cumsum(good) - 1)[labels[inside]], int(good.sum())


# Minimum blanking of a small table, as an integer program.
#
# A pattern keeps some values of a record and blanks the others. The program opens patterns and assigns every record to
# an open pattern that matches it, so that each open pattern has enough people; a suppressed record costs as much as
# blanking all its cells. A pattern is skipped if a finer one matches the same records.


MOST_PAIRS = 1500
"""Maximum number of pairs (record, matching pattern) in a small table."""

MOST_NODES = 100
"""Number of search nodes after which the program is abandoned: a limit in seconds would depend on the machine."""


def fewest_blanks(groups: PatternGroups, weights: FloatArray, budget: int) -> bool:
    """Group the records with the fewest blanks (by weight) if a solution is found; return whether it was.

    Parameters
    ----------
    groups : PatternGroups
        Must have no groups yet.
    weights : float array
        Cost of a blank in each column.
    budget : int
        Units that may be suppressed.
    """
    least = _least(groups)
    rest = groups.rest
    if least is None or not len(rest) or len(rest) * 2 ** len(weights) > 64 * MOST_PAIRS:
        return False
    # equal records are assigned to patterns in secret order, as elsewhere
    rest = rest[np.argsort(inverted(groups.problem.secret_order)[rest], kind="stable")]
    units = groups.problem.table.row_units
    units = units[rest] if len(units) else np.ones(len(rest), dtype=np.int64)
    codes = np.column_stack([column[rest].astype(np.int64) for column in groups.records.columns])
    kind, first = number_rows([*codes.T, units], [*(codes.max(axis=0) + 1), int(units.max()) + 1])
    owner, pattern, cost = _pairs(codes[first], np.bincount(kind, units).astype(np.int64), weights, least)
    if len(owner) > MOST_PAIRS:
        return False
    many = np.bincount(kind)
    given = _solve((owner, pattern, cost), many, units[first], least, float(weights.sum()), budget)
    if given is None:
        return False
    used = np.unique(pattern[given > 0])
    for t in range(len(first)):
        rows = rest[kind == t]
        mine = np.flatnonzero((owner == t) & (given > 0))
        labels = np.repeat(np.searchsorted(used, pattern[mine]), given[mine])
        groups.labels[rows[: len(labels)]] = labels
    groups.n_groups = len(used)
    return True


def _least(groups: PatternGroups) -> int | None:
    """The fewest units that satisfy the models; None if they require more than size, or no size at all."""
    problem = groups.problem
    model, table = problem.model, problem.table
    sized = model.stats_needed() == frozenset({Stat.SIZE}) and not model.part(table_level=True).members
    if not sized or Monotone.ADD not in model.flags:
        return None
    least = groups.smallest
    below, at = model.satisfied(GroupStats(np.array([least - 1, least]), table.unit), problem.reference).tolist()
    return least if at and not below else None


def _pairs(codes: IntArray, total: IntArray, weights: FloatArray, least: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Every pair of a record (by kind) and a pattern that enough people match, and its cost for a record."""
    owners, patterns, costs, n = [], [], [], 0
    d = codes.shape[1]
    for blanks in range(d + 1):
        for blank in combinations(range(d), blanks):
            shown = [j for j in range(d) if j not in blank]
            sizes = [int(codes[:, j].max()) + 1 for j in shown]
            key = number_rows([codes[:, j] for j in shown], sizes)[0] if shown else np.zeros(len(codes), dtype=np.int64)
            enough = np.bincount(key, total)[key] >= least
            # if all matches agree in a blanked column, the pattern that keeps it is as good
            for j in blank:
                low = np.full(int(key.max()) + 1, codes[:, j].max())
                np.minimum.at(low, key, codes[:, j])
                high = np.zeros_like(low)
                np.maximum.at(high, key, codes[:, j])
                enough &= (low < high)[key]
            at = np.flatnonzero(enough)
            _, number = np.unique(key[at], return_inverse=True)
            owners.append(at)
            patterns.append(n + number)
            costs.append(np.full(len(at), weights[list(blank)].sum()))
            n += int(number.max(initial=-1)) + 1
    return np.concatenate(owners), np.concatenate(patterns), np.concatenate(costs)


def _solve(
    matching: tuple[IntArray, IntArray, FloatArray],
    many: IntArray,
    units: IntArray,
    least: int,
    whole: float,
    budget: int,
) -> IntArray | None:
    """Number of records of each pair's kind that publish its pattern, at minimum cost; None if not found."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    owner, pattern, cost = matching
    pairs, kinds, patterns = len(owner), len(many), int(pattern.max(initial=-1)) + 1
    at = np.arange(pairs)

    def matrix(values: Any, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> Any:
        return csr_array((np.broadcast_to(values, rows.shape), (rows, columns)), shape=shape)

    every = matrix(1.0, owner, at, (kinds, pairs))
    size = matrix(units[owner].astype(float), pattern, at, (patterns, pairs))
    nobody, nothing = csr_array((kinds, patterns)), csr_array((patterns, kinds))
    left = csr_array(np.eye(kinds))
    open_ = csr_array(np.eye(patterns))
    within = hstack([matrix(1.0, at, at, (pairs, pairs)), matrix(-many[owner].astype(float), at, pattern,
                     (pairs, patterns)), csr_array((pairs, kinds))])  # fmt: skip
    out = hstack([csr_array((1, pairs + patterns)), csr_array(units.astype(float)[None, :])])
    found = milp(
        np.concatenate([cost, np.zeros(patterns), np.full(kinds, whole)]),
        constraints=[
            LinearConstraint(hstack([every, nobody, left]), many, many),
            LinearConstraint(hstack([size, -float(least) * open_, nothing]), 0, np.inf),
            LinearConstraint(within, -np.inf, 0),
            LinearConstraint(out, 0, budget),
        ],
        integrality=np.ones(pairs + patterns + kinds),
        bounds=Bounds(0, np.concatenate([many[owner], np.ones(patterns), many])),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if found.status != 0 or found.x is None:
        return None
    given: IntArray = np.rint(found.x[:pairs]).astype(np.int64)
    return given


# Blanking single cells until no rare combination of cells is left, for models that evaluate cells.
#
# Each round blanks one cell of every record with a rare combination: the cell that takes part in the most violations
# for its weight; ties go to the column with more values. Later rounds, with few records left, blank several. A blank is
# a value like any other, so it may itself form rare combinations with the remaining values; the next round handles
# that. A record with nothing left to blank is suppressed within the suppression limit. Otherwise it is blanked
# completely, with the records that already have the most blanks, so that enough of them look the same. In small tables,
# cells are restored at the end if that makes nothing rare.


SLOW_ROUNDS = 12
"""Rounds between each increase in the number of cells blanked at a time."""

MOST_SHOWN_AGAIN = 5_000
"""Maximum number of cells for reviewing every blank. It is rarely worthwhile, and costs more than everything before."""


def blank_rare_cells(problem: Problem) -> Partition | None:
    """Return the records with the cells to blank; None if that does not satisfy the models.

    Parameters
    ----------
    problem : Problem
        All of its models evaluate cells.
    """
    table = problem.table
    state = _Cells.of(problem)
    for round_ in count():
        bad = state.bad()
        exposed = bad.any(axis=1) & state.kept
        if not exposed.any():
            break
        share = 1 - np.count_nonzero(exposed) / len(exposed)
        problem.progress(min(max(share, 0.0), 1.0), "blanking")
        before = state.visible_cells
        state.blank_worst(np.flatnonzero(exposed), bad, 1 + round_ // SLOW_ROUNDS)
        if state.visible_cells == before or not state.kept.any():
            return None
    if state.blank.size <= MOST_SHOWN_AGAIN:
        state.show_again()
    if not bool(problem.model.table_satisfied(state.stats(), problem.reference)[0]):
        return None
    columns = [np.where(state.blank[:, j], state.sizes[j], column) for j, column in enumerate(state.codes)]
    number, first = number_rows(columns, [size + 1 for size in state.sizes])
    labels = scattered(np.where(state.kept[state.kind], number[state.kind], -1), slice(table.n_sample), table.n_rows)
    used, labels_used = np.unique(labels[labels >= 0], return_inverse=True)
    labels[labels >= 0] = labels_used
    blanked = {c.name: state.blank[first[used], j] for j, c in enumerate(table.quasi)}
    cells = int((state.blank.sum(axis=1)[state.kind] * state.kept[state.kind]).sum())
    notes = {"blanked_cells": cells, "optimum_proven": False}
    return Partition(labels, len(used), blanked=blanked, notes=notes)


@dataclass
class _Cells:
    """The distinct records, and which of their cells are blank."""

    problem: Problem
    kind: IntArray
    codes: list[IntArray]
    sizes: list[int]
    units: IntArray
    blank: BoolArray
    kept: BoolArray
    budget: int

    @classmethod
    def of(cls, problem: Problem) -> _Cells:
        table = problem.table
        sample = slice(0, table.n_sample)
        sizes = [c.coded.size for c in table.quasi]
        kind, first = number_rows([c.codes[sample] for c in table.quasi], sizes)
        units = np.bincount(kind, table.row_units[sample] if len(table.row_units) else None).astype(np.int64)
        codes = [c.codes[sample][first].astype(np.int64) for c in table.quasi]
        blank = np.zeros((len(first), len(codes)), dtype=np.bool_)
        return cls(problem, kind, codes, sizes, units, blank, np.ones(len(first), dtype=np.bool_), problem.budget)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [c.name for c in self.problem.table.quasi]

    @property
    def visible_cells(self) -> int:
        """Number of visible cells in distinct records; every step leaves fewer."""
        return int(np.count_nonzero(~self.blank[self.kept])) + int(self.kept.sum())

    def cells(self) -> Mapping[str, IntArray]:
        """The cells of each record: a code, or the next higher number for a blank."""
        return {
            name: np.where(self.blank[:, j], self.sizes[j], self.codes[j])[self.kept]
            for j, name in enumerate(self.names)
        }

    def stats(self) -> GroupStats:
        """The kept records as models see them."""
        return GroupStats(self.units[self.kept], self.problem.table.unit, cells=self.cells())

    def bad(self) -> IntArray:
        """Number of violations that involve each cell."""
        found = np.zeros(self.blank.shape, dtype=np.int64)
        stats = self.stats()
        for member in self.problem.model.members:
            found[self.kept] += member.exposing(stats, self.problem.reference)
        return found

    def blank_worst(self, exposed: IntArray, bad: IntArray, many: int) -> None:
        """Blank the worst cells of each of these records; deal with those that have none left."""
        weights: FloatArray = np.array([c.weight for c in self.problem.table.quasi])
        order = np.lexsort((np.arange(len(weights)), -np.array(self.sizes)))
        worth = np.where(self.blank[exposed], 0.0, bad[exposed] / weights)[:, order]
        worst = np.argsort(-worth, axis=1, kind="stable")[:, :many]
        able = np.take_along_axis(worth, worst, axis=1) > 0
        self.blank[np.repeat(exposed, able.sum(axis=1)), order[worst[able]]] = True
        if not able.any():
            self._deal_with(exposed)

    def _deal_with(self, stuck: IntArray) -> None:
        """Suppress records, or blank them completely with enough others."""
        fits = stuck[np.cumsum(self.units[stuck]) <= self.budget]
        if len(fits):
            self.kept[fits] = False
            self.budget -= int(self.units[fits].sum())
            return
        self.blank[stuck] = True
        nothing = self.kept & self.blank.all(axis=1)
        order = np.lexsort((np.arange(len(self.units)), -self.blank.sum(axis=1)))
        model = self.problem.model.of_classes()
        for i in order[self.kept[order] & ~nothing[order]].tolist():
            whole = GroupStats(np.array([self.units[nothing].sum()]), self.problem.table.unit)
            if bool(model.satisfied(whole, self.problem.reference)[0]):
                break
            self.blank[i] = True
            nothing[i] = True

    def show_again(self) -> None:
        """Restore blanked cells, column by column, if that makes nothing rare."""
        for j in np.argsort([-c.weight for c in self.problem.table.quasi], kind="stable").tolist():
            tried = self.blank[:, j] & self.kept
            while tried.any():
                before = self.blank[:, j].copy()
                self.blank[tried, j] = False
                exposed = self.bad().any(axis=1)
                if not exposed.any():
                    break
                self.blank[:, j] = before
                fewer = tried & ~exposed
                # if others are exposed, the records whose cells would be restored have left their crowd
                tried = fewer if (fewer != tried).any() else np.zeros_like(tried)
