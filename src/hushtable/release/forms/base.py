"""Published forms, and what all cells have in common.

A form says how the records of a class become the cell that they all publish in one column. ``Form`` is the choice, with
its parameters; ``Cells`` are the cells of one column, one per class. Everything that depends on how a class is
published is a method of its cells: which leaves of the domain they cover, how they are written, what an adversary may
consider certain, how they can be widened. No other code distinguishes forms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, joined_ranges
from hushtable.hierarchy.base import ROOT
from hushtable.kernels.grouping import histogram
from hushtable.params import Parametrised
from hushtable.registry import forms
from hushtable.schema.columns import Cover, Kind, Missing, Role
from hushtable.table.coded_columns import QuasiColumn

if TYPE_CHECKING:
    from hushtable.algorithms.base import Algorithm, Partition
    from hushtable.models.compose import AllOf
    from hushtable.release.forms.reading import Meaning, Parts
    from hushtable.table.coins import Coins
    from hushtable.table.plan import ColumnPlan, TablePlan

__all__ = [
    *("DEFAULT_FORM", "Cells", "Form", "Points", "Widening", "build_form", "cells_of", "check_forms", "count_codes"),
    *("escape_member", "escape_value", "form_of", "of_groups", "sums_between"),
]


def escape_member(label: str | None) -> str:
    r"""Write one member of a set: delimiters are escaped, the missing value is ``null``.

    Examples
    --------
    >>> print(escape_member("a, b"), escape_member(None), escape_member("null"))
    a\, b null \null
    """
    if label is None:
        return "null"
    text = label.replace("\\", "\\\\").replace(",", "\\,").replace("{", "\\{").replace("}", "\\}")
    return "\\null" if text == "null" else text


def escape_value(label: str | None) -> str | None:
    r"""Write a single value so that it cannot be taken for a set, an interval or the root.

    Examples
    --------
    >>> print(escape_value("*"), escape_value("flu"))
    \* flu
    """
    if label is None:
        return None
    return f"\\{label}" if label[:1] in ("{", "[", "\\") or label == ROOT else label


class Points(NamedTuple):
    """The representative that each class publishes: a number, or the code of a value.

    Attributes
    ----------
    numbers : float array, optional
        On the column's own scale; days for dates.
    codes : int64 array, optional
        Instead of numbers.
    hidden : bool array
        The classes that show nothing.
    """

    numbers: FloatArray | None
    codes: IntArray | None
    hidden: BoolArray


class Widening(NamedTuple):
    """How much the downcoding guard widens cells.

    Attributes
    ----------
    spread : float
        A range grows by about this share of itself, and up to twice as much; a set by up to this share of its members.
    climb : float
        The probability that a hierarchy node is replaced by the one above.
    exact : float
        The probability that an exact cell becomes a range, a set or a node.
    coins : Coins
        Coins of this column alone.
    """

    spread: float
    climb: float
    exact: float
    coins: Coins


@dataclass(frozen=True)
class Cells(ABC):
    """The cells of one column, one per class.

    Attributes
    ----------
    column : QuasiColumn
    offsets, members : int64 arrays
        The distinct codes of each class, ascending, in compressed rows. A class may be empty.

    Class attributes
    ----------------
    tells_bounds : bool
        Whether a cell excludes people. A representative does not.
    at_nodes : bool
        Whether cells are nodes of the column's hierarchy, so that they have ``node``.
    own_records : bool
        Whether a cell depends on all records of its class, so that nobody else can join it.
    treatment : str
        How values that are not published exactly were changed, in a word or two.
    """

    column: QuasiColumn
    offsets: IntArray
    members: IntArray

    tells_bounds: ClassVar[bool] = True
    at_nodes: ClassVar[bool] = False
    own_records: ClassVar[bool] = False
    treatment: ClassVar[str] = "generalized"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> IntArray:
        """Number of distinct codes in each class."""
        return np.diff(self.offsets)

    def _at(self, position: IntArray) -> IntArray:
        if not len(self.members):
            return np.zeros(len(self), dtype=np.int64)
        return self.members[np.clip(position, 0, len(self.members) - 1)]

    @cached_property
    def low(self) -> IntArray:
        """The smallest code of each class."""
        return self._at(self.offsets[:-1])

    @cached_property
    def high(self) -> IntArray:
        """The largest code of each class."""
        return self._at(self.offsets[1:] - 1)

    @cached_property
    def with_gap(self) -> BoolArray:
        """Which classes contain the missing value."""
        return np.asarray((self.low == 0) & self.column.coded.missing)

    @cached_property
    def mixed(self) -> BoolArray:
        """Which classes contain the missing value and others."""
        return self.with_gap & (self.counts > 1)

    # what a cell covers

    @property
    @abstractmethod
    def extent(self) -> tuple[IntArray, IntArray]:
        """The smallest and the largest leaf that each cell covers."""

    @property
    def has_holes(self) -> bool:
        """Whether a cell may cover less than the range between its ends."""
        return False

    @cached_property
    def leaves(self) -> IntArray:
        """Number of leaves of the domain that each cell covers."""
        low, high = self.extent
        return high - low + 1

    def covers(self, groups: IntArray, codes: IntArray) -> BoolArray:
        """Return whether the cell of ``groups[i]`` covers the leaf ``codes[i]``."""
        low, high = self.extent
        return np.asarray((codes >= low[groups]) & (codes <= high[groups]))

    def covered(self, weights: IntArray) -> IntArray:
        """Return the sum of ``weights`` (one integer per leaf) over the leaves that each cell covers.

        Examples
        --------
        >>> from hushtable.utility.example import example
        >>> example().cells[0].covered(np.array([5, 1, 0, 2, 9])).tolist()
        [6, 2]
        """
        low, high = self.extent
        return sums_between(weights, low, high + 1)

    def expected(self, weights: IntArray) -> FloatArray:
        """Return the mean weight of a record of each class, if all leaves that its cell covers are equally likely."""
        return np.asarray(self.covered(weights) / np.maximum(self.leaves, 1))

    def covers_new(self, path: tuple[str | None, ...], number: float | int | None) -> BoolArray:
        """Return which cells cover a value that the column does not have.

        Parameters
        ----------
        path : tuple of str
            The value's labels in the column's hierarchy, level by level; empty if the hierarchy does not cover it.
        number : int or float, optional
            The value on the column's own scale, if it has one; days for dates.
        """
        return np.zeros(len(self), dtype=np.bool_)

    def shares_leaf(self, a: int, b: int) -> bool:
        """Whether two cells that overlap as ranges actually share a leaf."""
        return True

    @cached_property
    def height(self) -> IntArray:
        """Height of the lowest node that covers each cell."""
        coded = self.column.coded
        height = np.full(len(self), coded.height, dtype=np.int64)
        low, high = self.extent
        for h in range(coded.height - 1, -1, -1):
            level = coded.levels[h]
            if coded.contiguous:
                together = level[low] == level[high]
            else:
                # the leaves between the ends are covered too, under any node
                last = np.append(np.flatnonzero(np.diff(level)), coded.size - 1)
                together = last[np.searchsorted(last, low)] >= high
            height[together] = h
        return height

    @property
    def at_levels(self) -> bool:
        """Whether cells are nodes, and each class is at its own lowest level."""
        return False

    # cells as single values

    @property
    def points(self) -> Points | None:
        """The representatives, if each class publishes one; None if cells cover several values."""
        return None

    def representatives(self, numbers: FloatArray) -> FloatArray:
        """Return the published numbers of cells that have one, on another scale; NaN for others.

        Parameters
        ----------
        numbers : float array
            The number of every code on that scale.
        """
        return np.full(len(self), np.nan)

    def middles(self, numbers: FloatArray) -> FloatArray:
        """Return the middle between the smallest and the largest number that each cell covers.

        The missing value is ignored, and a cell that covers nothing else has the middle NaN. A representative that is
        published as a number (a centroid) is its own middle.

        Examples
        --------
        >>> from hushtable.utility.example import example
        >>> example().cells[0].middles(np.array([30, 31, 52, 53, 90.0])).tolist()
        [30.5, 52.5]
        """
        low, high = self._known_extent
        published = self.representatives(numbers)
        return np.where(np.isnan(published), numbers[low] / 2 + numbers[high] / 2, published)

    @property
    def _known_extent(self) -> tuple[IntArray, IntArray]:
        """The ends of each cell without the missing value, if it covers others."""
        low, high = self.extent
        return np.minimum(np.maximum(low, int(self.column.coded.missing)), high), high

    def nearness(self, codes: IntArray) -> FloatArray:
        """Return the probability of each code given each cell, uniform over what it covers: codes x cells."""
        inside = self.covers(np.tile(np.arange(len(self)), len(codes)), np.repeat(codes, len(self)))
        return np.where(inside.reshape(len(codes), len(self)), 1.0 / np.maximum(self.leaves, 1)[None, :], 0.0)

    # what an adversary infers from a cell

    @property
    def minimal(self) -> bool:
        """Whether each cell is publicly known to be the smallest of its form that covers its class."""
        return False

    def draw_leaves(self, groups: IntArray, luck: FloatArray) -> IntArray:
        """Draw one of the leaves that the cell of each of ``groups`` covers, uniformly.

        Parameters
        ----------
        groups : int64 array
        luck : float array
            Uniform numbers in [0, 1).
        """
        low, high = (end[groups] for end in self.extent)
        return np.asarray(low + (luck * (high - low + 1)).astype(np.int64))

    def written_down(self, groups: IntArray, place: IntArray, luck: FloatArray, spread: float) -> IntArray:
        """Return a leaf for every record, as an adversary who knows that cells are minimal would guess.

        Parameters
        ----------
        groups : int64 array
            The class of every record, ascending.
        place : int64 array
            The number of a record in its class, from 0.
        luck : float array
        spread : float
            Share by which ranges were widened, if known.
        """
        return self.draw_leaves(groups, luck)

    # other cells

    def take(self, groups: IntArray) -> Self:
        """Return the cells of these classes, in this order."""
        counts = self.counts[groups]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        at = joined_ranges(self.offsets[:-1][groups], counts)
        return replace(self, offsets=offsets, members=self.members[at], **self._taken(groups, at))

    def _taken(self, groups: IntArray, at: IntArray) -> dict[str, Any]:
        """The other arrays, for these classes and these of their members."""
        return {}

    @property
    def bounded(self) -> Cells | None:
        """The cells with the bounds that these represent, for placing newcomers. None if newcomers cannot be placed."""
        return self

    def widened(self, how: Widening, open_to: BoolArray, luck: FloatArray) -> Cells:
        """Return cells that cover more than their classes, for the classes in ``open_to``."""
        return self

    # words

    @abstractmethod
    def labels(self) -> pa.Array:
        """Return the published cells: text, or numbers if the form says so."""

    @abstractmethod
    def said(self, group: int) -> str:
        """Return how the values of a class were changed, for ``explain``."""

    def finer(self, group: int) -> int | None:
        """Return the hierarchy level above the next finer cell; None if that is a shorter range."""
        return None if self.column.coded.kind.ordered else int(self.height[group])

    @property
    def same_for_all(self) -> str:
        """Whether equal values are always published in the same way: by ``column``, by ``value``, or not ('')."""
        return ""

    def is_exact(self, group: int) -> bool:
        """Whether a class publishes its exact value."""
        return bool(self.leaves[group] <= 1)

    def _of_all(self, group: int) -> str:
        return f"{int(self.leaves[group])} of {self.column.coded.size} values"


@dataclass(frozen=True)
class Form(Parametrised, ABC):
    """How a column is published. Parameters are fields.

    Class attributes
    ----------------
    name : str
    in_words : str
        What is published, for users who choose a form.
    follows : str
        The recoding that always publishes in this form; empty for forms that a policy chooses.
    own_records : bool
        Whether cells depend on the released records alone, so that they cover nobody else and are not widened.
    by_members : bool
        Whether a cell depends only on the set of values of its class.
    needs_all : bool
        Whether what one class publishes depends on all of them.
    instead_of : str
        The form with tight cells that this one is wider and safer than, if there is one.
    answers : str
        The attack that wider cells prevent.
    can_widen : bool
        Whether the downcoding guard can widen cells.
    any_groups : bool
        Whether classes are published in this form even if an algorithm recodes globally.
    counts_records : bool
        Whether cells count the records of their class.
    can_draw : bool
        Whether cells show which values they may stand for, so that a sample can be drawn from them.
    ranges_of_labels : bool
        Whether a range may stand for unordered labels: those between its ends in sorted order.
    """

    in_words: ClassVar[str] = ""
    follows: ClassVar[str] = ""
    own_records: ClassVar[bool] = False
    by_members: ClassVar[bool] = True
    needs_all: ClassVar[bool] = False
    instead_of: ClassVar[str] = ""
    answers: ClassVar[str] = ""
    can_widen: ClassVar[bool] = True
    any_groups: ClassVar[bool] = False
    counts_records: ClassVar[bool] = False
    can_draw: ClassVar[bool] = True
    ranges_of_labels: ClassVar[bool] = False

    def for_kind(self, kind: Kind) -> Form:
        """Return the form in which a column of this kind is published."""
        return self

    @abstractmethod
    def cover(self, kind: Kind) -> Cover:
        """Return what cells of this form cover beyond the values of a class, for algorithms that compare cells."""

    @abstractmethod
    def from_members(self, column: QuasiColumn, offsets: IntArray, members: IntArray) -> Cells:
        """Return the cells of classes with these codes, ascending in each class."""

    def from_records(
        self, column: QuasiColumn, rows: AnyArray, offsets: IntArray, partition: Partition | None = None
    ) -> Cells:
        """Return the cells of the classes ``rows[offsets[g]:offsets[g + 1]]``."""
        counted, members, _ = count_codes(column, rows, offsets)
        return self.from_members(column, counted, members)

    def settled(self, cells: tuple[Cells, ...]) -> tuple[Cells, ...]:
        """Adjust the cells of all columns together. By default, unchanged."""
        return cells

    def check(self, algorithm: Algorithm, model: AllOf, missing: Missing) -> None:
        """Refuse incompatible settings before any data are read.

        Raises
        ------
        IncompatibleError
            With the reason and a remedy.
        """

    # reading cells back: see ``release.forms.reading.read_cells``

    def split(self, cells: pa.Array, column: ColumnPlan) -> Parts:
        """Return the parts of published cells. By default, a cell is one part."""
        from hushtable.release.forms.reading import whole_cells

        return whole_cells(cells)

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Meaning]:
        """Return what each part stands for. By default, a value."""
        from hushtable.release.forms.reading import meaning_of_value

        return [meaning_of_value(name) for name in names]

    def check_published(self, cells: pa.Array, sizes: IntArray, column: ColumnPlan) -> None:
        """Refuse published cells that contradict the sizes of their classes. By default, cells show no size.

        Parameters
        ----------
        cells : pyarrow.Array
            One per class, as text.
        sizes : int64 array
            How many rows each class has.
        column : ColumnPlan

        Raises
        ------
        DataError
        """


class MemberForm(Form):
    """A form whose cells are a member (a value or a range) or a set of them."""

    def split(self, cells: pa.Array, column: ColumnPlan) -> Parts:
        """Return the members."""
        from hushtable.release.forms.reading import split_sets

        return split_sets(cells)

    def meanings(self, names: Sequence[str], column: ColumnPlan) -> list[Meaning]:
        """Return the values and ranges."""
        from hushtable.release.forms.reading import meaning_of_member

        return [meaning_of_member(name) for name in names]


DEFAULT_FORM = "regions"
"""The default form."""


def build_form(chosen: str | Mapping[str, Any]) -> Form:
    """Return the form that a policy names, with or without parameters.

    Examples
    --------
    >>> build_form("sets")
    Sets()
    """
    ((name, parameters),) = ({chosen: None} if isinstance(chosen, str) else chosen).items()
    form: Form = forms.build(name, parameters)
    return form


def check_forms(plan: TablePlan, algorithm: Algorithm, model: AllOf) -> None:
    """Refuse settings that the forms of the quasi-identifiers do not support, before any data are read.

    Raises
    ------
    IncompatibleError
    """
    for column in plan.columns:
        form = plan.form(column)
        if column.role is Role.QUASI and isinstance(form, Form):
            form.check(algorithm, model, plan.missing)


def form_of(column: QuasiColumn) -> Form:
    """Return the form of a column, for its kind. Defaults to ranges and sets."""
    chosen = column.form
    if not isinstance(chosen, Form):
        from hushtable.release.forms.intervals import Ranges

        chosen = Ranges()
    return chosen.for_kind(column.coded.kind)


def cells_of(column: QuasiColumn, offsets: IntArray, members: IntArray, level: int | IntArray | None = None) -> Cells:
    """Return the cells of classes with these codes, in the column's form or at one level of its hierarchy."""
    if level is None:
        return form_of(column).from_members(column, offsets, members)
    from hushtable.release.forms.nodes import NodeCells

    return NodeCells(column, offsets, members, level)


def of_groups(column: QuasiColumn, rows: AnyArray, offsets: IntArray, level: int | IntArray | None = None) -> Cells:
    """Return the cells of the classes ``rows[offsets[g]:offsets[g + 1]]``.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> of_groups(example().table.quasi[0], np.array([0, 1, 3]), np.array([0, 2, 3])).labels().to_pylist()
    ['[30, 31]', '53']
    """
    form = form_of(column)
    if level is None and not form.by_members:
        return form.from_records(column, rows, offsets)
    counted, members, _ = count_codes(column, rows, offsets)
    return cells_of(column, counted, members, level)


def count_codes(column: QuasiColumn, rows: AnyArray, offsets: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the distinct codes of each class in compressed rows, and how many of its records have each."""
    none = np.empty(0, dtype=np.int64)
    return histogram(rows, offsets[:-1], offsets[1:], column.codes, none, column.coded.size)


def sums_between(values: IntArray, starts: IntArray, ends: IntArray) -> IntArray:
    """Return the sums of ``values[starts[i]:ends[i]]``."""
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total[ends] - total[starts]
