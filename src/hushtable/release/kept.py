"""What the companion stores about the making of a release, so that it can be examined without repeating the run.

``rows.arrow`` has the class and the published place of every source row, in 8 bytes per row. Cells follow from the
classes, unless a guard or an earlier release widened them: those are in ``cells.arrow``. ``classes.arrow`` has the
people and the cells of every class, as numbers, and ``space.arrow`` the solutions that the algorithm examined.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable import registry
from hushtable.algorithms.base import Partition, Recoding
from hushtable.arrays import AnyArray, IntArray
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.parallel import each
from hushtable.release.forms.base import Cells
from hushtable.release.recode import Recoded, recode
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable

if TYPE_CHECKING:
    from hushtable.release.exposure import Exposure

ROWS, CELLS, SPACE, CLASSES = "rows.arrow", "cells.arrow", "space.arrow", "classes.arrow"
CANONICAL, SOURCE = "canonical", "source"
"""The order of stored rows: as in the input, or sorted by their codes if the input has no order."""

BATCH_ROWS = 1 << 20
"""Number of rows to write at a time."""


def keep(
    table: EncodedTable,
    partition: Partition,
    recoded: Recoded,
    source_rows: AnyArray,
    value_rows: AnyArray | None,
    folder: Path,
) -> dict[str, Any]:
    """Write columns into the companion's folder; return the rest, for its JSON."""
    source_rows = np.asarray(source_rows)
    labels = np.asarray(recoded.labels if recoded.buckets is None else recoded.buckets)
    columns = {"class": _small(labels[: table.n_sample]), "place": _published_places(source_rows, table.n_sample)}
    if value_rows is not None:
        # a person's class is the group in the published row
        columns = {"place": columns["place"], "value": _published_places(value_rows, table.n_sample)}
    _write(pa.table(columns), folder / ROWS)
    _keep_solution(partition, recoded, folder)
    if recoded.buckets is None and not len(table.population_rows):
        _write(_class_table(table, recoded), folder / CLASSES)
    return {
        "order": SOURCE,
        "original": original_marks(table),
        "counted": counted_marks(table),
        **_rest(table, partition, recoded, labels, source_rows),
    }


def _keep_solution(partition: Partition, recoded: Recoded, folder: Path) -> None:
    if not recoded.derived:
        _write(_cell_table(recoded), folder / CELLS)
    if partition.space:
        _write(pa.table({name: pa.array(column) for name, column in partition.space.items()}), folder / SPACE)


def keep_counted(
    table: EncodedTable,
    partition: Partition,
    recoded: Recoded,
    rows: Iterable[tuple[AnyArray, AnyArray]],
    codes: Callable[[str], Iterable[AnyArray]],
    folder: Path,
) -> dict[str, Any]:
    """Like ``keep``, but for counted records with rows that arrive piece by piece.

    Parameters
    ----------
    table : EncodedTable
        One row for several records, with their number as its weight.
    partition, recoded
    rows : iterable of pairs of int32 arrays
        For all records, in order: the class, and the place in the published table; -1 for suppressed ones.
    codes : callable
        From the name of a column to the codes of all records, piece by piece.
    folder : path
    """
    schema = pa.schema({"class": pa.int32(), "place": pa.int32()})
    held = pa.Table.from_batches([], schema)
    with pa.OSFile(str(folder / ROWS), "wb") as out, pa.ipc.new_file(out, schema) as writer:
        for classes, places in rows:
            held = pa.concat_tables([held, pa.table([pa.array(classes), pa.array(places)], schema=schema)])
            full = held.num_rows - held.num_rows % BATCH_ROWS
            writer.write_table(held.slice(0, full).combine_chunks(), max_chunksize=BATCH_ROWS)
            held = held.slice(full)
        if held.num_rows:
            writer.write_table(held.combine_chunks(), max_chunksize=BATCH_ROWS)
    (folder / ROWS).chmod(0o600)
    _keep_solution(partition, recoded, folder)
    _write(_class_table(table, recoded), folder / CLASSES)
    return {
        "order": SOURCE,
        "original": original_marks(table, codes),
        "counted": counted_marks(table, table.row_units),
        **_rest(table, partition, recoded, np.asarray(recoded.labels), np.empty(0, np.int64)),
    }


def keep_sorted(table: EncodedTable, partition: Partition, recoded: Recoded, folder: Path) -> dict[str, Any]:
    """Store the classes of records without an order."""
    labels = np.asarray(recoded.labels)
    order = table.canonical_order
    _write(pa.table({"class": _small(labels[order[order < table.n_sample]])}), folder / ROWS)
    counted = counted_marks(table)
    rest = _rest(table, partition, recoded, labels, np.empty(0, np.int64))
    return {"order": CANONICAL, "original": None, "counted": counted, **rest}


def original_marks(table: EncodedTable, codes: Callable[[str], Iterable[AnyArray]] | None = None) -> dict[str, str]:
    """Return a keyed hash of every column of an original that models and algorithms use, in the order of its rows.

    ``codes`` returns those of all records, piece by piece, if the table's rows represent several.
    """
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    secret, n = load_secret(), table.n_sample if codes is None else table.sample_units

    def mark(column: QuasiColumn | SensitiveColumn) -> str:
        values = pa.record_batch({"": column.coded.values}).serialize().to_pybytes()
        pieces = [column.codes[:n]] if codes is None else codes(column.name)
        long = n * column.codes.itemsize, (piece.tobytes() for piece in pieces)
        return keyed_hash([values, long], secret, "column of an original")

    return dict(zip((c.name for c in columns), each(mark, columns, many=n >= BATCH_ROWS), strict=True))


def counted_marks(table: EncodedTable, records: IntArray | None = None) -> dict[str, str]:
    """Return a keyed hash of the frequencies of each quasi-identifier's values, in any order of the rows.

    Parameters
    ----------
    table : EncodedTable
    records : int64 array, optional
        Number of records that each row represents.
    """
    secret = load_secret()

    def mark(column: QuasiColumn) -> str:
        values = pa.record_batch({"": column.coded.values}).serialize().to_pybytes()
        counts = np.bincount(column.codes[: table.n_sample], records, minlength=column.coded.size).astype(np.int64)
        return keyed_hash([values, counts.tobytes()], secret, "counts of an original")

    marks = each(mark, table.quasi, many=table.n_sample >= BATCH_ROWS)
    return dict(zip((c.name for c in table.quasi), marks, strict=True))


def kept_classes(folder: Path, names: Sequence[str]) -> Exposure | None:
    """Return the published classes in the form that risks use, if they were stored."""
    if not (folder / CLASSES).exists():
        return None
    from hushtable.release.exposure import Exposure

    table = _read(folder / CLASSES)
    columns = [table.column(f"q{j}").to_numpy() for j in range(len(names))]
    facts = table.schema.metadata
    sizes = tuple(json.loads(facts[b"sizes"]))
    return Exposure(tuple(names), tuple(columns), sizes, _plain(table, "units"), int(facts[b"unit"]))


def _class_table(table: EncodedTable, recoded: Recoded) -> pa.Table:
    labels = np.asarray(recoded.labels[: table.n_sample])
    kept = labels >= 0
    units = np.bincount(labels[kept] if not kept.all() else labels, minlength=recoded.n_groups)
    if len(table.row_units):
        units = np.bincount(labels[kept], table.row_units[: table.n_sample][kept], minlength=recoded.n_groups)
    real = np.flatnonzero(units > 0)
    coded = [recoded.cell_codes(j) for j in range(len(recoded.cells))]
    # a missing cell is a value of its own, after the others
    columns = {
        f"q{j}": pa.array(np.where(codes[real] < 0, len(values), codes[real]).astype(np.int32))
        for j, (codes, values) in enumerate(coded)
    }
    facts = {"sizes": json.dumps([len(values) + 1 for _, values in coded]), "unit": str(table.unit)}
    found = pa.table({"units": pa.array(units[real].astype(np.int64)), **columns})
    return found.replace_schema_metadata(facts)


def _rest(
    table: EncodedTable, partition: Partition, recoded: Recoded, labels: AnyArray, source_rows: AnyArray
) -> dict[str, Any]:
    fakes = recoded.counterfeits
    return {
        "classes": int(labels.max(initial=-1)) + 1,
        "others": np.asarray(labels[table.n_sample :]).tolist(),
        "levels": None if partition.levels is None else list(partition.levels),
        "cuts": None if partition.cuts is None else [cut.tolist() for cut in partition.cuts],
        "whole_numbers": partition.whole_numbers,
        "blank_unknown": partition.blank_unknown,
        "counterfeits": None
        if fakes is None
        else {
            "groups": fakes.groups.tolist(),
            "codes": {name: codes.tolist() for name, codes in fakes.codes.items()},
            "places": np.flatnonzero(source_rows < 0).tolist(),
            "numbers": source_rows[source_rows < 0].tolist(),
        },
    }


def kept_rows(folder: Path, kept: Mapping[str, Any], published: int) -> tuple[IntArray, IntArray | None]:
    """Return the source row of each published row, and of its sensitive values if these are separate."""
    columns = _read(folder / ROWS)
    rows = _inverse(_plain(columns, "place"), published)
    fakes = kept["counterfeits"]
    if fakes is not None:
        rows[np.array(fakes["places"], dtype=np.int64)] = np.array(fakes["numbers"], dtype=np.int64)
    values = _inverse(_plain(columns, "value"), published) if "value" in columns.column_names else None
    return rows, values


def restored(
    folder: Path,
    kept: Mapping[str, Any],
    table: EncodedTable,
    recoding: Recoding,
    notes: Mapping[str, Any],
    groups: AnyArray | None,
) -> tuple[Partition, Recoded]:
    """Return the partition and the cells of a stored release.

    Parameters
    ----------
    folder : path
        Folder of the companion.
    kept : mapping
        What ``keep`` returned.
    table : EncodedTable
        The original.
    recoding : Recoding
    notes : mapping
        Notes of the algorithm.
    groups : integer array, optional
        For a bucketization, the published group of every source row; -1 for suppressed ones.
    """
    columns = _read(folder / ROWS)
    sample = _plain(columns, "class") if groups is None else groups
    if kept["order"] == CANONICAL:
        order = table.canonical_order
        sorted_sample, sample = sample, np.empty_like(sample)
        sample[order[order < table.n_sample]] = sorted_sample
    labels = np.concatenate([sample, np.array(kept["others"], dtype=np.int64)])
    from hushtable.algorithms.earlier import Counterfeits

    fakes = kept["counterfeits"]
    partition = Partition(
        labels=labels,
        n_groups=int(kept["classes"]),
        levels=None if kept["levels"] is None else tuple(kept["levels"]),
        cuts=None if kept["cuts"] is None else tuple(np.array(cut, dtype=np.int64) for cut in kept["cuts"]),
        whole_numbers=bool(kept["whole_numbers"]),
        blank_unknown=bool(kept["blank_unknown"]),
        counterfeits=None
        if fakes is None
        else Counterfeits(
            np.array(fakes["groups"], dtype=np.int64),
            {name: np.array(codes, dtype=np.int64) for name, codes in fakes["codes"].items()},
        ),
        notes=notes,
        space={} if not (folder / SPACE).exists() else _space(_read(folder / SPACE)),
    )
    if (folder / CELLS).exists():
        recoded = _explicit(_read(folder / CELLS), table, labels)
        return partition, replace(recoded, concealed=recoding is Recoding.CONCEALED)
    if recoding is Recoding.NUMBERED:
        from hushtable.release.numbered import recode_numbered

        return partition, recode_numbered(table, partition)
    return partition, recode(table, partition, recoding)


def _small(values: AnyArray) -> pa.Array:
    return pa.array(np.asarray(values).astype(np.int32))


def _published_places(rows: AnyArray, n: int) -> pa.Array:
    """The published place of each source row; -1 for suppressed ones."""
    places = np.full(n, -1, dtype=np.int32)
    real = np.flatnonzero(np.asarray(rows) >= 0)
    places[np.asarray(rows)[real]] = real
    return pa.array(places)


def _inverse(places: IntArray, n: int) -> IntArray:
    rows = np.full(n, -1, dtype=np.int64)
    shown = np.flatnonzero(places >= 0)
    rows[places[shown]] = shown
    return rows


def _plain(table: pa.Table, name: str) -> IntArray:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)


def _space(table: pa.Table) -> dict[str, AnyArray]:
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def _cell_table(recoded: Recoded) -> pa.Table:
    """One row per quasi-identifier: the kind of its cells, their arrays as lists, and their published labels."""
    names = sorted({f.name for c in recoded.cells for f in fields(c)} - {"column"})
    columns: dict[str, pa.Array] = {"kind": pa.array([type(c).__name__ for c in recoded.cells])}
    for name in names:
        values = [_listed(c, getattr(c, name, None)) for c in recoded.cells]
        array = next((v for v in values if isinstance(v, np.ndarray)), None)
        kind = None if array is None else pa.list_(pa.from_numpy_dtype(array.dtype))
        columns[name] = pa.array([v.tolist() if isinstance(v, np.ndarray) else v for v in values], kind)
    texts = pa.array([[None if v is None else str(v) for v in p.to_pylist()] for p in recoded.published])
    return pa.table({**columns, "published": texts, "type": pa.array([str(p.type) for p in recoded.published])})


def _listed(cells: Cells, value: Any) -> Any:
    """Expand one level for all leaves to a level for each."""
    return np.full(cells.column.coded.size, value) if type(value) is int else value


def _kinds() -> dict[str, type[Cells]]:
    """All kinds of cells by name."""
    from hushtable.release.forms.listed import ListedCells

    list(registry.forms.values())  # importing forms defines their cells
    found: dict[str, type[Cells]] = {ListedCells.__name__: ListedCells}
    open_to: list[Any] = [Cells]
    while open_to:
        kinds = open_to.pop().__subclasses__()
        found |= {kind.__name__: kind for kind in kinds}
        open_to += kinds
    return found


def _explicit(saved: pa.Table, table: EncodedTable, labels: IntArray) -> Recoded:
    def array(name: str, value: Any) -> Any:
        kind = saved.schema.field(name).type
        return np.array(value, dtype=kind.value_type.to_pandas_dtype()) if isinstance(value, list) else value

    known = _kinds()
    cells, published = [], []
    for column, row in zip(table.quasi, saved.to_pylist(), strict=True):
        kind = known[row["kind"]]
        cells.append(kind(column, **{f.name: array(f.name, row[f.name]) for f in fields(kind) if f.name != "column"}))
        texts = pa.array(row["published"], pa.string())
        published.append(texts if row["type"] == "string" else texts.cast(pa.type_for_alias(row["type"])))
    return Recoded(labels, tuple(cells), tuple(published), derived=False)


def _write(table: pa.Table, path: Path) -> None:
    rows = BATCH_ROWS if path.name == ROWS else None
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    path.chmod(0o600)


def _read(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()
