"""The payout of a game between publisher and adversary: by hand, and against every node of random tables."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support_lattice import brute, forgone

import hushtable as ht
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.engines import local
from hushtable.errors import IncompatibleError, ParameterError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.testing.cases import random_case

NAMES = ("benefit", "loss", "gain", "cost")


def policy(**given):
    """Return a policy for one column with two regions of two cities each."""
    cities = {"North": ["Oslo", "Bergen"], "South": ["Rome", "Bari"]}
    return ht.Policy(
        columns={"city": {"role": "quasi", "kind": "nominal", "hierarchy": {"tree": cities}}},
        models=[{"k-anonymity": {"k": 2}}],
        algorithm={"optimal": {"objective": "payout", **given}},
    )


def test_by_hand():
    """Two in each of four cities. Regions lose half of the information, and halve the number of classes.

    Cities: four classes, each attacked for a loss of 300. Regions: half of 8 x 1200, and two classes attacked. With a
    dearer attack (gain 300, cost 100) nobody attacks classes of four, and of two they still do.
    """
    frame = pd.DataFrame({"city": ["Oslo", "Bergen", "Rome", "Bari"] * 2})
    release = ht.anonymize(frame, policy())
    assert release.partition.levels == (0,) and release.partition.notes["value"] == pytest.approx(4 * 300)
    amounts = {"benefit": 100, "loss": 300, "gain": 300, "cost": 100}
    release = ht.anonymize(frame, policy(amounts=amounts))
    assert release.partition.levels == (1,) and release.partition.notes["value"] == pytest.approx(0.5 * 8 * 100)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(4, 18),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.tuples(
        st.sampled_from([10.0, 1200.0]),
        st.sampled_from([0.0, 300.0, 5000.0]),
        st.just(300.0),
        st.sampled_from([0.0, 4.0, 120.0]),
    ),
    st.booleans(),
)
def test_no_node_pays_more(seed, rows, limit, amounts, journalist):
    case = random_case(seed, rows)
    model = KMap(k=2) if journalist else KAnonymity(k=2)
    plan = case.plan([model], Optimal(), suppression=limit)
    problem = local.problem_of(case.table, plan)
    table = problem.table
    weights = table.row_units.tolist() if len(table.row_units) else [1] * table.n_rows
    people = [r for r in range(table.n_rows) if weights[r] > 0]
    found = []
    for seen in brute(problem):
        sizes: Counter[int] = Counter()
        for r in people:
            sizes[seen.labels[r]] += weights[r]
        crowds = Counter(seen.labels[r] for r in table.population_rows) if journalist else None
        found.append(forgone(table, seen, weights, people, sizes, amounts, crowds))
    if not found:
        return
    objective = "payout-journalist" if journalist else "payout"
    chosen = Optimal(objective=objective, amounts=dict(zip(NAMES, amounts, strict=True)))
    notes = chosen.run(problem).notes
    assert notes["value"] == pytest.approx(min(found), rel=1e-9, abs=1e-6) and notes["optimum_proven"]


def test_without_attacks():
    """From k = gain / cost on, no attack pays: what is forgone is information alone."""
    frame = pd.DataFrame({"city": ["Oslo", "Bergen", "Rome", "Bari"] * 3})
    chosen = policy(amounts={"cost": 100}).changed(models=[{"k-anonymity": {"k": 3}}])
    assert ht.anonymize(frame, chosen).partition.notes["value"] == 0


def test_what_is_refused():
    with pytest.raises(ParameterError, match="is for 'objective: payout'"):
        Optimal(amounts={"benefit": 3})
    with pytest.raises(ParameterError, match="has no 'gains'"):
        Optimal(objective="payout", amounts={"gains": 3})
    for bad in ({"benefit": 0}, {"cost": -1}, {"gain": float("inf")}):
        with pytest.raises(ParameterError, match="must be finite and not negative"):
            Optimal(objective="payout", amounts=bad)
    frame = pd.DataFrame({"city": ["Oslo", "Bergen", "Rome", "Bari"] * 2})
    with pytest.raises(IncompatibleError, match="counts a population"):
        ht.anonymize(frame, policy(objective="payout-journalist"))
