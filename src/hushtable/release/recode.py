"""From a partition to the published columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Recoding
from hushtable.arrays import AnyArray, IntArray, first_places, scattered
from hushtable.io.dictionaries import encode, null_last
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.parallel import each
from hushtable.registry import forms as known_forms
from hushtable.release.forms.base import DEFAULT_FORM, Cells, Form, build_form, form_of, of_groups
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.ranks import dense_ranks

if TYPE_CHECKING:
    from hushtable.algorithms.earlier import Counterfeits
    from hushtable.table.plan import ColumnPlan, TablePlan

_MANY = 10_000
"""Number of groups at which columns are recoded on all cores."""


@dataclass(frozen=True)
class Recoded:
    """The cells of every group, and the group of every row.

    Attributes
    ----------
    labels : integer array
        The group of every row of the encoded table; -1 for suppressed ones. Groups are numbered as classes: no two
        of them publish the same cells.
    cells : tuple of Cells
        One per quasi-identifier.
    published : tuple of pyarrow arrays
        The cells' labels, one per group.
    buckets : int64 array, optional
        If quasi-identifiers stay exact, the group of every row in which its sensitive values are hidden; ``labels``
        then number the distinct combinations of quasi-identifiers.
    numbers : int64 array, optional
        If groups are published with numbers, the number of each: cells of several groups may then be equal.
    counterfeits : Counterfeits, optional
        Records to publish that belong to nobody.
    derived : bool
        Whether the cells follow from the groups; guards and earlier releases may have widened them.
    concealed : bool
        Whether records are concealed among others with different cells, so that classes guarantee nothing.
    """

    labels: AnyArray
    cells: tuple[Cells, ...]
    published: tuple[pa.Array, ...]
    buckets: IntArray | None = None
    numbers: IntArray | None = None
    counterfeits: Counterfeits | None = None
    derived: bool = True
    concealed: bool = False

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.cells[0])

    def column(self, j: int, rows: AnyArray) -> pa.DictionaryArray:
        """Return the published cells of column j for these rows, as a dictionary array."""
        return self.cells_of(j, self.labels[rows])

    def cells_of(self, j: int, groups: AnyArray) -> pa.DictionaryArray:
        """Return the published cells of column j for these groups, as a dictionary array."""
        of_group, dictionary = self.cell_codes(j)
        codes = of_group[groups]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), dictionary)

    def cell_codes(self, j: int) -> tuple[AnyArray, pa.Array]:
        """Return every group's place in the distinct cells of column j (-1: null), and these."""
        return self._cell_codes[j]

    @cached_property
    def _cell_codes(self) -> list[tuple[AnyArray, pa.Array]]:
        """For each column, every group's place in the distinct cells (-1: null), and these."""

        def code(column: pa.Array) -> tuple[AnyArray, pa.Array]:
            encoded = column.dictionary_encode()
            return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32), encoded.dictionary

        return list(each(code, self.published, many=self.n_groups >= _MANY))


def class_numbers(columns: Sequence[pa.Array | pa.ChunkedArray]) -> tuple[IntArray, int]:
    """Number rows by their exact cells; null is a value like any other. Returns labels and their number."""

    def code(column: pa.Array | pa.ChunkedArray) -> tuple[IntArray, int]:
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if pa.types.is_dictionary(column.type):
            values = column.dictionary
            if values.null_count or len(values.unique()) < len(values):
                column = column.dictionary_decode()
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        return null_last(column).to_numpy(zero_copy_only=False), len(column.dictionary) + 1

    coded = list(each(code, columns, many=len(columns) > 1 and len(columns[0]) >= _MANY))
    labels, first = number_rows([codes for codes, _ in coded], [size for _, size in coded])
    return labels, len(first)


def recode(table: EncodedTable, partition: Partition, recoding: Recoding = Recoding.LOCAL) -> Recoded:
    """Publish each group's cells; groups with equal published cells become one.

    Some forms depend on the sample's records alone, and cover nobody else.
    """
    labels = partition.labels
    n_groups = partition.n_groups
    if recoding is Recoding.BUCKET:
        return _exact(table, labels)
    if partition.crowds is not None:
        return _concealed(table, labels, *partition.crowds)
    forms = tuple(published_in(column, recoding) for column in table.quasi)
    if any(form.own_records for form in forms):
        labels = np.where(np.arange(len(labels)) < table.n_sample, labels, -1)
    while True:
        rows, offsets = group_rows(labels, n_groups)
        if np.any(np.diff(offsets) == 0):
            filled = np.diff(offsets) > 0
            renumber = np.append(np.cumsum(filled) - 1, -1)
            labels, n_groups = renumber[labels], int(filled.sum())
            continue
        many = n_groups >= _MANY
        chosen = list(zip(table.quasi, forms, _levels(partition, forms), strict=True))
        cells = tuple(each(lambda one: _made(one, rows, offsets, partition), chosen, many=many))  # noqa: B023
        for form in dict.fromkeys(forms):
            cells = form.settled(cells)
        published = tuple(each(lambda c: c.labels(), cells, many=many))
        merged, n_classes = class_numbers(published)
        if n_classes == n_groups:
            return Recoded(labels, cells, published, derived=partition.blanked is None and partition.by_column is None)
        labels = np.where(labels >= 0, merged[labels], -1)
        n_groups = n_classes


def _made(
    chosen: tuple[QuasiColumn, Form, int | IntArray | None], rows: IntArray, offsets: IntArray, partition: Partition
) -> Cells:
    column, form, level = chosen
    if level is None:
        return form.from_records(column, rows, offsets, partition)
    return of_groups(column, rows, offsets, level)


def _exact(table: EncodedTable, buckets: IntArray) -> Recoded:
    """Leave the sample's quasi-identifiers unchanged."""
    buckets = np.where(np.arange(len(buckets)) < table.n_sample, buckets, -1)
    kept = np.flatnonzero(buckets >= 0)
    numbers, first = number_rows([c.codes[kept] for c in table.quasi], [c.coded.size for c in table.quasi])
    labels = scattered(numbers, kept, len(buckets))
    rows, offsets = group_rows(labels, len(first))
    cells = tuple(published_in(c, Recoding.BUCKET).from_records(c, rows, offsets) for c in table.quasi)
    return Recoded(labels, cells, tuple(c.labels() for c in cells), buckets)


def _concealed(table: EncodedTable, labels: IntArray, offsets: IntArray, rows: IntArray) -> Recoded:
    """Give every record the cells that cover its crowd; records with equal cells are one class."""
    cells = [published_in(c, Recoding.CONCEALED).from_records(c, rows, offsets) for c in table.quasi]
    # classes are numbered by their cells, so that the order of the input has no influence
    ranks = [dense_ranks(pa.chunked_array([c.labels()])) for c in cells]
    merged, firsts = number_rows([rank for rank, _ in ranks], [n for _, n in ranks])
    n = len(firsts)
    first = first_places(merged, n)
    shown = tuple(c.take(first) for c in cells)
    classes = np.where(labels >= 0, merged[labels], -1)
    return Recoded(classes, shown, tuple(c.labels() for c in shown), derived=False, concealed=True)


def published_in(column: QuasiColumn, recoding: Recoding) -> Form:
    """Return the form in which an algorithm of this recoding publishes a column: its own, or the policy's."""
    if recoding in (Recoding.LOCAL, Recoding.GLOBAL, Recoding.NUMBERED):
        return form_of(column)
    form: Form = known_forms[recoding.value]()
    return form


def form_shown(plan: TablePlan, column: ColumnPlan, recoding: Recoding) -> Form:
    """Return the form for reading the published cells of a column, whatever its kind."""
    if recoding not in (Recoding.LOCAL, Recoding.GLOBAL, Recoding.NUMBERED):
        own: Form = known_forms[recoding.value]()
        return own
    chosen = plan.form(column)
    form = chosen if isinstance(chosen, Form) else build_form(DEFAULT_FORM)
    if recoding is Recoding.GLOBAL and not form.any_groups:
        form = build_form("nodes")
    return form


def forms_shown(plan: TablePlan, recoding: Recoding) -> tuple[Form, ...]:
    """Return the forms for reading the published cells of all quasi-identifiers."""
    return tuple(form_shown(plan, column, recoding) for column in plan.columns if column.role is Role.QUASI)


def check_cells(cells: Sequence[Any], plan: TablePlan, recoding: Recoding, labels: IntArray) -> None:
    """Refuse published cells that contradict the sizes of their classes.

    Parameters
    ----------
    cells : sequence of pyarrow arrays
        For every quasi-identifier, one cell per row.
    plan : TablePlan
    recoding : Recoding
    labels : int64 array
        The class of every row.

    Raises
    ------
    DataError
    """
    shown = [(c, column) for c, column in zip((c for c in plan.columns if c.role is Role.QUASI), cells, strict=False)]
    forms = [form_shown(plan, column, recoding) for column, _ in shown]
    if not any(form.counts_records for form in forms):
        return
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    for form, (column, own) in zip(forms, shown, strict=True):
        text = encode(own.take(pa.array(first)))
        form.check_published(to_labels(text).dictionary_decode().cast(pa.string()), sizes, column)


def _levels(partition: Partition, forms: Sequence[Form]) -> Sequence[int | IntArray | None]:
    """The level of each column if an algorithm recodes globally and the policy does not choose another form."""
    levels: Sequence[int | IntArray | None] = partition.cuts or partition.levels or (None,) * len(forms)
    return [None if form.any_groups else level for form, level in zip(forms, levels, strict=True)]
