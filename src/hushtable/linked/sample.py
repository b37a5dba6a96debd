"""Samples of linked tables: typed rows drawn from the public folder alone, with every reference kept."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hushtable._version import __version__
from hushtable.algorithms.base import Recoding
from hushtable.errors import OutputError
from hushtable.hierarchy.base import ROOT
from hushtable.io.atomic import atomic_folder, atomic_write_text
from hushtable.io.files import write_table
from hushtable.release.companion import check_outside
from hushtable.release.sample.sample import sample_table, typed_column
from hushtable.report.signature import file_digest
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan

if TYPE_CHECKING:
    from hushtable.linked.release import LinkedRelease

NOTE = (
    "Values are drawn from the cells of a release of linked tables; rows and keys are those of the release. A row that "
    "matches a person does so by chance."
)


def sample_linked(release: LinkedRelease, *, seed: int = 0) -> dict[str, pa.Table]:
    """Draw a value for every generalized cell; ``LinkedRelease.sample`` says how."""
    release.verification.raise_if_violated()
    policy = release.policy
    found = {}
    for name, table in release.tables.items():
        people = name == policy.people
        plan = policy.table_plan(name)
        shown = {column.name: column for column in plan.columns if column.published}
        silent = {c: pa.nulls(table.num_rows, pa.string()) for c in shown if _silent(table[c], shown[c])}
        plan = replace(plan, columns=tuple(c for c in plan.columns if c.name not in silent))
        drawn = table.select([c for c in shown if c not in silent])
        if table.num_rows and plan.named(Role.QUASI):
            # events are published as nodes of their hierarchies, people as the algorithm's classes
            recoding = Recoding.LOCAL if people else Recoding.GLOBAL
            drawn = sample_table(drawn, plan, recoding, seed=seed)
        elif table.num_rows:
            columns = [typed_column(drawn[c], shown[c], plan.missing_values) for c in drawn.column_names]
            drawn = pa.table(columns, names=drawn.column_names)
        own = {c: drawn[c] for c in drawn.column_names} | silent
        found[name] = pa.table({c: own.get(c, table[c]) for c in table.column_names})
    return found


def _silent(column: pa.ChunkedArray, plan: ColumnPlan) -> bool:
    """Whether a column is published as ``*`` everywhere, and no value of it is known."""
    if plan.role is not Role.QUASI or column.unique().to_pylist() != [ROOT]:
        return False
    numbers = plan.kind in (Kind.NUMERIC, Kind.DATE)
    return numbers or not (plan.order or (plan.hierarchy is not None and plan.hierarchy.leaves(plan.name)))


def check_sample_folder(folder: Path) -> None:
    """Refuse a folder that exists, or that is inside a release."""
    place = Path(os.path.realpath(folder))
    check_outside(folder, "a sample")
    if place.exists():
        raise OutputError(f"The folder {str(folder)!r} already exists.", code="exists", hint="Choose another folder.")


def write_linked_sample(release: LinkedRelease, folder: str | os.PathLike[str], *, seed: int = 0) -> dict[str, Any]:
    """Draw tables into a new folder, with a ``sample.json`` that describes them; return its contents.

    Raises
    ------
    OutputError
        If the folder exists, or is inside the folder of a release. Nothing is written then.
    """
    target = Path(folder)
    check_sample_folder(target)
    tables = sample_linked(release, seed=seed)
    note: dict[str, Any] = {
        "hushtable": __version__,
        "drawn": True,
        "note": NOTE,
        "seed": seed,
        "rows": {name: table.num_rows for name, table in tables.items()},
    }
    if release.folder is not None:
        published = release.folder
        files = [file for file in sorted(published.iterdir()) if file.is_file()]
        note["release"] = {file.name: file_digest(file) for file in files}
    with atomic_folder(target) as place:
        for name, table in tables.items():
            write_table(table, place / f"{name}.csv")
        atomic_write_text(place / "sample.json", json.dumps(note, indent=1, ensure_ascii=False) + "\n")
    return note
