"""Pages of data and results for the studio's pages and REST clients."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet as pq

from hushtable.errors import UsageError
from hushtable.io.canonical import plain
from hushtable.io.figures import number
from hushtable.schema.columns import Role
from hushtable.studio.projects import Project, Run, inside

MOST = 500
"""Maximum rows per page."""


def hierarchy_file(project: Project, column: str) -> Path:
    """Return the path of a column's hierarchy as CSV, which exists once the column was described."""
    names = project.facts.get("columns", [])
    if column not in names:
        raise UsageError("There is no such column.", code="not-there")
    return project.folder / f"hierarchy-{names.index(column)}.csv"


def data_page(project: Project, offset: int, limit: int) -> dict[str, Any]:
    """Return rows of the project's own table."""
    names = project.facts.get("columns", [])
    path = project.folder / "preview.parquet"
    if not names or not path.is_file():
        return {"columns": [], "rows": [], "offset": 0, "total": 0}
    found = page(path, offset, min(limit, MOST))
    return {"columns": names, "rows": text_cells(found), "offset": offset, "total": project.facts["rows"]}


def rows_page(run: Run, offset: int, limit: int, *, original: bool = False) -> dict[str, Any]:
    """Return published rows, class by class, with how far each cell was generalized.

    Parameters
    ----------
    original : bool
        Whether to add the original row of each, for the comparison that the user requested.

    Returns
    -------
    dict
        ``shades`` are shares per quasi-identifier, from 0 (unchanged) to 1 (no detail).
    """
    run.project.one_table()
    facts = run.facts
    found = page(run.folder / "view.parquet", offset, min(limit, MOST))
    published = found.select([f"p{i}" for i in range(len(facts["published"]))])
    shades = found.select([f"s{j}" for j in range(len(facts["quasi"]))])
    result = {
        "columns": facts["published"],
        "quasi": facts["quasi"],
        "rows": text_cells(published),
        "shades": [list(row) for row in zip(*(c.to_pylist() for c in shades.columns), strict=True)],
        "offset": offset,
        "total": facts["rows"],
    }
    if original:
        own = rows_at(run.project.folder / "preview.parquet", found.column("row").to_pylist())
        result |= {"original_columns": run.project.facts["columns"], "original": text_cells(own)}
    return result


def classes_page(run: Run, offset: int, limit: int) -> dict[str, Any]:
    """Return classes: published cells, people, scores, and the positions of their rows."""
    run.project.one_table()
    facts = run.facts
    found = page(run.folder / "classes.parquet", offset, min(limit, MOST))
    return {
        "columns": facts["class_columns"],
        "rows": text_cells(found.select([f"c{i}" for i in range(len(facts["class_columns"]))])),
        "first": found.column("first").to_pylist(),
        "sizes": found.column("rows").to_pylist(),
        "offset": offset,
        "total": facts["classes"],
    }


def boxes_of(run: Run, first: int, second: int, most: int = 90) -> list[tuple[int, int, int, int, int]]:
    """Return evenly chosen classes as ranges of codes in two quasi-identifiers, with their rows."""
    names = ["rows", f"lo{first}", f"hi{first}", f"lo{second}", f"hi{second}"]
    path = run.folder / "classes.parquet"
    if f"lo{first}" not in pq.read_schema(path).names:
        return []
    table = pq.read_table(path, columns=names)
    chosen = range(0, table.num_rows, max(-(-table.num_rows // most), 1))
    columns = table.take(pa.array(chosen, pa.int64())).to_pydict()
    return [
        (*(int(columns[name][i]) for name in names[1:]), int(columns["rows"][i]))  # type: ignore[misc]
        for i in range(len(columns["rows"]))
    ]


def space_page(run: Run, offset: int, limit: int, *, fits: bool = False) -> dict[str, Any]:
    """Return solutions that a search examined, best first."""
    run.project.one_table()
    facts = run.facts
    path = run.folder / "space.parquet"
    columns = facts["space_columns"]
    if not path.is_file():
        return {"columns": [], "rows": [], "offset": 0, "total": 0}
    if not fits:
        found = page(path, offset, min(limit, MOST))
        return {"columns": columns, "rows": _plain_rows(found), "offset": offset, "total": facts["solutions"]}
    chosen = pq.read_table(path, filters=[(f"c{columns.index('fits')}", "==", True)])
    rows = _plain_rows(chosen.slice(offset, min(limit, MOST)))
    return {"columns": columns, "rows": rows, "offset": offset, "total": chosen.num_rows}


def _plain_rows(table: Any) -> list[list[Any]]:
    return [plain(list(row)) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


def solutions(run: Run, limits: dict[str, int], fits: bool, most: int) -> tuple[list[dict[str, Any]], int]:
    """Return solutions within some limits, best first, with a description of each, and the total number.

    Parameters
    ----------
    limits : mapping of str to int
        The highest level of each quasi-identifier.
    fits : bool
        Whether to show only those that keep all promises.
    most : int
    """
    facts = run.facts
    columns = facts["space_columns"]
    levels = [f"c{columns.index(f'level of {name}')}" for name in facts["quasi"]]
    named = {name: f"c{columns.index(name)}" for name in ("fits", "cost", "suppressed people", "groups")}
    table = pq.read_table(run.folder / "space.parquet", columns=[*levels, *named.values()])
    keep = pc.equal(table.column(named["fits"]), True) if fits else pa.array([True] * table.num_rows)
    for field, name in zip(levels, facts["quasi"], strict=True):
        if name in limits:
            keep = pc.and_(keep, pc.less_equal(table.column(field), limits[name]))
    found = table.filter(keep)
    nodes = []
    for row in found.slice(0, most).to_pylist():
        at = tuple(int(row[field]) for field in levels)
        fit = bool(row[named["fits"]])
        cost = f"cost {number(row[named['cost']])}" if fit else "does not keep all promises"
        left_out = row[named["suppressed people"]]
        shown = ", ".join(
            f"{name} {level_name(facts, j, level)}"
            for j, (name, level) in enumerate(zip(facts["quasi"], at, strict=True))
        )
        words = f"{shown}: {cost}, {number(left_out)} people suppressed, {number(row[named['groups']])} groups"
        nodes.append({"levels": at, "fits": fit, "left_out": float(left_out), "words": words})
    return nodes, found.num_rows


def level_name(facts: Mapping[str, Any], column: int, level: int) -> str:
    """Return the name of a level of a quasi-identifier: how a frequent value appears on it.

    Examples
    --------
    >>> facts = {"level_names": [[["34", 80], ["[30, 40)", 9], ["*", 1]]]}
    >>> [level_name(facts, 0, level) for level in range(3)]
    ['exact', 'as [30, 40)', 'not shown']
    """
    named = facts.get("level_names")
    if level == 0 or not named:
        return "exact" if level == 0 else f"level {level}"
    label, labels = named[column][level]
    return "not shown" if labels == 1 else f"as {label}"


# Pages of large tables: only the row groups that hold a page's rows are read.


GROUP_ROWS = 2_000
"""Rows per row group in the files that pages are read from."""


def write_paged(table: pa.Table, path: Path) -> None:
    """Write a table so that pages of it can be read, completely or not at all."""
    from hushtable.io.atomic import atomic_file

    with atomic_file(path) as out:
        pq.write_table(table, out, row_group_size=GROUP_ROWS)


def page(path: Path, offset: int, limit: int) -> pa.Table:
    """Return some rows of a Parquet file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"a": list(range(9))}), Path(folder, "t.parquet"), row_group_size=4)
    ...     page(Path(folder, "t.parquet"), 3, 2)["a"].to_pylist()
    [3, 4]
    """
    with pq.ParquetFile(path) as source:
        wanted, skipped = [], None
        for group, first, last in _groups(source):
            if first < offset + limit and last > offset:
                wanted.append(group)
                skipped = first if skipped is None else skipped
        if skipped is None:
            return source.schema_arrow.empty_table()
        found = source.read_row_groups(wanted)
    return found.slice(offset - skipped, limit)


def rows_at(path: Path, numbers: Sequence[int]) -> pa.Table:
    """Return the rows with these numbers, in this order."""
    wanted = np.asarray(numbers, dtype=np.int64)
    parts, order = [], []
    with pq.ParquetFile(path) as source:
        for group, first, last in _groups(source):
            here = np.flatnonzero((wanted >= first) & (wanted < last))
            if len(here):
                parts.append(source.read_row_groups([group]).take(pa.array(wanted[here] - first)))
                order.append(here)
        if not parts:
            return source.schema_arrow.empty_table()
    back = np.argsort(np.concatenate(order), kind="stable")
    return pa.concat_tables([_plain(part) for part in parts]).take(pa.array(back))


def text_cells(table: pa.Table) -> list[list[str | None]]:
    """Return a table's cells row by row as text; None is missing."""
    columns = [[None if v is None else str(v) for v in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _groups(source: pq.ParquetFile) -> Iterator[tuple[int, int, int]]:
    first = 0
    for group in range(source.metadata.num_row_groups):
        last = first + source.metadata.row_group(group).num_rows
        yield group, first, last
        first = last


def _plain(table: pa.Table) -> pa.Table:
    """Unify dictionaries, which differ between row groups."""
    columns: list[Any] = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


# Overview of every hierarchy, kept until the column's settings change.


FILE = "hierarchies.json"
"""File with the overviews, in the project's folder."""


def named(document: Mapping[str, Any], role: Role) -> list[str]:
    """Return the names of the columns with a role, in the policy's order."""
    return [name for name, settings in document["columns"].items() if settings.get("role") == role]


def overview_key(project: Project, document: Mapping[str, Any], column: str) -> str:
    """Return a fingerprint of everything that a column's overview depends on."""
    settings = document["columns"][column]
    spec = settings.get("hierarchy")
    said = [{n: settings.get(n) for n in ("kind", "order", "hierarchy")}, document.get("missing_values", [])]
    files = [_stamp(project, word) for word in _words(spec)]
    return hashlib.sha256(json.dumps([said, files], sort_keys=True, default=str).encode()).hexdigest()[:16]


def _words(spec: Any) -> list[str]:
    if isinstance(spec, Mapping):
        return [word for value in spec.values() for word in _words(value)]
    return [spec] if isinstance(spec, str) and spec.startswith("files/") else []


def _stamp(project: Project, name: str) -> list[Any]:
    path = inside(project.folder, name)
    return [name, path.stat().st_mtime_ns] if path.is_file() else [name]


def known_overviews(project: Project) -> dict[str, dict[str, Any]]:
    """Return the known overviews of the quasi-identifiers' current hierarchies, by column."""
    document = project.document()
    kept = project.json(FILE) or {}
    return {
        name: kept[name]
        for name in named(document, Role.QUASI)
        if name in kept and kept[name]["key"] == overview_key(project, document, name)
    }
