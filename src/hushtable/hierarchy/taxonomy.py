"""A taxonomy given by the user: a CSV file with one row per value (ARX's form), inline rows, or a tree.

The domain is every row, whether its value occurs or not, so that losses do not depend on the sample.
"""

from __future__ import annotations

import csv
import datetime
import io
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, ParameterError, counted
from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.build import Draft, Level, Recipe
from hushtable.io.atomic import atomic_write_text
from hushtable.io.text import MOST_REPEATED, label_text, repeated_nodes, to_labels
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Taxonomy(Recipe):
    """Levels as written. Give one of ``file``, ``rows`` and ``tree``.

    Parameters
    ----------
    file : str, optional
        A CSV file with one row per value, the value first, then its label at each level; ``;``, tab or ``,``. Or a
        YAML file that holds a tree.
    rows : tuple of tuples of str, optional
        The same rows, inline.
    tree : mapping or list, optional
        Nested labels: ``{Europe: [France, Spain], Asia: [Japan]}``.
    delimiter : str, optional
        Separator of the labels in the file, if guessing fails.

    Examples
    --------
    >>> world = Taxonomy(tree={"Europe": ["France", "Spain"], "Asia": ["Japan"]})
    >>> values, counts = pa.array(["Spain"]), np.array([3])
    >>> world.code(values, Kind.NOMINAL, missing=False, column="country", counts=counts).labels
    (('Japan', 'France', 'Spain'), ('Asia', 'Europe'), ('*',))
    """

    file: Annotated[str | None, "CSV file with one row per value, or YAML file with a tree"] = None
    rows: Annotated[tuple[tuple[str, ...], ...] | None, "one row per value, the value first"] = None
    tree: Annotated[Any, "nested mappings and lists of labels"] = None
    delimiter: Annotated[str | None, "separator of the labels in the file"] = None

    of_policy = True  # the levels are defined by the policy
    name: ClassVar[str] = "taxonomy"
    in_a_policy: ClassVar[str] = "country.csv"
    shorthand: ClassVar[str] = "file"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [way for way in ("file", "rows", "tree") if getattr(self, way) is not None]
        if len(given) != 1:
            raise ParameterError(
                f"Taxonomy needs one of 'file', 'rows' and 'tree'. Got {' and '.join(given) or 'none'}."
            )
        if self.delimiter is not None and (self.file is None or len(self.delimiter) != 1):
            raise ParameterError("The 'delimiter' of Taxonomy must be one character, and requires 'file'.")

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the values below each label, whether they occur or not.

        Examples
        --------
        >>> Taxonomy(tree={"Europe": ["France", "Spain"], "Asia": ["Japan"]}).below(["Europe", "Japan"], "country")
        [('France', 'Spain'), None]
        """
        found: dict[str, dict[str, None]] = {}
        leaves, *levels = (row.to_pylist() for row in self.read(column).columns)
        for row in levels:
            for leaf, label in zip(leaves, row, strict=True):
                found.setdefault(label, {})[leaf] = None
        return [tuple(found[label]) if label in found else None for label in labels]

    def leaves(self, column: str) -> Sequence[str]:
        """Return the values of all rows."""
        return tuple(dict.fromkeys(self.read(column).columns[0].to_pylist()))

    def contents(self, column: str) -> Sequence[Sequence[str]]:
        """Return the labels of the file, level by level."""
        return () if self.file is None else [labels.to_pylist() for labels in self.read(column).columns]

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Read the rows and compare them with the values."""
        rows = self.read(column)
        encoded = parse_leaves(rows.columns[0], values.type, column, rows.places).dictionary_encode()
        leaf = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        order = _order(encoded.dictionary, values, kind)
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        leaves = encoded.dictionary.take(pa.array(order))
        uncovered = np.zeros(len(values), dtype=bool)
        if len(values):
            uncovered = ~pc.is_in(values, value_set=leaves).to_numpy(zero_copy_only=False)
        return Draft(
            leaves,
            (Level(position[leaf], to_labels(leaves)), *(Level.of_labels(labels) for labels in rows.columns[1:])),
            root=False,
            declared=True,
            uncovered_values=int(np.count_nonzero(uncovered)),
            uncovered_records=int(np.asarray(counts)[uncovered].sum()),
        )

    def read(self, column: str) -> TaxonomyRows:
        """Return the rows of the file, the inline rows or the tree."""
        if self.file is not None:
            path = Path(self.file)
            if path.suffix.lower() in _YAML:
                return read_tree_file(path, column)
            return read_csv(path, column, self.delimiter)
        if self.rows is not None:
            return rows_of(self.rows, [f"row {n}" for n in range(1, len(self.rows) + 1)], column)
        return rows_of_tree(self.tree, column)


def _order(leaves: pa.Array, values: pa.Array, kind: Kind) -> IntArray:
    """Return the leaves in code order, or in the order of the file if the kind has none.

    Ordinal leaves that do not occur keep their position in the file: after the nearest preceding one that occurs.
    """
    if kind is Kind.ORDINAL:
        declared = pc.index_in(leaves, value_set=values.cast(leaves.type))
        occurs = pc.is_valid(declared).to_numpy(zero_copy_only=False)
        rank = pc.fill_null(declared, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        anchor = np.maximum.accumulate(np.where(occurs, np.arange(len(leaves)), -1))
        return np.lexsort((np.arange(len(leaves)), np.where(anchor < 0, -1, rank[anchor]))).astype(np.int64)
    if kind.ordered:
        return pc.sort_indices(leaves).to_numpy().astype(np.int64)  # type: ignore[no-any-return]
    return np.arange(len(leaves), dtype=np.int64)


# Labels of a hierarchy read as values of the column's type.


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def parse_leaves(labels: pa.Array, wanted: pa.DataType, column: str, places: Sequence[str]) -> pa.Array:
    """Return the labels in the column's type; spaces around numbers and dates do not matter.

    Raises
    ------
    HierarchyError
        If labels are not of that type, with their number and the place of the first.

    Examples
    --------
    >>> parse_leaves(pa.array([" 7", "12.0"]), pa.int64(), "age", ["line 1", "line 2"]).to_pylist()
    [7, 12]
    """
    reader: Callable[[str], Any]
    if pa.types.is_integer(wanted):
        reader, word = _whole, "whole numbers"
    elif pa.types.is_floating(wanted):
        reader, word = _number, "numbers"
    elif pa.types.is_date(wanted):
        reader, word = _date, "dates like 2024-03-31"
    else:
        # a column without any value has Arrow's null type
        return pc.cast(labels, pa.string() if pa.types.is_null(wanted) else wanted)
    return _typed(labels, wanted, reader, word, column, places)


def _typed(
    labels: pa.Array,
    wanted: pa.DataType,
    reader: Callable[[str], Any],
    word: str,
    column: str,
    places: Sequence[str],
) -> pa.Array:
    parsed = [reader(text.strip()) for text in labels.to_pylist()]
    bad = [place for place, value in zip(places, parsed, strict=True) if value is None]
    if bad:
        raise HierarchyError(
            f"The values in the hierarchy of column {column!r} must be {word}; "
            f"{counted(len(bad), 'is not', 'are not')} (the first in {bad[0]}).",
            code="bad-leaf",
            hint="Correct or remove these rows; missing values need no row.",
        )
    return pa.array(parsed, wanted)


def _whole(text: str) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    # a Decimal is exact where a float is not, and accepts 12.0
    number = Decimal(text)
    # bounded before it becomes an integer: 1e999999 would take all memory
    if number.adjusted() > 18 or number != number.to_integral_value():
        return None
    return int(number) if -(2**63) <= number < 2**63 else None


def _number(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


MAX_DEPTH = 64
"""Deeper trees are YAML anchors that contain themselves."""

MAX_NODES = 1_000_000
"""Larger trees are YAML anchors that contain each other several times; CSV files may be larger."""


@dataclass(frozen=True)
class TaxonomyRows:
    """A taxonomy as columns: ``columns[h][row]`` is a label of level h, ``places[row]`` says where the row comes from.

    Examples
    --------
    >>> rows_of([("France", "Europe"), ("Japan", "Asia")], ["line 1", "line 2"], "country").columns[1].to_pylist()
    ['Europe', 'Asia']
    """

    columns: tuple[pa.Array, ...]
    places: Sequence[str]


def rows_of(rows: Sequence[Sequence[str]], places: Sequence[str], column: str) -> TaxonomyRows:
    """Check that all rows have the same number of labels and none is empty, and turn them into columns."""
    if not rows:
        raise HierarchyError(
            f"The hierarchy of column {column!r} is empty.", code="empty-hierarchy", hint="Give one row per value."
        )
    width = len(rows[0])
    for row, place in zip(rows, places, strict=True):
        if len(row) != width:
            raise HierarchyError(
                f"The hierarchy of column {column!r} is ragged: {place} has {len(row)} labels, not {width}.",
                code="ragged",
                hint="Give every row one label per level, the value first.",
            )
        if "" in row:
            raise HierarchyError(
                f"The hierarchy of column {column!r} has an empty label in {place}.",
                code="empty-label",
                hint="Name every node; missing values need no row.",
            )
    return TaxonomyRows(tuple(pa.array(labels, pa.string()) for labels in zip(*rows, strict=True)), places)


def read_csv(path: Path, column: str, delimiter: str | None = None) -> TaxonomyRows:
    """Read a file with one row per value, level 0 first, separated by ``;``, tab or ``,``.

    Raises
    ------
    HierarchyError
        If the file cannot be read, or is empty or ragged (with the line number).
    """
    text = _read_text(path, column)
    delimiter = delimiter or _sniff(text)
    rows, places = [], []
    for line, row in _records(text, delimiter, column):
        rows.append(row)
        places.append(f"line {line}")
    return rows_of(rows, places, column)


def read_tree_file(path: Path, column: str) -> TaxonomyRows:
    """Read a YAML file that contains a tree."""
    import yaml

    text = _read_text(path, column)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        endless = root is not None and repeated_nodes(root) > MOST_REPEATED
        tree = None if endless else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
        # not YAMLErrors: a date that there is not (2020-13-01), a tag that does not fit, lists in lists in lists
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise HierarchyError(
            f"The hierarchy of column {column!r} in {path.name!r} is not valid YAML{where}.",
            code="unreadable",
            hint="Write it as nested mappings and lists: {Europe: [France, Spain], Asia: [Japan]}.",
        ) from None
    if endless:
        raise HierarchyError(
            f"The aliases in {path.name!r}, the hierarchy of column {column!r}, expand too far.",
            code="unreadable",
            hint="Write the values out.",
        )
    return rows_of_tree(tree, column)


def rows_of_tree(tree: Any, column: str) -> TaxonomyRows:
    """Turn nested mappings and lists into rows.

    A leaf at a smaller depth than others is repeated at the levels it lacks: a label then covers the same values
    at whichever level it is published.

    Examples
    --------
    >>> rows = rows_of_tree({"Europe": {"Iberia": ["Spain"], "France": None}, "Asia": ["Japan"]}, "country")
    >>> list(zip(*(c.to_pylist() for c in rows.columns)))
    [('Spain', 'Iberia', 'Europe'), ('France', 'France', 'Europe'), ('Japan', 'Japan', 'Asia')]
    """
    try:
        paths = list(_paths(tree, (), 0, itertools.count(1)))
    except HierarchyError as error:
        raise HierarchyError(
            f"The hierarchy of column {column!r} is not a usable tree: {error.message}",
            code=error.code,
            hint=error.hint,
        ) from None
    height = max(map(len, paths), default=0)
    rows = [(path[-1],) * (height - len(path)) + path[::-1] for path in paths]
    return rows_of(rows, [f"leaf {n}" for n in range(1, len(rows) + 1)], column)


def write_csv(coded: Coded, path: str | Path) -> None:
    r"""Write a hierarchy with one row per value, level 0 first, separated by ``;``; missing values get no row.

    Raises
    ------
    OutputError
        If the file cannot be written; an older file of that name is then left unchanged.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hushtable.schema.columns import Kind
    >>> coded = Coded(Kind.NOMINAL, pa.array(["f", "m"]), False,
    ...               (np.array([0, 1]), np.array([0, 0])), (("f", "m"), ("*",)))
    >>> folder = tempfile.mkdtemp()
    >>> write_csv(coded, Path(folder) / "sex.csv")
    >>> (Path(folder) / "sex.csv").read_text()
    'f;*\nm;*\n'
    """
    first = int(coded.missing)
    columns = [
        [labels[node] for node in level[first:].tolist()]
        for level, labels in zip(coded.levels, coded.labels, strict=True)
    ]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(zip(*columns, strict=True))
    atomic_write_text(path, text.getvalue())


def _read_text(path: Path, column: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise HierarchyError(
            f"The hierarchy file {str(path)!r} of column {column!r} cannot be read: {error.strerror}.",
            code="unreadable",
            hint="Paths are relative to the policy's folder.",
        ) from None
    except UnicodeDecodeError:
        raise HierarchyError(
            f"The hierarchy file {str(path)!r} of column {column!r} is not UTF-8 text.",
            code="unreadable",
            hint="Save it as UTF-8.",
        ) from None


def _records(text: str, delimiter: str, column: str) -> Iterator[tuple[int, list[str]]]:
    # strict: a quote that is never closed would otherwise swallow the rest of the file as one label
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row and any(label.strip() for label in row):
                yield reader.line_num, row
    except csv.Error:
        raise HierarchyError(
            f"The hierarchy file of column {column!r} has a broken quotation at line {reader.line_num}.",
            code="unreadable",
            hint='Close every quoted label; write a quote inside one as "".',
        ) from None


def _sniff(text: str) -> str:
    """Return the first of ``;``, tab and ``,`` that splits most rows into as many parts as the first row."""
    sample = [line for line in text.split("\n", 1000)[:1000] if line.strip()]
    for delimiter in ";\t,":
        try:
            widths = [len(row) for row in csv.reader(sample, delimiter=delimiter)]
        except csv.Error:  # a label beyond the csv module's limit
            continue
        if widths and widths[0] > 1 and 2 * widths.count(widths[0]) >= len(widths):
            return delimiter
    return max(";\t,", key=lambda d: sample[0].count(d)) if sample else ";"


def _paths(tree: Any, above: tuple[str, ...], depth: int, nodes: Iterator[int]) -> Iterator[tuple[str, ...]]:
    if depth > MAX_DEPTH:
        raise HierarchyError(f"it is more than {MAX_DEPTH} levels deep.", code="too-deep", hint="Make it flatter.")
    _count(nodes)
    if isinstance(tree, Mapping):
        for label, below in tree.items():
            here = (*above, label_text(label))
            if below is None:
                _count(nodes)
                yield here
            else:
                yield from _paths(below, here, depth + 1, nodes)
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for item in tree:
            yield from _paths(item, above, depth + 1, nodes)
    else:
        yield (*above, label_text(tree))


def _count(nodes: Iterator[int]) -> None:
    if next(nodes) > MAX_NODES:
        raise HierarchyError(
            f"it has more than {MAX_NODES:,} nodes.", code="too-large", hint="Write it as CSV, one row per value."
        )
