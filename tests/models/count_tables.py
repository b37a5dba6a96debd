"""Random groups for the model tests: a groups x values matrix of whole units, some rows empty, people fractional."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from hushtable.arrays import IntArray
from hushtable.models.base import PrivacyModel
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

KEY = ("disease",)


def histogram(matrix: IntArray, unit: int = 1) -> Histogram:
    plain = Histogram.dense(matrix)
    return Histogram(plain.offsets, plain.values, plain.units, unit)


def stats(matrix: IntArray, unit: int = 1) -> GroupStats:
    matrix = np.asarray(matrix, dtype=np.int64)
    return GroupStats(matrix.sum(axis=1), unit, {KEY: histogram(matrix, unit)})


class Counts(NamedTuple):
    """Groups of one table: ``matrix[group, value]`` in units."""

    matrix: IntArray
    unit: int

    @property
    def groups(self) -> GroupStats:
        return stats(self.matrix, self.unit)

    def attribute(self, **more: object) -> Attribute:
        units = self.matrix.sum(axis=0)
        return Attribute(KEY, [f"v{i}" for i in range(len(units))], units, self.unit, **more)  # type: ignore[arg-type]

    def table(self, **more: object) -> Reference:
        a = self.attribute(**more)
        return Reference(int(self.matrix.sum()), self.unit, {a.key: a})


@st.composite
def count_tables(draw: st.DrawFn, groups: tuple[int, int] = (1, 5), values: tuple[int, int] = (1, 6)) -> Counts:
    """At least one unit in all; unit 6 makes people fractional."""
    n_groups, n_values = draw(st.integers(*groups)), draw(st.integers(*values))
    cell = st.one_of(st.just(0), st.integers(0, 9))
    rows = draw(st.lists(st.lists(cell, min_size=n_values, max_size=n_values), min_size=n_groups, max_size=n_groups))
    matrix = np.array(rows, dtype=np.int64)
    if not matrix.any():
        matrix[0, 0] = 1
    return Counts(matrix, draw(st.sampled_from([1, 6])))


def holds(model: PrivacyModel, groups: GroupStats, table: Reference) -> list[bool]:
    return model.satisfied(groups, table).tolist()  # type: ignore[no-any-return]
