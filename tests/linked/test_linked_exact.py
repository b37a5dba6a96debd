"""The exact algorithm finds what trying everything finds, and the greedy one comes near it."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from support_linked import failures, random_case

from hushtable.errors import Infeasible, NotFound
from hushtable.linked import exact, run
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked

FACTOR = 2.0
"""The greedy algorithm loses at most so many times what the best choice loses: in the fast test always, and for 99%
of the tables of the slow test, where the worst is 5."""


@pytest.fixture
def lost(monkeypatch):
    """Anonymize and return what was lost of the events, with the release."""
    seen = []
    check = run._check_budget

    def kept(links, recoded):
        seen.append(recoded.mean_loss(links))
        check(links, recoded)

    monkeypatch.setattr(run, "_check_budget", kept)

    def loss(tables, policy):
        release = anonymize_linked(tables, policy)
        return seen[-1], release

    return loss


CODES = ["aa", "ab", "ba"]


def coded(seed):
    """Four to six people with a few codes of two blocks."""
    draw = random.Random(seed)
    n = draw.randint(4, 6)
    events = [(p, draw.choice(CODES)) for p in range(n) for _ in range(draw.randint(0, 2))][:7]
    tables = {
        "people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
        "visits": {"of": "people", "columns": {"code": {"role": "quasi", "hierarchy": {"prefix": {"steps": [1]}}}}},
    }
    policy = LinkedPolicy(
        tables=tables, knows=draw.choice([1, 2]), models=[{"k-anonymity": {"k": 2}}], suppression=1.0, crowd=n
    )
    people = pa.table({"id": list(map(str, range(n))), "age": ["30"] * n})
    visits = pa.table({"id": [str(p) for p, _ in events], "code": [code for _, code in events]})
    return policy, {"people": people, "visits": visits}


def tried(policy, tables):
    """The least loss over all levels of all codes and all sets of dropped events, in plain Python."""
    rows = tables["visits"].to_pylist()
    codes = sorted({row["code"] for row in rows})
    shown = [lambda c: c, lambda c: f"{c[0]}*", lambda c: "*"]
    others, best = max(len(codes) - 1, 1), 1.0
    for levels in product(range(3), repeat=len(codes)):
        level = dict(zip(codes, levels, strict=True))
        alike = {c: sum(shown[level[c]](c) == shown[level[c]](d) for d in codes) for c in codes}
        cost = {c: ((alike[c] - 1) / others + level[c] / 2) / 2 for c in codes}
        for dropped in product((False, True), repeat=len(rows)):
            gone = [d or level[row["code"]] == 2 for d, row in zip(dropped, rows, strict=True)]
            loss = sum(1.0 if g else cost[row["code"]] for g, row in zip(gone, rows, strict=True)) / len(rows)
            if loss < best - 1e-12:
                left = [{**row, "code": shown[level[row["code"]]](row["code"])}
                        for g, row in zip(gone, rows, strict=True) if not g]  # fmt: skip
                if not failures(policy, {**tables, "visits": pa.Table.from_pylist(left, tables["visits"].schema)}):
                    best = loss
    return best


def test_the_exact_algorithm_finds_what_trying_everything_finds(lost):
    raised = 0
    for seed in range(14):
        policy, tables = coded(seed)
        if not tables["visits"].num_rows:
            continue
        least, release = lost(tables, policy.changed(algorithm="exact"))
        assert least == pytest.approx(tried(policy, tables)), seed
        raised += any(code.endswith("*") for code in release.tables["visits"]["code"].to_pylist())
    assert raised >= 3


def compared(seeds, lost):
    """What the greedy algorithm loses, as a multiple of the best, on random schemas; both keep the promise."""
    ratios = []
    for seed in seeds:
        policy, tables = random_case(seed, people=5, most_events=2)
        policy = policy.changed(suppression=1.0)
        try:
            greedy, _ = lost(tables, policy)
            best, release = lost(tables, policy.changed(algorithm="exact"))
        except (Infeasible, NotFound):
            continue
        published = {
            n: t.cast(pa.schema([(c, pa.string()) for c in t.column_names])) for n, t in release.tables.items()
        }
        assert not failures(policy, published), seed
        assert greedy >= best - 1e-9, seed
        ratios.append(greedy / best if best else 1.0 + greedy)
    return ratios


def test_the_greedy_algorithm_comes_near_the_best(lost, monkeypatch):
    monkeypatch.setattr(exact, "MOST_STATES", 200)
    ratios = compared(range(60), lost)
    assert len(ratios) > 20
    assert max(ratios) <= FACTOR
    assert np.mean(ratios) < 1.1


@pytest.mark.slow
def test_the_greedy_algorithm_comes_near_the_best_of_many(lost, monkeypatch):
    monkeypatch.setattr(exact, "MOST_STATES", 1000)
    ratios = compared(range(100, 1100), lost)
    assert len(ratios) > 400
    assert np.quantile(ratios, 0.99) <= FACTOR
    assert np.mean(ratios) < 1.1


def test_the_order_of_rows_does_not_matter(lost):
    generator = np.random.default_rng(0)
    for seed in range(5):
        policy, tables = coded(seed)
        policy = policy.changed(algorithm="exact")
        mixed = {name: t.take(pa.array(generator.permutation(t.num_rows))) for name, t in tables.items()}
        one, other = lost(tables, policy)[1], lost(mixed, policy)[1]
        assert {n: t.to_pydict() for n, t in one.tables.items()} == {n: t.to_pydict() for n, t in other.tables.items()}


def one_each():
    """Four people with a visit each, and no choice that keeps all of them."""
    people = pa.table({"id": list("1234"), "age": ["30"] * 4})
    visits = pa.table({"id": list("1234"), "code": ["aa", "aa", "ab", "ba"]})
    return coded(1)[0].changed(knows=1, crowd=4, algorithm="exact"), {"people": people, "visits": visits}


def test_suppression_bounds_the_search(lost):
    policy, tables = one_each()
    _, release = lost(tables, policy.changed(suppression=0.25))
    assert release.measures["suppressed"] <= 0.25
    with pytest.raises(NotFound, match="keeps the promise within the policy's 'suppression'"):
        lost(tables, policy.changed(suppression=0.0))


def test_large_tables_are_refused(monkeypatch):
    monkeypatch.setattr(exact, "MOST_STATES", 3)
    policy, tables = one_each()
    with pytest.raises(NotFound, match="too many to try all choices"):
        anonymize_linked(tables, policy)
