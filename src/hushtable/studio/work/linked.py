"""Linked tables in the studio: opened from a ZIP file with their policy, and run."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.errors import DataError
from hushtable.io.atomic import atomic_folder, atomic_write_text, named
from hushtable.io.canonical import plain
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked, check_data
from hushtable.linked.sources import read_linked
from hushtable.schema.columns import Role
from hushtable.studio.jobs import Report
from hushtable.studio.projects import Project, confined_linked, linked_files, next_number, safe_name
from hushtable.studio.uploads import TABLES, check_unpacked

_POLICY = "policy.yaml"


def open_tables(project: Project, report: Report, packed: Path, name: str) -> dict[str, Any]:
    """Make the tables of a ZIP file the project's data, and the policy in it the project's policy.

    Tables are files named like the policy's tables; other files are those that the policy names, such as hierarchies.
    """
    limit = project.facts.get("unpacked")
    check_unpacked(packed, name, limit)
    report(0.0, "unpacking")
    new = project.folder / "data" / ".new-tables"
    shutil.rmtree(new, ignore_errors=True)
    try:
        with named(new, name):
            try:
                policy = _unpacked(packed, new)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, UnicodeDecodeError, zlib.error):
                raise DataError("The ZIP file is damaged, locked or not complete.", code="file-content",
                                hint="Pack it again, without a password.") from None  # fmt: skip
            for file in (new / "tables").iterdir():
                check_unpacked(file, file.name, limit)
            report(0.3, "matching keys")
            tables = read_linked([new / "tables"], policy)
            given = [file.name for file in (new / "files").iterdir()]
            for kept in (project.folder / "files").iterdir():
                if kept.name not in given and kept.name in linked_files(policy):
                    shutil.copyfile(kept, new / "files" / kept.name)
            # nothing of the project is replaced before all is known to fit
            found = check_data(tables, confined_linked(project, policy, new / "files"))
            for one in given:
                (new / "files" / one).replace(project.folder / "files" / one)
            rows = {table: tables[table].num_rows for table in (policy.people, *policy.events)}
            place = project.tables
            shutil.rmtree(place, ignore_errors=True)
            (new / "tables").rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    atomic_write_text(project.policy_file, policy.to_yaml())
    # what belonged to another table goes
    for old in [p for p in (project.folder / "data").iterdir() if p != project.tables and not p.name.startswith(".")]:
        old.unlink()
    for gone in ("profile.json", "preview.parquet", "sparks.json"):
        (project.folder / gone).unlink(missing_ok=True)
    project.note(data=name, origin="upload", linked=True, rows=sum(rows.values()), columns=[], tables=rows, found=found)
    return {"rows": sum(rows.values()), "tables": rows}


def _unpacked(packed: Path, new: Path) -> LinkedPolicy:
    """Unpack plain files into two folders, ``tables`` and ``files``; return the policy."""
    with zipfile.ZipFile(packed) as archive:
        members = {Path(entry.filename).name: entry for entry in archive.infolist() if not entry.is_dir()}
        if "release.json" in members:
            raise DataError("The ZIP file contains a release, which is anonymized already.", code="a-release",
                            hint="Upload the original table.")  # fmt: skip
        if _POLICY not in members:
            raise DataError(f"The ZIP file has no {_POLICY}.", code="no-policy",
                            hint="Pack the tables together with the policy of linked tables.")  # fmt: skip
        policy = LinkedPolicy.from_yaml(archive.read(members.pop(_POLICY)).decode("utf-8"), file=_POLICY)
        for kind in ("tables", "files"):
            (new / kind).mkdir(parents=True)
        named = {Path(file).name for file in linked_files(policy)}
        for file, entry in members.items():
            safe_name(file)
            table = file.split(".")[0] in policy.tables and file.lower().endswith(TABLES)
            if not table and file not in named:
                raise DataError(f"The ZIP file has {file!r}, which is neither a table of the policy nor named in it.",
                                code="not-joined", hint="Name it in the policy, or remove it.")  # fmt: skip
            with archive.open(entry) as source, (new / ("tables" if table else "files") / file).open("xb") as out:
                shutil.copyfileobj(source, out)
    return policy


def run_tables(project: Project, report: Report, policy: Mapping[str, Any]) -> dict[str, Any]:
    """Anonymize the project's tables under a policy, as data, and keep the verified release."""
    began = time.time()
    ready = confined_linked(project, LinkedPolicy(**policy))
    report(0.0, "reading")
    number = next_number(project)
    with atomic_folder(project.folder / "runs" / f"{number:04d}") as folder:
        (folder / "policy.yaml").write_text(ready.to_yaml(), encoding="utf-8")
        release = anonymize_linked(read_linked([project.tables], ready), ready, progress=report)
        release.save(folder / "release")
        records = sum(table.num_rows for table in release.original().tables.values())
        released = sum(table.num_rows for table in release.tables.values())
        summary = {
            **release.summary(),
            "algorithm": {ready.algorithm: {}},
            "models": [one.as_dict() for one in release.evidence()],
            "records": records,
            "released": released,
            "suppressed": records - released,
        }
        quasi = [f"{name}.{c}" for name, table in ready.tables.items() for c in table.named(Role.QUASI)]
        facts = {
            "number": number,
            "created": began,
            "seconds": round(time.time() - began, 3),
            "rows": released,
            "classes": release.verification.classes,
            "solutions": 0,
            "published": list(release.tables),
            "quasi": quasi,
            "sensitive": list(ready.sensitive()),
            "summary": summary,
        }
        (folder / "run.json").write_text(json.dumps(plain(facts), allow_nan=False), encoding="utf-8")
    project.note(last_run=number)
    return {"run": number}
