from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients, patients_policy
from hushtable.report.gather.columns import Binned, Bins, associations, binned_columns, cramers_v, spread


def twin(shares: list[list[float]], sizes: list[int]) -> list[float]:
    """Records per bin, one class at a time."""
    total = [0.0] * len(shares[0])
    for share, size in zip(shares, sizes, strict=True):
        for b, part in enumerate(share):
            total[b] += part * size
    return total


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "lattice-sweep", "mdav", "anti-unification"])
@pytest.mark.parametrize("cells", ["intervals", "nodes", "sets", "midpoint"])
def test_all_released_records_are_somewhere(algorithm: str, cells: str) -> None:
    policy = ht.Policy(**{**patients_policy(), "algorithm": {algorithm: {}}, "cells": cells})
    release = ht.anonymize(patients(300), policy)
    comparing = release.comparison()
    for name, binned in binned_columns(release, comparing, 5, named=False).items():
        if binned.shares is None:
            continue
        shown = binned.shares.sum(axis=1)
        assert np.all(shown <= 1 + 1e-9), name
        if not np.any(binned.bins.of_code < 0):
            assert np.allclose(shown, 1), name
        assert np.allclose(comparing.sizes @ binned.shares, twin(binned.shares.tolist(), comparing.sizes.tolist()))


@pytest.mark.parametrize(("algorithm", "cells"), [("mdav", "intervals"), ("mondrian", "midpoint")])
@pytest.mark.parametrize("kind", [pa.float64(), pa.date32()])
def test_a_column_without_any_value_is_all_gap(algorithm: str, cells: str, kind: pa.DataType) -> None:
    table = pa.table({"age": list(range(20)), "gone": pa.array([None] * 20, kind)})
    policy = ht.Policy(quasi=["age", "gone"], models=[ht.KAnonymity(k=2)], algorithm=algorithm, cells=cells)
    release = ht.anonymize(table, policy)
    binned = binned_columns(release, release.comparison(), 5, named=False)["gone"]
    assert binned.bins.labels == ("missing",) and binned.shares is not None and np.all(binned.shares == 1)


def test_a_cell_counts_evenly_for_what_it_covers() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "pay": list("abcd")})
    release = ht.anonymize(table, ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)]))
    halves = Bins(("low", "high"), np.array([0, 1, 1, 1]))
    assert spread(release.recoded.cells[0], halves).tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_a_centroid_is_where_it_is() -> None:
    table = pa.table({"age": [1, 3, 10, 30], "pay": list("abcd")})
    policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], algorithm="mdav")
    cells = ht.anonymize(table, policy).recoded.cells[0]
    assert sorted(cells.labels().to_pylist()) == [2, 20]
    ranges = Bins(("under 15", "15 and over"), np.array([0, 0, 0, 1]), np.array([15.0]))
    assert sorted(spread(cells, ranges).tolist()) == [[0.0, 1.0], [1.0, 0.0]]


def test_exact_releases_keep_every_association() -> None:
    table = pa.table({"a": list("xxyy") * 20, "b": list("ppqq") * 20, "c": list("uvuv") * 20, "s": list("mnmn") * 20})
    policy = ht.Policy(quasi=["a", "b", "c"], sensitive=["s"], models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(table, policy)
    comparing = release.comparison()
    binned = binned_columns(release, comparing, 5, named=False)
    found = associations(list(binned.values()), comparing.labels, comparing.sizes, None)
    assert {a.columns: round(a.before, 9) for a in found} == {
        ("a", "b"): 1, ("a", "c"): 0, ("a", "s"): 0, ("b", "c"): 0, ("b", "s"): 0, ("c", "s"): 1,
    }  # fmt: skip
    assert all(a.after == pytest.approx(a.before) for a in found)


def test_groups_of_a_bucketization_blur_the_sensitive_column_only() -> None:
    quasi = np.array([0, 0, 1, 1])
    columns = [
        Binned("q", Bins(("a", "b"), np.array([0, 1])), quasi, np.array([[1.0, 0.0], [0.0, 1.0]])),
        Binned("s", Bins(("x", "y"), np.array([0, 1])), np.array([0, 0, 1, 1])),
    ]
    labels, sizes = quasi, np.array([2, 2])
    (blurred,) = associations(columns, labels, sizes, np.array([0, 1, 0, 1]))
    assert (blurred.before, blurred.after) == (1.0, 0.0)
    (kept,) = associations(columns, labels, sizes, quasi)
    assert (kept.before, kept.after) == (1.0, 1.0)


def test_cramers_v_ignores_empty_rows_and_never_leaves_its_range() -> None:
    assert cramers_v(np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]])) == 1.0
    assert cramers_v(np.array([[3.0, 4.0]])) == 0.0
    assert cramers_v(np.zeros((2, 2))) == 0.0
