"""Attacks that read values off classes: homogeneity, similarity, negation, skewness."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_attacks import CATEGORIES, DISEASES, SUN_TABLE_3, correlated, people, policy, sun_table_2

import hushtable as ht
from hushtable import registry
from hushtable.attacks.homogeneity import agreed
from hushtable.attacks.negation import belief_after, diversity
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.errors import DataError, UsageError
from hushtable.table.stats import Histogram


def model(name, **values):
    return registry.models.build(name, values)


@pytest.fixture(scope="module")
def sun():
    return sun_table_2()


def test_rick_and_rudy_have_cancer(sun):
    """Table 3 against Table 2. Rick's 14246 is not in Table 1: the join is on published cells."""
    view = View.of(sun)
    column = view.table.sensitive[0]
    found = agreed(view, People.of_table(view, SUN_TABLE_3), view.histogram(column))
    named = [None if code < 0 else column.coded.values[int(code)].as_py() for code in found]
    assert named == ["Cancer", None, "Cancer", None]
    assert sun.attack("homogeneity", external=SUN_TABLE_3).successes == 2
    assert sun.attack("similarity", external=SUN_TABLE_3).successes == 2
    assert sun.attack("homogeneity").successes == 6


def test_rick_and_rudy_in_words(sun):
    text = str(sun.attack("homogeneity", external=SUN_TABLE_3).as_dict())
    assert "Rick" not in text and "Cancer" not in text and "14246" not in text


def test_a_planted_class_is_read_off():
    table = pa.table({"age": [20, 21, 22, 60, 61, 62], "zip": [1] * 6, "disease": ["HIV"] * 3 + ["Flu", "HIV", "Flu"]})
    result = ht.anonymize(table, policy([ht.KAnonymity(k=3)])).attack("homogeneity")
    assert (result.targets, result.successes, result.baseline) == (6, 3, 0.0)
    assert result.counts["attacked classes"] == 1 and result.lift == 0.5
    assert result.interval[0] < 0.5 < result.interval[1]


@pytest.mark.parametrize("name", ["homogeneity", "similarity"])
def test_diverse_classes_tell_nothing(name):
    models = [ht.KAnonymity(k=4), model("p-plus-sensitive", p=2)]
    result = ht.anonymize(people(400), policy(models, categories=True)).attack(name)
    assert result.rate == result.baseline == 0.0


def test_homogeneity_counts_like_a_loop():
    release = ht.anonymize(people(300, diseases=["Flu", "HIV"]), policy([ht.KAnonymity(k=2)]))
    rows = release.table.to_pylist()
    classes: dict = {}
    for row in rows:
        classes.setdefault((row["age"], row["zip"]), []).append(row["disease"])
    expected = sum(len(values) for values in classes.values() if len(set(values)) == 1)
    assert 0 < release.attack("homogeneity").successes == expected


def test_attacked_records_fall_with_k():
    """Wang Figure 4, in tendency: far apart ks, so that no accident decides."""
    table = correlated(2000)
    found = [ht.anonymize(table, policy([ht.KAnonymity(k=k)])).attack("homogeneity").successes for k in (2, 20, 300)]
    assert found[0] > found[1] > found[2] == 0


def test_outsiders_are_the_control():
    table = pa.table({"age": [20, 21, 60, 61], "zip": [1] * 4, "disease": ["HIV", "HIV", "Flu", "Cancer"]})
    release = ht.anonymize(table, policy([ht.KAnonymity(k=2)]))
    control = pa.table({"age": [20, 21, 60, 99], "zip": [1] * 4, "disease": ["HIV", "Flu", "Flu", "Flu"]})
    assert release.attack("homogeneity", control=control).control == 0.25
    assert release.attack("homogeneity").control is None


def test_similarity_sees_what_homogeneity_does_not():
    table = pa.table({"age": [20, 21, 60, 61], "zip": [1] * 4, "disease": ["HIV", "Cancer", "HIV", "Flu"]})
    release = ht.anonymize(table, policy([ht.KAnonymity(k=2)], categories=True))
    assert release.attack("homogeneity").successes == 0
    counts = release.attack("similarity").counts
    assert counts["records in one category"] == 2 and counts["classes in the first category alone"] == 1
    assert counts["classes with a category over half"] == 1


@pytest.mark.parametrize(("k", "p"), [(3, 2), (4, 2), (3, 3), (4, 3)])
def test_what_suns_models_rule_out(k, p):
    """p+ leaves no class in one category, alpha > 0 none wholly top secret (Table 10's settings)."""
    table = people(2000, seed=k * p)
    plus = ht.anonymize(table, policy([ht.KAnonymity(k=k), model("p-plus-sensitive", p=p)], categories=True))
    alpha = model("p-alpha-sensitive", p=p, alpha=1)
    weighed = ht.anonymize(table, policy([ht.KAnonymity(k=k), alpha], categories=True))
    plain = ht.anonymize(table, policy([ht.KAnonymity(k=k), model("p-sensitive", p=p)], categories=True))
    assert plus.attack("similarity").counts["classes in one category"] == 0
    assert weighed.attack("similarity").counts["classes in the first category alone"] == 0
    assert (k, p) != (3, 2) or plain.attack("similarity").counts["classes in one category"] > 0


def test_similarity_needs_categories():
    release = ht.anonymize(people(20), policy([ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="needs sensitivity categories, and column 'disease' has none") as caught:
        release.attack("similarity")
    assert caught.value.code == "no-categories"


@pytest.mark.parametrize("name", ["homogeneity", "negation", "skewness", "bayes-optimal"])
def test_a_table_without_sensitive_columns_is_refused(name):
    plain = ht.Policy(quasi=["age", "zip"], models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(people(20).select(["age", "zip"]), plain)
    with pytest.raises(UsageError, match="needs a sensitive column") as caught:
        release.attack(name)
    assert caught.value.code == "no-sensitive"


def test_an_external_table_without_the_columns_is_refused(sun):
    with pytest.raises(DataError, match="lacks the quasi-identifiers 'Country', 'Zip'"):
        sun.attack("homogeneity", external=SUN_TABLE_3.select(["Name", "Age"]))
    with pytest.raises(DataError, match="has no rows"):
        sun.attack("homogeneity", external=SUN_TABLE_3.slice(0, 0))


def test_don_loses_one_l_per_statement():
    don = Histogram.dense([[7, 6, 5, 3, 1, 1]])
    assert diversity(don, 1).tolist() == [3]
    assert diversity(don, 1, n=1).tolist() == [2]


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any), min_size=1, max_size=4),
    st.integers(0, 4),
)
def test_negation_against_its_description(counts, n):
    histogram = Histogram.dense(counts)
    expected, expected_l = [], []
    for row in counts:
        for i, own in enumerate(row):
            if own:
                others = sorted((c for j, c in enumerate(row) if j != i), reverse=True)
                expected.append(own / (own + sum(others[n:])))
        r = sorted((c for c in row if c), reverse=True)
        r = r[:1] + r[1 + n :]
        expected_l.append(max([l for l in range(1, len(r) + 1) if r[0] < 1.5 * sum(r[l - 1 :]) - 1e-9], default=0))
    assert np.allclose(belief_after(histogram, n), expected)
    assert diversity(histogram, 1.5, n).tolist() == expected_l


def test_negation_succeeds_on_two_values_and_fails_on_many():
    two = ht.anonymize(people(200, diseases=["Flu", "HIV"]), policy([ht.KAnonymity(k=5)])).attack("negation")
    assert two.rate == two.baseline == 1.0
    many = [ht.KAnonymity(k=5), model("distinct-l", l=3)]
    protected = ht.anonymize(people(200), policy(many)).attack("negation", n=1)
    assert protected.rate == protected.baseline == 0.0
    weak = ht.anonymize(people(200), policy([ht.KAnonymity(k=2)])).attack("negation", n=1)
    assert weak.rate > 0.3 and weak.baseline == 0.0 and weak.counts["l after"] <= weak.counts["l before"]


def test_skewness_finds_a_planted_crowd_and_nothing_under_beta_likeness():
    table = correlated(800)
    weak = ht.anonymize(table, policy([ht.KAnonymity(k=5)])).attack("skewness", factor=2)
    assert weak.rate > 0.9 and weak.baseline == 0.0
    safe = ht.anonymize(table, policy([ht.KAnonymity(k=5), model("beta-likeness", beta=0.9)]))
    assert safe.attack("skewness", factor=2).rate == 0.0
    assert len(CATEGORIES) * 2 == len(DISEASES)


def test_a_smaller_alp_leaves_fewer_attacked_records():
    """Wang Figures 4 and 9, in tendency: (alp, dif) below plain k-anonymity, and the smaller alp lower still."""
    generator = np.random.default_rng(6)
    n = 1500
    age = generator.integers(18, 90, n)
    ill = generator.uniform(size=n) < np.where(age > 60, 0.8, 0.1)
    table = pa.table({"age": age, "zip": generator.integers(1, 9, n), "disease": np.where(ill, "HIV", "Flu")})

    def attacked(*models):
        release = ht.anonymize(table, policy([ht.KAnonymity(k=3), *models]))
        view = View.of(release)
        histogram = view.histogram(view.table.sensitive[0])
        hiv = view.table.sensitive[0].coded.labels[0].index("HIV")
        return int(histogram.units[(histogram.values == hiv) & (histogram.lengths == 1)[histogram.groups]].sum())

    counts = [attacked(), *(attacked(model("alp-dif", alp={"HIV": alp}, dif={"HIV": 1.0})) for alp in (0.74, 0.7))]
    assert counts[0] > counts[1] > counts[2]


def test_values_that_a_taxonomy_file_does_not_have_are_covered_by_its_root_alone(tmp_path):
    (tmp_path / "zips.csv").write_text("".join(f"{z};{z[:3]};*\n" for z in ("14201", "14202", "14301", "14302")))
    table = pa.table({"zip": ["14201", "14202", "14301", "14302"], "disease": ["HIV", "HIV", "Flu", "Flu"]})
    quasi = {"zip": {"kind": "nominal", "hierarchy": str(tmp_path / "zips.csv"), "cells": "nodes"}}
    release = ht.anonymize(table, ht.Policy(quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=2)]))
    known = pa.table({"zip": ["14201", "14299"]})
    assert release.attack("homogeneity", external=known).successes == 1
    (tmp_path / "zips.csv").unlink()
    assert release.attack("homogeneity", external=known).successes == 1
