"""The release, its input, its policy and the version that made it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable._version import __version__, code_digest
from hushtable.about import summary_of
from hushtable.arrays import IntArray
from hushtable.io.canonical import digest
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.kernels.grouping import number_rows
from hushtable.registry import algorithms, guards
from hushtable.release.evidence import PRICE
from hushtable.release.exposure import Exposure
from hushtable.release.recode import forms_shown
from hushtable.release.released import Released
from hushtable.release.written import Written
from hushtable.report.content import Handling, Provenance, PublishedFile
from hushtable.report.gather.privacy import parameter_words
from hushtable.report.signature import file_digest
from hushtable.schema.columns import Missing
from hushtable.table.ranks import dense_ranks

_RECODING = {
    "global": "every value of a column is generalized in the same way everywhere",
    "local": "each class is generalized as far as necessary",
    "centroid": "each class is replaced by one representative record",
    "pattern": "each class keeps the values that its records share and blanks the others",
    "numbered": "each class is generalized as far as necessary, and has a number in addition to its cells",
    "bucket": "quasi-identifiers stay exact; sensitive values are linked to them only by the number of a group",
}
MISSING = {
    Missing.OWN_CATEGORY: "An empty quasi-identifier cell is a value like any other, equal only to itself.",
    Missing.WILDCARD: "An empty quasi-identifier cell may be any value: every published row was checked together "
    "with all classes that could contain the same person.",
    Missing.ERROR: "Empty quasi-identifier cells were refused when the table was read, so there are none.",
}
"""What an empty cell means, in words."""


def provenance(release: Released) -> Provenance:
    """Describe the origin of a release; the input only by its shape and a keyed hash."""
    policy = release.policy
    ((name, values),) = dict(policy.get("algorithm") or {"": {}}).items()
    built = algorithms.build(name, values) if name else None
    source = None if release.source is None else release.original()
    columns = set(release.table.column_names) | set(policy.get("columns", ()))
    made_by, made_by_code = _maker(release)
    return Provenance(
        created=report_time(),
        hushtable=__version__,
        code_sha256=code_digest(),
        made_by=made_by,
        made_by_code_sha256=made_by_code,
        policy_sha256=digest(policy),
        input_hmac_sha256=None if source is None else input_hash(source, load_secret()),
        input_rows=release.records,
        input_columns=len(columns) if source is None else source.num_columns,
        seed=int(policy.get("seed", 0)),
        algorithm=name,
        algorithm_summary=summary_of(type(built)) if built is not None else "",
        algorithm_parameters=parameter_words(built, columns) if built is not None else {},
        recoding=_RECODING.get(built.recoding.value, built.recoding.value) if built is not None else "",
        guards=_guards(policy.get("guard") or ()),
        notes={str(k): word for k, v in release.origin.notes.items() if (word := _note(v, columns)) is not None},
    )


def _maker(release: Released) -> tuple[str, str | None]:
    """Return the version that made a release, and the digest of its code if that is known."""
    public, kept = (getattr(release.origin, name, None) for name in ("public", "kept"))
    if public is None:
        return __version__, code_digest()
    return str(public.get("hushtable", "")), (kept or {}).get("code_sha256")


def treatment(release: Released, after: Exposure) -> Handling:
    """Describe sizes, suppression, and the meaning of an empty cell."""
    n, suppressed = release.records, release.n_suppressed
    limit = float(release.policy.get("suppression", 0.0))
    missing = Missing(str(release.policy.get("missing", Missing.OWN_CATEGORY)))
    counts = np.sort(after.counts)
    price = f" The policy publishes counts of the whole table. {PRICE}" if release.policy.get("publish") else ""
    half = np.searchsorted(np.cumsum(counts), counts.sum() / 2)
    return Handling(
        released=release.n_released,
        counterfeits=release.table.num_rows - release.n_released,
        suppressed=suppressed,
        suppressed_share=suppressed / n if n else 0.0,
        suppression_limit=limit,
        suppression_meaning="Suppressed records are removed from the table completely. "
        f"The policy allows up to {100 * limit:.6g}% of the people to be suppressed.{price}",
        people=release.verification.people,
        classes=release.verification.classes,
        smallest=float(counts[0]),
        median=float(counts[min(half, len(counts) - 1)]),
        largest=float(counts[-1]),
        columns=tuple(release.table.column_names),
        missing=str(missing),
        missing_meaning=MISSING[missing],
        can_draw=all(f.can_draw for f in forms_shown(release.plan.table, release.plan.algorithm.recoding)),
    )


def published_files(release: Released) -> tuple[PublishedFile, ...]:
    """Return the files of a saved release with their SHA-256; none for a release that exists only in memory."""
    written = release.published
    if not isinstance(written, Written):
        return ()
    return files_in(written.path.parent)


def files_in(folder: Path) -> tuple[PublishedFile, ...]:
    """Return the files of a folder with their SHA-256."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return tuple(
        PublishedFile(name=file.relative_to(folder).as_posix(), sha256=file_digest(file), size=file.stat().st_size)
        for file in files
    )


def _guards(chosen: Any) -> tuple[str, ...]:
    """Return the names of the guards, which a policy may write with or without parameters."""
    names = [name for one in chosen for name in ([one] if isinstance(one, str) else one)]
    return tuple(name for name in names if name in guards)


def input_hash(table: pa.Table, secret: bytes) -> str:
    """Return the keyed hash of a table's content, independent of the order of its rows and columns.

    Examples
    --------
    >>> one = pa.table({"a": [1, 2], "b": ["x", None]})
    >>> other = pa.table({"b": [None, "x"], "a": [2, 1]})
    >>> input_hash(one, b"secret") == input_hash(other, b"secret")
    True
    """
    names = sorted(table.column_names)
    text = [_text(table.column(name)) for name in names]
    ranks = [dense_ranks(column) for column in text]
    order = np.arange(table.num_rows)
    if names:
        order = np.argsort(number_rows([r for r, _ in ranks], [n for _, n in ranks])[0], kind="stable")
    return keyed_hash(_parts(names, text, [r[order] for r, _ in ranks]), secret, f"input of {table.num_rows} rows")


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string())


def _parts(names: list[str], columns: list[pa.ChunkedArray], ranks: list[IntArray]) -> Iterator[bytes]:
    """Return each column's name, its sorted distinct values, and the rank of every cell among them (0: none)."""
    for name, column, rank in zip(names, columns, ranks, strict=True):
        yield name.encode("utf-8", "surrogatepass")
        for value in sorted(v for v in column.unique().to_pylist() if v is not None):
            yield value.encode("utf-8", "surrogatepass")
        yield rank.astype("<i8").tobytes()


def report_time() -> str:
    """Return the time, or the fixed time of a reproducible build."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(fixed), UTC) if fixed and fixed.isdecimal() else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _note(value: Any, columns: set[str]) -> str | None:
    """Return a number, a Boolean, or numbers by column; None for anything that might be a value of the table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.6g}"
    if isinstance(value, Mapping) and all(k in columns for k in value):
        words = {k: _note(v, columns) for k, v in value.items()}
        return None if None in words.values() else ", ".join(f"{k}: {word}" for k, word in words.items())
    return None
