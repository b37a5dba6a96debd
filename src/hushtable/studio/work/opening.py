"""Opening data: read it once, examine it, and store what the pages need."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import HushtableError
from hushtable.hierarchy.base import Coded, Hierarchy
from hushtable.hierarchy.check import HierarchyReport, check_column
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.hierarchy.taxonomy import write_csv
from hushtable.io import atomic
from hushtable.io.atomic import atomic_write_text
from hushtable.io.canonical import plain
from hushtable.io.excel import sheet_names
from hushtable.io.files import read_table, write_table
from hushtable.io.text import to_labels
from hushtable.policy.policy import Policy
from hushtable.policy.starter import starter_policy
from hushtable.policy.text import read_yaml, write_yaml
from hushtable.schema.columns import Format, Kind, Role
from hushtable.schema.prepare import Prepared, prepare
from hushtable.schema.profile import Profile, profile, suggest_missing
from hushtable.studio.jobs import Report
from hushtable.studio.projects import Project, inside
from hushtable.studio.uploads import check_unpacked
from hushtable.studio.views import FILE, hierarchy_file, known_overviews, named, overview_key, write_paged
from hushtable.studio.work.tables import column_of

_EXAMPLE = "patients.csv"


def open_upload(
    project: Project, report: Report, file: str, name: str, origin: str = "upload", sheet: str | None = None
) -> dict[str, Any]:
    """Use an uploaded file as the project's table.

    Parameters
    ----------
    file : str
        Path of the upload, below the project's folder.
    name : str
        Its original name.
    sheet : str, optional
        Sheet of a workbook. Defaults to the first one.
    """
    uploaded = inside(project.folder, file)
    try:
        if name.lower().endswith(".zip"):
            from hushtable.studio.work.linked import open_tables

            return open_tables(project, report, uploaded, name)
        report(0.0, "reading")
        ready = uploaded.with_name(f".{name}")
        uploaded.rename(ready)  # the ending decides how it is read
        uploaded = ready
        with atomic.named(uploaded, name):
            check_unpacked(uploaded, name, project.facts.get("unpacked"))
            sheets = sheet_names(uploaded) if name.lower().endswith(".xlsx") else []
            table = read_table(uploaded, sheet=sheet)
        found = _accept(project, report, table, uploaded, name, origin)
        project.note(sheets=sheets, sheet=sheet or next(iter(sheets), None))
        return found
    finally:
        uploaded.unlink(missing_ok=True)


def open_example(project: Project, report: Report, rows: int = 5000, seed: int = 7) -> dict[str, Any]:
    """Use generated patients as the project's table, with a policy for them."""
    from hushtable.datasets.patients import patients, patients_policy

    report(0.0, "generating")
    made = project.folder / "data" / f".{_EXAMPLE}"
    write_table(patients(rows, seed), made)
    try:
        found = _accept(project, report, read_table(made), made, _EXAMPLE, "example")
    finally:
        made.unlink(missing_ok=True)
    atomic_write_text(project.policy_file, Policy(**patients_policy()).to_yaml())
    return found


def open_query(project: Project, report: Report, file: str) -> dict[str, Any]:
    """Use the result of a database query as the project's table; the address is not kept.

    Parameters
    ----------
    file : str
        File with the address and the query, below the project's folder; it is deleted.
    """
    from hushtable.io.sql import read_sql

    handed = inside(project.folder, file)
    asked = json.loads(handed.read_text(encoding="utf-8"))
    handed.unlink()
    report(0.0, "querying")
    made = project.folder / "data" / ".query.parquet"
    try:
        write_table(read_sql(asked["source"], query=asked["query"]), made)
        return _accept(project, report, read_table(made), made, "query.parquet", "query")
    finally:
        made.unlink(missing_ok=True)


def _accept(project: Project, report: Report, table: pa.Table, file: Path, name: str, origin: str) -> dict[str, Any]:
    report(0.4, "examining the columns")
    found = profile(table)
    report(0.6, "drawing them")
    sparks = sparks_of(table, found)
    policy = read_yaml(starter_policy(found, name)).data
    quasi = named(policy, Role.QUASI)
    overviews = {}
    for i, column in enumerate(quasi):
        report(0.65 + 0.2 * i / len(quasi), "trying the hierarchies")
        overviews[column] = overview_of(project, policy, column, table.column(column))
    report(0.85, "keeping it")
    view = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
    folder = project.folder / "data"
    # slow work comes first: if it is stopped, the project is unchanged
    write_paged(view, folder / ".new-preview")
    shutil.copyfile(file, folder / f".new-{name}")
    (folder / ".new-preview").rename(project.folder / "preview.parquet")
    (folder / f".new-{name}").rename(folder / name)
    atomic_write_text(project.policy_file, write_yaml(policy))
    atomic_write_text(project.folder / "profile.json", json.dumps(plain(found.as_dict())))
    atomic_write_text(project.folder / "sparks.json", json.dumps(sparks))
    keep_overviews(project, overviews)
    project.note(data=name, origin=origin, linked=False, rows=table.num_rows, columns=table.column_names)
    # last: if the process is killed before, the project still has the data that its facts name
    for old in folder.iterdir():
        if old.is_dir():
            shutil.rmtree(old)  # linked tables
        elif not old.name.startswith(".") and old.name != name:
            old.unlink()
    return {"rows": table.num_rows, "columns": table.column_names}


# One column for the hierarchy editor: its values, their distribution, and the effect of a hierarchy.


_BINS = 40
_VALUES = 500
_SHOWN = 60


def look_at_column(
    project: Project, report: Report, column: str, hierarchy: Any = None, *, given: bool = False
) -> dict[str, Any]:
    """Describe a column and try a hierarchy on it.

    Parameters
    ----------
    column : str
    hierarchy : Any
        As in a policy. Defaults to the policy's own if not ``given``.

    Returns
    -------
    dict
        ``values`` (the most frequent ones), ``histogram`` (of numbers and dates), ``levels`` (labels of some values,
        level by level), ``cuts`` (where the finest intervals begin), ``problems``.
    """
    document = project.document()
    settings = document["columns"].get(column, {})
    ready = _ready(column_of(project, column), document, column)
    counts = ready.counts()
    found: dict[str, Any] = {
        "column": column,
        "kind": str(ready.kind),
        "distinct": len(ready.values),
        "missing": ready.missing,
        **_values(ready, counts),
        "histogram": _histogram(ready, counts),
        "levels": [],
        "nodes": [],
        "cuts": [],
        "problems": [],
    }
    wanted = hierarchy if given else settings.get("hierarchy")
    try:
        recipe = _recipe(project, wanted, column)
        result, coded = _tried(recipe, ready, counts, column)
        found |= {"nodes": list(result.nodes), "problems": list(result.problems), "uncovered": result.uncovered_values}
        if coded is not None:
            found |= {"levels": _levels(coded), "cuts": _cuts(coded, ready), "tree": _tree(coded)}
            if not given:
                write_csv(coded, hierarchy_file(project, column))
    except HushtableError as error:
        found["problems"] = [str(error)]
    return found


def look_at_hierarchies(project: Project, report: Report) -> dict[str, Any]:
    """Try the hierarchies of all quasi-identifiers whose overview is not known yet, and store the results."""
    document = project.document()
    known = known_overviews(project)
    missing = [name for name in named(document, Role.QUASI) if name not in known]
    for done, name in enumerate(missing):
        report(done / len(missing), f"{done} of {len(missing)} columns")
        known[name] = overview_of(project, document, name, column_of(project, name))
        keep_overviews(project, known)
    return {"columns": len(missing)}


def keep_overviews(project: Project, known: Mapping[str, Any]) -> None:
    """Store the overviews of hierarchies, by column."""
    atomic_write_text(project.folder / FILE, json.dumps(plain(dict(known)), allow_nan=False))


def overview_of(project: Project, document: Mapping[str, Any], column: str, cells: pa.ChunkedArray) -> dict[str, Any]:
    """Return the labels of each level, one value's labels, and the problems of a hierarchy."""
    found: dict[str, Any] = {"key": overview_key(project, document, column), "nodes": [], "example": []}
    try:
        ready = _ready(cells, document, column)
        counts = ready.counts()
        recipe = _recipe(project, document["columns"][column].get("hierarchy"), column)
        result, coded = _tried(recipe, ready, counts, column)
    except HushtableError as error:
        return {**found, "problems": [str(error)]}
    if coded is None:
        return {**found, "problems": list(result.problems)}
    return {**found, "nodes": list(result.nodes), "example": _example(coded, counts), "problems": []}


def _example(coded: Coded, counts: IntArray) -> list[str]:
    """Return the labels of a frequent value, level by level."""
    first = int(coded.missing)
    if coded.size <= first:
        return []
    code = first + int(np.argmax(counts[: coded.size - first])) if len(counts) else first
    return [str(coded.labels[h][coded.levels[h][code]]) for h in range(coded.height + 1)]


def _ready(cells: pa.ChunkedArray, document: Mapping[str, Any], column: str) -> Prepared:
    settings = document["columns"].get(column, {})
    return prepare(
        cells,
        name=column,
        kind=Kind(settings["kind"]) if "kind" in settings else None,
        missing_values=tuple(document.get("missing_values", ())),
        order=tuple(settings.get("order", ())),
        format=Format(settings["format"]) if "format" in settings else None,
    )


def _recipe(project: Project, spec: Any, column: str) -> Hierarchy:
    recipe = parse_hierarchy(spec, column, project.folder)
    if getattr(recipe, "file", None):
        project.file(recipe.file)  # type: ignore[attr-defined]
    return recipe


def _values(ready: Prepared, counts: IntArray) -> dict[str, Any]:
    first = np.argsort(-counts, kind="stable")[:_VALUES]
    text = to_labels(ready.values).take(pa.array(first)).to_pylist()
    return {"values": [[label, int(counts[i])] for label, i in zip(text, first.tolist(), strict=True)]}


def _histogram(ready: Prepared, counts: IntArray) -> dict[str, Any] | None:
    numbers = numbers_of_values(ready)
    if numbers is None or not len(numbers):
        return None
    finite = np.isfinite(numbers)
    if not finite.any():
        return None
    edges = _edges(numbers[finite])
    if edges is None:
        return None
    heights, _ = np.histogram(numbers[finite], bins=edges, weights=counts[finite])
    shown = edges.tolist()
    if ready.kind is Kind.DATE:
        days = pa.array(np.floor(edges).astype(np.int32)).cast(pa.date32())
        return {"heights": heights.tolist(), "edges": shown, "labels": pc.strftime(days, "%Y-%m-%d").to_pylist()}
    return {"heights": heights.tolist(), "edges": shown, "labels": [f"{edge:g}" for edge in shown]}


def _edges(numbers: FloatArray) -> FloatArray | None:
    """Return bars of equal width, or None if the numbers are too far apart, or too close for their size, to draw."""
    low, high = float(numbers.min()), float(numbers.max())
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    with np.errstate(over="ignore", invalid="ignore"):
        edges = np.linspace(low, high, min(_BINS, len(numbers)) + 1)
    return edges if (np.diff(edges) > 0).all() else None


def _tried(recipe: Hierarchy, ready: Prepared, counts: IntArray, column: str) -> tuple[HierarchyReport, Coded | None]:
    """Return the findings about a hierarchy, and the coded column if it can be used."""
    given: dict[str, Any] = {"missing": ready.missing > 0, "column": column, "counts": counts}
    result = check_column(recipe, ready.values, ready.kind, **given)
    return result, recipe.code(ready.values, ready.kind, **given) if result.ok else None


def _levels(coded: Coded) -> list[list[str | None]]:
    """Return evenly spaced values with their label on each level, the value first."""
    some = np.unique(np.linspace(0, coded.size - 1, min(_SHOWN, coded.size)).astype(np.int64))
    return [[coded.labels[h][coded.levels[h][code]] for h in range(coded.height + 1)] for code in some.tolist()]


def _cuts(coded: Coded, ready: Prepared) -> list[list[float]]:
    """Return the starts of intervals, level by level from the finest: the first number of every node."""
    if numbers_of_values(ready) is None or coded.size - coded.missing == 0:
        return []
    numbers = np.asarray(
        (coded.values.cast(pa.int32()) if ready.kind is Kind.DATE else coded.values).to_numpy(zero_copy_only=False),
        dtype=np.float64,
    )
    cuts = []
    for level in coded.levels[1:-1]:
        nodes = level[int(coded.missing) :]
        opens = np.flatnonzero(np.diff(nodes) != 0) + 1
        cuts.append(numbers[opens].tolist()[:200])
    return cuts


def _tree(coded: Coded) -> Any:
    """Return the hierarchy as nested labels for the tree editor, or None if it is too large to edit manually."""
    if coded.size > _VALUES or coded.height < 1:
        return None
    values = [c for c in range(coded.size) if not (coded.missing and c == 0)]

    def below(codes: list[int], height: int) -> Any:
        if height == 0:
            return [coded.labels[0][c] for c in codes]
        groups: dict[int, list[int]] = {}
        for code in codes:
            groups.setdefault(int(coded.levels[height][code]), []).append(code)
        if height == 1 and all(len(g) == 1 for g in groups.values()):
            return [coded.labels[0][c] for c in codes]
        return {str(coded.labels[height][node]): below(members, height - 1) for node, members in groups.items()}

    return below(values, coded.height - 1)


_BARS = 16


def sparks_of(table: pa.Table, found: Profile) -> list[list[float]]:
    """Return the heights of each column's bars, from 0 to 1: numbers and dates in order, labels by frequency.

    Examples
    --------
    >>> from hushtable.schema.profile import profile
    >>> people = pa.table({"sex": ["m", "f", "f", "f"], "age": ["20", "21", "21", "35"]})
    >>> sparks_of(people, profile(people))[0]
    [1.0, 0.333]
    """
    tokens = tuple(suggest_missing(found))
    return [_bars(table.column(c.name), c.name, c.kind, tokens) if c.kind else [] for c in found.columns]


def _bars(column: pa.ChunkedArray, name: str, kind: Kind | None, tokens: tuple[str, ...]) -> list[float]:
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    counted: Any = pc.value_counts(column.combine_chunks())
    values, counts = counted.field("values"), np.asarray(counted.field("counts"))
    try:
        ready = prepare(pa.chunked_array([values]), name=name, kind=kind, missing_values=tokens)
    except HushtableError:
        return []
    codes = np.asarray(ready.codes())
    known = codes >= 0
    weights = counts[known].astype(np.float64)
    held = np.asarray(np.bincount(codes[known], weights, minlength=len(ready.values)), dtype=np.float64)
    numbers = numbers_of_values(ready)
    heights = _ranked(held) if numbers is None else _spread(numbers, held)
    most = float(heights.max()) if len(heights) else 0.0
    return [round(float(h) / most, 3) for h in heights] if most > 0 else []


def numbers_of_values(ready: Prepared) -> FloatArray | None:
    """Return a column's distinct values as numbers, dates as days, or None if they are labels."""
    if ready.kind is Kind.NUMERIC:
        return np.asarray(ready.values.to_numpy(zero_copy_only=False), dtype=np.float64)
    if ready.kind is Kind.DATE:
        return np.asarray(ready.values.cast(pa.int32()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return None


def _ranked(held: FloatArray) -> FloatArray:
    return np.sort(held)[::-1][:_BARS]


def _spread(numbers: FloatArray, held: FloatArray) -> FloatArray:
    finite = np.isfinite(numbers)
    if not finite.any():
        return np.empty(0)
    low, high = float(numbers[finite].min()), float(numbers[finite].max())
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(high - low) or high <= low:
            return _ranked(held)
    return np.histogram(numbers[finite], bins=_BARS, range=(low, high), weights=held[finite])[0]
