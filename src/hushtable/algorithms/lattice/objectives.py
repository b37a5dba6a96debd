"""Costs of nodes: objectives that decompose over a node, with lower bounds.

There are two families. *Cell* objectives charge every published cell by its column, level and leaf, and every
suppressed record separately; the columns' means are then combined. *Class* objectives use the sizes of the classes.
The payout of a game uses both.

References
----------
Z. Wan et al., "A game theoretic framework for analyzing re-identification risk", PLOS ONE 10(3), 2015 (the payout).

Every objective has a lower bound on a node's cost, given that at least ``lost`` units are suppressed there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from hushtable.algorithms.lattice.space import SearchSpace
from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.errors import ParameterError, did_you_mean
from hushtable.kernels.packing import charge
from hushtable.table.losses import (
    average_class_size,
    discernibility,
    lost_bits,
    lost_precision,
    ncp,
    of_log_ncp,
    squared_sizes,
    to_log_ncp,
)


class Objective(ABC):
    """One number per node; smaller is better.

    Parameters
    ----------
    space : SearchSpace
    minimum : int
        Minimum units of a class.
    by_size : bool
        Whether exactly the groups below the minimum are suppressed.
    suppresses : bool
        Whether anything may be suppressed.
    """

    by_population: ClassVar[bool] = False

    def __init__(self, space: SearchSpace, minimum: int, *, by_size: bool = False, suppresses: bool = True) -> None:
        self.space = space
        self.minimum = minimum
        self.by_size = by_size
        self.suppresses = suppresses

    @abstractmethod
    def bound(self, nodes: AnyArray, lost: IntArray, floor: FloatArray | None = None) -> FloatArray:
        """A lower bound on every node's value if at least ``lost`` units are suppressed.

        ``floor`` is the largest known floor of a finer node.
        """

    def bound_alike(self, nodes: AnyArray, lost: int, extras: FloatArray | None = None) -> FloatArray:
        """The same, with one number for all nodes.

        ``extras`` is the extra cost of the records known to be suppressed; see ``Verdict``.
        """
        return self.bound(nodes, np.full(len(nodes), lost, dtype=np.int64))

    def floor(self, sizes: IntArray, times: IntArray) -> float:
        """The value that coarser nodes inherit: passed to ``bound``, a larger one raises their bounds.

        ``times[i]`` groups of the node have ``sizes[i]`` units.
        """
        return -float("inf")

    @abstractmethod
    def value(
        self, node: IntArray, sizes: IntArray, times: IntArray, gone: IntArray, crowds: IntArray | None = None
    ) -> float:
        """The value of a node where ``times[i]`` groups of ``sizes[i]`` units are kept.

        ``gone`` are the suppressed units, leaf by leaf, one column after another: each record at some leaf below its
        node. The value does not depend on which. ``crowds`` are the people of the population in each group, for
        objectives that need them (``by_population``).
        """


class CellObjective(Objective):
    """Charges ``cost[column, level, leaf]`` per record; the columns' means are combined by ``combine``.

    Combining is a weighted sum of a rising function ``term`` of each mean, and a rising function ``of_sum`` of it.
    """

    def __init__(self, space: SearchSpace, minimum: int, *, by_size: bool = False, suppresses: bool = True) -> None:
        super().__init__(space, minimum, by_size=by_size, suppresses=suppresses)
        width = self.space.starts.shape[1]
        self.extra = np.zeros(len(space.lut))
        self.means = np.zeros((space.d, width))
        self._curves: list[list[tuple[FloatArray, FloatArray]]] = []
        total = space.units
        for j, counted in enumerate(space.column_units()):
            coded, units = space.table.quasi[j].coded, counted.astype(np.float64)
            lost = self.lost_cost(j, units)
            curves = []
            for level in range(coded.height + 1):
                cost = self.cell_cost(j, level, units)
                start = space.starts[j, level]
                extra = _alike(lost - cost, coded.levels[level], counted)
                self.extra[start : start + coded.size] = extra
                self.means[j, level] = float((cost * units).sum()) / total
                order = np.argsort(extra, kind="stable")
                cheapest = np.cumsum((extra * units)[order])
                curves.append((np.append(0.0, np.cumsum(units[order])), np.append(0.0, cheapest)))
            self._curves.append(curves)
        self._has_level = space.sizes > 0
        self._column_of = np.nonzero(self._has_level)[0]
        weights = np.array([c.weight for c in space.table.quasi])
        self.weights = weights / weights.sum()

    @abstractmethod
    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Charge of each leaf of column j, published at a level."""

    def lost_cost(self, j: int, units: FloatArray) -> FloatArray:
        """Charge of each leaf of column j in a suppressed record."""
        return np.ones(len(units))

    def term(self, means: FloatArray) -> FloatArray:
        """The contribution of a column's mean, before weighting."""
        return means

    def of_sum(self, total: FloatArray) -> FloatArray:
        """The value, given the weighted sum of the terms."""
        return total

    def combine(self, means: FloatArray) -> FloatArray:
        """Combine the means of the columns (the last axis)."""
        return np.asarray(self.of_sum(self.term(means) @ self.weights))

    def terms(self, j: int, levels: IntArray, lost: IntArray) -> FloatArray:
        """The smallest weighted term of column j at each of these levels, if at least ``lost`` units are suppressed."""
        return np.asarray(self.term(self._least_means(j, levels, lost)) * self.weights[j])

    def bound_alike(self, nodes: AnyArray, lost: int, extras: FloatArray | None = None) -> FloatArray:
        """Look up one mean per column and level instead of interpolating node by node.

        The coarser a cell, the smaller the extra cost of suppressing its record. So the extra cost of records that a
        coarser node suppresses too is at least as large here as there.
        """
        people, cheapest = self._points
        curves = np.arange(len(people))
        at = np.minimum((people <= lost).sum(axis=1), people.shape[1] - 1)
        x, y = people[curves, at - 1], cheapest[curves, at - 1]
        width = people[curves, at] - x
        slope = np.divide(cheapest[curves, at] - y, width, out=np.zeros(len(x)), where=width > 0)
        table = self.means.copy()
        more = (y + slope * np.clip(lost - x, 0, width)) / self.space.units
        if extras is not None:
            # sums are rounded, and a lower bound must not exceed the true value
            more = np.maximum(more, extras[self._column_of] * (1 - 1e-12))
        table[self._has_level] += more
        return self.combine(table[np.arange(self.space.d), nodes])

    @cached_property
    def _points(self) -> tuple[FloatArray, FloatArray]:
        """The curves of all columns and levels, one per row, each extended flat to the length of the longest."""
        curves = [curve for column in self._curves for curve in column]
        longest = max(len(people) for people, _ in curves) + 1
        people, cheapest = (
            np.array([np.pad(curve[part], (0, longest - len(curve[part])), mode="edge") for curve in curves])
            for part in range(2)
        )
        return people, cheapest

    def bound(self, nodes: AnyArray, lost: IntArray, floor: FloatArray | None = None) -> FloatArray:
        """Suppressing ``lost`` units costs at least the cheapest records' extra charge, column by column."""
        means = np.empty((len(nodes), self.space.d))
        for j in range(self.space.d):
            means[:, j] = self._least_means(j, nodes[:, j], lost)
        return self.combine(means)

    def _least_means(self, j: int, levels: IntArray, lost: IntArray) -> FloatArray:
        means = np.empty(len(levels))
        for level in range(int(self.space.heights[j]) + 1):
            here = levels == level
            if here.any():
                people, cheapest = self._curves[j][level]
                means[here] = self.means[j, level] + np.interp(lost[here], people, cheapest) / self.space.units
        return means

    def extras(self, node: IntArray, gone: IntArray) -> FloatArray:
        """Increase of each column's mean due to the suppressed records."""
        space = self.space
        at = space.starts[np.arange(space.d), node]
        return np.asarray(charge(gone, space.lut, at, space.leaves, self.extra) / space.units)

    def value(
        self, node: IntArray, sizes: IntArray, times: IntArray, gone: IntArray, crowds: IntArray | None = None
    ) -> float:
        """Means of the node, plus the extra cost of its suppressed records."""
        return self.value_of(node, self.extras(node, gone))

    def value_of(self, node: IntArray, extras: FloatArray) -> float:
        """The value, given the increase of the means due to suppressed records."""
        return float(self.combine(self.means[np.arange(self.space.d), node] + extras))


def _alike(extra: FloatArray, nodes: IntArray, units: IntArray) -> FloatArray:
    """Give all leaves of a node the extra charge of the first that occurs: rounding must not make them differ."""
    first = np.full(int(nodes.max(initial=0)) + 1, -1, dtype=np.int64)
    occurs = np.flatnonzero(units > 0)[::-1]
    first[nodes[occurs]] = occurs
    chosen = first[nodes]
    return np.where(chosen >= 0, extra[chosen], extra)


class NcpObjective(CellObjective):
    """Arithmetic loss: mean NCP of the columns; suppressed records count 1."""

    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Return the NCP of the node above each leaf."""
        coded = self.space.table.quasi[j].coded
        return ncp(coded, coded.leaves(level)[coded.levels[level]])


class LossObjective(NcpObjective):
    """Geometric loss: weighted geometric mean of 1 + NCP over the columns, minus 1."""

    def term(self, means: FloatArray) -> FloatArray:
        """Return log(1 + NCP)."""
        return to_log_ncp(means)

    def of_sum(self, total: FloatArray) -> FloatArray:
        """Weighted geometric mean of 1 + NCP, minus 1."""
        return of_log_ncp(total)


class PrecObjective(CellObjective):
    """1 - Prec: mean of level / height."""

    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Return level / height."""
        return lost_precision(self.space.table.quasi[j].coded, np.full(len(units), level))


class HeightObjective(CellObjective):
    """Sum of the levels; a suppressed record counts as fully generalized."""

    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Return the level."""
        return np.full(len(units), float(level))

    def lost_cost(self, j: int, units: FloatArray) -> FloatArray:
        """Return the hierarchy's height."""
        return np.full(len(units), float(self.space.heights[j]))

    def of_sum(self, total: FloatArray) -> FloatArray:
        """Sum over the columns, each times its weight relative to the mean weight."""
        return total * self.space.d


class EntropyObjective(CellObjective):
    """Non-uniform entropy: mean of -log2(count of the value / count of its node), relative to the root's."""

    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Return the bits lost at a level."""
        coded = self.space.table.quasi[j].coded
        nodes = coded.levels[level]
        return lost_bits(np.bincount(nodes, weights=units)[nodes], units)

    def lost_cost(self, j: int, units: FloatArray) -> FloatArray:
        """Return the bits lost at the root."""
        return lost_bits(np.full(len(units), units.sum()), units)

    def of_sum(self, total: FloatArray) -> FloatArray:
        """Sum of bits over the columns, relative to losing everything."""
        columns = np.arange(self.space.d)
        everything = float((self.means[columns, self.space.heights] * self.weights).sum())
        return total / everything if everything > 0 else total


class ClassObjective(Objective):
    """Based on the sizes of the classes.

    A node's *floor* is what all coarser nodes inherit: groups only grow when they are generalized further, and none of
    ``minimum`` units or fewer is kept smaller than that.
    """

    def floor(self, sizes: IntArray, times: IntArray) -> float:
        """Count the groups that are too small and the others."""
        return self.floor_of(*self.facts(sizes, times))

    def facts(self, sizes: IntArray, times: IntArray) -> tuple[int, int, int]:
        """Return the units in groups that are too small, the sum of the others' squared sizes, and their number."""
        large = sizes >= self.minimum
        kept, often = sizes[large], times[large]
        return int(sizes @ times) - int(kept @ often), squared_sizes(kept, often), int(often.sum())

    def value(
        self, node: IntArray, sizes: IntArray, times: IntArray, gone: IntArray, crowds: IntArray | None = None
    ) -> float:
        """Exact, in whole numbers."""
        lost = self.space.units - int((sizes * times).sum())
        return self.value_of(lost, squared_sizes(sizes, times), int(times[sizes > 0].sum()))

    @abstractmethod
    def floor_of(self, small: int, squares: int, large: int) -> float:
        """The floor of a node, given facts about its sizes (``kernels.tuples.size_facts``)."""

    @abstractmethod
    def value_of(self, lost: int, squares: int, classes: int) -> float:
        """The value, given the suppressed units, the sum of the classes' squared sizes and their number."""


class DiscernibilityObjective(ClassObjective):
    """Sum of squared class sizes, plus suppressed x N.

    The floor of a node with groups of s units is the sum of s * max(s, minimum). It bounds every coarser node: each
    record lies there in a class of at least s units, and of at least the minimum, or counts N, which is no less. If
    models use only sizes, a record that is lost at a coarser node lies in a group below the minimum there, so also
    here; it was counted as the minimum and costs N, so ``lost`` records cost N - minimum more.
    """

    def bound(self, nodes: AnyArray, lost: IntArray, floor: FloatArray | None = None) -> FloatArray:
        """Add the lost records to the floor; see the class."""
        total, least = float(self.space.units), float(min(self.minimum, self.space.units))
        if self.by_size:
            bound = (total * least if floor is None else floor) + lost * (total - least)
        else:
            bound = lost * total + (total - lost) * least
            bound = bound if floor is None else np.maximum(bound, floor)
        return np.asarray(bound * self._careful / self.space.table.unit**2)

    @property
    def _careful(self) -> float:
        """Below 1 if squares are rounded: a lower bound must not exceed the true value."""
        return 1.0 if self.space.units < 2**26 else 1 - 2**-48

    def floor_of(self, small: int, squares: int, large: int) -> float:
        """Count small groups as if they had the minimum size."""
        return float(squares + small * min(self.minimum, self.space.units))

    def value_of(self, lost: int, squares: int, classes: int) -> float:
        """Exact, in whole numbers."""
        return discernibility(squares, lost, self.space.units) / self.space.table.unit**2


class AverageClassSizeObjective(ClassObjective):
    """N / (classes + 1 if anything is suppressed).

    The floor of a node is minus the sum of min(s, minimum) over its groups of s units. A class of a coarser node is a
    union of groups: it holds one of at least the minimum, or small ones of together at least the minimum. Either way
    it uses up the minimum of that sum, so there are at most sum / minimum classes. If models use only sizes, the
    records lost at the coarser node are in small groups here too, and form no class.
    """

    def bound(self, nodes: AnyArray, lost: IntArray, floor: FloatArray | None = None) -> FloatArray:
        """There are at most as many classes as smallest classes fit; see the class."""
        least = max(self.minimum, 1)
        room = self.space.units if floor is None else -floor
        rest = room - lost if self.by_size else np.minimum(room, self.space.units - lost)
        most = np.maximum(rest // least, 0) + self.suppresses
        return np.asarray(self.space.units / self.space.table.unit / np.maximum(most, 1))

    def floor_of(self, small: int, squares: int, large: int) -> float:
        """Generalizing further makes no new classes."""
        return -float(large * max(self.minimum, 1) + small)

    def value_of(self, lost: int, squares: int, classes: int) -> float:
        """Count the classes."""
        return average_class_size(self.space.units / self.space.table.unit, classes, lost)


class Spread(CellObjective):
    """Information loss after Wan et al.: the logarithm of the combinations that a row represents, relative to all.

    Columns count by their number of values, regardless of the policy's weights.
    """

    def __init__(self, space: SearchSpace, minimum: int, *, by_size: bool = False, suppresses: bool = True) -> None:
        sizes = [c.coded.size for c in space.table.quasi]
        self._whole = float(np.log(np.array(sizes, dtype=np.float64)).sum()) or 1.0
        super().__init__(space, minimum, by_size=by_size, suppresses=suppresses)
        self.weights = np.ones(space.d)

    def cell_cost(self, j: int, level: int, units: FloatArray) -> FloatArray:
        """Return log(leaves under the node) / log(all combinations)."""
        coded = self.space.table.quasi[j].coded
        return np.asarray(np.log(coded.leaves(level)[coded.levels[level]]) / self._whole)

    def lost_cost(self, j: int, units: FloatArray) -> FloatArray:
        """Return what the root costs: the columns of a suppressed record add up to 1."""
        return np.full(len(units), np.log(self.space.table.quasi[j].coded.size) / self._whole)


class Payout(Objective):
    """The publisher's shortfall, in money, from publishing everything without attacks.

    A game between a publisher and an adversary. A published record is worth ``benefit`` times (1 - information loss) to
    the publisher, a suppressed one nothing. The adversary picks the right person in a class of s with probability 1/s;
    success brings ``gain``, and each attempt costs ``cost``. Adversaries attack if that is profitable (gain / s >
    cost), and an identified record costs the publisher ``loss``: s people at loss / s each are one ``loss`` for each
    attacked class.

    Regardless of attacks, a node's value is at least the information that it loses, so the bounds on that hold.
    """

    def __init__(
        self,
        space: SearchSpace,
        minimum: int,
        *,
        by_size: bool = False,
        suppresses: bool = True,
        amounts: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        super().__init__(space, minimum, by_size=by_size, suppresses=suppresses)
        self.amounts = {**AMOUNTS, **amounts}
        self._spread = Spread(space, minimum, by_size=by_size, suppresses=suppresses)
        self._worth = self.amounts["benefit"] * space.units / space.table.unit

    def bound(self, nodes: AnyArray, lost: IntArray, floor: FloatArray | None = None) -> FloatArray:
        """Without attacks, only information counts."""
        return self._spread.bound(nodes, lost, floor) * self._worth

    def bound_alike(self, nodes: AnyArray, lost: int, extras: FloatArray | None = None) -> FloatArray:
        """The same, with one number for all nodes."""
        return self._spread.bound_alike(nodes, lost, extras) * self._worth

    def value(
        self, node: IntArray, sizes: IntArray, times: IntArray, gone: IntArray, crowds: IntArray | None = None
    ) -> float:
        """The lost information, and the cost of attacks."""
        amounts, unit = self.amounts, self.space.table.unit
        # the adversary's candidates, in units; integers, so that rounding never decides about an attack
        among = sizes if crowds is None else np.where(crowds > 0, crowds * unit, sizes)
        attacked = (sizes > 0) & (amounts["gain"] * unit > amounts["cost"] * among)
        found = np.cumsum((times * sizes)[attacked] / among[attacked])
        harm = amounts["loss"] * (float(found[-1]) if len(found) else 0.0)
        return self._spread.value(node, sizes, times, gone) * self._worth + harm


class JournalistPayout(Payout):
    """The payout if the adversary does not know who is in the table, and links a class with the population.

    If the population table has nobody in a class, the class's own people count.
    """

    by_population: ClassVar[bool] = True


AMOUNTS = MappingProxyType({"benefit": 1200.0, "loss": 300.0, "gain": 300.0, "cost": 4.0})
"""Money per record, for the payout: what the paper's example assumes, and ARX by default."""

OBJECTIVES: dict[str, type[Objective]] = {
    "loss": LossObjective,
    "ncp": NcpObjective,
    "prec": PrecObjective,
    "height": HeightObjective,
    "entropy": EntropyObjective,
    "discernibility": DiscernibilityObjective,
    "average-class-size": AverageClassSizeObjective,
    "payout": Payout,
    "payout-journalist": JournalistPayout,
}


def objective_of(
    name: str, space: SearchSpace, minimum: int, *, by_size: bool = False, suppresses: bool = True, **more: Any
) -> Objective:
    """Build an objective by name; ``more`` contains its own parameters."""
    if name not in OBJECTIVES:
        raise ParameterError(f"There is no objective {name!r}.", hint=did_you_mean(name, OBJECTIVES))
    return OBJECTIVES[name](space, minimum, by_size=by_size, suppresses=suppresses, **more)
