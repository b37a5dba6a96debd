"""Details of a release for the pages: classes, published rows with their originals, the solution space.

They link published rows to people, so they stay in the project's folder and are never exported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray
from hushtable.engines.release import Release
from hushtable.hierarchy.base import Coded
from hushtable.report.gather.columns import binned_columns, column_evidence
from hushtable.report.gather.facts import LEAST
from hushtable.studio.paging import write_paged

__all__ = ["keep_details"]


def keep_details(release: Release, folder: Path) -> dict[str, Any]:
    """Write ``view.parquet``, ``classes.parquet`` and ``space.parquet``; return the names of their columns.

    Columns are numbered, since the combined table may have two columns with the same name.
    """
    order, first, sizes = _by_class(release)
    shades = _shades(release)
    groups = _groups(release)
    view: dict[str, Any] = {f"p{i}": c.take(pa.array(order)) for i, c in enumerate(release.table.columns)}
    view["row"] = pa.array(release.source_rows[order])
    for j, shade in enumerate(shades):
        view[f"s{j}"] = pa.array(shade[groups][order].astype(np.float32))
    write_paged(pa.table(view), folder / "view.parquet")

    classes = release.groups
    boxes = _boxes(release, order, first)
    shown = {f"c{i}": column for i, column in enumerate(classes.columns)}
    write_paged(
        pa.table({**shown, "first": pa.array(first), "rows": pa.array(sizes), **boxes}), folder / "classes.parquet"
    )
    space = release.partition.space
    if space:
        write_paged(pa.table({f"c{i}": pa.array(c) for i, c in enumerate(space.values())}), folder / "space.parquet")
    return {
        "published": release.table.column_names,
        "quasi": [c.name for c in release.encoded.quasi],
        "domains": [c.coded.size for c in release.encoded.quasi],
        "sensitive": [c.name for c in release.encoded.sensitive],
        "class_columns": classes.column_names,
        "classes": classes.num_rows,
        "space_columns": list(space),
        "solutions": len(next(iter(space.values()))) if space else 0,
        "levels": release.partition.levels,
        "heights": [c.coded.height for c in release.encoded.quasi],
        "size_counts": _size_counts(release),
        "losses": _losses(release),
        "level_names": [_level_names(c.coded, c.codes) for c in release.encoded.quasi],
        "marks": [_marks(c.coded) for c in release.encoded.quasi],
        "columns": _evidence(release),
        "counterfeits": release.recoded.counterfeits is not None,
    }


def _groups(release: Release) -> IntArray:
    """Return the group of each published row."""
    labels = release.recoded.labels
    if release.recoded.counterfeits is not None:
        # they are numbered from -1 downwards, so they are last and in reverse order
        labels = np.concatenate([labels, release.recoded.counterfeits.groups[::-1]])
    return np.asarray(labels[release.source_rows], dtype=np.int64)


def _by_class(release: Release) -> tuple[IntArray, IntArray, IntArray]:
    """Return published rows in the order of ``groups``, the start of each class, and its number of rows."""
    labels = np.asarray(release.verification.labels[: release.table.num_rows])
    shown, begin, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(shown), dtype=np.int64)
    rank[np.argsort(begin, kind="stable")] = np.arange(len(shown))
    order = np.argsort(rank[inverse], kind="stable").astype(np.int64)
    sizes = np.bincount(rank[inverse], minlength=len(shown)).astype(np.int64)
    return order, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), sizes


def _shades(release: Release) -> list[FloatArray]:
    """Return how far each group's cell is from the original, from 0 (unchanged) to 1 (no detail)."""
    return [
        (cells.leaves - 1) / max(cells.column.coded.size - 1, 1)
        if cells.column.coded.size > 1
        else np.zeros(len(cells))
        for cells in release.recoded.cells
    ]


def _boxes(release: Release, order: IntArray, first: IntArray) -> dict[str, pa.Array]:
    """Return the range of codes of each class in each quasi-identifier, for the map of the partition."""
    if release.apart:
        return {}
    groups = _groups(release)[order[first]]
    boxes = {}
    for j, cells in enumerate(release.recoded.cells):
        boxes[f"lo{j}"] = pa.array(cells.low[groups])
        boxes[f"hi{j}"] = pa.array(cells.high[groups])
    return boxes


def _size_counts(release: Release) -> list[list[int]]:
    """Return the number of classes by size; a person's rows count once, and counterfeits do not count."""
    verification = release.verification
    stats = verification.stats.take(np.unique(verification.labels[: release.table.num_rows]))
    values, counts = np.unique(np.maximum(stats.units // stats.unit, 1), return_counts=True)
    return [[int(v), int(c)] for v, c in zip(values, counts, strict=True)]


def _losses(release: Release) -> dict[str, float]:
    """Return the average loss of each quasi-identifier, from 0 (exact) to 1 (no detail)."""
    groups = _groups(release)
    names = [c.name for c in release.encoded.quasi]
    return {name: round(float(s[groups].mean()), 4) for name, s in zip(names, _shades(release), strict=True)}


def _level_names(coded: Coded, codes: Any) -> list[list[Any]]:
    """Return how the most frequent value appears on each level, and the number of labels on that level."""
    held = np.bincount(np.asarray(codes, dtype=np.int64), minlength=coded.size)
    if coded.missing:
        held[0] = 0  # an empty cell shows nothing of a level
    code = int(np.argmax(held))
    return [[str(coded.labels[h][coded.levels[h][code]] or ""), len(coded.labels[h])] for h in range(coded.height + 1)]


def _marks(coded: Coded) -> list[list[Any]]:
    """Return some values of a column with their position in its order, for an axis."""
    some = np.unique(np.linspace(0, coded.size - 1, min(5, coded.size)).astype(np.int64)).tolist()
    return [[code, str(coded.labels[0][coded.levels[0][code]] or "")] for code in some]


def _evidence(release: Release) -> list[dict[str, Any]]:
    """Return every column before and after, in the report's bars."""
    comparing = release.made.comparison(release.plan)
    least = max(LEAST, release.model.min_group_size())
    binned = binned_columns(release, comparing, least, named=True)
    return [column.model_dump(mode="json") for column in column_evidence(release, comparing, binned)]
