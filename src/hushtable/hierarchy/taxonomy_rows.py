"""Reading and writing taxonomies: CSV with one row per value, inline rows, and nested trees."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import HierarchyError
from hushtable.hierarchy.base import Coded
from hushtable.io.atomic import atomic_write_text
from hushtable.io.text import MOST_REPEATED, label_text, repeated_nodes

__all__ = ["TaxonomyRows", "read_csv", "read_tree_file", "rows_of", "rows_of_tree", "write_csv"]

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
    """Return the first of ``;``, tab and ``,`` that splits the first row and most others into equally many parts."""
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
