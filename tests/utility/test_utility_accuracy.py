"""accuracy, accuracy-original, accuracy-majority."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from support_utility import comparisons, make_coded, make_comparison

from hushtable import rng
from hushtable.errors import ParameterError
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind
from hushtable.utility.accuracy import Accuracy
from hushtable.utility.accuracy_majority import AccuracyMajority
from hushtable.utility.accuracy_original import AccuracyOriginal
from hushtable.utility.classification import Task


def people(n=400, labels=None, seed=0, numeric=False):
    """The target follows the first column except for every tenth record."""
    u = rng.integers(3, "people", n, 0, 20)
    noise = rng.integers(3, "noise", n, 0, 10) == 0
    target = ((u >= 10) ^ noise).astype(int)
    city = rng.integers(3, "city", n, 0, 3)
    age, place = make_coded(Kind.NUMERIC, 20, False), make_coded(Kind.NOMINAL, 3, False)
    columns = [(u, age, Ranges(), 1.0), (city, place, Sets(), 1.0)]
    sensitive = [(target, make_coded(Kind.NOMINAL, 2, False))]
    if numeric:
        sensitive.insert(0, (u, make_coded(Kind.NUMERIC, 20, False)))
    given_labels = labels if labels is not None else u * 3 + city
    return make_comparison(columns, given_labels, sensitive=sensitive, seed=seed), u


@pytest.mark.parametrize("model", ["logistic", "tree"])
def test_useful_release_lies_between_the_baselines(model):
    untouched, u = people()
    best = AccuracyOriginal(model=model).compute(untouched)
    assert best > 0.85
    assert Accuracy(model=model).compute(untouched) == best
    blocks, _ = people(labels=u // 5)
    assert abs(Accuracy(model=model).compute(blocks) - best) < 0.1
    one, _ = people(labels=np.zeros(400))
    assert Accuracy(model=model).compute(one) == AccuracyMajority().compute(one) < 0.7


def test_training_on_the_release_only():
    # classes of the release carry no information on the target where the suppressed half held it
    comparison, u = people()
    hidden = replace(comparison, labels=np.where(u >= 10, -1, comparison.labels))
    assert Accuracy(model="tree").compute(hidden) < AccuracyOriginal(model="tree").compute(hidden) - 0.2
    assert AccuracyOriginal(model="tree").compute(hidden) == AccuracyOriginal(model="tree").compute(comparison)


@pytest.mark.parametrize("measure", [Accuracy(), Accuracy(model="tree"), AccuracyOriginal(), AccuracyMajority()])
def test_the_order_of_records_does_not_matter(measure):
    comparison, _ = people()
    order = np.argsort(rng.uniform(1, "order", 400))
    columns = [(c.codes[order], c.coded, c.form, c.weight) for c in comparison.table.quasi]
    target = comparison.table.sensitive[0]
    shuffled = make_comparison(columns, comparison.labels[order], sensitive=[(target.codes[order], target.coded)])
    assert measure.compute(shuffled) == measure.compute(comparison)


def test_the_seed_decides_the_split():
    first, _ = people(seed=0)
    second, _ = people(seed=1)
    a, b = Task.of(first, None, 0.3), Task.of(second, None, 0.3)
    assert a is not None
    assert b is not None
    assert not np.array_equal(a.tested, b.tested)
    assert 0.2 < a.tested.mean() < 0.4


def test_majority_by_hand():
    comparison, _ = people()
    task = Task.of(comparison, "s0", 0.3)
    assert task is not None
    train, test = task.target[~task.tested].tolist(), task.target[task.tested].tolist()
    guess = max([0, 1], key=train.count)
    assert AccuracyMajority(target="s0").compute(comparison) == pytest.approx(test.count(guess) / len(test))


def test_numeric_targets_are_cut_at_their_quartiles():
    comparison, u = people(numeric=True)
    task = Task.of(comparison, "s0", 0.3)
    assert task is not None
    below = np.array([(u < value).sum() for value in u])
    assert task.target.tolist() == (4 * below // 400).tolist()
    assert set(task.target.tolist()) == {0, 1, 2, 3}


@settings(max_examples=25)
@given(comparisons())
def test_any_release_gives_a_share_or_nan(comparison):
    for measure in (Accuracy(model="tree"), AccuracyOriginal(model="tree"), AccuracyMajority()):
        got = measure.compute(comparison)
        assert math.isnan(got) or 0 <= got <= 1
    task = Task.of(comparison, None, 0.3)
    assert task is not None
    known = [code - int(comparison.table.sensitive[0].coded.missing) for code in comparison.table.sensitive[0].codes]
    assert task.target.tolist() == known
    trains = any(t >= 0 and not tested for t, tested in zip(known, task.tested, strict=True))
    tests = any(t >= 0 and tested for t, tested in zip(known, task.tested, strict=True))
    assert math.isnan(AccuracyMajority().compute(comparison)) == (not (trains and tests))


def test_without_a_sensitive_column_a_target_is_asked_for():
    release = make_comparison([([0, 1], make_coded(Kind.NOMINAL, 2, False), Sets(), 1.0)], [0, 0])
    for measure in (Accuracy(), AccuracyOriginal(), AccuracyMajority()):
        with pytest.raises(ParameterError, match=r"no target to predict.*target='income'"):
            measure.compute(release)


def test_a_target_among_the_other_columns_is_predicted_like_a_sensitive_one():
    comparison, _ = people()
    (target,) = comparison.table.sensitive
    bare = replace(comparison, table=replace(comparison.table, sensitive=()), others={"label": target})
    for measure in (Accuracy, AccuracyOriginal, AccuracyMajority):
        assert measure(target="label").compute(bare) == measure().compute(comparison)
    assert Accuracy(target="label").about(bare) == "predicting 's0' with a decision tree of depth at most 10"
    assert AccuracyOriginal(model="logistic").about(comparison) == "predicting 's0' with logistic regression"
    assert AccuracyMajority().about(comparison) == "predicting 's0'"


def test_undefined_where_everything_is_suppressed():
    comparison, _ = people(labels=np.full(400, -1))
    assert math.isnan(Accuracy().compute(comparison))
    assert AccuracyOriginal().compute(comparison) > 0.85


def test_unknown_target_is_named():
    comparison, _ = people()
    with pytest.raises(ParameterError, match=r"target 's1' is not a sensitive or insensitive column\. Known: s0\."):
        Accuracy(target="s1").compute(comparison)
