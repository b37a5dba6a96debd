"""Opening data: read it once, examine it, and store what the pages need."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.excel import sheet_names
from hushtable.io.files import read_table, write_table
from hushtable.io.json_values import plain
from hushtable.policy.starter import starter_policy
from hushtable.policy.text import read_yaml, write_yaml
from hushtable.schema.profile import profile
from hushtable.studio.home import inside
from hushtable.studio.overviews import quasi_of
from hushtable.studio.paging import write_paged
from hushtable.studio.projects import Project
from hushtable.studio.tasks import Report
from hushtable.studio.uploads import check_unpacked
from hushtable.studio.work.columns import keep_overviews, overview_of
from hushtable.studio.work.sparks import sparks_of

__all__ = ["open_example", "open_query", "open_upload"]

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
        try:
            check_unpacked(uploaded, name, project.facts.get("unpacked"))
            sheets = sheet_names(uploaded) if name.lower().endswith(".xlsx") else []
            table = read_table(uploaded, sheet=sheet)
        except DataError as error:
            # the message may speak of the temporary name
            message = error.message.replace(str(uploaded), name)
            raise DataError(message, code=error.code, hint=error.hint) from None
        found = _accept(project, report, table, uploaded, name, origin)
        project.note(sheets=sheets, sheet=sheet or next(iter(sheets), None))
        return found
    finally:
        uploaded.unlink(missing_ok=True)


def open_example(project: Project, report: Report, rows: int = 5000, seed: int = 7) -> dict[str, Any]:
    """Use generated patients as the project's table, with a policy for them."""
    from hushtable.datasets.patients import patients, patients_policy
    from hushtable.policy.policy import Policy

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
    from hushtable.io.sql.access import read_sql

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
    quasi = quasi_of(policy)
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
