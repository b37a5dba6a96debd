"""The least blanking of a small table, as an integer programme.

A pattern keeps some values of a record and blanks the others. The programme opens patterns and gives every record to
an open pattern that matches it, such that each open pattern has enough people; a record that is left out costs as much
as blanking all its cells. Only patterns that no finer one matches the same records as are looked at.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from hushtable.algorithms.pattern.groups import Groups
from hushtable.arrays import FloatArray, IntArray
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.table.stats import GroupStats

__all__ = ["fewest_blanks"]

MOST_PAIRS = 1500
"""Pairs of a record and a pattern that matches it, up to which a table counts as small."""

MOST_NODES = 100
"""After so many nodes of the search the programme is given up: a limit in seconds would depend on the machine."""


def fewest_blanks(groups: Groups, weights: FloatArray, budget: int) -> bool:
    """Group the records with the fewest blanks (by weight), where that can be found; return whether it was.

    Parameters
    ----------
    groups : Groups
        Without any group yet.
    weights : float array
        What a blank costs, column by column.
    budget : int
        Units that may be left out.
    """
    least = _least(groups)
    rest = groups.rest
    if least is None or not len(rest) or len(rest) * 2 ** len(weights) > 64 * MOST_PAIRS:
        return False
    # of equal records, who is given to which pattern is decided as elsewhere: in secret order
    place = np.empty(groups.problem.table.n_rows, dtype=np.int64)
    place[groups.problem.secret_order] = np.arange(len(place))
    rest = rest[np.argsort(place[rest], kind="stable")]
    units = groups.problem.table.row_units
    units = units[rest] if len(units) else np.ones(len(rest), dtype=np.int64)
    codes = np.column_stack([column[rest].astype(np.int64) for column in groups.records.columns])
    kind, first = number_rows([*codes.T, units], [*(codes.max(axis=0) + 1), int(units.max()) + 1])
    owner, pattern, cost = _pairs(codes[first], units[first], np.bincount(kind, units).astype(np.int64), weights, least)
    if len(owner) > MOST_PAIRS:
        return False
    many = np.bincount(kind)
    given = _solve(owner, pattern, cost, many, units[first], least, float(weights.sum()), budget)
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


def _least(groups: Groups) -> int | None:
    """The fewest units that satisfy the models; None where they ask for more than size, or for nothing of the kind."""
    problem = groups.problem
    model, table = problem.model, problem.table
    sized = model.stats_needed() == frozenset({Stat.SIZE}) and not model.part(table_level=True).members
    if not sized or Monotone.ADD not in model.flags:
        return None
    least = groups.smallest
    below, at = model.satisfied(GroupStats(np.array([least - 1, least]), table.unit), problem.reference).tolist()
    return least if at and not below else None


def _pairs(
    codes: IntArray, units: IntArray, total: IntArray, weights: FloatArray, least: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Every pair of a record (by kind) and a pattern that enough people match, and what it costs a record."""
    owners, patterns, costs, n = [], [], [], 0
    d = codes.shape[1]
    for blanks in range(d + 1):
        for blank in combinations(range(d), blanks):
            shown = [j for j in range(d) if j not in blank]
            sizes = [int(codes[:, j].max()) + 1 for j in shown]
            key = number_rows([codes[:, j] for j in shown], sizes)[0] if shown else np.zeros(len(codes), dtype=np.int64)
            enough = np.bincount(key, total)[key] >= least
            # where all matches agree in a blanked column, the pattern that keeps it is as good
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
    owner: IntArray, pattern: IntArray, cost: FloatArray, many: IntArray, units: IntArray, least: int, whole: float,
    budget: int,
) -> IntArray | None:  # fmt: skip
    """How many records of each pair's kind publish its pattern, at the least cost; None where that was not found."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

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
