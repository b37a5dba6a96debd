"""Exports of the studio: the release, its policy, the evidence, and the Python code that repeats the run."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from hushtable.errors import UsageError
from hushtable.hierarchy.base import Hierarchy
from hushtable.io.atomic import reported
from hushtable.linked.policy import LinkedPolicy
from hushtable.release.recode import forms_shown
from hushtable.studio.projects import Run, linked_files

_PIECE = 1 << 18
_MADE = ("repeat.py", "microdata.zip")
"""Files that are made on demand."""

_EVIDENCE = ("evidence.html", "evidence.json")
"""Files of the report, which are not part of the release folder."""

_TEXTS = {
    "release.csv": "the table to publish, verified from its own cells",
    "release.parquet": "the table to publish, verified from its own cells",
    "release-sensitive.csv": "the sensitive values to publish with it, by group",
    "release-sensitive.parquet": "the sensitive values to publish with it, by group",
    "patterns.csv": "its patterns, each once",
    "policy.yaml": "the policy, and how to read the cells",
    "release.json": "what was promised and achieved; no record's values",
    "evidence.html": "the evidence report, to read, to sign and to keep: it compares with the original",
    "evidence.json": "the same report as data, for a digital signature with 'hushtable sign'; keep it too",
    "microdata.zip": "rows drawn from the release, with the original's columns and types",
    "repeat.py": "the Python code that repeats this release from the original",
}


def export_files(run: Run) -> dict[str, str]:
    """Return the files of a run that can be exported, each with a description."""
    if run.project.linked:
        return _linked_files(run)
    there = {p.name for p in run.release.iterdir()} | {"repeat.py"}
    there |= {"microdata.zip"} if _can_draw(run) else set()
    there |= {name for name in _EVIDENCE if (run.folder / name).is_file()}
    return {name: text for name, text in _TEXTS.items() if name in there}


def _linked_files(run: Run) -> dict[str, str]:
    tables = sorted(p.name for p in run.release.iterdir() if p.name not in _TEXTS)
    there = {p.name for p in run.release.iterdir()} | {"repeat.py", "microdata.zip"}
    there |= {name for name in _EVIDENCE if (run.folder / name).is_file()}
    found = dict.fromkeys(tables, "one of the linked tables to publish; publish all of them or none")
    return found | {name: text for name, text in _TEXTS.items() if name in there}


def export_file(run: Run, name: str) -> bytes:
    """Return the content of one file."""
    if name not in export_files(run):
        raise UsageError("There is no such file.", code="not-there")
    if name == "repeat.py":
        return code_of(run).encode("utf-8")
    if name == "microdata.zip":
        return sample_of(run)
    folder = run.folder if name in _EVIDENCE else run.release
    return (folder / name).read_bytes()


def export_path(run: Run, name: str) -> Path | None:
    """Return the path of a file, for those that are not made on demand."""
    if name in _MADE or name not in export_files(run):
        return None
    return (run.folder if name in _EVIDENCE else run.release) / name


def bundle(run: Run) -> IO[bytes]:
    """Return what may be published as one ZIP file, with the hierarchy files that the policy names and the code.

    The folder ``release`` in it has the files of the release and no others, so that the evidence can be checked against
    it. The evidence compares with the original and stays out, like the folder of a release. Population and background
    tables are about people, so they stay in the studio. The file has no name, so that
    it disappears once it is closed, even if this process is killed.
    """
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - the sender closes it
    try:
        with reported("bundle.zip"), zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
            for name in (n for n in export_files(run) if n not in ("microdata.zip", *_EVIDENCE)):
                path = export_path(run, name)
                _pack(out, f"release/{name}" if path else name, path or export_file(run, name))
            for file in _hierarchy_files(run):
                _pack(out, file, run.project.folder / file)
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed


def _can_draw(run: Run) -> bool:
    policy = run.policy
    return run.facts.get("drawable", True) and all(
        form.can_draw for form in forms_shown(policy.table_plan(), policy.build_algorithm().recoding)
    )


def sample_of(run: Run) -> bytes:
    """Return a sample of the release with its note, as a ZIP file."""
    from hushtable.api import open_release
    from hushtable.release.sample.opened import note_path, write_sample

    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "microdata.csv"
        if run.project.linked:
            from hushtable.linked.release import open_linked
            from hushtable.linked.sample import write_linked_sample

            drawn = Path(folder) / "microdata"
            write_linked_sample(open_linked(run.release, files=run.project.folder / "files"), drawn)
            made = sorted(drawn.iterdir())
        else:
            write_sample(open_release(run.release, files=run.project.folder), file)
            made = [file, note_path(file)]
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
            for path in made:
                _pack(out, path.name, path)
    return packed.getvalue()


def _pack(out: zipfile.ZipFile, name: str, content: Path | bytes) -> None:
    """Add a file without its time and permissions, which are not part of the release."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    if isinstance(content, bytes):
        out.writestr(entry, content)
        return
    entry.file_size = content.stat().st_size
    with content.open("rb") as source, out.open(entry, "w") as packed:
        shutil.copyfileobj(source, packed)


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of an open file piece by piece, and close it, read to its end or not."""
    with file:
        while piece := file.read(_PIECE):
            yield piece


def code_of(run: Run) -> str:
    """Return a Python program that reproduces the release byte for byte.

    It is part of the bundle, so it depends on the policy alone: the name of the original is an argument. Run it next to
    the hierarchy files of the bundle and the tables of people that the policy names.
    """
    policy = run.policy
    if run.project.linked:
        return _LINKED_CODE.format(policy=_quoted(policy.to_yaml()))
    return f'''"""Repeats a release of the studio: the same table and policy give the same bytes.

    python repeat.py ORIGINAL [SHEET]
"""

import sys
from pathlib import Path

import hushtable as ht
from hushtable.io.files import read_table

HERE = Path(__file__).resolve().parent
POLICY = """\\
{_quoted(policy.to_yaml())}"""

if len(sys.argv) < 2:
    sys.exit("Name the original, which is not part of the export: python repeat.py ORIGINAL [SHEET]")
table = read_table(Path(sys.argv[1]), sheet=sys.argv[2] if len(sys.argv) > 2 else None)
policy = ht.Policy.from_yaml(POLICY).based_in(HERE)
release = ht.anonymize(table, policy)
release.verify()
release.save(HERE / "repeated", format={policy.output.format!r}, overwrite=True)
print(f"{{release.table.num_rows:,}} records are published, in {{release.verification.classes:,}} classes.")
'''


_LINKED_CODE = '''"""Repeats a release of the studio: the same tables and policy give the same bytes."""

from pathlib import Path

import hushtable as ht
from hushtable.linked.sources import read_linked

HERE = Path(__file__).resolve().parent
POLICY = """\\
{policy}"""

policy = ht.LinkedPolicy.from_yaml(POLICY).based_in(HERE / "files")
tables = read_linked([HERE / "tables"], policy)  # the originals, which are not part of the export
release = ht.anonymize_linked(tables, policy)
release.verify().raise_if_violated()
release.save(HERE / "repeated", overwrite=True)
print(f"{{len(release.tables)}} tables are published, about {{release.verification.people:,}} people.")
'''


def _quoted(text: str) -> str:
    """Escape text for use between triple quotes."""
    return text.replace("\\", "\\\\").replace('"""', r"\"\"\"")


def _hierarchy_files(run: Run) -> list[str]:
    base = run.project.folder.resolve()
    if run.project.linked:
        named, place = linked_files(cast(LinkedPolicy, run.policy)), base / "files"
    else:
        hierarchies: list[Hierarchy | None] = [c.hierarchy for c in run.policy.table_plan().columns]
        named, place = [file for h in hierarchies if (file := getattr(h, "file", None))], base
    return sorted({str((place / file).resolve().relative_to(base)) for file in named})
