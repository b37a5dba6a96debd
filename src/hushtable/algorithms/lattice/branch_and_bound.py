"""The search of the optimal algorithm: open nodes, their bounds, and which to evaluate next."""

from __future__ import annotations

import numpy as np

from hushtable.algorithms.lattice.bounds import project
from hushtable.algorithms.lattice.climb import Limit
from hushtable.algorithms.lattice.judge import Judge
from hushtable.algorithms.lattice.objectives import CellObjective
from hushtable.algorithms.lattice.space import SearchSpace
from hushtable.algorithms.lattice.verdict import NodeVerdict
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.kernels.cubes import related

PATIENCE = 48
"""Number of nodes evaluated before triples are projected: an easy search is over by then."""

MANY = 1 << 16
"""Minimum number of tuples for costly evaluation: projections use rolled-up tables, and nodes are chosen carefully."""

LOW = 0.3
"""Share of the open nodes that may be finer, in one column, than the table that triples are projected from."""

LOWEST = 0.15
"""The same for the tables that nodes are grouped from."""

TRIED = 16
"""Number of nodes evaluated before others are chosen by what they are likely to close."""

FEW = 8
"""With this many open nodes or fewer, the one with the lowest bound is evaluated."""

ENOUGH = 512
"""With fewer open nodes, triples of many tuples are not worth their cost if something may be suppressed."""

SOME = 192
"""With fewer open nodes, evaluating them is cheaper than triples, even for few tuples."""

STALE = 0.97
"""What counts as a medium bound is found again when at most this share of the nodes is still open."""

SHORTEN = 0.7
"""The arrays are shortened to the open nodes when these make up this share."""


def branch_and_bound(judge: Judge, limit: Limit) -> tuple[NodeVerdict | None, float, bool]:
    """Return the best node, a lower bound on the optimum, and whether the search finished."""
    open_ = _Open(judge)
    best: NodeVerdict | None = None
    judged = 0
    # where nothing may be suppressed a bound is a verdict, and with many tuples verdicts are dear
    patience = 0 if judge.budget == 0 and len(judge.space.root) >= MANY else PATIENCE
    while len(open_):
        if limit.reached(judge):
            # where none that fits was found, the coarsest is likely to
            top = judge.again(judge.space.high) if best is None else best
            return (top if top.fits else None), open_.least(), False
        if judged == patience and open_.project_triples(best):
            continue
        if judged % 32 == 0:
            judge.problem.progress(1 - len(open_) / judge.space.n_nodes, "searching the lattice")
        judged += 1
        node = open_.probe(best) if best is not None and judged > TRIED else None
        if node is None:
            node = open_.choose()
        open_.roll_up(node, judged)
        verdict = judge(node, beat=float("inf") if best is None else best.value)
        if verdict.fits and (best is None or verdict.value < best.value):
            best = verdict
        open_.learn(verdict, best)
    return best, float("inf") if best is None else best.value, True


class _Open:
    """The nodes that may still be optimal, with lower bounds on their cost.

    Nodes are ordered by height, the sum of their levels, so that finer and coarser ones are looked for on one side
    only. A node that is closed gets an infinite bound; the arrays are shortened once many are.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        space = judge.space
        self._triples = space.d > 2
        self._many = len(space.root) >= MANY
        self._by_cells = isinstance(judge.objective, CellObjective)
        source = None
        if self._many and judge.budget:
            # where much may be suppressed, pairs of fine levels say little
            half = np.clip(space.heights // 2, space.low, space.high)
            space.roll_to(half)
            source = space.finest(half)
        height = space.nodes.sum(axis=1, dtype=np.int16)
        # the place in lexicographic order decides between nodes that are equally good to judge
        self._place = np.argsort(height, kind="stable")
        self.nodes = space.nodes[self._place]
        self._height = height[self._place]
        none = np.zeros(len(self.nodes), dtype=np.int64)
        self._lost = project(space, judge.minimum, min(2, space.d), self.nodes, none, source)
        self._floor: FloatArray | None = None
        if not self._by_cells:
            # as if every record were a group of its own
            self._floor = np.full(len(self.nodes), judge.objective.floor(np.array([1]), np.array([space.units])))
        self._bound: FloatArray = judge.objective.bound(self.nodes, self._lost, self._floor)
        # a proxy of how many nodes a verdict on this one reaches
        self._reach = np.zeros(len(self.nodes))
        if self._by_cells:
            self._reach = np.log1p(np.arange(int(space.heights.max()) + 1))[self.nodes].sum(axis=1)
        self._probe: Probe | None = None
        self._limits: FloatArray | None = None
        self._limited_by = self._best = float("inf")
        self._edges = float("inf"), -float("inf"), 0
        self._open = np.ones(len(self.nodes), dtype=np.bool_)
        self._keep(self._lost <= judge.budget)

    def __len__(self) -> int:
        return self._n

    def least(self) -> float:
        """The lowest bound of the open nodes: the optimum is not below it."""
        return float(self._bound.min())

    def roll_up(self, node: IntArray, judged: int) -> None:
        """Roll the table up to where a node, and other open ones, can be grouped from."""
        space = self._judge.space
        if not self._many:
            if judged % 16 == 1:
                space.roll_to(np.minimum(self._columns.min(axis=1), node))
        elif space.finest(node) is space.root:
            unserved = np.column_stack([self._columns[:, ~space.served(self.nodes)], node])
            space.roll_to(np.minimum(node, self._lowest(LOWEST, unserved)))

    @staticmethod
    def _lowest(share: float, columns: AnyArray) -> IntArray:
        """The levels below which at most the given share of the nodes lies, column by column."""
        place = int(share * columns.shape[1])
        return np.asarray(np.partition(columns, place, axis=1)[:, place], dtype=np.int64)

    def _close(self, nodes: IntArray) -> None:
        """Close some open nodes, given by their places."""
        if not len(nodes):
            return
        self._open[nodes] = False
        self._bound[nodes] = np.inf
        self._n -= len(nodes)
        self._count -= np.bincount(self._height[nodes], minlength=len(self._count))
        # where nodes are chosen by forecast, every array is looked at as a whole
        if self._n < (len(self.nodes) if self._many else SHORTEN * len(self.nodes)):
            self._keep(self._open)

    def _keep(self, keep: BoolArray) -> None:
        """Shorten the arrays to some of the nodes."""
        if not keep.all():
            self.nodes, self._lost, self._place = self.nodes[keep], self._lost[keep], self._place[keep]
            self._bound, self._reach, self._height = self._bound[keep], self._reach[keep], self._height[keep]
            self._open = self._open[keep]
            if self._floor is not None:
                self._floor = self._floor[keep]
            if self._limits is not None:
                self._limits = self._limits[keep]
        narrow = np.int8 if int(self._judge.space.heights.max()) < 2**7 else np.int16
        self._columns = np.ascontiguousarray(self.nodes.T.astype(narrow))
        self._count = np.bincount(self._height, minlength=int(self._judge.space.high.sum()) + 1)
        self._end = np.cumsum(self._count)
        self._n = len(self.nodes)

    def project_triples(self, best: NodeVerdict | None) -> bool:
        """Raise the bounds by the projections on three columns, once; False if that has been done."""
        space, judge = self._judge.space, self._judge
        if not self._triples or len(self) < (ENOUGH if self._many and judge.budget else SOME):
            return False
        self._triples = False
        self._keep(self._open)
        source = None
        if self._many:
            # far fewer tuples, and weaker bounds for the nodes that are finer in some column
            low = self._lowest(LOW, self._columns)
            space.roll_to(low)
            source = space.finest(low)
        self._lost = project(space, judge.minimum, 3, self.nodes, self._lost, source)
        self._bound = np.maximum(self._bound, judge.objective.bound(self.nodes, self._lost, self._floor))
        keep = self._lost <= judge.budget
        if best is not None:
            keep &= self._bound < best.value
        self._close(np.flatnonzero(~keep))
        return True

    def probe(self, best: NodeVerdict) -> IntArray | None:
        """The node, open or not, likely to close the most open ones; None if evaluating is cheaper than choosing."""
        judge = self._judge
        if judge.budget == 0 or judge.minimum <= 1 or not self._many:
            return None
        if self._probe is None:
            self._probe = Probe(judge)
        if self._limits is None or best.value != self._limited_by:
            self._limits, self._limited_by = self._probe.limits(self.nodes, best.value), best.value
        return self._probe(self.nodes, self._limits)

    def choose(self) -> IntArray:
        """Return the open node to evaluate next.

        Among the last few, the most promising. For cell objectives, one with a medium bound and many finer nodes. For
        class objectives, the most promising of medium height: its groups bound the coarser nodes, its suppression the
        finer ones.
        """
        if len(self) <= FEW:
            chosen = self._first(np.flatnonzero(self._bound == self._bound.min()))
        elif self._by_cells:
            chosen = self._middling()
        else:
            height = int(np.searchsorted(np.cumsum(self._count), len(self) // 2, side="right"))
            begin, end = int(self._end[height - 1]) if height else 0, int(self._end[height])
            chosen = begin + int(np.argmin(self._bound[begin:end]))
        return np.asarray(self.nodes[chosen], dtype=np.int64)

    def _first(self, places: IntArray) -> int:
        return int(places[np.argmin(self._place[places])])

    def _middling(self) -> int:
        bound, (low, high, n) = self._bound, self._edges
        middling = np.flatnonzero((bound >= low) & (bound <= high))
        if not len(middling) or len(self) < STALE * n:
            # closed nodes have an infinite bound, so that the open ones come first
            places = (3 * len(self)) // 8, (5 * len(self)) // 8
            low, high = np.partition(bound, places)[list(places)].tolist()
            self._edges = low, high, len(self)
            middling = np.flatnonzero((bound >= low) & (bound <= high))
        reach = self._reach[middling]
        return self._first(middling[reach == reach.max()])

    def learn(self, verdict: NodeVerdict, best: NodeVerdict | None) -> None:
        """Close the nodes that a verdict rules out, and raise the bounds of finer and coarser nodes."""
        judge = self._judge
        height = int(verdict.node.sum())
        begin, end = int(self._end[height - 1]) if height else 0, int(self._end[height])
        below = related(self.nodes, self._open, verdict.node, 0, end, finer=True)
        if verdict.small > judge.budget or (judge.monotone and not verdict.fits):
            closed = below
        else:
            # of the finer ones only the node itself is as high
            closed = below[below >= begin]
            if verdict.small > 0:
                self._raise_lost(below, verdict)
        if self._floor is not None:
            above = related(self.nodes, self._open, verdict.node, begin, len(self.nodes), finer=False)
            self._raise_floor(above[self._floor[above] < verdict.floor], verdict.floor)
        if best is not None:
            self._best = best.value
            self._open_bounds(closed)
        else:
            self._close(closed)

    def _open_bounds(self, closed: IntArray) -> None:
        """Close some nodes, and all whose bound is not below the best value."""
        over = self._open & (self._bound >= self._best)
        over[closed] = True
        self._close(np.flatnonzero(over))

    def _raise_lost(self, nodes: IntArray, verdict: NodeVerdict) -> None:
        """Raise the bounds of finer nodes by the suppression that a verdict forces."""
        objective = self._judge.objective
        if verdict.extras is None:
            nodes = nodes[self._lost[nodes] < verdict.small]
        if not len(nodes):
            return
        self._lost[nodes] = np.maximum(self._lost[nodes], verdict.small)
        if self._floor is None:
            bound = objective.bound_alike(self.nodes[nodes], verdict.small, verdict.extras)
        else:
            bound = objective.bound(self.nodes[nodes], self._lost[nodes], self._floor[nodes])
        self._bound[nodes] = np.maximum(self._bound[nodes], bound)

    def _raise_floor(self, nodes: IntArray, floor: float) -> None:
        if self._floor is None or not len(nodes):
            return
        self._floor[nodes] = floor
        bound = self._judge.objective.bound(self.nodes[nodes], self._lost[nodes], self._floor[nodes])
        self._bound[nodes] = np.maximum(self._bound[nodes], bound)


# Which node to evaluate next, if evaluation is costly: the one likely to close the most open nodes.
#
# A node closes every finer one if it has to suppress more than the budget, or so much that the finer ones, which have
# to suppress at least as much, cost more than the best node known. It need not be open itself: going up from an open
# node, each step makes more nodes finer and the verdict weaker. A forecast says how far to go.


CAUTION = 0.5
"""Number of standard deviations by which a forecast is lowered."""

STEPS = 24
"""Numbers of units for which nodes' costs are compared with the best one."""

LEAST = 1 / 200
"""The smallest of them, as a share of all units."""


class Probe:
    """Chooses nodes of one problem's lattice.

    Parameters
    ----------
    judge : Judge
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._chosen: set[bytes] = set()
        self._forecast = Forecast(judge.space)
        most = min(judge.budget + 1, judge.space.units)
        self._grid = np.unique(np.geomspace(min(most, max(1, LEAST * judge.space.units)), most, STEPS).astype(np.int64))
        self._logits = self._forecast.logit(self._grid.astype(np.float64))

    def limits(self, nodes: AnyArray, best: float) -> FloatArray:
        """Return how much each node may suppress before it costs more than the best, as a forecast's logit."""
        out = np.full(len(nodes), len(self._grid) - 1)
        left = np.arange(len(nodes))
        for step, units in enumerate(self._grid[:-1].tolist()):
            closed = self._judge.objective.bound_alike(nodes[left], units) >= best
            out[left[closed]] = step
            left = left[~closed]
        return np.asarray(self._logits[out])

    def __call__(self, nodes: AnyArray, limits: FloatArray) -> IntArray | None:
        """Choose a node, given the open ones; None if none is known to be better than those."""
        seen = self._judge.seen
        self._forecast.fit(seen.nodes, seen.small)
        forecast = self._forecast.logits(nodes)
        margin = forecast - limits
        place = int(np.argmin(margin))
        if margin[place] < 0:
            # likely to be better than the best
            return np.asarray(nodes[place], dtype=np.int64)
        chosen = self._climb(nodes, limits, int(np.argmax(margin)), forecast)
        # one that was ruled out by its sizes or shares has not been recorded
        again = chosen.tobytes() in self._chosen or self._judge.seen.find(chosen) is not None
        self._chosen.add(chosen.tobytes())
        return None if again else chosen

    def _climb(self, nodes: AnyArray, limits: FloatArray, place: int, forecast: FloatArray) -> IntArray:
        """Go up from an open node, while it is likely to be closed, to where most others are."""
        node: IntArray = nodes[place].astype(np.int64)
        value = forecast[place] - CAUTION * self._forecast.doubt
        above = nodes - nodes[place]
        best, most = node.copy(), 1
        high = self._judge.space.high
        while True:
            values = np.where(node < high, value - self._forecast.steps(node), -np.inf)
            likely = values >= limits[place]
            if not likely.any():
                return best
            short = (above > 0).sum(axis=1)[:, None]
            inside = (short == 0) | ((short == 1) & (above == 1))
            count = np.where(likely, (inside & (limits[:, None] <= values)).sum(axis=0), -1)
            j = int(np.lexsort((values, count))[-1])
            node[j] += 1
            above[:, j] -= 1
            value = values[j]
            if count[j] >= most:
                best, most = node.copy(), int(count[j])


# Forecasting how much a node suppresses, from the nodes evaluated so far.
#
# What a node has to suppress depends, to a good approximation, on how finely each of its columns tells people apart:
# the logit of the share that is lost is a sum over the columns of a slope times the column's entropy at its level. The
# slopes are refitted to the evaluated nodes, and shrink toward one common slope while these are few. A forecast only
# decides which node is evaluated next; proofs never depend on it.


PULL = 0.3
"""How strongly the columns' slopes shrink toward a common one, in squared nats."""

DIGITS = 6
"""Matrix products are rounded: a machine's summation order must not decide which of several equal nodes comes first."""


class Forecast:
    """Forecasts the number of units that nodes have to suppress.

    Parameters
    ----------
    space : SearchSpace

    Attributes
    ----------
    doubt : float
        Standard deviation of the residuals.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._total = float(space.units)
        self.entropy = np.zeros(space.starts.shape)
        for j, (column, units) in enumerate(zip(space.table.quasi, space.column_units(), strict=True)):
            for level, nodes in enumerate(column.coded.levels):
                share = np.bincount(nodes, weights=units) / self._total
                share = share[share > 0]
                self.entropy[j, level] = -float((share * np.log(share)).sum())
        self._columns = np.arange(space.d)
        self._level, self._mean = 0.0, np.zeros(space.d)
        self._slopes: FloatArray = np.ones(space.d)
        self.doubt = 0.0

    def fit(self, nodes: AnyArray, lost: IntArray) -> None:
        """Fit to evaluated nodes and the units that they have to suppress."""
        x = self.entropy[self._columns, nodes]
        y = np.log((lost + 0.5) / (self._total - lost + 0.5))
        self._mean, self._level = x.mean(axis=0), float(y.mean())
        x, y = x - self._mean, y - self._level
        together = x.sum(axis=1)
        common = float(together @ y) / max(float(together @ together), PULL)
        own = np.linalg.solve(x.T @ x + PULL * np.eye(len(self._columns)), x.T @ (y - common * together))
        self._slopes = np.maximum(np.round(common + own, DIGITS), 0.0)
        self.doubt = round(float((y - x @ self._slopes).std()), DIGITS)

    def logits(self, nodes: AnyArray) -> FloatArray:
        """Return the forecast of each node, as the logit of the share of all units."""
        return np.round(self._level + (self.entropy[self._columns, nodes] - self._mean) @ self._slopes, DIGITS)

    def steps(self, node: IntArray) -> FloatArray:
        """Return how far the forecast's logit falls when one column goes up a level."""
        above = np.minimum(node + 1, self.entropy.shape[1] - 1)
        return self._slopes * (self.entropy[self._columns, node] - self.entropy[self._columns, above])

    def logit(self, units: FloatArray) -> FloatArray:
        """Return numbers of units on the scale of forecasts."""
        return np.log((units + 0.5) / (self._total - units + 0.5))
