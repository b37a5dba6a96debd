"""A sample of a release, and its file with a note that its rows are drawn."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable._version import __version__
from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.files import write_table
from hushtable.release.companion import check_outside, load_evidence
from hushtable.release.released import Released
from hushtable.release.sample.sample import sample_table, silent_columns, vague_columns
from hushtable.release.written import Written

NOTE = "Rows are drawn from the cells of a release, class by class. One that matches a person does so by chance."
_ENDINGS = (".csv", ".parquet")


def sample_release(release: Released, *, seed: int = 0, rows: int | None = None, where: Sequence[str] = ()) -> pa.Table:
    """Draw a sample of a release; an opened release is verified first, as far as its public files allow."""
    if isinstance(release.published, Written):
        check_opened(release)
    return sample_table(
        release.table, release.plan.table, release.plan.algorithm.recoding, seed=seed, rows=rows, where=where
    )


def check_opened(release: Released) -> None:
    """Verify an opened release, as far as its public files allow."""
    public = getattr(release.origin, "public", None)
    if public is not None and public.get("rows") != release.table.num_rows:
        raise DataError(
            f"The published file has {release.table.num_rows:,} rows, but release.json has a different number.",
            code="mismatch",
            hint="Use the release as it was written.",
        )
    try:
        release.verification.raise_if_violated()
    except UsageError as error:
        # some models can only be judged with the companion or the input
        if error.code not in ("needs-companion", "needs-input"):
            raise


def note_path(path: Path) -> Path:
    """Return the path of a sample's note.

    Examples
    --------
    >>> note_path(Path("out/microdata.csv")).name
    'microdata.json'
    """
    return path.with_suffix(".json")


def check_sample_target(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a sample file that exists, or that is in the folder of a release.

    Examples
    --------
    >>> check_sample_target(Path("microdata.xlsx"))
    Traceback (most recent call last):
    hushtable.errors.OutputError: A sample must be .csv or .parquet. Got 'microdata.xlsx' instead.
    """
    if path.suffix not in _ENDINGS:
        raise OutputError(f"A sample must be .csv or .parquet. Got {path.name!r} instead.", code="unknown-format")
    place = Path(os.path.realpath(path))
    check_outside(path, "a sample")
    if place.name in ("release.csv", "release.parquet"):
        raise OutputError(
            f"A sample must not be named {place.name!r}, like a file of a release.",
            code="in-release",
            hint="Choose another name, such as microdata.csv.",
        )
    there = [p.name for p in (place, note_path(place)) if p.exists()]
    if there and not overwrite:
        raise OutputError(
            f"The file {there[0]!r} already exists.",
            code="exists",
            hint="Choose another name, or add --overwrite.",
        )


def write_sample(
    release: Released,
    path: str | os.PathLike[str],
    *,
    seed: int = 0,
    rows: int | None = None,
    where: Sequence[str] = (),
    overwrite: bool = False,
) -> dict[str, Any]:
    """Draw a sample into a file, and write a note next to it; return the contents of the note.

    Parameters
    ----------
    release : Release
    path : path
        Its ending decides the format: ``.csv`` or ``.parquet``. The note has the ending ``.json``.
    seed, rows, where
        As in ``Release.sample``.
    overwrite : bool
        Whether existing files may be replaced.

    Raises
    ------
    OutputError
        If the file is in the folder of a release, exists, or cannot be written.
    """
    target = Path(path)
    check_sample_target(target, overwrite=overwrite)
    table = sample_release(release, seed=seed, rows=rows, where=where)
    empty = silent_columns(release.table, release.plan.table, table)
    vague = {n: part for n, part in vague_columns(release.table, release.plan.table).items() if n not in empty}
    return write_drawn(
        release, table, target, NOTE, {"seed": seed, "where": list(where), "empty": empty, "vague": vague}
    )


def write_drawn(release: Released, table: pa.Table, target: Path, words: str, how: Mapping[str, Any]) -> dict[str, Any]:
    """Write drawn rows and their note; return the contents of the note.

    Parameters
    ----------
    release : Release
        The release that they were drawn from.
    table : pyarrow.Table
    target : Path
        Checked by ``check_sample_target``.
    words : str
        Description of the rows.
    how : mapping
        Parameters of the draw.
    """
    note = {
        "hushtable": __version__,
        "drawn": True,
        "note": words,
        "file": target.name,
        "rows": table.num_rows,
        **how,
        "release": {"rows": release.table.num_rows, **_origin(release)},
    }
    # the note is written first, so that no sample is without one
    atomic_write_text(note_path(target), json.dumps(note, indent=1, ensure_ascii=False) + "\n")
    try:
        write_table(table, target)
    except BaseException:
        if not target.exists():
            note_path(target).unlink(missing_ok=True)
        raise
    return note


def _origin(release: Released) -> dict[str, Any]:
    """The release's mark, and a hash of the published file if there is one."""
    if not isinstance(release.published, Written):
        return {}
    public = getattr(release.origin, "public", None) or load_evidence(release.published.path.with_name("release.json"))
    found: dict[str, Any] = {"mark": public.get("release")}
    if release.published.path.is_file():
        with release.published.path.open("rb") as stream:
            found["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
