"""Every format that hushtable reads from disk: a small valid file, and what reads it."""

from __future__ import annotations

import functools
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CANARY", "FORMATS", "Format"]

CANARY = "Kx7Qjv"
"""A cell of the valid files, not a column's name: no message may show it."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    ending : str
    valid : callable
        Gives the bytes of a valid file.
    reader : callable
        Reads a file.
    """

    ending: str
    valid: Callable[[], bytes]
    reader: Callable[[Path], None]


def _table(path: Path) -> None:
    from hushtable.io.files import column_names, iter_batches, read_table
    from hushtable.policy.starter import starter_policy
    from hushtable.schema.profile import profile

    column_names(path)
    whole = read_table(path)
    for _ in iter_batches(path, batch_rows=2):
        pass
    starter_policy(profile(whole), path.name)


def _policy(path: Path) -> None:
    from hushtable.policy.files import load_policy

    load_policy(path).plan()


def _hierarchy(path: Path) -> None:
    import numpy as np
    import pyarrow as pa

    from hushtable.hierarchy.taxonomy import Taxonomy
    from hushtable.schema.columns import Kind

    values = pa.array(["a", "b", CANARY])
    Taxonomy(str(path)).code(values, Kind.NOMINAL, missing=False, column="a", counts=np.ones(3, dtype=np.int64))


def _evidence(path: Path) -> None:
    import hushtable as ht

    release = _release()
    ht.verify(release.table, ht.Policy(**release.policy), path)


def _ledger(path: Path) -> None:
    _open_ledger(path, _ledger_files()[0] if path.suffix == ".key" else path.read_bytes())


def _open_ledger(path: Path, ledger: bytes) -> None:
    from hushtable.ledger.ledger import Ledger

    place, key = path.with_name("ledger"), path.with_name("key")
    place.write_bytes(ledger)
    key.write_bytes(path.read_bytes() if path.suffix == ".key" else _ledger_files()[1])
    key.chmod(0o600)
    Ledger(place, key=key).entries()


def _signed(path: Path) -> None:
    """A record with a sound check: what reads it must not trust its form."""
    from hushtable.ledger.entry import Entry

    Entry.of_line(path.read_bytes()).summary()


def _comparison(path: Path) -> None:
    from hushtable.comparison.spec import load_spec

    path.with_name("policy.yaml").write_bytes(_policy_text())
    spec = load_spec(path)
    spec.grid  # noqa: B018 computed when asked for
    spec.wanted  # noqa: B018


def _outcomes(path: Path) -> None:
    from hushtable.comparison.outcomes import load_outcomes

    path.rename(path.with_name("comparison.json"))
    load_outcomes(path.parent).suggest().text(path.parent)


def _results(path: Path) -> None:
    from hushtable.comparison.run import Results

    Results(path).check_writable()


@functools.cache
def _release() -> Any:
    import pyarrow as pa

    import hushtable as ht

    people = pa.table({"id": list("abcd"), "age": [30, 31, 52, 53], "disease": [CANARY, "HIV", CANARY, "cold"]})
    policy = ht.Policy(
        identifiers=["id"], quasi=["age"], sensitive=["disease"],
        models=[ht.KAnonymity(k=2), ht.TCloseness(t=0.9)],
    )  # fmt: skip
    return ht.anonymize(people, policy)


@functools.cache
def _ledger_files() -> tuple[bytes, bytes]:
    from hushtable.ledger.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder:
        path, key = Path(folder) / "ledger", Path(folder) / "ledger.key"
        Ledger(path, person="id", key=key).add(_release())
        return path.read_bytes(), key.read_bytes()


def _csv_text() -> bytes:
    return f'a;b;"c d"\n1;2020-01-02;"é"\n2;;"q ""{CANARY}"""\n'.encode()


def _gzipped() -> bytes:
    import gzip

    return gzip.compress(_csv_text(), mtime=0)


def _columns() -> Any:
    import datetime as dt

    import pyarrow as pa

    return pa.table({"a": [1, 2, None], "b": ["x", CANARY, "z"], "c": [dt.date(2020, 1, 2), None, None]})


def _parquet_bytes() -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(_columns(), sink)
    return sink.getvalue()


def _arrow_bytes() -> bytes:
    from pyarrow import feather

    sink = io.BytesIO()
    feather.write_feather(_columns(), sink)
    return sink.getvalue()


def _excel_bytes() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, CANARY])
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _policy_text() -> bytes:
    return (
        "columns:\n  age: {role: quasi, kind: numeric, hierarchy: {intervals: [5, 10]}}\n"
        f"  job: {{role: quasi, hierarchy: {{tree: {{up: [a, {CANARY}], down: [b]}}}}, order: [a, {CANARY}, b]}}\n"
        f"  disease: {{role: sensitive, categories: {{a: [{CANARY}], b: [y]}}}}\n"
        "models: [{k-anonymity: {k: 5}}, {p-sensitive: {p: 2, on: disease}}]\nalgorithm: {mondrian: {}}\n"
        f"missing_values: [{CANARY}]\n"
    ).encode()


def _evidence_text() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _release().save(Path(folder) / "out")
        return (Path(folder) / "out" / "release.json").read_bytes()


def _old_evidence_text() -> bytes:
    """What release.json was in 0.1.0: what the companion is now, but for its head."""
    new = ("format", "secret", "files", "private_files", "coins", "made", "seal")
    return json.dumps({k: v for k, v in json.loads(_companion_text()).items() if k not in new}).encode()


@functools.cache
def _saved() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    _release().save(Path(folder.name) / "out")
    return folder


def _companion_text() -> bytes:
    return (Path(_saved().name) / "out.private" / "companion.json").read_bytes()


def _companion(path: Path) -> None:
    from hushtable.release.companion import read_companion

    with tempfile.TemporaryDirectory() as folder:
        private = Path(folder) / "private"
        shutil.copytree(Path(_saved().name) / "out.private", private)
        (private / "companion.json").write_bytes(path.read_bytes())
        read_companion(private, Path(_saved().name) / "out")


def _record() -> bytes:
    return _ledger_files()[0].split(b"\n")[1][65:]


def _comparison_text() -> bytes:
    return (
        b"policy: policy.yaml\nalgorithms: [mondrian, {lattice-sweep: {refine: [false, true]}}]\n"
        b"models:\n- k-anonymity: {k: [2, 5]}\nsuppression: [0, 0.02]\nmeasures: [query-error]\nrisks: [marketer]\n"
    )


@functools.cache
def _compared() -> tuple[bytes, bytes]:
    import pyarrow as pa

    import hushtable as ht
    from hushtable.comparison.outcomes import save_outcomes
    from hushtable.comparison.run import compare

    people = pa.table({"age": [30, 31, 52, 53] * 3})
    with tempfile.TemporaryDirectory() as folder:
        outcomes = compare(
            people, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]),
            {"algorithms": ["mondrian"], "models": [{"k-anonymity": {"k": [2, 3]}}]},
            results=Path(folder) / "results.jsonl",
        )  # fmt: skip
        save_outcomes(outcomes, Path(folder))
        return (Path(folder) / "comparison.json").read_bytes(), (Path(folder) / "results.jsonl").read_bytes()


FORMATS: dict[str, Format] = {
    "csv": Format(".csv", _csv_text, _table),
    "csv.gz": Format(".csv.gz", _gzipped, _table),
    "parquet": Format(".parquet", _parquet_bytes, _table),
    "arrow": Format(".arrow", _arrow_bytes, _table),
    "excel": Format(".xlsx", _excel_bytes, _table),
    "yaml": Format(".yaml", _policy_text, _policy),
    "hierarchy": Format(".csv", lambda: f"a,x,*\nb,x,*\n{CANARY},y,*\n".encode(), _hierarchy),
    "tree": Format(".yaml", lambda: f"up: [a, {CANARY}]\ndown: {{c: [b, 1], d: }}\n".encode(), _hierarchy),
    "evidence": Format(".json", _evidence_text, _evidence),
    "old-evidence": Format(".json", _old_evidence_text, _evidence),
    "companion": Format(".json", _companion_text, _companion),
    "ledger": Format(".ledger", lambda: _ledger_files()[0], _ledger),
    "key": Format(".key", lambda: _ledger_files()[1], _ledger),
    "record": Format(".json", _record, _signed),
    "comparison": Format(".yaml", _comparison_text, _comparison),
    "outcomes": Format(".json", lambda: _compared()[0], _outcomes),
    "results": Format(".jsonl", lambda: _compared()[1], _results),
}
