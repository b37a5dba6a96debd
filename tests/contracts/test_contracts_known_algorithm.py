"""Every algorithm under every model, to an adversary who knows the code and not the secret; and one that tells all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hushtable.algorithms.base import Algorithm, Problem, Reads, Recoding
from hushtable.algorithms.bucket.deal import deal_until
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.algorithms.trim import trim
from hushtable.models.base import SensitiveModel
from hushtable.registry import algorithms, models
from hushtable.testing import check_known_algorithm, known_checks, random_case

LOOKING = [name for name, cls in models.items() if issubclass(cls, SensitiveModel)]


MAKING_CLASSES = [n for n, cls in algorithms.items() if cls.recoding is not Recoding.CONCEALED and not cls.samples]


@pytest.mark.parametrize("name", MAKING_CLASSES)
def test_who_knows_the_algorithm_guesses_no_better_than_promised(name):
    found = check_known_algorithm(algorithms.build(name), seed=11, worlds=24)
    assert found.releases >= 8 and found.targets >= 40


@pytest.mark.slow
@pytest.mark.parametrize("model", LOOKING)
@pytest.mark.parametrize("name", MAKING_CLASSES)
def test_every_algorithm_and_model_on_several_tables(name, model):
    """Eight tables and 96 worlds each: all pairs then take half an hour on one core."""
    check_known_algorithm(algorithms.build(name), models=[model] * 8, seed=100, worlds=96)


@dataclass(frozen=True)
class PublicDeal(Algorithm):
    """Deals records in an order that everybody knows, and says that coins decide."""

    name: ClassVar[str] = "toy-public-deal"
    recoding: ClassVar[Recoding] = Recoding.BUCKET
    reads_sensitive: ClassVar[Reads] = Reads.COINS

    def run(self, problem):
        kept = trim(problem)
        order = problem.table.canonical_order
        rows = order[order < problem.table.n_sample]
        rows = rows if kept is None else rows[kept[rows]]
        named = sorted({name for key in problem.model.histogram_keys() for name in key})
        found = deal_until(problem, rows, problem.table.code_column(tuple(named))[0][rows].astype(np.int64))
        if found is None:
            raise self.not_found(problem)
        return found


def test_a_public_deal_is_found_out():
    with pytest.raises(AssertionError, match="who knows toy-public-deal guesses"):
        check_known_algorithm(PublicDeal(), models=["distinct-l", "probabilistic-l", "entropy-l"] * 8)


COINED = [name for name in MAKING_CLASSES if algorithms[name].reads_sensitive is Reads.COINS]


@pytest.mark.parametrize("name", COINED)
def test_a_public_order_in_place_of_the_secret_one_is_found_out(name, monkeypatch):
    """With the tables and the number of worlds of the test above, which the honest algorithm passes."""
    monkeypatch.setattr(Problem, "secret_order", property(lambda problem: problem.table.canonical_order))
    with pytest.raises(AssertionError, match=f"who knows {name} (guesses|knows which|and one person's value learns)"):
        check_known_algorithm(algorithms.build(name), seed=11, worlds=24)


SPLITTING = [*map(algorithms.build, ("mdav", "cbfs", "v-mdav", "k-first", "mst", "mu-approx", "optimal-univariate")),
             Mondrian(mode="relaxed"), Mondrian(mode="relaxed", refine=True)]  # fmt: skip


@pytest.mark.parametrize("algorithm", SPLITTING, ids=str)
def test_coins_decide_which_of_several_equal_people_join_a_group(algorithm, monkeypatch):
    """In canonical order, they join by the rank of their values, which rules out values of their neighbors."""
    cases = [random_case(11 + i, sum(known_checks.EQUALS)) for i in range(4)]
    found = [len(known_checks.splits_of_equals(algorithm, case)) for case in cases]
    assert max(found) > 2 and 1 not in found
    monkeypatch.setattr(Problem, "order", property(lambda problem: problem.table.canonical_order))
    assert {len(known_checks.splits_of_equals(algorithm, case)) for case in cases} <= {0, 1}


@pytest.mark.parametrize("name", list(algorithms))
def test_every_algorithm_says_how_it_uses_sensitive_values(name):
    known = algorithms[name]
    assert isinstance(known.reads_sensitive, Reads) and known.reads_sensitive.sentence
    assert bool(known.disclosure) == (known.reads_sensitive is Reads.CHOOSES)
