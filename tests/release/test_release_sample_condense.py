"""Condensed rows keep the means and covariances of classes in expectation, and follow from nothing of one person."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import DataError, IncompatibleError, UsageError
from hushtable.release.sample.condense import DOMINANT, eigen, moments_of

CROSS = np.repeat([[12.0, 22.0], [8.0, 18.0], [11.0, 19.0], [9.0, 21.0]], 2, axis=0)
"""By hand: means 10 and 20, variances (4*4 + 4*1)/8 = 2.5, covariance (4*4 - 4*1)/8 = 1.5."""


def people(n=120):
    luck = np.random.default_rng(5)
    age = luck.integers(20, 80, n)
    return pa.table(
        {
            "age": age,
            "pay": 1000 + 40 * age + luck.integers(0, 900, n),
            "height": np.round(luck.normal(170, 9, n), 1),
            "sex": luck.choice(["f", "m"], n),
            "ill": luck.choice(["flu", "cold", "HIV"], n),
            "visit": np.arange(n),
        }
    )


def released(table=None, quasi=("age", "pay", "height", "sex"), k=12, algorithm="mdav", **more):
    models = more.pop("models", [ht.KAnonymity(k=k)])
    policy = ht.Policy(
        quasi=list(quasi), sensitive=["ill"], insensitive=["visit"], models=models, algorithm=algorithm, **more
    )
    return ht.anonymize(people() if table is None else table, policy)


def slow_moments(group):
    """Mean, covariance, and whether columns are drawn apart, from the definitions."""
    mean, covariance = group.mean(axis=0), np.cov(group.T, bias=True).reshape(group.shape[1], -1)
    varying = np.flatnonzero(group.min(axis=0) != group.max(axis=0))
    inner = covariance[np.ix_(varying, varying)]
    spread = np.sqrt(np.diag(inner))
    correlation = inner / np.outer(spread, spread)
    if len(varying) and np.linalg.eigvalsh(correlation)[0] <= 1e-9:
        return mean, np.diag(np.diag(covariance)), True
    shares = [0.0]
    for record in group:
        away = (record - mean)[varying] / spread
        shares.append(float(away @ np.linalg.solve(correlation, away)) / len(group) if len(varying) else 0.0)
    if max(shares) > DOMINANT:
        covariance = np.diag(np.diag(covariance))
    return mean, covariance, max(shares) > DOMINANT


def covariance_of(moments, g):
    """What draws have in expectation: an even draw of half-width sqrt(3 v) has the variance v."""
    turned = moments.vectors[g] * moments.spreads[g][:, None]
    return (turned * moments.values[g]) @ turned.T


def test_worked_example():
    moments = moments_of(CROSS, np.array([0, 8]))
    assert moments.means.tolist() == [[10, 20]] and not moments.apart[0]
    assert np.allclose(covariance_of(moments, 0), [[2.5, 1.5], [1.5, 2.5]])
    # the eigenvectors are the diagonals: a draw half-way along both is the mean, one at an end is sqrt(3 * 1.6) away
    assert np.allclose(moments.draw_records(np.array([0]), np.array([[0.5, 0.5]])), [[10, 20]])
    assert np.allclose(np.sort(moments.values[0]), [0.4, 1.6])
    end = np.where(moments.values > 1, 0.0, 0.5)
    assert np.allclose(np.abs(moments.draw_records(np.array([0]), end) - [10, 20]), np.sqrt(2.5 * 3 * 1.6 / 2))


def test_draws_keep_mean_and_covariance_in_expectation():
    moments = moments_of(CROSS, np.array([0, 8]))
    # midpoints of a 400 x 400 grid stand for all draws: their moments are the integrals
    steps = (np.arange(400) + 0.5) / 400
    luck = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    drawn = moments.draw_records(np.zeros(len(luck), dtype=np.int64), luck)
    assert np.allclose(drawn.mean(axis=0), [10, 20])
    assert np.allclose(np.cov(drawn.T, bias=True), [[2.5, 1.5], [1.5, 2.5]], rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.lists(st.integers(-50, 50), min_size=d, max_size=d), min_size=3, max_size=12),
            min_size=1,
            max_size=3,
        )
    )
)
def test_moments_are_those_of_the_slow_twin(groups):
    records = np.concatenate([np.array(g, dtype=np.float64) for g in groups])
    offsets = np.concatenate([[0], np.cumsum([len(g) for g in groups])])
    moments = moments_of(records, offsets)
    for g, group in enumerate(groups):
        mean, covariance, apart = slow_moments(np.array(group, dtype=np.float64))
        assert np.allclose(moments.means[g], mean)
        if apart == bool(moments.apart[g]):  # near the bound, rounding decides
            assert np.allclose(covariance_of(moments, g), covariance, atol=1e-6)
        assert np.allclose(np.diag(covariance_of(moments, g)), np.diag(covariance), atol=1e-6)
        alone = moments_of(np.array(group, dtype=np.float64), np.array([0, len(group)]))
        assert np.array_equal(alone.vectors[0], moments.vectors[g])
        assert np.array_equal(alone.values[0], moments.values[g])


def test_eigen_is_that_of_lapack():
    luck = np.random.default_rng(1).normal(size=(50, 5, 5))
    matrices = luck @ luck.swapaxes(1, 2)
    values, vectors = eigen(matrices)
    assert np.allclose(np.sort(values), np.linalg.eigvalsh(matrices))
    assert np.allclose((vectors * values[:, None, :]) @ vectors.swapaxes(1, 2), matrices)


def test_nobody_lies_on_a_line_with_an_outlier():
    # without the rule every draw would have pay = 7/3 age: whoever knows the age of the fifth knows the pay
    group = np.array([[0.0, 0.0]] * 9 + [[3.0, 7.0]])
    moments = moments_of(group, np.array([0, 10]))
    assert moments.apart.all()
    drawn = moments.draw_records(np.zeros(50, dtype=np.int64), np.random.default_rng(0).random((50, 2)))
    assert np.abs(np.corrcoef(drawn.T)[0, 1]) < 0.5
    # nor on a plane, where a class has fewer people than columns
    assert moments_of(np.random.default_rng(0).normal(size=(5, 6)), np.array([0, 5])).apart.all()


def test_draws_stay_near_their_class():
    moments = moments_of(CROSS, np.array([0, 8]))
    drawn = moments.draw_records(np.zeros(999, dtype=np.int64), np.random.default_rng(0).random((999, 2)))
    assert np.all(np.abs(drawn - moments.means[0]) <= np.sqrt(3 * 2) * moments.spreads[0])


def test_rows_types_and_other_columns():
    release = released()
    drawn = release.condense()
    assert drawn.column_names == release.table.column_names and drawn.num_rows == 120
    assert [drawn.schema.field(n).type for n in ("age", "pay", "height")] == [pa.int64(), pa.int64(), pa.float64()]
    for name in ("ill", "visit"):
        assert sorted(drawn.column(name).to_pylist()) == sorted(release.table.column(name).to_pylist())
    assert drawn.column("age").to_pylist() == sorted(drawn.column("age").to_pylist())
    for name in ("age", "pay", "height"):
        was, now = people().column(name).to_numpy(), drawn.column(name).to_numpy()
        assert abs(now.mean() - was.mean()) < 0.15 * was.std() and abs(now.std() / was.std() - 1) < 0.15


@pytest.mark.parametrize("algorithm", ["mdav", "mondrian", "v-mdav"])
@pytest.mark.parametrize("cells", ["counts", "regions"])
def test_any_algorithm_and_model(algorithm, cells):
    models = [ht.KAnonymity(k=5), ht.DistinctL(l=2, on="ill")]
    release = released(algorithm=algorithm, cells=cells, models=models, suppression=0.5)
    drawn = release.condense()
    assert drawn.num_rows == release.table.num_rows
    assert set(drawn.column("sex").to_pylist()) <= {"f", "m"}


def test_the_secret_decides_and_nothing_else(monkeypatch, tmp_path):
    table = people()
    first = released(table).condense()
    turned = table.take(np.random.default_rng(0).permutation(120)).select(table.column_names[::-1])
    assert released(turned).condense().select(first.column_names).equals(first)
    monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / "another"))
    assert not released(table).condense().equals(first)


def test_drawing_again_with_other_columns_gives_no_other_draw():
    # two draws of one column could be averaged, and a column drawn with fewer others could show a hidden covariance
    release = released(people())
    every = release.condense()
    for columns in (["pay"], ["age", "pay"], ["height", "pay"]):
        assert sorted(release.condense(columns=columns)["pay"].to_pylist()) == sorted(every["pay"].to_pylist())


@pytest.mark.parametrize("change", [{"seed": 1}, {"suppression": 0.1}, {"cells": "intervals"}, {"missing": "wildcard"}])
def test_the_same_classes_under_another_policy_give_no_other_draw(change):
    """A seed that moves nobody gave new draws of the same moments, as many as one wanted, which could be averaged."""
    names = ["age", "pay", "height"]
    draws = [released(**more).condense().select(names).to_pydict() for more in ({}, change)]
    first, second = (sorted(zip(*drawn.values(), strict=True)) for drawn in draws)
    assert first == second


def test_equal_classes_and_other_tables_have_draws_of_their_own():
    """Equal draws would tell that two classes have the same values, or that nobody in a class has changed."""
    ages = [30, 34, 38, 42, 46, 50]
    table = pa.table({"age": ages * 4, "sex": ["f"] * 12 + ["m"] * 12, "ill": ["flu", "cold"] * 12,
                      "visit": list(range(24))})  # fmt: skip
    tree = {"sex": {"kind": "nominal"}, "age": {"kind": "numeric"}}
    policy = ht.Policy(quasi=tree, sensitive=["ill"], insensitive=["visit"], models=[ht.KAnonymity(k=12)])
    drawn = ht.anonymize(table, policy).condense().to_pydict()
    halves = [sorted(a for a, v in zip(drawn["age"], drawn["visit"], strict=True) if v // 12 == h) for h in (0, 1)]
    assert halves[0] != halves[1]
    grown = pa.table({"age": [30, 34, 38, 80, 84, 88], "visit": range(6), "ill": ["flu"] * 6})
    policy = ht.Policy(quasi=["age"], sensitive=["ill"], insensitive=["visit"], models=[ht.KAnonymity(k=3)])
    changed = grown.set_column(0, "age", pa.array([30, 34, 38, 80, 84, 87]))
    first, second = (ht.anonymize(t, policy).condense()["age"].to_pylist()[:3] for t in (grown, changed))
    assert first != second


def test_only_some_columns():
    release = released(cells="counts", algorithm="mondrian")
    drawn = release.condense(columns=["pay"])
    # the others are dealt from their counts
    assert set(drawn.column("age").to_pylist()) <= set(people().column("age").to_pylist())
    with pytest.raises(UsageError, match="'sex' is not a numeric"):
        release.condense(columns=["sex"])


def test_suppressed_people_do_not_matter():
    # the one far away is suppressed: drawn values stay where the others are
    table = people()
    ages = table.column("age").to_pylist()
    far = table.set_column(0, "age", pa.array([10**6, *ages[1:]]))
    policy = ht.Policy(
        columns={"age": {"role": "quasi", "hierarchy": {"intervals": [20]}}},
        rest="drop",
        models=[ht.KAnonymity(k=5)],
        algorithm="datafly",
        suppression=0.5,
    )
    release = ht.anonymize(far, policy)
    assert release.n_suppressed and max(release.condense().column("age").to_pylist()) < 200


def test_refused():
    with pytest.raises(IncompatibleError, match="smallest class has 2 rows"):
        released(k=2).condense()
    with pytest.raises(IncompatibleError, match="no equivalence classes to condense"):
        released(algorithm="anatomy", models=[ht.DistinctL(l=2, on="ill")]).condense()
    with pytest.raises(IncompatibleError, match="no numeric"):
        released(people().drop_columns(["age", "pay", "height"]), quasi=["sex"], algorithm="mondrian").condense()
    with pytest.raises(IncompatibleError, match="guard"):
        released(algorithm="mondrian", guard=["downcoding"]).condense()
    policy = ht.Policy(quasi=["age"], identifiers=["visit"], rest="drop", models=[ht.KAnonymity(k=4)], entity="visit")
    with pytest.raises(IncompatibleError, match="entity"):
        ht.anonymize(people(), policy).condense()
    gaps = people().set_column(0, "age", pa.array([None, *people().column("age").to_pylist()[1:]]))
    with pytest.raises(DataError, match="'age' has missing"):
        released(gaps).condense()
    assert released(gaps, cells="counts", algorithm="mondrian").condense(columns=["pay"]).num_rows == 120
    huge = people().set_column(0, "age", pa.array(2**60 + np.arange(120)))
    with pytest.raises(DataError, match="beyond"):
        released(huge).condense()
    vast = people().set_column(0, "age", pa.array(np.linspace(1e300, 1e308, 120)))
    with pytest.raises(DataError, match="'age' are too large for a covariance"):
        released(vast, algorithm="mondrian").condense()
    assert released(vast, algorithm="mondrian", cells="intervals").condense(columns=["pay"]).num_rows == 120
