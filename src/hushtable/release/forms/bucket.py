"""Exact values: a bucketization publishes quasi-identifiers unchanged, and sensitive values only by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.arrays import IntArray
from hushtable.kernels.grouping import group_rows
from hushtable.release.forms.base import Cells, Form
from hushtable.release.forms.sets import SetCells, Sets
from hushtable.schema.columns import Cover, Kind
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encoded import EncodedTable


@dataclass(frozen=True)
class Bucket(Form):
    """Publishes quasi-identifiers unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0]
    >>> Bucket().from_records(age, np.array([0, 1]), np.array([0, 1, 2])).labels().to_pylist()
    ['30', '31']
    """

    name: ClassVar[str] = "bucket"
    in_words: ClassVar[str] = "unchanged quasi-identifiers"
    follows: ClassVar[str] = "bucket"
    own_records: ClassVar[bool] = True

    def cover(self, kind: Kind) -> Cover:
        """Return that a value covers itself."""
        return Cover.SET

    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the cells of combinations of quasi-identifiers, which have one code each."""
        return SetCells(column, offsets, members)


def cells_of_buckets(table: EncodedTable, buckets: IntArray) -> tuple[Cells, ...]:
    """Return what a group of a bucketization covers: the values of its members."""
    rows, offsets = group_rows(buckets, int(buckets.max()) + 1)
    return tuple(Sets().from_records(column, rows, offsets) for column in table.quasi)
