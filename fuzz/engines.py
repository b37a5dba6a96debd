"""Running a case on the engine that it names, and beside it on the local one, which must say the same."""

from __future__ import annotations

import csv
import math
import re
import tempfile
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import hushtable as ht
from fuzz.cases import Case, Row
from fuzz.cells import number
from hushtable.engines.stream import run_files
from hushtable.errors import HushtableError, IncompatibleError, UsageError
from hushtable.io.files import read_table

__all__ = ["Ran", "arrow", "close", "run", "unguarded"]

TYPES: dict[str, pa.DataType] = {
    "decimal": pa.decimal128(20, 2),
    "timestamp": pa.timestamp("us"),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
_spark: list[Any] = []


@dataclass
class Ran:
    """What came of a case.

    Attributes
    ----------
    releases : list of (published rows, source rows)
        What is to be checked; none where the case was refused.
    loose : bool
        Whether empty text and no value were written alike.
    wrong : list of str
        What engines disagree on.
    """

    releases: list[tuple[list[Row], list[Row]]]
    loose: bool = False
    wrong: list[str] = field(default_factory=list)


def arrow(rows: list[Row], types: dict[str, str]) -> pa.Table:
    """The rows as a table with the columns' types."""
    fields = []
    for name in rows[0] if rows else types:
        kind = types.get(name, "float64" if name == "probability" else "string")
        fields.append((name, TYPES[kind] if kind in TYPES else getattr(pa, kind.replace("bool", "bool_"))()))
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def run(case: Case) -> Ran:
    """Run a case; errors of hushtable are left to the caller."""
    files = case.engine == "stream" or case.options.get("saved") or case.population or case.background
    with tempfile.TemporaryDirectory(prefix="hushtable-fuzz-", dir=_MEMORY) if files else nullcontext("") as folder:
        place = Path(folder)
        for name, rows in (("population", case.population), ("background", case.background)):
            if rows is not None:
                pq.write_table(arrow(rows, case.types), place / f"{name}.parquet")
        policy = ht.Policy(**case.policy).based_in(place)
        return {"local": _local, "stream": _stream, "increment": _increment, "spark": _on_spark}[case.engine](
            case, policy, place
        )


def _local(case: Case, policy: ht.Policy, place: Path) -> Ran:
    table = arrow(case.rows, case.types)
    release = ht.anonymize(table, policy)
    found = Ran([(release.table.to_pylist(), case.rows)])
    if case.seed % 4 == 0 and not release.verify().ok:
        found.wrong.append("the verifier disagrees with itself")
    timed = "refine_seconds" in next(iter(case.policy["algorithm"].values()))
    if case.options.get("shuffled") and not timed:
        turned = table.take(pa.array(range(len(table) - 1, -1, -1))).select(table.column_names[::-1])
        # NaN is no other value than itself here, and 0 has no sign
        if list(map(_key, ht.anonymize(turned, policy).table.to_pylist())) != list(map(_key, found.releases[0][0])):
            found.wrong.append("the order of rows or columns shows in the release")
    if case.options.get("saved"):
        release.save(place / "saved")
        try:
            if not ht.verify(place / "saved" / "release.csv", policy).ok:
                found.wrong.append("what was saved does not verify")
        except UsageError as error:
            if error.code not in ("needs-companion", "incompatible", "population-wildcard"):
                raise
    return found


def _increment(case: Case, policy: ht.Policy, place: Path) -> Ran:
    cut = max(1, math.floor(len(case.rows) * case.options["share"]))
    old, new = case.rows[:cut], case.rows[cut:]
    first = ht.anonymize(arrow(old, case.types), policy)
    shown = first.table.to_pylist()
    found = Ran([(shown, old)])
    if new:
        batch = ht.increment(arrow(new, case.types), policy, first).table.to_pylist()
        found.releases += [(batch, new), ([*shown, *batch], case.rows)]
    return found


def _stream(case: Case, policy: ht.Policy, place: Path) -> Ran:
    read, written = case.options["read"], case.options["format"]
    half = math.ceil(len(case.rows) / case.options["files"])
    parts = [case.rows[i : i + half] for i in range(0, len(case.rows), half)]
    files = []
    for i, rows in enumerate(parts):
        files.append(place / f"in-{i}.{read}")
        if read == "csv":
            _write_csv(rows, files[-1])
        else:
            pq.write_table(arrow(rows, case.types), files[-1])
    twin = _twin(files, policy, place / "local", written)
    try:
        run_files(files, policy.plan(), place / "out", format=written, part_rows=case.options["part_rows"])
    except HushtableError as error:
        if type(error) is not type(twin) and not (isinstance(error, IncompatibleError) and "stream" in error.message):
            raise AssertionError(f"streaming says {type(error).__name__}, locally {_said(twin)}") from error
        raise
    found = Ran([], loose="csv" in (read, written))
    if isinstance(twin, HushtableError):
        return Ran([], wrong=[f"streaming released what locally is {_said(twin)}"])
    target = place / "out" / f"release.{written}"
    shown = sorted(target.glob("*")) if target.is_dir() else [target]
    rows = [row for file in shown for row in _read(file, case)]
    local = twin / f"release.{written}"
    if rows != _read(local, case) or (
        not target.is_dir() and written == "csv" and local.read_bytes() != target.read_bytes()
    ):
        timed = "refine_seconds" in next(iter(case.policy["algorithm"].values()))
        found.wrong += [] if timed else ["streaming does not publish what the local engine does"]
    found.releases.append((rows, case.rows))
    return found


def _said(twin: Any) -> str:
    return type(twin).__name__ if isinstance(twin, HushtableError) else "a release"


def _twin(files: list[Path], policy: ht.Policy, target: Path, format: str) -> Path | HushtableError:
    try:
        table = pa.concat_tables([read_table(file) for file in files], promote_options="permissive")
        ht.anonymize(table, policy).save(target, format=format)
    except HushtableError as error:
        return error
    return target


def _write_csv(rows: list[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow([_text(v) for v in row.values()])


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _read(path: Path, case: Case) -> list[Row]:
    """A published file as rows, by the csv module; signs against spreadsheet formulas are taken off if asked for."""
    if path.suffix == ".parquet":
        rows: list[Row] = pq.read_table(path, partitioning=None).to_pylist()
        return rows if case.options["read"] == "parquet" else [_typed(row, case) for row in rows]
    with path.open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines))
    if "output" in case.policy:
        found = [{n: unguarded(v) for n, v in row.items()} for row in found]
    return [_typed(row, case) for row in found]


def unguarded(text: str) -> str:
    """A cell of a published CSV file without the sign against spreadsheet formulas."""
    risky = re.match(r"''*([\t\r\n]|[\s\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])", text)
    plain = number(text[1:]) is not None and text[1:] == text[1:].strip()
    return text[1:] if risky and not plain else text


def _typed(row: Row, case: Case) -> Row:
    quasi = [name for name, column in case.policy["columns"].items() if column["role"] == "quasi"]
    found = {}
    for name, text in row.items():
        reader = {"int64": int, "float64": float}.get(case.types.get(name, ""), str)
        found[name] = None if text in ("", None) else text if name in quasi else reader(text)
    return found


def _on_spark(case: Case, policy: ht.Policy, place: Path) -> Ran:
    spark = _session()
    table = arrow(case.rows, case.types)
    try:
        local: Any = ht.anonymize(table, policy).table.to_pylist()
    except HushtableError as error:
        local = error
    settings = {f"spark.hushtable.{name}": str(value) for name, value in case.options.items()}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        release = ht.anonymize(spark.createDataFrame(table), policy)
        rows = release.frame.toArrow().to_pylist()
        release.unpersist()
    except HushtableError as error:
        if type(error) is not type(local) and not (
            isinstance(error, IncompatibleError) and error.code == "spark-engine"
        ):
            raise AssertionError(f"Spark says {type(error).__name__}, locally {_said(local)}") from error
        raise
    finally:
        for name in settings:
            spark.conf.unset(name)
    if isinstance(local, HushtableError):
        return Ran([], wrong=[f"Spark released what locally is {_said(local)}"])
    found = Ran([(rows, case.rows)])
    timed = "refine_seconds" in next(iter(case.policy["algorithm"].values()))
    if Counter(map(_key, rows)) != Counter(map(_key, local)) and not timed:
        found.wrong.append("Spark does not publish what the local engine does")
    return found


def _key(row: Row) -> str:
    plain = {n: v if isinstance(v, str) or (x := number(v)) is None else Fraction(x) for n, v in row.items()}
    return repr(sorted((n, None if v != v else v) for n, v in plain.items()))


def _session() -> Any:
    """One small Spark for all cases of this process."""
    if not _spark:
        from hushtable.engines.spark.session import spark_session

        held = spark_session("local[1]")
        _spark.extend([held, held.__enter__()])
        settings = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}
        for name, value in settings.items():
            _spark[1].conf.set(name, value)
    return _spark[1]


def close() -> None:
    """End Spark, where it was started."""
    if _spark:
        _spark[0].__exit__(None, None, None)
        _spark.clear()
