"""The Anonymizer: fitted regions, new records, and what it refuses."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import compute, csv
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import hushtable as ht
from hushtable.errors import (
    DataError,
    IncompatibleError,
    ParameterError,
    PrivacyLeakWarning,
    UsageError,
    VerificationError,
)
from hushtable.rng import integers


def people(n: int, seed: int) -> pa.Table:
    return pa.table(
        {
            "age": integers(seed, "age", n, 18, 90),
            "city": pa.array(["ABCDEF"[i] for i in integers(seed, "city", n, 0, 6)]),
            "born": pa.array(
                [datetime.date(1900, 1, 1) + datetime.timedelta(int(d)) for d in integers(seed, "born", n, 0, 30000)]
            ),
            "disease": pa.array(["flu", "cold", "HIV"][i] for i in integers(seed, "disease", n, 0, 3)),
        }
    )


def policy(k: int = 5, **more) -> ht.Policy:
    return ht.Policy(
        quasi=["age", "city", "born"], sensitive=["disease"], models=[ht.KAnonymity(k=k), ht.DistinctL(l=2)], **more
    )


def naive_classes(table: pa.Table) -> dict[tuple, list[str]]:
    classes: dict[tuple, list[str]] = {}
    for row in table.to_pylist():
        classes.setdefault((row["age"], row["city"], row["born"]), []).append(row["disease"])
    return classes


def covers(cell: str, value: int) -> bool:
    if cell == "*":
        return True
    if cell.startswith("<"):
        return value < int(cell[2:])
    if cell.startswith(">="):
        return value >= int(cell[3:])
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return int(low) <= value < int(high)
    return int(cell) == value


def test_new_records_fall_into_fitted_regions_that_cover_them():
    anonymizer = ht.Anonymizer(policy(20)).fit(people(400, 1))
    new = people(3000, 2)
    out = anonymizer.transform(new)
    assert all(len(v) >= 20 and len(set(v)) >= 2 for v in naive_classes(out).values())
    ages = sorted(new["age"].to_pylist())
    cells = sorted(set(out["age"].to_pylist()))
    # regions tile the line: every age, also one that was never fitted, lies in some cell of its class
    assert all(any(covers(c, age) for c in cells) for age in [0, *ages, 130])
    assert sum(sum(covers(c, a) for a in ages) > 0 for c in cells) == len(cells)


def test_a_region_that_receives_too_few_is_refused():
    anonymizer = ht.Anonymizer(policy()).fit(people(400, 1))
    with pytest.raises(VerificationError, match="violates"):
        anonymizer.transform(people(12, 3))


def test_labels_that_were_never_fitted_are_refused_without_showing_them():
    anonymizer = ht.Anonymizer(policy()).fit(people(200, 1))
    new = people(200, 1).set_column(1, "city", pa.array(["CANARY"] * 200))
    with pytest.raises(DataError, match="'city' has 1 value that the fitted data did not have") as caught:
        anonymizer.transform(new)
    assert "CANARY" not in str(caught.value)
    with pytest.raises(DataError, match="missing values, but the fitted data had none"):
        anonymizer.transform(people(200, 1).set_column(0, "age", pa.array([None] * 200, pa.int64())))
    with pytest.raises(DataError, match="the column 'more', which the Anonymizer was not fitted with"):
        anonymizer.transform(people(200, 1).append_column("more", pa.array([1] * 200)))


def test_groups_that_overlap_tell_nothing_of_new_records():
    anonymizer = ht.Anonymizer(policy(algorithm=ht.Mondrian(mode="relaxed"))).fit(people(100, 1))
    with pytest.raises(IncompatibleError, match="overlap"):
        anonymizer.transform(people(100, 2))


def test_fit_transform_is_the_release_and_kinds_are_kept():
    table = people(300, 4)
    expected = ht.anonymize(table, policy()).frame
    assert ht.Anonymizer(policy()).fit_transform(table).equals(expected)
    frame = ht.Anonymizer(policy()).fit_transform(table.to_pandas())
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == list(range(len(frame)))
    assert isinstance(ht.Anonymizer(policy()).set_output(transform="polars").fit_transform(table), pl.DataFrame)
    assert isinstance(ht.Anonymizer(policy()).set_output(transform="pandas").fit(table).transform(table), pd.DataFrame)


def test_scikit_learn_manners():
    anonymizer = ht.Anonymizer(policy())
    assert anonymizer.get_params() == {"order": "published", "policy": policy(), "publish": True}
    assert anonymizer.set_params(policy=policy(7)).policy == policy(7)
    with pytest.raises(UsageError, match="no parameter 'k'"):
        anonymizer.set_params(k=3)
    with pytest.raises(UsageError, match="not fitted"):
        anonymizer.transform(people(10, 1))
    anonymizer.fit(people(200, 1)).transform(people(200, 1))
    # equal, though not the same object
    anonymizer.set_params(policy=policy(7)).transform(people(200, 1))
    with pytest.raises(UsageError, match=r"another policy\. Call fit again\."):
        anonymizer.set_params(policy=policy(8)).transform(people(200, 1))
    with pytest.raises(UsageError, match="'default', 'pandas' or 'polars'"):
        anonymizer.set_output(transform="xlsx")


def test_aligned_keeps_the_order_and_says_what_that_means():
    table = people(200, 5)
    release = ht.anonymize(table, policy(suppression=0.05))
    with pytest.warns(PrivacyLeakWarning, match="links every row"):
        aligned = release.aligned()
    kept = np.flatnonzero(release.kept)
    assert aligned["disease"].to_pylist() == table["disease"].take(kept).to_pylist()
    assert sorted(map(str, aligned.to_pylist())) == sorted(map(str, release.table.to_pylist()))
    assert len(kept) == release.table.num_rows == 200 - release.n_suppressed


def test_regions_whose_cells_overlap_need_models_that_survive_merging():
    """Missing values beside some others are published as the root, which covers every other region."""
    table = people(400, 1)
    ages = [None if i % 11 == 0 else age for i, age in enumerate(table.column("age").to_pylist())]
    table = pa.table({"age": ages, "pay": integers(1, "pay", 400, 0, 1000)})
    roles = {"quasi": ["age"], "sensitive": ["pay"]}
    rules = ht.Policy(**roles, models=[ht.KAnonymity(k=40)])
    assert "*" in ht.Anonymizer(rules).fit(table).transform(table)["age"].to_pylist()
    strict = ht.Policy(**roles, models=[ht.KAnonymity(k=40), ht.EpsM(eps=5, m=2)])
    fitted = ht.Anonymizer(strict).fit(table)
    with pytest.raises(IncompatibleError, match="'age' has missing values"):
        fitted.transform(table)
    known = table.filter(compute.is_valid(table["age"]))
    assert len(ht.Anonymizer(strict).fit(known).transform(known)) == len(known)


def test_regions_know_nothing_of_a_population(tmp_path):
    table = people(60, 2)
    csv.write_csv(people(600, 3).drop_columns(["disease"]), tmp_path / "all.csv")
    roles = {"quasi": ["age", "city", "born"], "sensitive": ["disease"]}
    rules = ht.Policy(**roles, models=[ht.KMap(k=3)], population=str(tmp_path / "all.csv"))
    with pytest.raises(IncompatibleError, match="k-map counts people outside the table"):
        ht.Anonymizer(rules).fit(table).transform(table)


def test_no_new_records():
    with pytest.raises(DataError, match="no rows"):
        ht.Anonymizer(policy()).fit(people(60, 2)).transform(people(60, 2).slice(0, 0))


def test_members_of_regions_are_told_apart_whatever_their_text():
    towns = ["a, b", "c", "a", "b, c", "null", "{d}"]
    table = pa.table({"town": towns * 4, "pay": list(range(24))})
    policy = ht.Policy(quasi=["town"], sensitive=["pay"], models=[ht.KAnonymity(k=8)], cells="sets")
    cells = ht.Anonymizer(policy).fit(table).transform(table)["town"].to_pylist()
    released = ht.anonymize(table, policy).table["town"].to_pylist()
    assert set(cells) == set(released)
    assert any("\\," in cell for cell in cells)


@pytest.mark.parametrize("far", [99, 23, 24, 33])
def test_values_of_suppressed_records_are_no_bounds(far):
    """What the fitted release did not publish does not show in later ones."""
    table = pa.table({"age": [20, 21, 22, 50, 51, 52, far], "note": list("abcdefg")})
    policy = ht.Policy(quasi=["age"], insensitive=["note"], models=[ht.KAnonymity(k=3)], suppression=0.2)
    anonymizer = ht.Anonymizer(policy).fit(table)
    assert anonymizer.release_.table.num_rows == 6
    later = pa.table({"age": [1, 2, 3, 90, 91, 92], "note": list("abcdef")})
    assert anonymizer.transform(later).column("age").to_pylist() == ["< 50"] * 3 + [">= 50"] * 3


def test_labels_of_suppressed_records_are_not_listed():
    jobs = ["a", "a", "b", "b", "secret", "x", "x", "y", "y"]
    policy = ht.Policy(quasi=["job"], models=[ht.KAnonymity(k=4)], suppression=0.2)
    anonymizer = ht.Anonymizer(policy).fit(pa.table({"job": jobs}))
    published = set(anonymizer.release_.table.column("job").to_pylist())
    later = set(anonymizer.transform(pa.table({"job": [j for j in jobs if j != "secret"]})).column("job").to_pylist())
    assert published == later == {"{a, b}", "{x, y}"}


def test_an_uncut_column_covers_its_missing_values():
    """Its cell is the root: beside the class of missing values, models that do not survive merging refuse it."""
    table = pa.table({"age": [None] * 40 + list(range(40)), "pay": integers(1, "pay", 80, 0, 1000)})
    roles = {"quasi": ["age"], "sensitive": ["pay"]}
    cells = ht.Anonymizer(ht.Policy(**roles, models=[ht.KAnonymity(k=40)])).fit(table).transform(table)["age"]
    assert set(cells.to_pylist()) == {None, "*"}
    fitted = ht.Anonymizer(ht.Policy(**roles, models=[ht.KAnonymity(k=40), ht.EpsM(eps=5, m=2)])).fit(table)
    with pytest.raises(IncompatibleError, match="'age' has missing values"):
        fitted.transform(table)


def test_new_records_have_no_counts():
    table = people(400, 1)
    fitted = ht.Anonymizer(policy(20, cells="counts")).fit(table)
    with pytest.raises(IncompatibleError, match="is published as counts"):
        fitted.transform(table)


def labelled(n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """People whose label follows from their age, nine times out of ten."""
    age, noise = integers(7, "age", n, 18, 90), integers(7, "noise", n, 0, 10) == 0
    frame = pd.DataFrame({"age": age, "city": list("abcdef") * (n // 6)}, index=np.arange(n) * 3 + 1)
    return frame, ((age > 50) ^ noise).astype(int)


REST = ht.Policy(rest="quasi", models=[ht.KAnonymity(k=10)])


def learner(anonymizer):
    return make_pipeline(anonymizer, OneHotEncoder(handle_unknown="ignore"), LogisticRegression())


def test_rows_and_labels_stay_together_in_a_pipeline():
    X, y = labelled()
    model = learner(ht.Anonymizer(REST, publish=False)).fit(X, y)
    assert model.score(X, y) > 0.85
    # one row, and ages that nobody had
    assert model.predict(pd.DataFrame({"age": [3], "city": ["a"]})) == [0]
    assert model.predict(pd.DataFrame({"age": [140], "city": ["a"]})) == [1]
    with pytest.warns(PrivacyLeakWarning, match="links every row to its person"):
        assert learner(ht.Anonymizer(REST, order="input")).fit(X, y).score(X, y) > 0.85


def test_labels_are_refused_in_published_order():
    X, y = labelled(60)
    for call in (ht.Anonymizer(REST).fit, ht.Anonymizer(REST).fit_transform, learner(ht.Anonymizer(REST)).fit):
        with pytest.raises(UsageError, match=r"labels y would not match them.*publish=False"):
            call(X, y)


def test_input_order_is_the_release_row_by_row():
    X, _ = labelled()
    anonymizer = ht.Anonymizer(REST, order="input")
    with pytest.warns(PrivacyLeakWarning):
        aligned = anonymizer.fit_transform(X)
    assert aligned.index.equals(X.index)
    assert sorted(map(tuple, aligned.to_numpy())) == sorted(map(tuple, anonymizer.release_.frame.to_numpy()))
    assert all(covers(cell, age) for cell, age in zip(aligned["age"], X["age"], strict=True))
    # the modeling view of the fitted rows has the same classes; its bounds may be others where nobody is in between
    free = anonymizer.set_params(publish=False).transform(X)
    assert all(covers(cell, age) for cell, age in zip(free["age"], X["age"], strict=True))
    assert (
        len(set(map(tuple, free.to_numpy())))
        == len(set(map(tuple, aligned.to_numpy())))
        == len(set(map(tuple, np.hstack([free.to_numpy(), aligned.to_numpy()]))))
    )
    short = REST.changed(suppression=0.3, models=[ht.KAnonymity(k=60)])
    strict = ht.Anonymizer(short, order="input").fit(X)
    if strict.release_.n_suppressed:
        with pytest.raises(UsageError, match="rows were suppressed"):
            strict.fit_transform(X)
    assert len(ht.Anonymizer(short, publish=False).fit_transform(X)) == len(X)


def test_rows_for_modelling_may_be_anything():
    X, _ = labelled()
    anonymizer = ht.Anonymizer(REST, publish=False).fit(X)
    new = pd.DataFrame({"age": [None, 55], "city": ["zebra", None]})
    cells = anonymizer.transform(new)
    assert cells["age"].isna().tolist() == [True, False] and covers(cells["age"][1], 55)
    assert cells["city"][0] == "*" and pd.isna(cells["city"][1])
    # algorithms that generalize whole columns, too
    hierarchies = {"age": {"intervals": [5, 10, 20]}}
    levels = ht.Policy(quasi=["age"], rest="insensitive", models=[ht.KAnonymity(k=10)], algorithm=ht.Datafly(),
                       hierarchies=hierarchies)  # fmt: skip
    wide = ht.Anonymizer(levels, publish=False).fit(X).transform(X.iloc[:1])
    assert wide["city"].tolist() == ["a"] and wide["age"].iloc[0] != X["age"].iloc[0]
    clusters = ht.Policy(quasi=["age"], rest="drop", models=[ht.KAnonymity(k=10)], algorithm=ht.Mdav())
    with pytest.raises(IncompatibleError, match="overlap"):
        ht.Anonymizer(clusters, publish=False).fit(X).transform(X)
    counted = ht.Anonymizer(REST.changed(cells="counts"), publish=False).fit(X)
    assert covers(counted.transform(X)["age"].iloc[0], X["age"].iloc[0])


def test_names_output_clone_pickle_and_repr():
    X, _ = labelled(120)
    anonymizer = ht.Anonymizer(REST, publish=False).set_output(transform="polars")
    assert repr(anonymizer) == "Anonymizer(policy=<policy of 0 columns>, publish=False)"
    assert isinstance(clone(anonymizer).fit_transform(X), pl.DataFrame)
    fitted = clone(anonymizer).set_output(transform="default").fit(X)
    assert fitted.feature_names_in_.tolist() == ["age", "city"] == fitted.get_feature_names_out().tolist()
    assert fitted.n_features_in_ == 2
    again = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(again.transform(X), fitted.transform(X))
    array = ht.Anonymizer(REST, publish=False).fit(X.to_numpy())
    assert array.get_feature_names_out().tolist() == ["x0", "x1"]
    assert isinstance(array.transform(X.to_numpy()), np.ndarray)
    shown = make_pipeline(ht.Anonymizer(REST, publish=False)).set_output(transform="pandas").fit_transform(X)
    assert isinstance(shown, pd.DataFrame)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": {"quasi": ["age"]}}, "must be a Policy. Got dict"),
        ({"order": "random"}, "must be 'published' or 'input'. Got 'random'"),
        ({"publish": "no"}, "must be a bool. Got 'no'"),
    ],
)
def test_wrong_parameters(parameters, message):
    X, _ = labelled(60)
    with pytest.raises(ParameterError, match=message):
        ht.Anonymizer(**{"policy": REST, **parameters}).fit(X)


TWO = ht.Policy(rest="quasi", models=[ht.KAnonymity(k=2)])
EXCEPTIONS = {
    "check_fit2d_1sample": "one person is not 2-anonymous: that is proved, and raised as Infeasible",
}
TEXT = "cells of regions are text, and this check subtracts them: it is run below with equality instead"
TEXT_CHECKS = (
    *("check_pipeline_consistency", "check_estimators_pickle", "check_transformer_data_not_an_array"),
    *("check_transformer_general", "check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    "check_fit_idempotent",
)


@pytest.mark.filterwarnings("ignore:Estimator Anonymizer does not inherit")
def test_scikit_learn_s_own_checks():
    expected = EXCEPTIONS | dict.fromkeys(TEXT_CHECKS, TEXT)
    check_estimator(ht.Anonymizer(TWO, publish=False), expected_failed_checks=expected, on_skip=None)


@pytest.mark.filterwarnings("ignore:Estimator Anonymizer does not inherit")
def test_scikit_learn_s_own_checks_with_equality_for_text(monkeypatch):
    compared = []

    def same(one, other, *_, **__):
        compared.append(len(one))
        pd.testing.assert_frame_equal(*(pd.DataFrame(np.asarray(array, dtype=object)) for array in (one, other)))

    for name in ("assert_allclose", "assert_allclose_dense_sparse"):
        monkeypatch.setattr(estimator_checks, name, same)
    check_estimator(ht.Anonymizer(TWO, publish=False), expected_failed_checks=EXCEPTIONS, on_skip=None)
    assert len(compared) > 10


def test_columns_that_are_not_published_are_not_returned_for_modelling():

    names = [f"n{i:07}" for i in range(40)]
    people = pd.DataFrame({"age": range(40), "note": ["secret"] * 40, "w": [1.5, 2.0] * 20, "who": names})
    roles = {"age": {"role": "quasi"}, "note": {"role": "drop"}, "w": {"role": "weight"}, "who": {"role": "identifier"}}
    policy = ht.Policy(columns=roles, models=[ht.KAnonymity(k=5)])
    made = ht.Anonymizer(policy, publish=False).fit(people).transform(people.head(3))
    assert list(made.columns) == ["age"]
    named = ht.Policy(columns={**roles, "who": {"role": "pseudonym"}}, models=[ht.KAnonymity(k=5)])
    with pytest.raises(ht.errors.IncompatibleError, match="does not apply treatments"):
        ht.Anonymizer(named, publish=False).fit(people).transform(people.head(3))
