"""Cells as numbers: shares of labels, middles and widths, the same for a release and for originals."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import hushtable as ht
from hushtable.encoding import CellEncoder
from hushtable.errors import DataError, UsageError

TREE = {"tree": {"Europe": ["France", "Spain"], "Asia": ["Japan"]}}


def people(n=120):
    return pa.table(
        {
            "age": [18 + (7 * i) % 60 for i in range(n)],
            "born": [datetime.date(1960, 1, 1) + datetime.timedelta(days=(97 * i) % 12000) for i in range(n)],
            "country": [["France", "Spain", "Japan", None][(i // 3) % 4] for i in range(n)],
            "odd": [["*", "{a, b}", "null", "a, b"][i % 4] for i in range(n)],
            "pay": [i % 2 for i in range(n)],
        }
    )


def released(cells):
    policy = ht.Policy(
        columns={
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 50]}},
            "born": {"role": "quasi", "hierarchy": {"dates": ["year", "century"]}},
            "country": {"role": "quasi", "hierarchy": TREE},
            "odd": {"role": "quasi", "hierarchy": {"tree": {"x": ["*", "{a, b}"], "y": ["null", "a, b"]}}},
            "pay": {"role": "sensitive"},
        },
        models=[ht.KAnonymity(k=5)],
        cells=cells,
    )
    return ht.anonymize(people(), policy)


QUASI = ["age", "born", "country", "odd"]


@pytest.mark.parametrize("cells", ["counts", "regions", "intervals", "sets", "nodes"])
def test_shares_sum_up_and_originals_are_exact(cells):
    release = released(cells)
    encoder = CellEncoder.of_release(release)
    names = encoder.get_feature_names_out().tolist()
    assert names[:4] == ["age", "age_width", "born", "born_width"]
    assert {"country=France", "country=Japan", "odd=*", "odd={a, b}", "odd=null", "odd=a, b"} <= set(names)
    block = pd.DataFrame(encoder.transform(release.table.select(QUASI)), columns=names)
    for column in ("country", "odd"):
        shares = block[[n for n in names if n.startswith((f"{column}=", f"{column}_missing"))]]
        assert np.allclose(shares.sum(axis=1), 1.0)
    exact = pd.DataFrame(encoder.transform(people().select(QUASI)), columns=names)
    assert (exact["age_width"] == 0).all() and exact["age"].tolist() == people()["age"].to_pylist()
    assert (exact["odd=*"] == np.array([v == "*" for v in people()["odd"].to_pylist()])).all()
    assert (exact["odd=null"] == np.array([v == "null" for v in people()["odd"].to_pylist()])).all()
    assert (exact["country=Spain"] == np.array([v == "Spain" for v in people()["country"].to_pylist()])).all()


def test_counts_keep_means():
    release = released({"counts": {"digits": 0, "dates": "day"}})
    found = CellEncoder.of_release(release).transform(release.table.select(QUASI))
    assert found[:, 0].mean() == pytest.approx(np.mean(people()["age"].to_pylist()))


def test_bins_share_a_cell():
    cells = pa.table({"x": ["[0, 10)", "[10, 20)", "[0, 20)", "20"]})
    encoder = CellEncoder(width=False, bins=2).fit(cells)
    assert encoder.get_feature_names_out().tolist() == ["x", "x_bin1", "x_bin2"]
    found = encoder.transform(cells)
    assert np.allclose(found[:, 1:].sum(axis=1), 1.0)
    assert found[0, 1:].tolist() == [1.0, 0.0] and found[3, 1:].tolist() == [0.0, 1.0]
    assert 0 < found[2, 1] < 1


def test_frames_of_any_kind():
    release = released("counts")
    table = release.table.select(QUASI)
    wanted = CellEncoder.of_release(release).transform(table)
    for frame in (table.to_pandas(), pl.from_arrow(table)):
        assert np.array_equal(CellEncoder(release.plan).fit_transform(frame), wanted)
    shown = CellEncoder(release.plan).set_output(transform="pandas").fit_transform(table)
    assert list(shown.columns) == CellEncoder(release.plan).fit(table).get_feature_names_out().tolist()
    assert isinstance(CellEncoder(release.plan).set_output(transform="polars").fit_transform(table), pl.DataFrame)
    with pytest.raises(UsageError, match="set_output accepts"):
        CellEncoder().set_output(transform="list")


def test_a_policy_says_what_nodes_are():
    columns = {"country": {"role": "quasi", "hierarchy": TREE}}
    policy = ht.Policy(columns=columns, models=[ht.KAnonymity(k=2)], cells="nodes")
    encoder = CellEncoder(policy).fit(pa.table({"country": ["Europe", "Japan"]}))
    assert encoder.transform(pa.table({"country": ["Europe"]})).tolist() == [[0.5, 0.0, 0.5]]


def test_missing_and_unknown_values():
    encoder = CellEncoder().fit(pa.table({"age": [20, 30, None], "job": ["a", None, "b"]}))
    names = ["age", "age_width", "age_missing", "job=a", "job=b", "job_missing"]
    assert encoder.get_feature_names_out().tolist() == names
    found = encoder.transform(pa.table({"age": pa.array([None, 21]), "job": pa.array(["z", None])}))
    assert found.tolist() == [[25.0, 0.0, 1.0, 0.0, 0.0, 0.0], [21.0, 0.0, 0.0, 0.0, 0.0, 1.0]]


def test_cells_that_were_not_fitted():
    encoder = CellEncoder().fit(pa.table({"age": ["< 20", "[20, 40)"]}))
    found = encoder.transform(pa.table({"age": ["[30, 32)", "< 20", "31"]}))
    assert found.tolist() == [[30.5, 1.0], [9.5, 19.0], [31.0, 0.0]]
    with pytest.raises(DataError):
        encoder.transform(pa.table({"age": ["old"]}))
    with pytest.raises(DataError, match="no column 'age'"):
        encoder.transform(pa.table({"x": [1]}))


def test_it_works_in_a_pipeline():
    release = released("counts")
    model = make_pipeline(CellEncoder(release.plan), StandardScaler(), LogisticRegression())
    model.fit(release.table.select(QUASI).to_pandas(), release.table["pay"].to_numpy())
    assert len(model.predict(people().select(QUASI).to_pandas())) == 120
    assert clone(model[0]).get_params()["width"] is True


def test_parameters():
    with pytest.raises(UsageError, match="'bins'"):
        CellEncoder(bins=-1).fit(pa.table({"x": [1]}))
    with pytest.raises(UsageError, match="no parameter"):
        CellEncoder().set_params(depth=3)
    with pytest.raises(NotFittedError):
        CellEncoder().transform(pa.table({"x": [1]}))
    assert repr(CellEncoder(bins=3)) == "CellEncoder(bins=3)"


SKIPPED = {"check_array_api_input"}


@pytest.mark.filterwarnings("ignore:Estimator CellEncoder does not inherit")
def test_conventions_of_scikit_learn():
    failed = {}
    for estimator, check in estimator_checks_generator(CellEncoder(), legacy=True):
        name = getattr(check, "func", check).__name__
        try:
            check(estimator)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    assert set(failed) <= SKIPPED, failed
