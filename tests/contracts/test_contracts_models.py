"""Every registered model keeps what it declares."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import pytest

from hushtable.models.base import Monotone, SensitiveModel
from hushtable.models.k_anonymity import KAnonymity
from hushtable.params import AtLeast
from hushtable.registry import models
from hushtable.testing import (
    cases,
    check_all_of,
    check_declaration,
    check_monotone,
    check_root,
    check_score,
    model_examples,
    random_case,
)

NAMES = list(models)


def examples_of(name, tables, seed=0, limit=3, **how):
    for case in cases(tables, seed):
        for example in model_examples(models[name], case, limit, **how):
            yield example, case


@pytest.mark.parametrize("name", NAMES)
def test_parameters_can_be_written_down(name):
    examples = list(examples_of(name, 3))
    assert len(examples) >= 3
    for example, _ in examples:
        check_declaration(example)


@pytest.mark.parametrize("name", NAMES)
def test_scores(name):
    assert sum(check_score(example, case) for example, case in examples_of(name, 4)) > 50


@pytest.mark.parametrize("name", NAMES)
def test_monotonicity_survives_falsification(name):
    tried = sum(check_monotone(example, case) for example, case in examples_of(name, 5))
    # a case has too few people for models that draw some; tests/algorithms/test_algorithms_safe_pub.py tries one
    draws = any(example.drawing() for example, _ in examples_of(name, 5))
    assert tried > 50 or models[name].monotone is Monotone.NONE or draws


@pytest.mark.parametrize("name", NAMES)
def test_feasible_is_the_whole_table_as_one_class(name):
    for example, case in examples_of(name, 4):
        check_root(example, case)
    refused = list(examples_of(name, 9, limit=2, feasible=False))
    tried = sum(check_root(example, case) for example, case in refused)
    # some models always accept the whole table, and those that do not survive merging need not prove anything
    assert tried > 0 or not refused or Monotone.MERGE not in models[name].monotone
    assert refused or name not in {"k-anonymity", "distinct-l", "entropy-l", "alpha-k", "k-map", "average-risk"}


@pytest.mark.parametrize("pair", list(pairwise([*NAMES, NAMES[0]])), ids="+".join)
def test_all_of_two_models(pair):
    tried = 0
    for case in cases(3, seed=20):
        chosen = [model_examples(models[name], case, 1)[0] for name in pair if model_examples(models[name], case, 1)]
        tried += check_all_of(chosen, case) if len(chosen) == 2 else 0
    assert tried > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scores_and_monotonicity_on_many_tables(name):
    for example, case in examples_of(name, 60, seed=1000, limit=6):
        check_score(example, case)
        check_root(example, case)
        check_monotone(example, case)


@dataclass(frozen=True)
class Liar(SensitiveModel):
    """At most ``most`` different values, which declares too much: every flag."""

    most: Annotated[int, AtLeast(1), "greatest number of different values"]

    name: ClassVar[str] = "liar"
    monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE | Monotone.SUPPRESS
    sense: ClassVar[str] = "<="

    @property
    def bound(self):
        return self.most

    def score(self, groups, table):
        return self.histogram(groups).distinct().astype(np.float64)


@dataclass(frozen=True)
class Even(KAnonymity):
    """An even number of people: removing one breaks it; merging does not."""

    name: ClassVar[str] = "even"
    monotone: ClassVar[Monotone] = Monotone.SUPPRESS

    def score(self, groups, table):
        return np.where(groups.sizes % 2 == 0, groups.sizes, 0.0)


@dataclass(frozen=True)
class Jealous(KAnonymity):
    """A groupwise model whose verdict depends on the other groups."""

    name: ClassVar[str] = "jealous"

    def score(self, groups, table):
        return np.where(groups.sizes >= groups.sizes.max(initial=0), groups.sizes, 0.0)


@dataclass(frozen=True)
class Boastful(KAnonymity):
    """Promises groups that are greater than those it accepts."""

    name: ClassVar[str] = "boastful"

    def min_group_size(self):
        return self.k + 1


def test_a_false_declaration_of_merging_is_found():
    with pytest.raises(AssertionError, match="declares ADD, but"):
        check_monotone(Liar(most=2, on="disease"), random_case(1))


def test_a_false_declaration_of_suppressing_is_found():
    with pytest.raises(AssertionError, match="declares SUPPRESS, but"):
        check_monotone(Even(k=2), random_case(1))


def test_a_false_declaration_is_found_for_whole_tables():
    average = models["average-risk"](average=0.4)

    @dataclass(frozen=True)
    class Brave(type(average)):
        monotone: ClassVar[Monotone] = Monotone.SUPPRESS

    with pytest.raises(AssertionError, match="declares SUPPRESS, but"):
        check_monotone(Brave(average=0.25), random_case(1))


@pytest.mark.parametrize(("model", "complaint"), [(Jealous, "influence each other"), (Boastful, "min_group_size")])
def test_a_wrong_score_is_found(model, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_score(model(k=3), random_case(1))


def test_a_false_proof_is_found():
    @dataclass(frozen=True)
    class Gloomy(KAnonymity):
        def feasible(self, table):
            return self.infeasible(table.whole(), table)

    with pytest.raises(AssertionError, match="disagree"):
        check_root(Gloomy(k=2), random_case(1))


@pytest.mark.parametrize("name", NAMES)
def test_examples_differ_and_fall_on_the_side_asked_for(name):
    case = random_case(5)
    found = model_examples(models[name], case, 5)
    assert len({repr(m) for m in found}) == len(found) >= 2
    for wanted in (True, False):
        for example in model_examples(models[name], case, 3, feasible=wanted):
            encoded, bound = case.encoded([example]), case.bound([example])
            whole = encoded.stats_of(np.zeros(encoded.n_rows, dtype=np.int64), 1, bound.histogram_keys())
            reference = encoded.reference(bound.histogram_keys())
            assert bool(bound.table_satisfied(whole, reference)[0]) is wanted
