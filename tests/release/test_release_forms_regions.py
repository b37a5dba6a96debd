"""Round regions: bounds between neighbors, shared by both sides; nothing of the space is left out."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.algorithms.base import Partition
from hushtable.models.alp_dif import AlpDif
from hushtable.release.forms.regions import RegionCells, Regions
from hushtable.release.recode import recode
from hushtable.schema.columns import Role
from hushtable.table.encode import encode
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing.cases import random_case

PLAN = TablePlan((ColumnPlan("x", Role.QUASI), ColumnPlan("y", Role.QUASI)), cells=Regions())


def shown(values, k=3, **more):
    policy = ht.Policy(quasi=["x"], models=[ht.KAnonymity(k=k)], **more)
    return ht.anonymize(pa.table({"x": values}), policy)


def test_the_default_for_numbers_and_dates():
    ages = shown([21, 22, 24, 37, 38, 39, 61, 62, 64, 80, 81, 82])
    assert sorted(set(ages.table.column("x").to_pylist())) == ["< 30", ">= 80", "[30, 50)", "[50, 80)"]
    days = [datetime.date(2020, 3, 1) + datetime.timedelta(days=d) for d in (0, 1, 2, 400, 401, 402)]
    assert set(shown(days).table.column("x").to_pylist()) == {"< 2021-01-01", ">= 2021-01-01"}


def test_labels_are_published_as_before():
    assert set(shown(["a", "b", "c", "d"], k=2).table.column("x").to_pylist()) == {"{a, b}", "{c, d}"}


@given(st.integers(0, 60), st.sampled_from(["mondrian", "k-member", "mdav"]))
def test_no_bound_is_anybodys_value_unless_neighbours_leave_no_other(seed, algorithm):
    rng = np.random.default_rng(seed)
    table = pa.table({"x": rng.normal(50, 20, 60), "y": rng.exponential(3, 60)})
    policy = ht.Policy(quasi=["x", "y"], models=[ht.KAnonymity(k=4)], algorithm=algorithm)
    if algorithm == "mdav":  # publishes centroids, whatever the form
        return
    release = ht.anonymize(table, policy)
    for name, cells in zip(["x", "y"], release.recoded.cells, strict=True):
        assert isinstance(cells, RegionCells)
        bounds = np.concatenate([cells.floors, cells.ceilings])
        own = table.column(name).to_numpy()
        assert not np.isin(bounds[np.isfinite(bounds)], own).any()


@given(st.integers(0, 60), st.integers(2, 6))
def test_regions_of_cuts_tile_the_space(seed, k):
    """Whoever comes falls into exactly one region."""
    rng = np.random.default_rng(seed)
    table = pa.table({"x": rng.integers(0, 40, 80), "y": rng.normal(0, 9, 80)})
    release = ht.anonymize(table, ht.Policy(quasi=["x", "y"], models=[ht.KAnonymity(k=k)]))
    cells = release.recoded.cells
    for x, y in zip(rng.uniform(-50, 90, 200), rng.normal(0, 30, 200), strict=True):
        inside = cells[0].covers_new((), float(x)) & cells[1].covers_new((), float(y))
        assert inside.sum() == 1


@given(st.integers(0, 200))
def test_every_record_is_in_its_region(seed):
    case = random_case(seed, 40)
    numbers = [c for c in ("age", "height", "visit") if c in case.table.column_names]
    assume(numbers)
    policy = ht.Policy(quasi=numbers, models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(case.table.select(numbers), policy)
    labels = release.recoded.labels
    for cells in release.recoded.cells:
        assert cells.covers(labels, np.asarray(cells.column.codes, dtype=np.int64)).all()


def test_missing_values():
    both = shown([None, None, None, 30, 31, 32, 50, 51, 52], k=3)
    assert set(both.table.column("x").to_pylist()) == {None, "< 50", ">= 50"}
    mixed = shown([None, 30, 31, 50, 51, 52], k=3)
    assert set(mixed.table.column("x").to_pylist()) == {"*", ">= 50"}


def test_a_column_that_was_not_cut_tells_nothing():
    assert set(shown([1, 2, 3], k=3).table.column("x").to_pylist()) == {"*"}


def test_the_whole_column_covers_missing_values_too():
    """``*`` does not say that none is meant; models that need to know which class is whose must not rely on it."""
    release = shown([None, None, None, 30, 31, 32], k=3)
    assert set(release.table.column("x").to_pylist()) == {None, "*"}
    cells = release.recoded.cells[0]
    assert cells.covers(np.array([0, 1]), np.array([0, 0])).all()
    table = pa.table({"x": [None, None, 30, 31], "ill": ["a", "b", "a", "b"]})
    apart = ht.Policy(
        quasi=["x"], sensitive=["ill"], models=[ht.KAnonymity(k=2), AlpDif(alp={"a": 0.9}, dif={"b": 0.9})]
    )
    assert set(ht.anonymize(table, apart).table.column("x").to_pylist()) == {"*"}


@pytest.mark.parametrize("groups", [[0, 0, 1, 1], [0, 1, 0, 1]])
def test_there_is_no_day_after_the_last(groups):
    days = [datetime.date(1, 1, 1), datetime.date(2, 1, 1), datetime.date(9999, 12, 30), datetime.date(9999, 12, 31)]
    table = encode(pa.table({"x": days, "y": [1, 2, 1, 2]}), PLAN)
    cells = recode(table, Partition(np.array(groups), 2)).cells[0]
    assert cells.covers(np.array(groups), np.asarray(cells.column.codes, dtype=np.int64)).all()
    assert not any("[0001-01-01" in text or "9999-12-31)" in text for text in cells.labels().to_pylist())


def test_bounds_of_a_class_that_overlaps_others_depend_on_its_own_values():
    found = []
    for neighbour in (21.5, 21.75, 24.125):
        table = encode(pa.table({"x": [20.25, 30.5, neighbour, 40.5], "y": [1, 2, 1, 2]}), PLAN)
        found.append(recode(table, Partition(np.array([0, 0, 1, 1]), 2)).cells[0].labels().to_pylist()[0])
    assert len(set(found)) == 1


def test_numbers_that_are_no_measurements_keep_tight_ranges():
    large = [2**60, 2**60 + 1, 2**61, 2**61 + 1]
    assert set(shown(large, k=2).table.column("x").to_pylist()) == {
        f"[{2**60}, {2**60 + 1}]",
        f"[{2**61}, {2**61 + 1}]",
    }


def test_downcoding_finds_no_ends():
    rng = np.random.default_rng(3)
    table = pa.table({"x": rng.normal(50, 20, 400), "pay": rng.integers(0, 9, 400)})
    policy = ht.Policy(quasi=["x"], sensitive=["pay"], models=[ht.KAnonymity(k=4)])
    tight = ht.anonymize(table, policy.changed(cells="intervals")).attack("downcoding")
    regions = ht.anonymize(table, policy).attack("downcoding")
    assert tight.rate > tight.baseline
    assert regions.counts["columns with minimal cells"] == 0
    assert regions.rate == regions.baseline


@pytest.mark.parametrize("changed", [[37, 38, 39], [36, 38, 40]])
def test_values_behind_a_region_do_not_show(changed):
    """The bound lies between both classes wherever their values lie."""
    assert set(shown([21, 22, 29, *changed]).table.column("x").to_pylist()) == {"< 30", ">= 30"}


def test_a_large_number_of_a_suppressed_record_does_not_show():
    release = shown([21, 22, 24, 37, 38, 39, 2**60], suppression=0.2)
    assert release.table.num_rows == 6
    assert set(release.table.column("x").to_pylist()) == {"< 30", ">= 30"}


@given(st.integers(0, 10_000))
def test_cuts_do_not_depend_on_suppressed_values(seed):
    """Codes are those of the whole table, and cuts are chosen by those that are published."""
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(40)[:24], rng.permutation(40)[:24]
    # three corners: whichever column is cut first bounds two of them, and leaves the third open
    corner = 2 * (x > np.median(x)) + (y > np.median(y))
    _, groups = np.unique(corner[corner < 3], return_inverse=True)
    x, y = x[corner < 3], y[corner < 3]
    labels = np.concatenate([groups, [-1] * 12])
    found = []
    for turn in range(2):
        far = np.random.default_rng([seed, turn]).integers(-40, 60, (2, 12))
        table = pa.table({"x": np.concatenate([x, far[0]]), "y": np.concatenate([y, far[1]])})
        found.append(
            [c.to_pylist() for c in recode(encode(table, PLAN), Partition(labels, int(groups.max()) + 1)).published]
        )
    assert found[0] == found[1]
