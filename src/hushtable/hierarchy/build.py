"""Construction of look-up arrays from labels, shared by all recipes.

A recipe drafts its levels (which node each row has at each level, in any numbering); ``assemble`` checks that they
nest, orders the leaves, numbers the nodes, adds the missing value and the root. Everything is done per node with
arrays, so a million leaves take about a second.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, counted
from hushtable.hierarchy.base import ROOT, Coded, Hierarchy
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.naming import Naming


@dataclass(frozen=True)
class Level:
    """One level: ``nodes[row]`` is a node, ``labels[node]`` its label; labels are distinct.

    Examples
    --------
    >>> level = Level.of_labels(pa.array(["x", "y", "x"]))
    >>> level.nodes.tolist(), level.labels.to_pylist()
    ([0, 1, 0], ['x', 'y'])
    """

    nodes: IntArray
    labels: pa.Array

    @classmethod
    def of(cls, nodes: IntArray, labels: pa.Array | Sequence[str]) -> Level:
        """Build from a node per row; equal labels become one node, since readers could not distinguish them."""
        texts = labels if isinstance(labels, pa.Array) else pa.array(list(labels), pa.string())
        distinct = cls.of_labels(texts)
        return cls(distinct.nodes[nodes], distinct.labels)

    @classmethod
    def of_labels(cls, labels: pa.Array) -> Level:
        """Build from a label per row."""
        encoded = labels.dictionary_encode()
        return cls(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary)


@dataclass(frozen=True)
class Draft:
    """A hierarchy before it is checked.

    Attributes
    ----------
    values : pyarrow.Array
        The distinct leaves, in code order for ordered kinds, in any order for nominal ones.
    levels : tuple of Level
        ``levels[0].nodes`` are leaves. There may be more rows than leaves (a file may repeat a value).
    root : bool
        Whether a root is added even if the last level has one node, so that the height does not depend on the
        data.
    uncovered_values, uncovered_records : int
        Numbers of values and records in the column that are not leaves.
    naming : Naming, optional
        How published values name the nodes, if the policy does not.
    declared : bool
        Whether the policy lists the leaves.
    in_order : bool
        Whether the leaves are in code order, for nominal kinds too.
    """

    values: pa.Array
    levels: tuple[Level, ...]
    root: bool = True
    uncovered_values: int = 0
    uncovered_records: int = 0
    naming: Naming | None = None
    declared: bool = False
    in_order: bool = False

    @classmethod
    def over(
        cls, values: pa.Array, levels: Sequence[Level], naming: Naming | None = None, *, in_order: bool = False
    ) -> Draft:
        """Build with one row per leaf."""
        leaf = Level(np.arange(len(values), dtype=np.int64), to_labels(values))
        return cls(values, (leaf, *levels), naming=naming, in_order=in_order)


@dataclass(frozen=True)
class Recipe(Hierarchy):
    """A hierarchy that drafts its levels and leaves the rest to ``assemble``."""

    shorthand: ClassVar[str] = ""
    """The parameter that ``{name: value}`` in a policy sets, if value is not a mapping."""
    if_uncovered: ClassVar[str] = "Add them to the hierarchy, or list missing-value markers under missing_values."
    """Remedy for values that the recipe does not cover."""

    @abstractmethod
    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Return the levels above the values; see ``Hierarchy.code`` for the parameters."""

    def code(self, values: pa.Array, kind: Kind, *, missing: bool, column: str, counts: IntArray) -> Coded:
        """Apply the recipe."""
        draft = self.draft(values, kind, column=column, counts=counts)
        if draft.uncovered_values:
            raise HierarchyError(
                f"The hierarchy of column {column!r} does not cover {draft.uncovered_values} of its values"
                f" ({counted(draft.uncovered_records, 'record', 'records')}).",
                code="uncovered",
                hint=self.if_uncovered,
            )
        return assemble(draft, kind, missing=missing, column=column)


def sorted_leaves(values: pa.Array, kind: Kind, counts: IntArray, column: str) -> tuple[pa.Array, IntArray]:
    """Return values and counts in code order: declared for ordinal columns, numeric or UTF-8 otherwise.

    Examples
    --------
    >>> sorted_leaves(pa.array([3, 1]), Kind.NUMERIC, np.array([5, 6]), "age")[1].tolist()
    [6, 5]
    """
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise HierarchyError(
            f"Column {column!r} has values that are not numbers (NaN).",
            code="not-a-number",
            hint="Read them as missing values.",
        )
    if kind is Kind.ORDINAL:
        return values, np.asarray(counts, dtype=np.int64)
    times, order = np.asarray(counts, dtype=np.int64), pc.sort_indices(values)
    places = order.to_numpy()
    if np.array_equal(places, np.arange(len(places))):
        return values, times
    return values.take(order), times[places]


def broken_nodes(levels: Sequence[Level]) -> dict[int, int]:
    """Return the levels that do not nest: level -> number of its nodes with more than one parent.

    Examples
    --------
    >>> rows = [pa.array(["a", "b", "c"]), pa.array(["x", "x", "y"]), pa.array(["p", "q", "q"])]
    >>> broken_nodes([Level.of_labels(r) for r in rows])
    {1: 1}
    """
    broken = {}
    for height, (low, high) in enumerate(pairwise(levels)):
        torn = low.nodes[_parents(low, high)[low.nodes] != high.nodes]
        if len(torn):
            broken[height] = len(np.unique(torn))
    return broken


def assemble(draft: Draft, kind: Kind, *, missing: bool, column: str) -> Coded:
    """Check, order and number a draft.

    Raises
    ------
    HierarchyError
        With code ``not-nested``, if a node has two parents.

    Examples
    --------
    >>> draft = Draft.over(pa.array(["b", "a", "c"]), [Level.of_labels(pa.array(["x", "y", "x"]))])
    >>> coded = assemble(draft, Kind.NOMINAL, missing=True, column="letter")
    >>> coded.values.to_pylist(), coded.labels[1:]
    (['b', 'c', 'a'], ((None, 'x', 'y'), ('*',)))
    >>> coded.levels[1].tolist()
    [0, 1, 1, 2]
    """
    for height, nodes in broken_nodes(draft.levels).items():
        raise HierarchyError(
            f"The hierarchy of column {column!r} does not nest: {nodes} of the labels at level {height} are"
            f" below more than one label of level {height + 1}.",
            code="not-nested",
            hint="Give every label one parent, for example by writing the parent's name into the label.",
        )
    row_of_leaf = _first(draft.levels[0].nodes, len(draft.values))
    levels = [Level(level.nodes[row_of_leaf], level.labels) for level in draft.levels]
    order, values = np.arange(len(draft.values), dtype=np.int64), draft.values
    if kind is Kind.NOMINAL and not draft.in_order:
        order = _depth_first(levels, draft.naming)
        values = values.take(pa.array(order))
    numbered = [_number(level, order) for level in levels]
    if draft.root or len(levels) == 1 or len(numbered[-1][1]) != 1:
        numbered.append((np.zeros(len(order), dtype=np.int64), [ROOT]))
    if missing:
        numbered = [*(_with_missing(*level) for level in numbered[:-1]), _wider_root(*numbered[-1])]
    return Coded(
        kind,
        values,
        missing,
        tuple(nodes for nodes, _ in numbered),
        tuple(tuple(labels) for _, labels in numbered),
        draft.naming,
        draft.declared,
    )


def _parents(low: Level, high: Level) -> IntArray:
    parent = np.zeros(len(low.labels), dtype=np.int64)
    parent[low.nodes] = high.nodes
    return parent


def _first(nodes: IntArray, n_nodes: int) -> IntArray:
    """Return the first row of each node, and the number of rows for nodes without any."""
    first = np.full(n_nodes, len(nodes), dtype=np.int64)
    # assigned backwards, so that the first row is written last and stays
    first[nodes[::-1]] = np.arange(len(nodes) - 1, -1, -1)
    return first


def _depth_first(levels: Sequence[Level], naming: Naming | None = None) -> IntArray:
    """Return the leaves in depth-first order, siblings in UTF-8 order of their labels."""
    keys = [levels[0].labels, *(naming.sort_keys(up.labels) if naming else up.labels for up in levels[1:])]
    rank = _utf8_rank(keys[-1])
    for key, low, high in zip(keys[-2::-1], levels[-2::-1], levels[:0:-1], strict=True):
        order = np.lexsort((_utf8_rank(key), rank[_parents(low, high)])) if len(rank) else rank
        rank = np.empty(len(low.labels), dtype=np.int64)
        rank[order] = np.arange(len(order))
    return np.argsort(rank[levels[0].nodes], kind="stable").astype(np.int64)


def _utf8_rank(labels: pa.Array) -> IntArray:
    # Arrow compares strings by their bytes
    order = pc.sort_indices(labels).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _number(level: Level, order: IntArray) -> tuple[IntArray, list[str | None]]:
    nodes = level.nodes[order]
    first = _first(nodes, len(level.labels))
    used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(nodes))]
    number = np.zeros(len(level.labels), dtype=np.int64)
    number[used] = np.arange(len(used))
    labels = level.labels.to_pylist()
    return number[nodes], [labels[node] for node in used.tolist()]


def _with_missing(nodes: IntArray, labels: list[str | None]) -> tuple[IntArray, list[str | None]]:
    return np.concatenate([np.zeros(1, dtype=np.int64), nodes + 1]), [None, *labels]


def _wider_root(nodes: IntArray, labels: list[str | None]) -> tuple[IntArray, list[str | None]]:
    return np.zeros(len(nodes) + 1, dtype=np.int64), labels
