"""k-concealing: each record is published with the values of its own crowd, and crowds overlap.

There are as many crowds as records. Each crowd has k people, and everyone is in exactly k crowds. A record's cells
are the values of its crowd, so each record covers k people, and k records cover each person. In a graph where every
vertex has k edges, every edge is part of a perfect matching: so all k are possible, and the release is k-concealed.
No two records need to be equal, which saves detail compared with classes: each crowd is as compact as its people
allow.

Four steps:

1. Mondrian makes classes, under the same models. The people of a class form a ring; each person and the next k - 1
   are a crowd. People with equal quasi-identifiers are ordered by secret lots.
2. Crowds exchange people, also across classes, until their cells hardly shrink further (annealing; ``effort``).
3. A linear program finds the cheapest mixture of the crowds known so far, and its prices point to better crowds
   (``rounds``). The mixture is rounded to whole crowds, which exchange people once more. In steps 2 and 3, only
   quasi-identifiers matter. With k = 2, both are skipped: crowds of two form cycles, and one known record determines
   all others in its cycle, so cycles must stay short.
4. Coins from the local secret decide whose record is published with each crowd: each of its k people has the same
   probability. An adversary who knows everyone's quasi-identifiers and reconstructs the crowds believes that a record
   belongs to a given person with probability 1/k, unless the adversary knows how values relate to quasi-identifiers,
   or knows some records.

With ``distinct-l``, each person's possible records have at least l sensitive values, and so do each record's possible
people. A draw must not be corrected: that would depend on sensitive values and be visible, because the crowds follow
from quasi-identifiers. Instead, crowds are so large that every draw is diverse. Classes are Mondrian's under all
models, refined; steps 2 and 3 are skipped, and everyone stays in their class. If the l - 1 most frequent values of a
class occur c times, its crowds have c + 1 people, at least k, at most the whole class. On Adult with 8 columns, k = 5
and l = 2 or 3, this saves 6% compared with the same classes. As with other algorithms, the classes themselves may
reveal something about values (see the attack ``minimality``). Other models of sensitive values are refused: how often a
value occurs among a person's records differs from draw to draw.

Nothing is suppressed. Cells are sets of values, regardless of the policy (form ``concealed``). Tables of more than
``BLOCK`` records are processed in blocks of neighboring classes.

Limits: if an adversary learns from elsewhere which record belongs to a person, links between other people and records
become more likely, even beyond the same crowd. A different version of scipy, which solves the linear programs, may find
different crowds. A set shows values of real people. There is no ledger, no guard and no Spark engine for these
releases.

When to use
-----------
When detail matters and recipients can work with individually generalized rows: on Adult with k = 5, the loss is 27%
(9 columns) and 26% (8 columns) lower than with the best classes that hushtable finds. The linear program proves that
no crowds of k, with everybody in k, save more than about 29% and 28%.

When not
--------
When you need k-anonymity, when data about the same people will be published again, or when recipients group by equal
rows.

Cost
----
One to three minutes for 30,000 records, most of it for the linear programs (``rounds``). Finding neighbors takes n
squared steps within a block.

References
----------
T. Tassa, A. Mazza, A. Gionis, "k-concealment: an alternative model of k-type anonymity", Transactions on Data Privacy
5, 2012. W. K. Wong, N. Mamoulis, D. Cheung, "Non-homogeneous generalization in privacy preserving data publishing",
SIGMOD 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from hushtable.algorithms.base import Algorithm, Partition, Problem, Progress, Reads, Recoding, quietly
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, places_among, scattered
from hushtable.errors import IncompatibleError
from hushtable.kernels.crowds import exchange, nearest_tuples, underpriced
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.params import AtLeast
from hushtable.rng import exponential_quantiles
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.losses import ncp_of_leaf
from hushtable.table.plan import TablePlan
from hushtable.table.stats import GroupStats, Histogram

BLOCK = 32_768
"""Maximum number of records in a block; crowds and neighbors stay within it."""

_TRIALS = 200_000
"""Trials per tuple and round to find a better crowd."""

_NEAR = 16
_SCALE = 10**7
"""Scale of the integers that represent costs."""

_HEAT = 0.4
"""Initial tolerance, as a multiple of the average cost of a crowd in the first classes."""


@dataclass(frozen=True)
class KConcealing(Algorithm):
    """Overlapping crowds of k; each record publishes the values of one crowd.

    Parameters
    ----------
    effort : int
        Number of exchanges to try per record; fewer in tables of a few hundred records.
    rounds : int
        Rounds in which a linear program finds better crowds. It stops early when there are none.

    Examples
    --------
    >>> KConcealing(effort=500).values()
    {'effort': 500}
    """

    effort: Annotated[int, AtLeast(0), "number of exchanges to try per record"] = 2_000
    rounds: Annotated[int, AtLeast(0), "rounds in which a linear program finds better crowds"] = 10

    name: ClassVar[str] = "k-concealing"
    recoding: ClassVar[Recoding] = Recoding.CONCEALED
    reads_sensitive: ClassVar[Reads] = Reads.CHECKS

    def check_table(self, table: TablePlan) -> None:
        """Refuse tables in which people have several records: a matching gives everyone one."""
        if table.entity is not None:
            raise IncompatibleError(
                f"{self.name} matches each person to one record, and with 'entity' people have several.",
                hint="Publish one record per person, or choose an algorithm that makes classes.",
            )

    def run(self, problem: Problem) -> Partition:
        """Make crowds and assign them by lot; see the module's docstring."""
        valued = bool(problem.model.histogram_keys())
        # suppressing people would leave the others with fewer to hide among
        start = Mondrian(refine=valued).run(replace(problem, suppression=0.0))
        table = problem.table
        size = max(problem.model.min_group_size(), 2)
        members: list[IntArray] = [np.empty(0, dtype=np.int64)] * table.n_sample
        settled = 0
        for turn, (rows, classes) in enumerate(_blocks(problem, start)):
            problem.progress(settled / table.n_sample, "exchanging")

            def report(share: float, what: str, settled: int = settled, own: int = len(rows)) -> None:
                problem.progress((settled + share * own) / table.n_sample, what)

            inside = _inside(problem, rows, classes, size) if valued else None
            for own, crowds in inside or [(rows, self._crowds(table, rows, classes, size, report))]:
                drawn = draw_matching(crowds, problem.coins.purse(f"{self.name} {turn} {crowds.shape[1]}"))
                for crowd, person in enumerate(drawn.tolist()):
                    members[int(own[person])] = own[crowds[crowd]]
            settled += len(rows)
        lengths = [len(own) for own in members]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        labels = places_among(np.arange(table.n_sample), table.n_rows)
        return Partition(labels, table.n_sample, crowds=(offsets, np.concatenate(members)))

    def _crowds(
        self, table: EncodedTable, rows: IntArray, classes: IntArray, size: int, report: Progress = quietly
    ) -> IntArray:
        """Return crowds of a block: people by their position in ``rows``."""
        n = len(rows)
        columns = [c.codes[rows].astype(np.int64) for c in table.quasi]
        tuples, first = number_rows(columns, [c.coded.size for c in table.quasi])
        codes = np.column_stack([column[first] for column in columns]).astype(np.int32)  # half the memory, and faster
        weights = _weights(table)
        times = np.bincount(tuples, minlength=len(first))
        given = tuples[_rings(classes, size)]
        if size < 3:
            return _people(given, tuples, times)
        steps = n * min(self.effort, 4 * n)
        near = nearest_tuples(codes, weights, _NEAR)
        heat = _HEAT * float(_costs(codes, weights, given).mean())

        def exchanged(crowds: IntArray, heat: float) -> IntArray:
            few = crowds.astype(np.int32)
            tolerance = exponential_quantiles(4096)
            return exchange(codes, weights, times, near, few, steps, heat, tolerance).astype(np.int64)

        found = [given, exchanged(given, heat)]
        if self.rounds:
            mixed = _mixed(codes, weights, times, np.concatenate(found), self.rounds, report)
            found += [] if mixed is None else [exchanged(mixed, 0.0)]
        return _people(min(found, key=lambda crowds: _costs(codes, weights, crowds).sum()), tuples, times)


# Crowds under models of sensitive values: a ring in each class, of a size at which every draw satisfies the models.
#
# Whose record is drawn must not depend on values, so no draw can be corrected. But s records of a class have at least
# as many distinct values as the s records with its most frequent values. If these satisfy the models, so does whatever
# is drawn for a person's s crowds. The size follows from how often each value is in the class, which the release shows
# anyway, and people do not move for their values: so beliefs stay at 1/s, as far as the classes themselves allow.


def _inside(problem: Problem, rows: IntArray, classes: IntArray, size: int) -> list[tuple[IntArray, IntArray]]:
    """Return people of classes whose crowds are equally large, and their crowds: people by their position."""
    labels = scattered(classes, rows, problem.table.n_rows)
    stats = problem.table.stats_of(labels, int(classes.max()) + 1, problem.model.histogram_keys())
    sizes = _sufficient(problem, stats, size)
    found = []
    for crowd in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes[classes] == crowd)
        _, places = np.unique(classes[own], return_inverse=True)
        found.append((rows[own], _rings(places.reshape(-1), crowd)))
    return found


def _sufficient(problem: Problem, stats: GroupStats, size: int) -> IntArray:
    """Return, for each class, the smallest number of its records that satisfies the models in every draw."""
    people = stats.sizes.astype(np.int64)
    sizes: IntArray = np.minimum(np.full(len(stats), size), people)
    while True:
        least = {key: _frequent(stats.histogram(key), sizes) for key in problem.model.histogram_keys()}
        good = problem.model.satisfied(GroupStats(sizes, histograms=least), problem.reference)
        short = ~good & (sizes < people)
        if not short.any():
            return sizes
        sizes = sizes + short


def _frequent(histogram: Histogram, sizes: IntArray) -> Histogram:
    """Keep a given number of records of each group, those with its most frequent values."""
    order = histogram.descending()
    group, count = histogram.groups[order], histogram.units[order]
    before = np.cumsum(count) - count
    first = before[histogram.offsets[:-1]]
    kept = np.clip(sizes[group] - (before - first[group]), 0, count)
    return Histogram.from_pairs(group, histogram.values[order], kept, len(histogram))


def _weights(table: EncodedTable) -> IntArray:
    """Cost of each additional value in a cell, as in NCP."""
    return np.round([ncp_of_leaf(c.coded, c.weight * _SCALE) for c in table.quasi]).astype(np.int64)


def _costs(codes: AnyArray, weights: IntArray, crowds: AnyArray) -> FloatArray:
    """Cost of the cells of each crowd."""
    total = np.zeros(len(crowds))
    for j, weight in enumerate(weights.tolist()):
        values = np.sort(codes[crowds, j], axis=1)
        total += weight * (values[:, 1:] != values[:, :-1]).sum(axis=1)
    return total


def _blocks(problem: Problem, start: Partition) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the rows of neighboring classes, with the class of each, in an order that reveals nothing.

    Rows of a class are in canonical order, but those with equal quasi-identifiers are ordered by lot: in canonical
    order, people with lower sensitive values would be in different crowds than people with higher ones.
    """
    order = problem.table.canonical_order
    order = order[np.argsort(problem.coins.lots(problem.table)[order], kind="stable")]
    order = order[order < problem.table.n_sample]
    labels = np.asarray(start.labels, dtype=np.int64)[order]
    rows, offsets = group_rows(labels, start.n_groups)
    ends = offsets.tolist()
    begin = 0
    for group in range(start.n_groups):
        full = group + 1 == start.n_groups or ends[group + 2] - ends[begin] > BLOCK
        if full:
            own = order[rows[ends[begin] : ends[group + 1]]]
            classes = np.repeat(np.arange(group + 1 - begin), np.diff(offsets[begin : group + 2]))
            codes = [c.codes[own] for c in reversed(problem.table.quasi)]
            turn = np.lexsort((*codes, classes))
            yield own[turn], classes
            begin = group + 1


def _rings(classes: IntArray, size: int) -> IntArray:
    """Return a crowd for every person of a block: the person and the next ones in the ring of the class."""
    counts = np.bincount(classes)
    begin = (np.cumsum(counts) - counts)[classes]
    place = np.arange(len(classes)) - begin
    return begin[:, None] + (place[:, None] + np.arange(size)) % counts[classes][:, None]


# The cheapest mixture of crowds: a linear program over crowds, each with the number of records that publish it, such
# that everybody is in k. It knows some crowds only. Its dual values are prices: what everybody pays for the crowds they
# are in. A crowd that costs less than its people pay would make the mixture cheaper, so the next round knows it, too.
# When there is none, no release in which everybody is in k crowds loses less than the mixture. Its fractions are then
# rounded, which costs 2 to 3% on Adult.
#
# References
# ----------
# P. Gilmore, R. Gomory, "A linear programming approach to the cutting-stock problem", Operations Research 9, 1961.


def _mixed(
    codes: AnyArray, weights: IntArray, times: IntArray, known: IntArray, rounds: int, report: Progress = quietly
) -> IntArray | None:
    """Return crowds rounded from the cheapest mixture; None if there is none, or rounding gets stuck."""
    size = known.shape[1]
    known = np.unique(np.sort(known, axis=1), axis=0)
    steady: IntArray | None = None
    for done in range(rounds):
        report(done / rounds, "mixing crowds")
        solved = _mixture(known, _costs(codes, weights, known), times)
        if solved is None:
            return None
        prices = solved[1]
        # prices jump from round to round; crowds found halfway turn out useful more often
        steady = prices if steady is None else (steady + prices) // 2
        least = max(int(weights.min()) // 100, 1)
        found = [underpriced(codes, weights, times, p, size, least, _TRIALS) for p in (steady, prices)]
        more = np.unique(np.concatenate([known, *found]), axis=0)
        if len(more) == len(known):
            break
        known = more
    solved = _mixture(known, _costs(codes, weights, known), times)
    return None if solved is None else _rounded(codes, weights, times, known, solved[0])


def _mixture(crowds: IntArray, costs: FloatArray, times: IntArray) -> tuple[FloatArray, IntArray] | None:
    """Return how many records publish each crowd in the cheapest mixture, and the price of each tuple."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    n, size = crowds.shape
    ends = crowds.reshape(-1).copy(), np.arange(0, n * size + 1, size)
    members = csc_array((np.ones(n * size), *ends), shape=(len(times), n))
    members.sum_duplicates()
    # the solver's tolerances suit numbers near 1
    unit = max(float(costs.mean()), 1.0)
    found = linprog(costs / unit, A_eq=members, b_eq=times.astype(np.float64), method="highs-ipm")
    if found.status != 0:
        return None
    return found.x * size, np.round(found.eqlin.marginals * unit).astype(np.int64)


def _rounded(
    codes: AnyArray, weights: IntArray, times: IntArray, crowds: IntArray, shares: FloatArray
) -> IntArray | None:
    """Round a mixture: whole numbers first, then the largest fractions that fit, then what is left, nearest first."""
    size = crowds.shape[1]
    # millionths, so that the solver's last digits do not decide
    millionths = np.round(shares * 1e6).astype(np.int64)
    whole = millionths // 10**6
    taken = [np.repeat(crowds, whole, axis=0)]
    left = size * times - np.bincount(taken[0].reshape(-1), minlength=len(times))
    rest = millionths - whole * 10**6
    for i in np.argsort(-rest, kind="stable")[: np.count_nonzero(rest)].tolist():
        members, often = np.unique(crowds[i], return_counts=True)
        if (left[members] >= often).all():
            left[members] -= often
            taken.append(crowds[i : i + 1])
    for open_ in range(int(left.sum()) // size, 0, -1):
        if (left > open_ * times).any():
            return None
        taken.append(_gathered(codes, weights, times, left, open_, size)[None, :])
    return np.concatenate(taken)


def _gathered(codes: AnyArray, weights: IntArray, times: IntArray, left: IntArray, open_: int, size: int) -> IntArray:
    """Make one of the open crowds, and take its people from ``left``: first those who must be in all open crowds."""
    must = np.maximum(left - (open_ - 1) * times, 0)
    if not must.any():
        must[int(np.argmax(left / times))] = 1
    crowd = np.repeat(np.arange(len(times)), must)
    left -= must
    inside = must
    while len(crowd) < size:
        free = np.flatnonzero((left > 0) & (inside < times))
        far = np.zeros(len(free), dtype=np.int64)
        for j, weight in enumerate(weights.tolist()):
            far += weight * ~np.isin(codes[free, j], codes[crowd, j])
        nearest = free[int(np.argmin(far))]
        crowd = np.append(crowd, nearest)
        left[nearest] -= 1
        inside[nearest] += 1
    return crowd


def _people(crowds: IntArray, tuples: IntArray, times: IntArray) -> IntArray:
    """Replace tuples by people: everyone is in the same number of crowds, and in none of them twice."""
    n, size = crowds.shape
    people = np.argsort(tuples, kind="stable")
    begin = np.cumsum(times) - times
    flat = crowds.reshape(-1)
    # the positions of a tuple, crowd by crowd, go to its people in turn
    order = np.argsort(flat, kind="stable")
    place = np.arange(n * size) - (begin * size)[flat[order]]
    out = np.empty(n * size, dtype=np.int64)
    out[order] = people[begin[flat[order]] + place % times[flat[order]]]
    return out.reshape(n, size)


# Assigning crowds to people: a perfect matching of a regular graph in which every edge is equally likely.
#
# The crowds follow from the quasi-identifiers, so an adversary who knows these and the algorithm can reconstruct them.
# Only the choice of whose record is published with each crowd is secret. It is drawn so that each of the k people has
# probability 1/k:
#
# - Even number of crowds per person: edges are paired at every crowd and at every person. The pairs chain all edges
#   into cycles, and every other edge of each cycle is kept: a coin chooses the half. Half as many crowds per person are
#   left, and each edge is among them with probability 1/2.
# - Odd number d: one perfect matching is found. For each connected component, a draw keeps either that matching, with
#   probability 1/d, or everything except it.
#
# Both steps give every edge the same probability for any pairs and any matching, so coins draw these, too. With a
# public rule, there would be only a few matchings for thousands of people: anyone who knows one record, or how often
# values go with quasi-identifiers, could tell which one was used. With two crowds per person, there is only one coin to
# toss per cycle.
#
# References
# ----------
# H. Gabow, "Using Euler partitions to edge color bipartite multigraphs", 1976.


def draw_matching(crowds: IntArray, coins: Coins) -> IntArray:
    """Return one person for each crowd, each person once; each of a crowd's people has the same probability.

    Parameters
    ----------
    crowds : int64 array
        Crowds x k: people; everyone is in k crowds, and in none of them twice.
    coins : Coins

    Examples
    --------
    >>> crowds = np.array([[0, 1], [1, 2], [2, 0]])
    >>> sorted({tuple(draw_matching(crowds, Coins(bytes([i]))).tolist()) for i in range(20)})
    [(0, 1, 2), (1, 2, 0)]
    """
    n, degree = crowds.shape
    crowd, person = np.repeat(np.arange(n), degree), crowds.reshape(-1).astype(np.int64)
    # edges settled in an odd step
    fixed = np.full(n, -1, dtype=np.int64)
    left = degree
    while left > 1:
        turn = f"{left} left"
        if left % 2:
            matched, part = _matching(crowd, person, n, coins, turn)
            parts, place = np.unique(part, return_inverse=True)
            stop = (coins.uniform(turn, len(parts)) * left < 1)[place.reshape(-1)]
            settled = stop & matched
            fixed[crowd[settled]] = person[settled]
            keep = ~stop & ~matched
            left -= 1
        else:
            keep = _half(crowd, person, coins, turn)
            left //= 2
        crowd, person = crowd[keep], person[keep]
    fixed[crowd] = person
    return fixed


def _matching(crowd: IntArray, person: IntArray, n: int, coins: Coins, turn: str) -> tuple[BoolArray, IntArray]:
    """Return the edges of one perfect matching of the remaining crowds, and the connected component of every edge.

    Crowds and people are numbered by lot, because the search prefers low numbers.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    crowd, person = (
        np.argsort(coins.words(f"{turn}: {side}", n), kind="stable")[ends]
        for side, ends in (("crowds", crowd), ("people", person))
    )
    ones = np.ones(len(crowd), dtype=np.int8)
    found = maximum_bipartite_matching(csr_array((ones, (crowd, person)), shape=(n, n)), perm_type="column")
    both = csr_array((ones, (crowd, n + person)), shape=(2 * n, 2 * n))
    _, part = connected_components(both, directed=False)
    return np.asarray(found[crowd] == person), part[crowd].astype(np.int64)


def _half(crowd: IntArray, person: IntArray, coins: Coins, turn: str) -> BoolArray:
    """Keep every other edge of each cycle of paired edges."""
    lots = (coins.words(f"{turn}: {side}", len(crowd)) for side in ("crowds", "people"))
    paired = [_paired(side, own).tolist() for side, own in zip((crowd, person), lots, strict=True)]
    colour = [-1] * len(crowd)
    cycle = [0] * len(crowd)
    n_cycles = 0
    for first in range(len(crowd)):
        if colour[first] >= 0:
            continue
        edge, shade = first, 0
        while colour[edge] < 0:
            colour[edge], cycle[edge] = shade, n_cycles
            edge = paired[shade][edge]
            shade = 1 - shade
        n_cycles += 1
    chosen = coins.uniform(turn, n_cycles) < 0.5
    return np.asarray(np.array(colour) == chosen[np.array(cycle, dtype=np.int64)])


def _paired(vertex: IntArray, lots: npt.NDArray[np.uint64]) -> IntArray:
    """Return, for every edge, its partner by lot at its vertex; every vertex has an even number of edges."""
    order = np.lexsort((lots, vertex))
    partner = np.empty(len(vertex), dtype=np.int64)
    partner[order[0::2]], partner[order[1::2]] = order[1::2], order[0::2]
    return partner
