"""The same table, policy and seed give the same bytes, whatever the form of the input."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.base import Algorithm
from hushtable.api import run_plan
from hushtable.engines.release import Release
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound, UsageError
from hushtable.kernels import compile as kernels
from hushtable.models.base import PrivacyModel, Stat
from hushtable.release.companion import companion_of, load_evidence, read_companion
from hushtable.release.plan import Plan
from hushtable.release.published import verify_published
from hushtable.release.verify import Verification
from hushtable.release.written import read_published
from hushtable.schema.columns import Missing
from hushtable.testing.cases import Case
from hushtable.testing.release_checks import Answer
from hushtable.testing.require import require


@contextlib.contextmanager
def forced_kernels(*, compiled: bool) -> Iterator[None]:
    """Run the compiled kernels, or their NumPy twins, regardless of the size of the table."""
    before = kernels.COMPILE_FROM, kernels.OFTEN
    kernels.COMPILE_FROM, kernels.OFTEN = (0 if compiled else 1 << 62), 1 << 62
    try:
        yield
    finally:
        kernels.COMPILE_FROM, kernels.OFTEN = before


def attempt(data: Any, plan: Plan) -> Release | Answer:
    """Return a release, or how it was refused."""
    try:
        return run_plan(data, plan)
    except Infeasible:
        return Answer.INFEASIBLE
    except NotFound:
        return Answer.NOT_FOUND
    except DataError as error:
        if error.code != "all-unknown":
            raise
        return Answer.INCOMPATIBLE


def _plan(models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, suppression: float) -> Plan | None:
    try:
        return case.plan(models, algorithm, suppression=suppression, seed=7)
    except IncompatibleError:
        return None


def _same(first: Release | Answer, second: Release | Answer, what: str) -> None:
    if isinstance(first, Answer) or isinstance(second, Answer):
        require(first == second, f"{what} changes the answer: {first} and {second}")
        return
    require(first.table.to_pylist() == second.table.to_pylist(), f"{what} changes the release")


def check_kernels(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """The compiled kernels and their NumPy twins lead to the same release."""
    case = case.suited(algorithm)
    plan = _plan(models, algorithm, case, suppression)
    if plan is None:
        return Answer.INCOMPATIBLE
    with forced_kernels(compiled=False):
        slow = attempt(case.table, plan)
    with forced_kernels(compiled=True):
        fast = attempt(case.table, plan)
    _same(slow, fast, "compiling the kernels")
    return slow if isinstance(slow, Answer) else Answer.RELEASED


_ROWS = {"seal": None, "made": None, "private_files": None}
"""The parts of a companion that depend on the order of the rows."""


def check_same_bytes(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Two runs, one on permuted rows, save identical files, which verify on their own.

    The companions differ only in which row is in which class.
    """
    case = case.suited(algorithm)
    plan = _plan(models, algorithm, case, suppression)
    if plan is None:
        return Answer.INCOMPATIBLE
    first, second = attempt(case.table, plan), attempt(_permuted(case), plan)
    _same(first, second, "the order of the rows")
    if isinstance(first, Answer) or isinstance(second, Answer):
        return Answer.INFEASIBLE if first is Answer.INFEASIBLE else Answer.NOT_FOUND
    with TemporaryDirectory() as folder:
        for format in ("csv", "parquet"):
            saved = [
                [_files(place) for place in (r.save(where, format=format), companion_of(where))]
                for r, where in ((first, Path(folder) / f"{format}0"), (second, Path(folder) / f"{format}1"))
            ]
            require(len(saved[0][0]) >= 3, "a saved release lacks its table, its policy or its evidence")
            require(saved[0][0] == saved[1][0], f"two runs save different bytes ({format})")
            kept = [{**json.loads(private["companion.json"]), **_ROWS} for _, private in saved]
            require(kept[0] == kept[1], f"two runs write different companions ({format})")
            if _tellable(first, plan):
                check_saved(Path(folder) / f"{format}0", format, first, plan)
    return Answer.RELEASED


def check_orders(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Neither the order of rows or columns nor an earlier run matters."""
    case = case.suited(algorithm)
    plan = _plan(models, algorithm, case, suppression)
    if plan is None:
        return Answer.INCOMPATIBLE
    first = attempt(case.table, plan)
    table = _permuted(case)
    _same(first, attempt(table, plan), "the order of the rows")
    _same(first, attempt(table.select(table.column_names[::-1]), plan), "the order of the columns")
    _same(first, attempt(case.table, plan), "an earlier run in the same process")
    return first if isinstance(first, Answer) else Answer.RELEASED


def check_frames(
    models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case, *, suppression: float = 0.0
) -> Answer:
    """Frames of pandas (with any index), polars and pyarrow give the same cells; the index is not published."""
    case = case.suited(algorithm)
    plan = _plan(models, algorithm, case, suppression)
    if plan is None:
        return Answer.INCOMPATIBLE
    first = attempt(case.table, plan)
    for what, frame in _frames(case).items():
        got = attempt(frame, plan)
        if isinstance(first, Answer) or isinstance(got, Answer):
            require(first == got, f"{what} changes the answer: {first} and {got}")
            continue
        require(_texts(first.table) == _texts(got.table), f"{what} changes the release")
        require(type(got.frame) is type(frame), f"{what}: the release is a different kind of frame")
        require(list(got.frame.columns) == first.table.column_names, f"{what}: different columns are published")
        if hasattr(got.frame, "index"):
            require(list(got.frame.index) == list(range(len(got.frame))), f"{what}: the index reveals something")
    return first if isinstance(first, Answer) else Answer.RELEASED


def _tellable(release: Release, plan: Plan) -> bool:
    """Whether the companion holds what the models need.

    It has no beliefs, no assignment of values to people, and no candidates of the population for empty cells.
    """
    needs = release.model.stats_needed()
    if Stat.BACKGROUND in needs or (Stat.POPULATION in needs and plan.table.missing is Missing.WILDCARD):
        return False
    return plan.table.entity is None or not release.model.histogram_keys()


def check_saved(folder: Path, format: str, release: Release, plan: Plan) -> None:
    """A saved release verifies with its companion, with the same achievements; without it too, unless it is needed."""
    apart = release.apart
    published = read_published(folder / f"release.{format}", plan.table if apart else None)
    for evidence in (read_companion(companion_of(folder), folder), load_evidence(folder / "release.json")):
        try:
            found = verify_published(
                published,
                plan.table,
                release.model,
                evidence,
                recoding=plan.algorithm.recoding,
                suppression=plan.suppression,
            )
        except UsageError as error:
            concealed = release.recoded.concealed and error.code == "needs-input"
            if not concealed and ("reference" in evidence or error.code != "needs-companion"):
                raise
        else:
            _check_found(found, release, format)


def _check_found(found: Verification, release: Release, format: str) -> None:
    require(
        found.ok, f"a saved release ({format}) does not verify: {[e.sentence() for e in found.evidence if not e.ok]}"
    )
    require(found.classes == release.verification.classes, f"a saved release ({format}) has different classes")
    for here, there in zip(found.evidence, release.verification.evidence, strict=True):
        close = np.isclose(here.achieved, there.achieved, rtol=1e-9)
        require(close, f"{here.model}: {there.achieved} was achieved, but the saved file shows {here.achieved}")


def _permuted(case: Case) -> pa.Table:
    order = np.argsort(rng.uniform(case.seed, "permuted", case.table.num_rows), kind="stable")
    return case.table.take(pa.array(order))


def _frames(case: Case) -> dict[str, Any]:
    """The same table as frames of other libraries, with indices that are permuted, repeated, filtered or nested."""
    import pandas as pd
    import polars as pl

    plain = case.table.to_pandas(integer_object_nulls=True)
    rows = len(plain)
    twice = pd.concat([plain, plain], ignore_index=True)
    return {
        "polars": pl.from_arrow(case.table),
        "pandas": plain,
        "a permuted index": plain.set_axis(pd.Index(range(rows)[::-1]), axis=0),
        "a repeated index": plain.set_axis(pd.Index([0] * rows), axis=0),
        "a filtered index": twice[twice.index >= rows],
        "a MultiIndex": plain.set_axis(pd.MultiIndex.from_arrays([["a"] * rows, range(rows)]), axis=0),
        "an index named like a column": plain.set_axis(pd.Index(range(rows), name="disease"), axis=0),
    }


def _texts(table: pa.Table) -> list[tuple[str, ...]]:
    """Rows as text: libraries differ in the types of numbers with missing values."""
    columns = [[_text(v) for v in column.to_pylist()] for column in table.columns]
    return sorted(zip(*columns, strict=True))


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
