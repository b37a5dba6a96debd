"""The streaming engine writes the same as the local engine, or refuses with a stated reason."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow import parquet as pq

from hushtable.algorithms.base import Algorithm
from hushtable.api import run_plan
from hushtable.engines import combined, emit, stream
from hushtable.errors import HushtableError, IncompatibleError
from hushtable.io import layout, runs
from hushtable.io.files import read_table
from hushtable.models.base import PrivacyModel
from hushtable.release.plan import Plan
from hushtable.testing.cases import Case
from hushtable.testing.release_checks import Answer
from hushtable.testing.require import require


@contextlib.contextmanager
def small_pieces(rows: int = 7) -> Iterator[None]:
    """Stream in pieces so small that every table has many."""
    before = combined.RUN_ROWS, runs.RANGE_BYTES, emit.MOST_BUCKETS, layout.GROUP_ROWS
    combined.RUN_ROWS, runs.RANGE_BYTES, emit.MOST_BUCKETS, layout.GROUP_ROWS = rows, 32 * rows, 3, rows - 2
    try:
        yield
    finally:
        combined.RUN_ROWS, runs.RANGE_BYTES, emit.MOST_BUCKETS, layout.GROUP_ROWS = before


def check_streamed(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """For the same file, plan and seed, both engines write the same bytes or refuse in the same way."""
    case = case.suited(algorithm)
    try:
        plan = case.plan(models, algorithm, suppression=suppression, seed=7)
    except IncompatibleError:
        return Answer.INCOMPATIBLE
    with TemporaryDirectory() as name, small_pieces():
        folder = Path(name)
        pq.write_table(case.table, folder / "t.parquet")
        if not stream.is_streamable(algorithm):
            _check_refused(folder, plan)
            return Answer.INCOMPATIBLE
        try:
            release = run_plan(read_table(folder / "t.parquet"), plan)
        except HushtableError as error:
            _check_same_error(folder, plan, error)
            return Answer.NOT_FOUND
        for format in ("csv", "parquet"):
            release.save(folder / f"local.{format}", format=format)
            stream.run_files([folder / "t.parquet"], plan, folder / f"stream.{format}", format=format)
            for file in (folder / f"local.{format}").iterdir():
                same = file.read_bytes() == (folder / f"stream.{format}" / file.name).read_bytes()
                require(same, f"streaming writes another {file.name}")
    return Answer.RELEASED


def _check_refused(folder: Path, plan: Plan) -> None:
    try:
        stream.run_files([folder / "t.parquet"], plan, folder / "out")
    except IncompatibleError:
        return
    require(False, f"{plan.algorithm.name} was streamed although it does not support that")


def _check_same_error(folder: Path, plan: Plan, error: HushtableError) -> None:
    try:
        stream.run_files([folder / "t.parquet"], plan, folder / "out")
    except HushtableError as found:
        require(str(found) == str(error), f"streaming ends with another error: {type(found).__name__}")
        require(sorted(p.name for p in folder.iterdir()) == ["t.parquet"], "a refused run leaves files behind")
        return
    require(False, "streaming makes a release although the local engine makes none")
