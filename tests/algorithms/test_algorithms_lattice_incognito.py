"""Incognito against the whole lattice, for every monotone model; its refusals."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support_lattice import brute, cost, minimal, problem_of, wide_problem

from hushtable.algorithms.lattice import incognito, space
from hushtable.algorithms.lattice.incognito import Incognito, minimal_nodes
from hushtable.algorithms.lattice.monotone import not_monotone
from hushtable.algorithms.lattice.samarati import Samarati
from hushtable.engines import local
from hushtable.errors import Cancelled, IncompatibleError, NotFound, UsageError
from hushtable.models.alp_dif import AlpDif
from hushtable.models.base import PrivacyModel
from hushtable.models.delta_presence import DeltaPresence
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import models
from hushtable.schema.columns import Kind
from hushtable.testing.cases import random_case
from hushtable.testing.examples import model_examples
from support_core import plan_of, quasi, sensitive


def check_minimal(problem):
    seen = brute(problem)
    assert minimal_nodes(problem).tolist() == minimal([s.node for s in seen])
    if not seen:
        with pytest.raises(NotFound):
            Incognito().run(problem)
        return
    partition = Incognito().run(problem)
    expected = minimal([s.node for s in seen])
    assert partition.notes["minimal_nodes"] == expected
    least = min(cost(problem, s, "loss") for s in seen if list(s.node) in expected)
    assert partition.notes["value"] == pytest.approx(least)
    assert list(partition.levels) in expected


# models that draw records need an algorithm of their own
@pytest.mark.parametrize("name", sorted(n for n, m in models.items() if m.drawing is PrivacyModel.drawing))
@settings(max_examples=6)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 24),
    limit=st.sampled_from([0.0, 0.0, 0.25]),
    size=st.booleans(),
)
def test_all_minimal_nodes_of_every_monotone_model(name, seed, rows, limit, size):
    case = random_case(seed, rows)
    chosen = [*model_examples(models[name], case, 1), *([KAnonymity(k=2)] if size else [])]
    assume(chosen)
    problem = problem_of(chosen, seed, rows, limit)
    if not_monotone(problem.model, suppression=limit > 0):
        with pytest.raises(IncompatibleError) as caught:
            minimal_nodes(problem)
        assert caught.value.hint
        return
    check_minimal(problem)


def test_without_the_subset_phase(monkeypatch):
    """Where subsets are too many they are left out, with the same answer."""
    problem = problem_of([KAnonymity(k=2)], 8, 40)
    assert problem.table.quasi[1:]
    whole = minimal_nodes(problem)
    monkeypatch.setattr(incognito, "MOST_PARTS", 0)
    assert minimal_nodes(problem).tolist() == whole.tolist()
    assert len(whole) > 1


def test_projections_are_rolled_up(monkeypatch):
    """Large tables are projected on every subset first; the answer stays."""
    problem = problem_of([KAnonymity(k=2), EntropyL(l=1.5, on="disease")], 8, 60)
    plain = minimal_nodes(problem).tolist()
    monkeypatch.setattr(space, "WORTH_ROLLING", 1)
    assert minimal_nodes(problem).tolist() == plain == minimal([s.node for s in brute(problem)])


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4))
def test_fixed_levels(seed, k):
    problem = problem_of([KAnonymity(k=k)], seed)
    fixed = {problem.table.quasi[-1].name: 0}
    expected = minimal([s.node for s in brute(problem, fixed)])
    assert minimal_nodes(problem, fixed).tolist() == expected
    if expected:
        # subsets without the fixed column are judged at its level too, not at its root
        seen = Incognito(fixed=fixed).run(problem).space
        assert not seen[f"level of {problem.table.quasi[-1].name}"].any()


COLUMNS = (quasi("age", Kind.NUMERIC), sensitive("illness"))


@pytest.mark.parametrize(
    ("model", "suppression", "word"),
    [
        (AlpDif(alp={"HIV": 0.5}), 0.0, "monotone"),
        (EntropyL(l=2), 0.1, "suppression: 0"),
        (DeltaPresence(low=0.1, high=0.9), 0.0, "monotone"),
    ],
)
def test_refused_before_any_data_are_read(model, suppression, word):
    with pytest.raises(IncompatibleError, match=word):
        plan_of([model], COLUMNS, Incognito(), suppression=suppression)


def test_accepted_with_suppression():
    plan_of([KAnonymity(k=2)], COLUMNS, Incognito(), suppression=0.1)
    plan_of([EntropyL(l=2)], COLUMNS, Incognito())


@pytest.mark.parametrize("algorithm", [Incognito(), Samarati()])
def test_too_large_a_lattice(algorithm):
    with pytest.raises(UsageError, match="optimal") as caught:
        algorithm.run(wide_problem(suppression=0.0))
    assert caught.value.code == "lattice-too-large"


@pytest.mark.parametrize("algorithm", [Incognito(), Samarati()])
def test_cancelled(algorithm):
    def stop(share, what):
        raise Cancelled("Stopped.")

    case = random_case(8, 40)
    with pytest.raises(Cancelled):
        local.run(case.table, case.plan([KAnonymity(k=2)], algorithm), stop)
