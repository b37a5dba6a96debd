"""Differential privacy: the theorem by its definition, the mechanism by an audit that can fail."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.algorithms.lattice import safe_pub
from hushtable.algorithms.lattice.safe_pub import SafePub, choose, draw, shared
from hushtable.engines.local import problem_of
from hushtable.errors import HushtableError, IncompatibleError, Infeasible, NotFound, ParameterError, UsageError
from hushtable.models.dp import DifferentialPrivacy, chance_of_excess, least_k
from hushtable.testing import check_monotone, random_case

AGE = {"kind": "numeric", "hierarchy": {"intervals": [10, 40]}}
SEX = {"kind": "nominal"}


def policy(**changes):
    settings = {
        "quasi": {"age": AGE, "sex": SEX},
        "models": [DifferentialPrivacy(epsilon=1, delta=1e-4)],
        "algorithm": "safe-pub",
        "suppression": 1,
    }
    return ht.Policy(**{**settings, **changes})


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n)})


# the theorem


def binomial(n, j, rate):
    return math.comb(n, j) * rate**j * (1 - rate) ** (n - j)


@pytest.mark.parametrize(
    ("epsilon", "rate", "k"), [(1, Fraction(1, 2), 3), (0.5, Fraction(1, 3), 5), (2, Fraction(4, 5), 9)]
)
def test_delta_is_the_exact_tail(epsilon, rate, k):
    gamma = 1 - (1 - float(rate)) * math.exp(-epsilon)
    slow = max(
        sum(binomial(n, j, rate) for j in range(max(k, math.floor(gamma * n) + 1), n + 1)) for n in range(k, 120)
    )
    assert chance_of_excess(k, epsilon, float(rate)) == pytest.approx(float(slow), rel=1e-9)


@given(st.floats(0.05, 3), st.integers(2, 12), st.floats(0.2, 1))
@settings(max_examples=25, deadline=None)
def test_counts_of_equal_records_are_differentially_private(epsilon, k, part):
    """With n and n - 1 equal records: no set of outcomes has more than e^epsilon times the chance, plus delta."""
    rate = -math.expm1(-epsilon) * part
    delta = chance_of_excess(k, epsilon, rate)
    for n in range(1, 60):
        more, less = ({j: float(binomial(m, j, rate)) for j in range(m + 1)} for m in (n, n - 1))

        def shown(chances):
            """What is published: the count, or nothing below k."""
            found = Counter()
            for j, chance in chances.items():
                found[j if j >= k else 0] += chance
            return found

        one, other = shown(more), shown(less)
        for a, b in ((one, other), (other, one)):
            excess = sum(max(a[j] - math.exp(epsilon) * b[j], 0) for j in a)
            assert excess <= delta + 1e-12


def test_k_is_the_least():
    model = DifferentialPrivacy(epsilon=1, delta=1e-6)
    k = least_k(1.0, 1e-6, 0.5)
    assert chance_of_excess(k, 1.0, 0.5) <= 1e-6 < chance_of_excess(k - 1, 1.0, 0.5)
    assert chance_of_excess(model.k, model.for_sampling, model.rate) <= 1e-6
    assert chance_of_excess(model.k - 1, model.for_sampling, model.rate) > 1e-6 * (1 - 1e-5)
    assert model.rate <= -math.expm1(-model.for_sampling)
    # what both steps spend is no more than was promised
    assert model.for_sampling + model.drawing().search < 1


@pytest.mark.parametrize(
    "values", [{"epsilon": 6}, {"epsilon": 0}, {"epsilon": math.inf}, {"delta": 0.1}, {"delta": 0}]
)
def test_an_epsilon_beyond_sense_is_refused(values):
    with pytest.raises(ParameterError, match="must be"):
        DifferentialPrivacy(**{"epsilon": 1, "delta": 1e-6, **values})


def test_a_delta_of_a_person_is_refused():
    model = DifferentialPrivacy(epsilon=1, delta=1e-3)
    with pytest.raises(Infeasible, match="delta"):
        ht.anonymize(people(3000), policy(models=[model]))
    with pytest.raises(Infeasible, match="need classes of"):
        ht.anonymize(people(20), policy())


def test_classes_of_k_survive_what_is_declared():
    assert sum(check_monotone(MODEL, random_case(seed, 40)) for seed in range(1, 4)) > 50


# the parts of the mechanism


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 5), st.floats(0, 9))
def test_one_record_more_raises_a_score_by_one_at_most(sizes, place, spare):
    before = np.array(sizes)
    after = before.copy()
    after[place % len(sizes)] += 1
    assert -1e-9 <= shared(after, spare) - shared(before, spare) <= 1 + 1e-9


def test_the_choice_has_the_stated_chances():
    scores, epsilon, runs = np.array([0.0, 1.0, 3.0]), 0.7, 6000
    found = np.bincount([choose(scores, epsilon) for _ in range(runs)], minlength=3) / runs
    stated = np.exp(epsilon * scores) / np.exp(epsilon * scores).sum()
    assert np.abs(found - stated).max() < 5 * math.sqrt(0.25 / runs)


def test_scores_far_below_the_best_are_no_error():
    assert choose(np.array([-1e12, 0.0]), 5.0) == 1


def test_records_are_drawn_with_the_stated_chance():
    n = 200_000
    assert abs(draw(n, 0.3).mean() - 0.3) < 5 * math.sqrt(0.25 / n)


# the audit: two neighboring tables, many runs, a lower confidence bound for epsilon


MODEL = DifferentialPrivacy(epsilon=1, delta=1e-2)


def outcomes(n, runs):
    """How often each outcome was published: the recoding, and how many of n equal people. Five are of another kind."""
    table = pa.table({"sex": ["f"] * n + ["m"] * 5})
    problem = problem_of(
        table, ht.Policy(quasi={"sex": SEX}, models=[MODEL], algorithm="safe-pub", suppression=1).plan()
    )
    found = Counter()
    for _ in range(runs):
        try:
            partition = SafePub().run(problem)
        except NotFound:
            found["nothing"] += 1
            continue
        shown = partition.labels >= 0
        kinds = (shown[:n], shown[n:]) if partition.levels == (0,) else (shown,)
        found[partition.levels, *(int(kind.sum()) for kind in kinds)] += 1
    return found


def epsilon_at_least(one, other, runs):
    """Return a lower bound for epsilon: events are picked on half of the runs, and judged on the other half.

    The chance that it is above the true one is 0.1% at most: Clopper and Pearson, shared by all events.
    """
    from scipy.stats import beta

    (pick, judge), (pick_b, judge_b) = one, other
    ranked = sorted(set(pick) | set(pick_b), key=lambda e: (pick[e] + 0.5) / (pick_b[e] + 0.5), reverse=True)
    best, risk = 0.0, 5e-4 / len(ranked)
    for last in range(1, len(ranked) + 1):
        hits, misses = sum(judge[e] for e in ranked[:last]), sum(judge_b[e] for e in ranked[:last])
        low = beta.ppf(risk, hits, runs - hits + 1) if hits else 0.0
        high = beta.ppf(1 - risk, misses + 1, runs - misses) if misses < runs else 1.0
        if low > MODEL.delta:
            best = max(best, math.log((low - MODEL.delta) / high))
    return best


def audited(n, runs):
    """The greater bound of both directions, for tables with n and n - 1 equal people."""
    with_her, without = ([outcomes(m, runs) for _ in range(2)] for m in (n, n - 1))
    return max(epsilon_at_least(with_her, without, runs), epsilon_at_least(without, with_her, runs))


def critical():
    """Sizes at which an outcome tells most: where the tail is greatest, and where the recoding's score begins."""
    gamma = 1 - (1 - MODEL.rate) * math.exp(-MODEL.for_sampling)
    return math.ceil(MODEL.k / gamma), math.floor((MODEL.k - 1) / MODEL.rate) + 1


@pytest.mark.parametrize("which", [0, 1])
def test_the_audit_never_exceeds_the_promise(which):
    assert audited(critical()[which], 1500) <= MODEL.epsilon


def test_the_audit_finds_that_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr(safe_pub, "draw", lambda n, rate: np.ones(n, dtype=np.bool_))
    assert audited(MODEL.k, 200) > MODEL.epsilon


def test_the_audit_finds_a_recoding_that_follows_the_records(monkeypatch):
    # the best node, and of equals the last
    monkeypatch.setattr(safe_pub, "choose", lambda scores, epsilon: int(np.flatnonzero(scores == scores.max())[-1]))
    assert audited(critical()[1], 200) > MODEL.epsilon


def test_the_audit_finds_a_k_that_is_too_small(monkeypatch):
    n = 2
    monkeypatch.setattr(DifferentialPrivacy, "k", n)
    # all n are drawn with a chance that is far above delta, and n - 1 cannot look like that
    assert audited(n, 1200) > MODEL.epsilon


# what is published


def test_a_release_is_verified_and_truthful():
    table = people()
    release = ht.anonymize(table, policy())
    assert release.verify()
    classes = Counter(map(tuple, release.frame.to_pandas().to_numpy().tolist()))
    k = DifferentialPrivacy(epsilon=1, delta=1e-4).k
    assert min(classes.values()) >= k
    assert 0 < release.n_released < table.num_rows
    # each published row is that of a record, at the level that was chosen
    for place, row in enumerate(release.source_rows[:50].tolist()):
        shown = release.frame.slice(place, 1).to_pylist()[0]
        assert shown["sex"] in ("*", table["sex"][row].as_py())


def test_two_runs_draw_other_records_whatever_the_seed():
    runs = [ht.anonymize(people(), policy(seed=7)) for _ in range(2)]
    assert not np.array_equal(*(np.sort(r.source_rows)[:200] for r in runs))


def test_public_files_count_nobody_who_is_not_published(tmp_path):
    table = people(3001)
    release = ht.anonymize(table, policy())
    release.save(tmp_path / "release")
    told = json.loads((tmp_path / "release" / "release.json").read_text())
    assert told["sampled"] is True
    assert not {"records", "released", "suppressed", "measures"} & set(told)
    public = "".join(path.read_text() for path in (tmp_path / "release").iterdir())
    assert "3001" not in public and str(release.n_suppressed) not in public.replace(str(told["rows"]), "")
    again = ht.open_release(tmp_path / "release", table)
    assert again.verify()


def test_levels_do_not_depend_on_the_values():
    """With everybody in one interval, the root is still a level of its own."""
    problem = problem_of(people().filter(pa.compute.less(people()["age"], 30)), policy().plan())
    (age, sex) = problem.table.quasi
    assert age.coded.height == 3 and age.coded.labels[-1] == ("*",)
    assert sex.coded.height == 1


# refusals


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sensitive": ["disease"]}, "'disease' would be published next to them"),
        ({"insensitive": ["note"]}, "'note' would be published next to them"),
        ({"quasi": {"age": AGE, "sex": {}}}, "The kind of 'sex' would be inferred"),
        ({"quasi": {"sex": {**SEX, "hierarchy": "frequency"}}}, "made from the records"),
        ({"quasi": {"zip": {**SEX, "hierarchy": {"prefix": "*"}}}}, "made from the records"),
        ({"quasi": {"age": {"kind": "numeric", "hierarchy": {"intervals": {"quantiles": [4, 2]}}}}}, "made from the"),
        ({"quasi": {"age": {"kind": "numeric"}}}, "publishes numbers as intervals"),
        ({"quasi": {"sex": {**SEX, "treatment": "pram"}}}, "a treatment of 'sex'"),
        ({"columns": {"who": {"role": "pseudonym"}}}, "'who' would be published next to them"),
        ({"suppression": 0.5}, "must not stop"),
        ({"models": [ht.KAnonymity(k=2)]}, "the policy has 0"),
        ({"models": [DifferentialPrivacy(epsilon=1, delta=1e-4), ht.AverageRisk(average=0.1)]}, "requires more"),
        ({"identifiers": ["who"], "entity": "who"}, "protects records"),
        ({"missing": "wildcard"}, "wildcard"),
        ({"guard": ["minimality"]}, "read them"),
        ({"algorithm": "mondrian"}, "mondrian gives neither"),
        ({"algorithm": "optimal", "suppression": 0.1}, "optimal gives neither"),
    ],
)
def test_what_cannot_hold_is_refused_before_any_work(changes, words):
    with pytest.raises(HushtableError, match=words):
        policy(**changes)


def test_a_ledger_is_refused():
    with pytest.raises(IncompatibleError, match="ledgers"):
        policy(identifiers=["who"], ledger={"file": "a.ledger", "new": True})


def test_k_anonymity_may_ask_for_more():
    model = DifferentialPrivacy(epsilon=1, delta=1e-4)
    release = ht.anonymize(people(), policy(models=[model, ht.KAnonymity(k=model.k + 40)]))
    assert min(Counter(map(str, release.frame.to_pylist())).values()) >= model.k + 40


def test_streaming_is_refused(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n30,f\n31,m\n")
    with pytest.raises(IncompatibleError, match="draw twice"):
        ht.run(tmp_path / "people.csv", policy(), tmp_path / "out", engine="stream")


def test_a_lattice_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(safe_pub, "MOST_NODES", 2)
    with pytest.raises(UsageError, match="nodes"):
        ht.anonymize(people(), policy())


def test_nobody_is_published_without_a_class_of_k(monkeypatch):
    monkeypatch.setattr(safe_pub, "draw", lambda n, rate: np.zeros(n, dtype=np.bool_))
    with pytest.raises(NotFound):
        ht.anonymize(people(), policy())
