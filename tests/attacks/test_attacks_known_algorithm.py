"""The adversary who replays the algorithm: against the enumeration of all worlds, and against planted weaknesses."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.algorithms.base import Algorithm, Partition, Reads, Recoding
from hushtable.algorithms.bucket.deal import deal_until
from hushtable.algorithms.invariant.m_invariant import assign
from hushtable.attacks.known_algorithm import KnownAlgorithm, _Draw, _fates, _promised, _same_classes, _Walk
from hushtable.attacks.view import View
from hushtable.engines import local
from hushtable.errors import UsageError
from hushtable.io.secret import SECRET
from hushtable.models.entropy_l import EntropyL
from hushtable.models.p_sensitive import PSensitive
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.registry import algorithms
from hushtable.release.settle import group_and_recode
from hushtable.schema.columns import Kind
from hushtable.table.coins import Coins
from support_core import first_of, plan_of, quasi, sensitive

COLUMNS = (quasi("age", Kind.NUMERIC), sensitive("disease"))


def made(table, models, algorithm, seed=0):
    """A release, as an adversary sees it."""
    document = {"models": [m.name for m in models], "algorithm": {"mondrian": {}}, "seed": seed}
    plan = plan_of(models, COLUMNS, algorithm, document=document, coins=Coins(seed.to_bytes(2, "big")))
    view = View.of(local.run(table, plan))
    vars(view)["algorithm"] = algorithm
    return view


def people(n, seed, values=4, ties=False):
    random = np.random.default_rng(seed)
    ages = random.integers(0, n // 3, n) if ties else random.permutation(3 * n)[:n]
    return pa.table({"age": ages, "disease": random.choice([f"d{i}" for i in range(values)], n)})


def beliefs(view, algorithm, keys):
    """All ways to deal the values of every class to its people, each weighed by how often coins give this release."""
    problem = view.problem
    codes = problem.table.sensitive[0].codes.astype(np.int64)
    classes = [np.flatnonzero(view.labels == g) for g in np.unique(view.labels[view.labels >= 0])]
    ways = [sorted(set(itertools.permutations(codes[rows].tolist()))) for rows in classes]
    belief = np.zeros((len(codes), int(codes.max()) + 1))
    for world in itertools.product(*ways):
        dealt = codes.copy()
        for rows, values in zip(classes, world, strict=True):
            dealt[rows] = values
        column = replace(problem.table.sensitive[0], codes=dealt)
        table = replace(problem.table, sensitive=(column,))
        weight = 0
        for key in range(keys):
            given = replace(problem, store=table, tossed=Coins(key.to_bytes(2, "big")))
            try:
                _, recoded = group_and_recode(given, algorithm)
            except ht.errors.HushtableError:
                continue
            labels = recoded.labels if recoded.buckets is None else recoded.buckets
            weight += _same_classes(np.asarray(labels, dtype=np.int64), view.labels)
        belief[np.arange(len(codes)), dealt] += weight
    return belief / belief.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "models", "keys"),
    [
        ("mondrian", [ProbabilisticL(l=2)], 1),
        ("mdav", [PSensitive(p=2)], 1),
        ("anatomy", [ProbabilisticL(l=2)], 150),
        ("p-first", [PSensitive(p=2)], 1),
    ],
)
@pytest.mark.parametrize("seed", [1, 6])
def test_the_walk_finds_the_beliefs_of_all_worlds(name, models, keys, seed):
    algorithm = algorithms.build(name)
    view = made(people(8, seed, 3), models, algorithm)
    column = view.table.sensitive[0]
    fates, kept = _fates(_Walk(view), view, column, np.arange(8), 2000, _Draw(seed))
    assert kept > 20
    want = beliefs(view, algorithm, keys)
    assert np.abs(fates / fates.sum(axis=1, keepdims=True) - want).max() < 0.2


@dataclass(frozen=True)
class PublicAnatomy(Algorithm):
    """Anatomy as in 0.1.0: records of a value are dealt in an order that everybody knows."""

    name: ClassVar[str] = "toy-public-anatomy"
    recoding: ClassVar[Recoding] = Recoding.BUCKET
    reads_sensitive: ClassVar[Reads] = Reads.COINS

    def run(self, problem):
        rows = problem.table.canonical_order
        return deal_until(problem, rows, problem.table.sensitive[0].codes[rows].astype(np.int64))


@dataclass(frozen=True)
class PublicBuckets(Algorithm):
    """The m-invariant of 0.1.0: buckets take the lowest records first, which are then dealt in their order."""

    name: ClassVar[str] = "toy-public-buckets"
    recoding: ClassVar[Recoding] = Recoding.NUMBERED

    def run(self, problem):
        order, codes = problem.table.canonical_order, problem.table.sensitive[0].codes
        found = assign({v: order[codes[order] == v].tolist() for v in range(int(codes.max()) + 1)}, 2)
        labels, n = np.empty(problem.table.n_rows, dtype=np.int64), 0
        for bucket in found or ():
            for rows in bucket.rows.values():
                labels[rows] = n + np.arange(bucket.depth)
            n += bucket.depth
        return Partition(labels, n)


def test_a_public_deal_is_undone():
    result = KnownAlgorithm(worlds=160).run(made(people(60, 3), [ProbabilisticL(l=2)], PublicAnatomy()))
    assert result.baseline == pytest.approx(0.5, abs=0.02)
    assert result.interval[0] > 0.7


def test_public_buckets_are_undone():
    result = KnownAlgorithm(worlds=160).run(made(people(60, 3), [ProbabilisticL(l=2)], PublicBuckets()))
    assert result.baseline == pytest.approx(0.5, abs=0.02) and result.interval[0] > 0.55


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("name", ["anatomy", "m-invariant"])
def test_secret_coins_keep_the_promise(name, level, ties):
    found = Counter()
    for seed in range(20, 32):
        result = KnownAlgorithm(worlds=160).run(
            made(people(60, seed, 6, ties), [ProbabilisticL(l=level)], algorithms.build(name), seed)
        )
        found.update(right=result.successes, targets=result.targets, promise=result.baseline * result.targets)
        assert result.counts["worlds that give the same release"] > 50
    promise = found["promise"] / found["targets"]
    assert found["targets"] == 240 and promise <= 1 / level + 1e-9
    # three standard deviations, wider than the attack's own interval: 95% fails by luck in one of forty cases
    assert found["right"] - found["promise"] <= 3 * np.sqrt(promise * (1 - promise) * found["targets"])


def test_without_a_model_on_values_nothing_is_replayed():
    view = made(people(40, 1), [ht.KAnonymity(k=4)], algorithms.build("mondrian"))
    result = KnownAlgorithm().run(view)
    assert result.counts["worlds tried"] == 0 and result.targets == 40
    assert result.baseline == pytest.approx(result.counts["right by the published shares alone, expected"])
    assert result.rate == pytest.approx(result.baseline)


@pytest.mark.parametrize(
    ("model", "size", "promised"),
    [
        (ProbabilisticL(l=3), 6, 2 / 6),
        (ProbabilisticL(l=3), 7, 2 / 7),
        (PSensitive(p=2), 5, 4 / 5),
        (EntropyL(l=2), 4, 2 / 4),
        (ht.TCloseness(t=0.25, on="disease"), 4, 2 / 4),
    ],
)
def test_the_promise_is_what_the_model_would_accept(model, size, promised):
    table = pa.table({"age": [1] * size + [9] * size, "disease": (["a", "b", "c", "d"] * size)[: 2 * size]})
    view = made(table, [ht.KAnonymity(k=size), model], algorithms.build("mondrian"))
    histogram = view.histogram(view.table.sensitive[0])
    whole = [i for i, total in enumerate(histogram.totals()) if total == size]
    found = _promised(view.model, histogram, view.table.sensitive[0], view)
    assert whole and found[whole].tolist() == pytest.approx([promised] * len(whole))


def test_what_cannot_be_replayed_is_refused():
    table = people(40, 1)
    view = made(table, [ProbabilisticL(l=2)], algorithms.build("mondrian"))
    vars(view)["algorithm"] = algorithms.build("mdav")
    with pytest.raises(UsageError, match="does not reproduce this release") as caught:
        KnownAlgorithm().run(view)
    assert caught.value.code == "not-reproduced"
    with pytest.raises(UsageError, match="not available"):
        KnownAlgorithm().run(replace(view, problem=None))


def test_counterfeits_take_part(tmp_path, monkeypatch):
    """Somebody alone with a counterfeit may have either value."""
    book = ht.Ledger(tmp_path / "ledger")
    policy = ht.Policy(
        identifiers=["name"], quasi=["age"], sensitive={"disease": {"categories": {"all": ["a", "b", "c"]}}},
        models=[ht.MInvariance(m=2)], algorithm="m-invariant", ledger=str(book.path),
    )  # fmt: skip

    def hospital(names, values):
        return pa.table({"name": list(names), "age": [ord(n) for n in names], "disease": list(values)})

    book.add(ht.anonymize(hospital("ABCDEFGH", "abcabcab"), first_of(policy)))
    right = 0
    for number in range(3):
        secret = tmp_path / f"secret-{number}"
        secret.touch(mode=0o600)
        secret.write_bytes(bytes([number] * 32))
        monkeypatch.setenv(SECRET, str(secret))
        second = ht.anonymize(hospital("ACEGXY", "acbaab"), policy)
        result = second.attack("known-algorithm", worlds=120)
        assert result.targets == 6 and result.counts["worlds that give the same release"] > 20
        right += result.successes
    # 18 guesses, each of them right with one half: more than 15 would be three deviations too many
    assert right <= 15
