"""What only a suppressed record holds is in no type of what is published, however the types were inferred."""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.algorithms.base import Recoding
from hushtable.api import run_plan
from hushtable.errors import DataError
from hushtable.io.files import read_table
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan
from hushtable.treatments.rounding import Rounding
from hushtable.treatments.top_bottom_coding import TopBottomCoding
from support_core import Given, plan_of, quasi, sensitive

D, T, UTC = dt.date, dt.datetime, dt.UTC
LABELS = (-1, 0, 0, 1, 1, 2, 2)
"""The first record is suppressed: where a type follows the first value, it would follow hers."""


@dataclass(frozen=True)
class Buckets(Given):
    """Given groups, published as anatomy does."""

    name: ClassVar[str] = "toy-buckets"
    recoding: ClassVar[Recoding] = Recoding.BUCKET


@dataclass(frozen=True)
class Numbered(Given):
    """Given groups, published as m-invariant does."""

    name: ClassVar[str] = "toy-numbered"
    recoding: ClassVar[Recoding] = Recoding.NUMBERED


WHOLE = [1, 1, 2, 2, 3, 3]
HOURS = [T(2020, 1, 1, hour) for hour in range(6)]
"""Published cells; those of a class are equal where that is possible, so that quasi-identifiers are exact."""

WORLDS: dict[str, tuple[list[Any], list[Any]]] = {
    "whole numbers": (WHOLE, [7, None, np.nan, 2.5, -0.0, 1e300, 2**53 + 1, 2**63, np.inf]),
    "whole numbers with gaps": ([1, None, 2, 2, 3, 3], [7, None, 2.5]),
    "large whole numbers": ([2**60, 2**60, 2, 2, 3, 3], [7, None, 2.5]),
    "fractions": ([1, 1, 2, 2, 3.5, 3.5], [7, None, 2.5]),
    "true and false": ([True, True, False, False, True, True], [True, None]),
    "text": (list("aabbcc"), ["c", None, np.nan]),
    "dates": ([D(2020, 1, day) for day in (1, 1, 2, 2, 3, 3)], [D(2021, 1, 1), None, pd.NaT]),
    "times": (HOURS, [HOURS[0], None, T(1066, 10, 14), pd.Timestamp("2020-01-01T00:00:00.123456789")]),
    "times of a zone": (
        [hour.replace(tzinfo=UTC) for hour in HOURS],
        [HOURS[0].replace(tzinfo=UTC), None, pd.Timestamp("2020-01-01T00:00:00.123456789Z")],
    ),
    "decimals": (
        [decimal.Decimal(text) for text in ("1.5", "1.5", "2", "2", "3", "3")],
        [decimal.Decimal(text) for text in ("2", "2.125", "123456789.1", "1e39")] + [None],
    ),
    "no values": ([None] * 6, [None, 1, 1.5, "x", True, D(2020, 1, 1), HOURS[0], decimal.Decimal("1.5")]),
}


def as_objects(cells: list[Any]) -> Any:
    return pd.Series(cells, dtype=object)


def as_categories(cells: list[Any]) -> Any:
    return pd.Series(cells).astype("category")


def as_nullable(cells: list[Any]) -> Any:
    return pd.Series(cells).convert_dtypes()


def as_arrow_backed(cells: list[Any]) -> Any:
    return pd.Series(cells).convert_dtypes(dtype_backend="pyarrow")


def as_small(cells: list[Any]) -> Any:
    found = pd.Series(cells)
    return pd.to_numeric(found, downcast="integer") if found.dtype.kind in "iuf" else found


FAMILIES = {
    "inferred": pd.Series,
    "objects": as_objects,
    "categories": as_categories,
    "nullable": as_nullable,
    "arrow": as_arrow_backed,
    "small": as_small,
}


def public(frame: Any, plan: Any, folder: Any) -> dict[str, Any]:
    """Everything public about a release: files, frames and their types, tables drawn from it."""
    release = run_plan(frame, plan)
    shown = release.frame
    found: dict[str, Any] = {"frame": _described(shown), "schema": str(release.table.schema)}
    if plan.algorithm.recoding is Recoding.LOCAL:
        found["sample"] = _described(release.sample())
    for format in ("csv", "parquet"):
        release.save(folder / format, format=format, overwrite=True)
        for file in (folder / format).iterdir():
            found[f"{format}/{file.name}"] = file.read_bytes()
    return found


def _described(frame: Any) -> tuple[str, str]:
    kinds = {name: _kind(dtype) for name, dtype in frame.dtypes.items()}
    return str(kinds), repr(frame.to_dict("list"))


def _kind(dtype: Any) -> str:
    return repr(dtype) if dtype != "category" else f"{dtype!r} of {dtype.categories.dtype!r}"


def plan_for(role: str, kind: Kind | None = None, **more: Any) -> Any:
    group = quasi("q", Kind.NOMINAL)
    if role == "quasi":
        return plan_of([KAnonymity(k=2)], (quasi("x", kind), group), Given(LABELS), suppression=0.5, **more)
    if role == "sensitive":
        columns = (group, sensitive("x", kind))
        return plan_of([KAnonymity(k=2)], columns, Given(LABELS), suppression=0.5, **more)
    if role == "bucket":
        columns = (group, ColumnPlan("x", Role.INSENSITIVE), sensitive("ill"))
        return plan_of([DistinctL(l=2)], columns, Buckets(LABELS), suppression=0.5, **more)
    if role == "numbered":
        columns = (group, sensitive("x", kind), sensitive("ill"))
        return plan_of([KAnonymity(k=2)], columns, Numbered(LABELS), suppression=0.5, **more)
    return plan_of(
        [KAnonymity(k=2)], (group, ColumnPlan("x", Role.INSENSITIVE)), Given(LABELS), suppression=0.5, **more
    )


def frame_of(cells: list[Any], family: str = "inferred") -> Any:
    """A frame with the suppressed record's cell first."""
    return pd.DataFrame({"q": list("zaabbcc"), "x": FAMILIES[family](cells), "ill": ["flu", *["flu", "HIV"] * 3]})


def of(frame: Any, plan: Any) -> Any:
    return frame[[column.name for column in plan.table.columns]]


BOTH_ROLES = [(family, "insensitive") for family in FAMILIES] + [("inferred", "bucket"), ("categories", "bucket")]


@pytest.mark.parametrize(("family", "role"), BOTH_ROLES)
@pytest.mark.parametrize("world", WORLDS)
def test_nothing_public_depends_on_the_type_of_a_suppressed_cell(world, family, role, tmp_path):
    published, hidden = WORLDS[world]
    plan = replace(plan_for(role), coins=Coins(b"1"))
    found = []
    for cell in hidden:
        try:
            frame = of(frame_of([cell, *published], family), plan)
        except (ValueError, TypeError, OverflowError, pa.ArrowException):
            continue  # pandas has no such column
        try:
            found.append(public(frame, plan, tmp_path))
        except DataError:
            continue  # refused, and nothing is published
    assert len(found) > 1
    for other in found[1:]:
        assert other == found[0]


@pytest.mark.parametrize("family", ["inferred", "objects", "nullable"])
@pytest.mark.parametrize(
    "world", ["whole numbers", "whole numbers with gaps", "large whole numbers", "fractions", "times", "decimals"]
)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "numbered"])
def test_columns_that_models_read(world, family, role, tmp_path):
    published, hidden = WORLDS[world]
    kind = Kind.DATE if world == "times" else Kind.NUMERIC
    plan = replace(plan_for(role, kind), coins=Coins(b"1"))
    found = []
    for cell in hidden:
        if isinstance(cell, float) and abs(cell) > 2**53:
            continue  # beyond what may be read as numbers
        try:
            found.append(public(of(frame_of([cell, *published], family), plan), plan, tmp_path))
        except DataError:
            continue
    assert len(found) > 1
    for other in found[1:]:
        assert other == found[0]


ANY_CELL = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=True),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
    st.booleans(),
    st.text("xyz", min_size=1, max_size=3),
    st.dates(),
    st.datetimes(),
)
SHOWN_CELLS = st.one_of(
    *(
        st.lists(st.one_of(st.none(), cell), min_size=6, max_size=6)
        for cell in (
            st.integers(-9, 9), st.integers(-9, 9).map(float), st.sampled_from([0.5, 1.0, -0.0]), st.booleans(),
            st.sampled_from("ab"), st.datetimes(), st.dates(), st.integers(2**53, 2**64 - 1),
        )
    )
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(shown=SHOWN_CELLS, hidden=st.lists(ANY_CELL, min_size=2, max_size=3), family=st.sampled_from(list(FAMILIES)))
def test_any_cell_of_a_suppressed_record(shown, hidden, family):
    """The published cells alone decide: compared where pandas itself leaves them as they are."""
    plan = plan_for("insensitive")
    found = {}
    for cell in hidden:
        try:
            frame = of(frame_of([cell, *shown], family), plan)
            if _changed(frame["x"], shown):
                continue
            release = run_plan(frame, plan)
        except (DataError, ValueError, TypeError, OverflowError, pa.ArrowException):
            continue
        chosen = frame["x"].dtype == object  # a conversion that pandas gave up leaves objects
        found.setdefault(chosen if family in ("nullable", "arrow") else None, []).append(
            (str(release.table.schema), release.table.to_pydict(), _described(release.frame))
        )
    for same in found.values():
        assert all(repr(one) == repr(same[0]) for one in same)


def _changed(cells: Any, shown: list[Any]) -> bool:
    """Whether pandas changed published cells: floats have no room for large numbers, and False is a category like 0."""
    pairs = [(old, new) for old, new in zip(shown, list(cells)[1:], strict=True) if isinstance(old, bool | int | float)]
    return any(new != old or isinstance(old, bool) is not isinstance(new, bool | np.bool_) for old, new in pairs)


@pytest.mark.parametrize("treatment", [Rounding(base=5), TopBottomCoding(top=2)])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.decimal128(6, 2)])
def test_treated_columns_of_declared_types(treatment, kind, tmp_path):
    """A treatment makes new values; their type is not declared by anybody."""
    columns = (quasi("q", Kind.NOMINAL), ColumnPlan("x", Role.INSENSITIVE, treatments=(treatment,)))
    plan = plan_of([KAnonymity(k=2)], columns, Given(LABELS), suppression=0.5)
    found = []
    for cell in (7, 2.5, None):
        cells = [None if c is None else decimal.Decimal(str(c)) for c in (cell, *WHOLE)]
        numbers = pa.array(cells) if pa.types.is_decimal(kind) else pa.array([cell, *WHOLE], pa.float64())
        table = pa.table({"q": list("zaabbcc"), "x": numbers.cast(kind)})
        release = run_plan(table, plan)
        release.save(tmp_path / "out", format="parquet", overwrite=True)
        found.append((release.table.schema, (tmp_path / "out" / "release.parquet").read_bytes()))
    assert all(one == found[0] for one in found)


def test_declared_types_stay():
    cells = {
        "float": pa.array([2.0, 1.0, 1.0], pa.float64()),
        "day": pa.array([HOURS[0]] * 3, pa.timestamp("ns")),
        "none": pa.array([None] * 3, pa.int8()),
        "money": pa.array([decimal.Decimal(1)] * 3, pa.decimal128(10, 2)),
    }
    table = pa.table({"q": list("aaa"), **cells})
    columns = (quasi("q", Kind.NOMINAL), *(ColumnPlan(name, Role.INSENSITIVE) for name in cells))
    plan = plan_of([KAnonymity(k=2)], columns, Given((0, 0, 0)))
    for frame in (table, pl.from_arrow(table)):
        release = run_plan(frame, plan)
        assert [field.type for field in release.table.schema][1:] == [column.type for column in cells.values()]
    chosen = pd.DataFrame(
        {
            "q": list("aaa"),
            "float": np.array([1, 2, 3], np.float32),
            "day": pd.array([1, 2, None], dtype="Int8"),
            "none": pd.array([1, 2, 3], dtype=pd.ArrowDtype(pa.float32())),
            "money": pd.array([decimal.Decimal(1)] * 3, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
        }
    )
    assert run_plan(chosen, plan).frame.dtypes[1:].tolist() == chosen.dtypes[1:].tolist()


@pytest.mark.parametrize("hidden", [D(2020, 1, 1), T(2020, 1, 1, tzinfo=UTC)])
def test_times_that_arrow_would_read_by_the_first_one_are_refused(hidden):
    plan = plan_for("insensitive")
    frame = of(frame_of([hidden, *HOURS], "objects"), plan)
    with pytest.raises(DataError, match=r"mixes (dates with and without a time of day|times of several time zones)"):
        run_plan(frame, plan)


@pytest.mark.parametrize("array", [list, np.array])
def test_arrays_have_one_type_for_all_cells(array):
    policy = ht.Policy(
        quasi={"x0": {"kind": "nominal"}}, insensitive=["x1"], models=[ht.KAnonymity(k=2)],
        algorithm=ht.Optimal(), suppression=0.2,
    )  # fmt: skip
    found = [
        ht.Anonymizer(policy).fit(array([[9, cell], *([n, n] for n in WHOLE)])).release_.table.schema
        for cell in (7, 2.5, np.nan)
    ]
    assert [str(schema) for schema in found] == [str(found[0])] * 3


def test_sheets_declare_no_types(tmp_path):
    """One text, fraction, date or gap in a column of numbers is not visible in any format."""
    plan, found = plan_for("insensitive"), []
    for cell in (7, 2.5, "n/a", None):
        book = openpyxl.Workbook()
        for row in (["q", "x"], *zip("zaabbcc", [cell, *WHOLE], strict=True)):
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
        table = read_table(tmp_path / "t.xlsx")
        release = run_plan(table, plan)
        for format in ("csv", "parquet"):
            release.save(tmp_path / format, format=format, overwrite=True)
        files = (file for format in ("csv", "parquet") for file in sorted((tmp_path / format).iterdir()))
        found.append([file.read_bytes() for file in files])
    assert all(files == found[0] for files in found)


def test_events_of_linked_tables():
    policy = LinkedPolicy(
        tables={
            "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
            "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}, "days": {"role": "insensitive"}}},
        },
        knows=1,
        models=[{"k-anonymity": {"k": 2}}],
        suppression=0.4,
    )
    found = []
    for days in (3, 2.5, None):
        people = pd.DataFrame({"id": [7, 8, 9, 10], "age": [30, 31, 52, 53]})
        reasons = ["cold", "cold", "burn", "cold", "cold"]
        visits = pd.DataFrame({"id": [7, 8, 8, 9, 10], "reason": reasons, "days": [1, 2, days, 1, 2]})
        release = anonymize_linked({"people": people, "visits": visits}, policy)
        assert release.tables["visits"].num_rows == 4
        found.append({name: str(table.schema) for name, table in release.tables.items()})
    assert found == [found[0]] * 3


def test_a_column_that_is_empty_once_published_is_judged_with_a_population():
    """Found by the drawing of features: pandas declares no type, so the published column has none."""
    people = pd.DataFrame({"a": [None] * 6 + ["x"], "b": list("uuuvvvv")})
    population = pd.DataFrame({"a": [None] * 6 + ["x", "y"], "b": list("uuuvvvvv")})
    models = [ht.KAnonymity(k=2), {"k-map": {"k": 2}}]
    more = {"algorithm": "optimal", "suppression": 0.2, "population": population}
    release = ht.anonymize(people, ht.Policy(quasi=["a", "b"], models=models, **more))
    assert release.verification.ok
    assert release.frame["a"].isna().all() and release.frame["b"].tolist() == list("uuuvvv")
