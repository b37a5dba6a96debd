"""Local suppression: against every grouping of small tables, and examples worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.algorithms.pattern import local_suppression
from hushtable.api import run_plan
from hushtable.errors import Infeasible, NotFound
from hushtable.testing.brute import set_partitions
from hushtable.testing.cases import chosen_forms, random_case


def policy(columns, k, *, weights=None, **more):
    """Return a policy that blanks cells of these columns."""
    weights = weights or [1] * len(columns)
    return ht.Policy(
        columns={c: {"role": "quasi", "kind": "nominal", "weight": w} for c, w in zip(columns, weights, strict=True)},
        models=[{"k-anonymity": {"k": k}}],
        algorithm="local-suppression",
        **more,
    )


def blanks(frame, columns, weights=None):
    """Return the weight of the blanked cells."""
    weights = weights or [1] * len(columns)
    return sum(w * int((frame[c] == "*").sum()) for c, w in zip(columns, weights, strict=True))


def least_blanks(rows, weights, k):
    """The slow twin: the cheapest of all groupings into groups of k."""
    best = float("inf")
    for groups in set_partitions(len(rows)):
        if min(map(len, groups)) >= k:
            cost = sum(
                len(g) * sum(w for j, w in enumerate(weights) if len({rows[i][j] for i in g}) > 1) for g in groups
            )
            best = min(best, cost)
    return best


tables = st.integers(1, 3).flatmap(
    lambda d: st.tuples(
        st.lists(st.tuples(*[st.integers(0, 2)] * d), min_size=3, max_size=7),
        st.lists(st.integers(1, 3), min_size=d, max_size=d),
    )
)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(2, 3))
def test_small_tables_are_solved_exactly(table, k):
    rows, weights = table
    columns = [f"c{j}" for j in range(len(weights))]
    frame = pd.DataFrame(rows, columns=columns).astype(str)
    release = ht.anonymize(frame, policy(columns, k, weights=weights))
    assert release.verify().ok
    assert blanks(release.frame, columns, weights) == least_blanks(rows, weights, k)


@settings(max_examples=25, deadline=None)
@given(tables, st.integers(2, 3))
def test_the_greedy_search_is_valid_and_not_below_the_optimum(table, k):
    rows, weights = table
    columns = [f"c{j}" for j in range(len(weights))]
    frame = pd.DataFrame(rows, columns=columns).astype(str)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_suppression, "MOST_PAIRS", 0)
        release = ht.anonymize(frame, policy(columns, k, weights=weights))
        patch.setattr(local_suppression, "ALL_SETS", 0)
        chained = ht.anonymize(frame, policy(columns, k, weights=weights))
    least = least_blanks(rows, weights, k)
    for found in (release, chained):
        assert min(Counter(map(tuple, found.frame.to_numpy().tolist())).values()) >= k
        assert blanks(found.frame, columns, weights) >= least


def test_the_greedy_search_is_near_the_optimum(monkeypatch):
    rng = np.random.default_rng(5)
    columns = ["a", "b", "c", "d"]
    frame = pd.DataFrame(rng.geometric(0.5, (60, 4)), columns=columns).clip(upper=4).astype(str)
    exact = blanks(ht.anonymize(frame, policy(columns, 3)).frame, columns)
    monkeypatch.setattr(local_suppression, "MOST_PAIRS", 0)
    greedy = blanks(ht.anonymize(frame, policy(columns, 3)).frame, columns)
    assert exact <= greedy <= 1.15 * exact


def test_three_blanks_where_one_would_match_anything():
    """The table of sdcMicro's issue 354. One blank is enough only if it matches anything.

    The one person without education would then be the only one whose row fits; three blanks hide them.
    """
    frame = pd.DataFrame({"gender": ["male"] * 6, "education": ["no education", *["primary"] * 3, *["secondary"] * 2]})
    release = ht.anonymize(frame, policy(["gender", "education"], 3))
    assert blanks(release.frame, ["gender", "education"]) == 3
    assert Counter(release.frame["education"]) == {"*": 3, "primary": 3}


def test_a_dear_column_is_kept():
    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["1", "1", "2", "2"]})
    for weights, kept in (([1, 5], "b"), ([5, 1], "a")):
        release = ht.anonymize(frame, policy(["a", "b"], 2, weights=weights))
        assert (release.frame[kept] != "*").all()
        assert blanks(release.frame, ["a", "b"]) == 4


def test_a_record_is_left_out_where_the_limit_allows_it():
    """Leaving out 'z' costs the one cell that it has; hiding it would cost three."""
    frame = pd.DataFrame({"a": ["x", "x", "y", "y", "z"]})
    assert blanks(ht.anonymize(frame, policy(["a"], 2)).frame, ["a"]) == 3
    release = ht.anonymize(frame, policy(["a"], 2, suppression=0.2))
    assert sorted(release.frame["a"]) == ["x", "x", "y", "y"]


def test_who_knows_the_true_values_finds_k_records():
    rng = np.random.default_rng(11)
    columns = ["a", "b", "c"]
    frame = pd.DataFrame(rng.geometric(0.4, (300, 3)), columns=columns).clip(upper=6).astype(str)
    shown = ht.anonymize(frame, policy(columns, 4)).frame[columns].to_numpy()
    for person in frame.to_numpy():
        assert ((shown == person) | (shown == "*")).all(axis=1).sum() >= 4


def test_models_of_sensitive_values_and_missing_cells():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 4, (200, 3)), columns=["a", "b", "c"]).astype(str)
    frame.loc[rng.random(200) < 0.1, "a"] = None
    frame["illness"] = rng.choice(["flu", "cold", "asthma"], 200, p=[0.6, 0.3, 0.1])
    chosen = policy(["a", "b", "c"], 3, missing="wildcard")
    chosen = chosen.changed(
        columns={**chosen.columns, "illness": {"role": "sensitive"}},
        models=[{"k-anonymity": {"k": 3}}, {"distinct-l": {"l": 2}}],
    )
    release = ht.anonymize(frame, chosen)
    assert release.verify().ok and len(release.frame) == 200
    classes = release.frame.fillna("missing").groupby(["a", "b", "c"])["illness"]
    assert classes.size().min() >= 3 and classes.nunique().min() >= 2
    assert blanks(release.frame, ["a", "b", "c"]) < 200


@pytest.mark.parametrize("seed", [31, 42])
def test_equally_good_changes_are_not_chosen_by_the_order_of_the_rows(seed):
    forms = chosen_forms()
    case = random_case(seed, 26, cells=forms[seed % len(forms)], entity=True)
    plan = case.plan([ht.AverageRisk(average=0.9)], local_suppression.LocalSuppression(), seed=seed)
    tables = [case.table.take(np.random.default_rng(turn).permutation(case.table.num_rows)) for turn in range(4)]
    first, *others = [run_plan(table, plan).table for table in tables]
    assert all(first.equals(other) for other in others)


def test_nobody_left_is_no_release():
    """The only record is suppressed before anything can be improved, or guarded."""
    table = pd.DataFrame({"age": [30], "ill": ["HIV"]})
    given = {"quasi": ["age"], "sensitive": ["ill"], "algorithm": "local-suppression", "suppression": 1.0}
    with pytest.raises(NotFound, match="suppressing every record"):
        ht.anonymize(table, ht.Policy(models=[ht.AlpDif(alp={"HIV": 0.4})], **given))
    crowd = pd.DataFrame({"age": [30, 40, 50, 60], "ill": ["HIV", "flu", "HIV", "HIV"]})
    with pytest.raises((NotFound, Infeasible)):
        ht.anonymize(crowd, ht.Policy(models=[ht.KAnonymity(k=9)], guard=["minimality"], **given))
