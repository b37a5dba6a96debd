"""Kinds of records, as models see them, and which kinds help a group that is not yet satisfied."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, BoolArray, IntArray, mask_of, places_among
from hushtable.kernels.grouping import histogram, number_rows
from hushtable.models.base import SensitiveModel
from hushtable.models.compose import AllOf
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Key

_CHUNK = 1 << 24
"""Maximum number of entries of a (group x value) matrix in memory."""


@dataclass(frozen=True)
class Kinds:
    """The rows as models see them: by sensitive values and weight.

    Attributes
    ----------
    of_row : int64 array
        The kind of every row. Kinds of the sample come first, in sorted order of their values; then those of
        population and background rows.
    movable : int64 array
        1 for rows of the sample, 0 for others.
    stats : GroupStats
        One row of each kind as a separate group.
    values : mapping of Key to int64 array
        The code of each kind in the columns that the model reads; -1 for kinds outside the sample.
    """

    of_row: IntArray
    movable: IntArray
    stats: GroupStats
    values: dict[Key, IntArray]

    @classmethod
    def of(cls, problem: Problem) -> Kinds:
        """Return the kinds of a problem's rows."""
        table = problem.table
        keys = sorted(problem.model.histogram_keys())
        kinds, first = _sample_kinds(table, keys)
        n_sample = len(first)
        rest = np.arange(table.n_sample, table.n_rows)
        if len(rest):
            # people of the population are all alike; background rows may differ
            crowd = np.zeros(len(rest), dtype=np.int64)
            start, stop = table.background_rows.start, table.background_rows.stop
            crowd[(rest >= start) & (rest < stop)] = np.arange(1, len(table.background_rows) + 1)
            others, other_first = number_rows([crowd], [len(table.background_rows) + 1])
            kinds = np.concatenate([kinds, n_sample + others])
            first = np.concatenate([first, rest[other_first]])
        movable = np.zeros(table.n_rows, dtype=np.int64)
        movable[: table.n_sample] = 1
        one = np.arange(len(first), dtype=np.int64)
        stats = table.stats(first, one, one + 1, keys)
        values = {}
        for key in keys:
            codes = table.code_column(key)[0][first].astype(np.int64)
            codes[n_sample:] = -1
            values[key] = codes
        return cls(kinds, movable, stats, values)

    def counts(self, rows: IntArray, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the number of records of each kind in the groups ``rows[starts[g]:ends[g]]``: group, kind, count."""
        offsets, kinds, counts = histogram(rows, starts, ends, self.of_row, self.movable, len(self.stats))
        return np.repeat(np.arange(len(starts), dtype=np.int64), np.diff(offsets)), kinds, counts


def _sample_kinds(table: EncodedTable, keys: list[Key]) -> tuple[IntArray, IntArray]:
    """Number the sample's rows by sensitive values and weight; return the numbers and one row for each."""
    columns: list[AnyArray] = []
    sizes: list[int] = []
    for name in dict.fromkeys(name for key in keys for name in key):
        codes, size = table.code_column((name,))
        columns.append(codes[: table.n_sample])
        sizes.append(size)
    if len(table.row_units):
        weights, index = np.unique(table.row_units[: table.n_sample], return_inverse=True)
        columns.append(index)
        sizes.append(len(weights))
    if not columns:
        columns, sizes = [np.zeros(table.n_sample, dtype=np.int64)], [1]
    return number_rows(columns, sizes)


def add_groups(groups: GroupStats, others: GroupStats, sign: int = 1) -> GroupStats:
    """Return, for each group, the sum (or, with sign -1, the difference) of two sets of groups.

    Examples
    --------
    >>> both = GroupStats.of(sizes=[3], d=[[2, 1]]), GroupStats.of(sizes=[1], d=[[0, 1]])
    >>> add_groups(*both).histogram(("d",)).units.tolist(), add_groups(*both, -1).histogram(("d",)).values.tolist()
    ([2, 2], [0])
    """
    if sign < 0:
        others = replace(
            others,
            units=-others.units,
            histograms={k: replace(h, units=-h.units) for k, h in others.histograms.items()},
            population=None if others.population is None else -others.population,
            background=None
            if others.background is None
            else replace(others.background, units=-others.background.units),
        )
    number = np.arange(len(groups), dtype=np.int64)
    return GroupStats.concat([groups, others]).merge(np.concatenate([number, number]), len(groups))


def helpful(
    model: AllOf, reference: Reference, kinds: Kinds, groups: GroupStats, group: IntArray, kind: IntArray
) -> BoolArray:
    """Return which candidates (a group and a kind of record) help a member that the group does not satisfy.

    If no candidate of a group helps, all of them count: any record may help.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> groups = GroupStats.of(sizes=[1])
    >>> kinds = Kinds(np.zeros(2, int), np.ones(2, int), groups, {})
    >>> helpful(AllOf((KAnonymity(k=2),)), Reference.of(2), kinds, groups, np.zeros(1, int), np.zeros(1, int)).tolist()
    [True]
    """
    helps = np.zeros(len(group), dtype=np.bool_)
    for member in model.members:
        if not isinstance(member, SensitiveModel):
            continue
        values = kinds.values[member.key]
        wanted = np.flatnonzero(~member.satisfied(groups, reference))
        step = max(1, _CHUNK // max(reference.attribute(member.key).n_values, 1))
        for begin in range(0, len(wanted), step):
            some = wanted[begin : begin + step]
            matrix = member.contributes(groups.take(some), reference)
            place = places_among(some, len(groups))
            mine = np.flatnonzero((place[group] >= 0) & (values[kind] >= 0))
            helps[mine] |= matrix[place[group[mine]], values[kind[mine]]]
    return helps | ~mask_of(group[helps], len(groups))[group]
