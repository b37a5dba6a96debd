"""k-concealing: crowds of k that overlap, and a draw in which each of k records is equally likely."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import hushtable as ht
from hushtable.algorithms.concealing import k_concealing
from hushtable.algorithms.concealing.k_concealing import KConcealing, _blocks, _people, _rings, draw_matching
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.datasets import patients
from hushtable.engines import local
from hushtable.errors import IncompatibleError, UsageError, VerificationError
from hushtable.rng import integers
from hushtable.table.coins import Coins
from hushtable.testing.public_files import local_files

NAMES = ["age", "sex", "country", "diagnosis"]


def policy(*models, **more):
    roles = {"age": "quasi", "sex": "quasi", "country": "quasi", "diagnosis": "sensitive"}
    columns = {name: {"role": role} for name, role in roles.items()}
    return ht.Policy(columns=columns, models=list(models), algorithm="k-concealing", **more)


def k(n):
    return {"k-concealment": {"k": n}}


@settings(max_examples=40)
@given(n=st.integers(3, 12), size=st.integers(2, 7), seed=st.integers(0, 10_000))
def test_a_draw_gives_everybody_one_crowd_of_their_own(n, size, seed):
    size = min(size, n)
    crowds = _rings(np.zeros(n, np.int64), size)
    drawn = draw_matching(crowds, Coins(seed.to_bytes(4, "big")))
    assert sorted(drawn.tolist()) == list(range(n))
    assert all(person in crowd for person, crowd in zip(drawn.tolist(), crowds.tolist(), strict=True))


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_each_of_k_is_equally_likely(size):
    """600 draws: the share of each pair is within four standard errors of 1/k."""
    crowds = _rings(np.array([0] * 7 + [1] * 8), size)
    draws = 600
    seen = Counter()
    for i in range(draws):
        drawn = draw_matching(crowds, Coins(f"{size} {i}".encode()))
        seen.update(zip(range(15), drawn.tolist(), strict=True))
    shares = [seen[crowd, person] / draws for crowd in range(15) for person in crowds[crowd].tolist()]
    assert len(seen) == 15 * size
    assert np.abs(np.array(shares) - 1 / size).max() < 4 * np.sqrt(1 / size * (1 - 1 / size) / draws)


def test_people_take_the_places_of_their_tuples():
    tuples = np.array([0, 0, 0, 1, 1])
    crowds = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [0, 0, 1], [0, 1, 1]])
    people = _people(crowds, tuples, np.array([3, 2]))
    assert np.bincount(people.ravel()).tolist() == [3] * 5
    assert all(len(set(row)) == 3 for row in people.tolist())
    assert (tuples[people] == crowds).all()


def slow_mixture(codes, weights, times, size):
    """What the cheapest mixture costs, by a linear program over all crowds."""
    crowds = [
        c for c in combinations_with_replacement(range(len(times)), size) if all(c.count(t) <= times[t] for t in c)
    ]
    members = np.array([[crowd.count(t) for crowd in crowds] for t in range(len(times))])
    costs = k_concealing._costs(codes, weights, np.array(crowds))
    return float(linprog(costs, A_eq=members, b_eq=size * times).fun)


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), n=st.integers(4, 8), size=st.integers(3, 4))
def test_rounds_end_with_the_cheapest_mixture(seed, n, size):
    """The mixture of crowds found in rounds costs what the one of all crowds costs; rounded, everybody is in k."""
    codes = np.column_stack([integers(seed, f"c{j}", n, 0, top) for j, top in enumerate((2, 4, 9))])
    codes, times = np.unique(codes, axis=0, return_counts=True)
    weights = np.array([700, 300, 100])
    tuples = np.repeat(np.arange(len(times)), times)
    known = tuples[_rings(np.zeros(n, np.int64), size)]
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        real = k_concealing._mixture
        patch.setattr(k_concealing, "_mixture", lambda *given: seen.append(given[:2]) or real(*given))
        rounded = k_concealing._mixed(codes, weights, times, known, 50)
    shares, _ = real(*seen[-1], times)
    assert shares @ seen[-1][1] == pytest.approx(slow_mixture(codes, weights, times, size), abs=1.0)
    if rounded is not None:
        assert np.array_equal(np.bincount(rounded.ravel(), minlength=len(times)), size * times)
        assert all(crowd.count(t) <= times[t] for crowd in rounded.tolist() for t in crowd)
        assert k_concealing._costs(codes, weights, rounded).sum() >= slow_mixture(codes, weights, times, size) - 1.0


def test_what_rounding_leaves_is_gathered():
    """Two whole crowds and no fractions: the other crowds are made from who is left, nobody twice in one."""
    codes, weights, times = np.array([[0], [1], [2], [7], [8]]), np.array([10]), np.array([1, 1, 1, 1, 2])
    rounded = k_concealing._rounded(codes, weights, times, np.array([[0, 1, 2], [3, 4, 4]]), np.array([1.0, 1.4]))
    assert sorted(np.bincount(rounded.ravel()).tolist()) == [3, 3, 3, 3, 6]
    assert all(crowd.count(t) <= times[t] for crowd in rounded.tolist() for t in crowd)
    apart = k_concealing._rounded(codes, weights, times, np.array([[1, 2, 3], [1, 2, 4]]), np.array([3.0, 0.0]))
    assert sorted(map(sorted, apart.tolist()))[:3] == [[0, 4, 4]] * 3
    few = np.array([1, 1, 2])
    assert k_concealing._rounded(codes[:3], weights, few, np.array([[1, 2, 2]]), np.array([3.0])) is None


@pytest.fixture(scope="module")
def release():
    return ht.anonymize(patients(240).select(NAMES), policy(k(4)))


def test_less_is_lost_than_with_the_classes_that_it_begins_with(release):
    classes = policy(k(4), cells="sets").changed(algorithm="mondrian")
    plain = ht.anonymize(patients(240).select(NAMES), classes)
    assert release.verification.ok and release.n_suppressed == 0
    assert release.measure("ncp") < 0.8 * plain.measure("ncp")


def test_everybody_is_in_a_crowd_of_k(release):
    offsets, rows = release.partition.crowds
    crowds = rows.reshape(-1, 4)
    assert (np.diff(offsets) == 4).all() and (np.bincount(rows) == 4).all()
    assert all(len(set(crowd)) == 4 for crowd in crowds.tolist())
    assert all(record in crowd for record, crowd in enumerate(crowds.tolist()))


def test_the_adversary_who_makes_the_crowds_again_is_right_once_in_k(release):
    """The record whose crowd is built around a person is that person's in about one of four cases."""
    crowds = np.sort(release.partition.crowds[1].reshape(-1, 4), axis=1)
    first = np.count_nonzero(crowds[:, 0] == np.arange(240)) / 240
    assert first < 0.45


def test_the_order_of_rows_does_not_matter(release):
    table = patients(240).select(NAMES)
    again = ht.anonymize(table.take(pa.array(np.arange(240)[::-1])), policy(k(4)))
    assert again.table.equals(release.table)


def test_what_it_refuses():
    with pytest.raises(IncompatibleError, match=r"needs classes of equal ones.*k-concealment"):
        policy({"k-anonymity": {"k": 4}}).plan()
    for name, values in (("t-closeness", {"t": 0.3}), ("entropy-l", {"l": 2}), ("p-plus-sensitive", {"p": 2})):
        with pytest.raises(IncompatibleError, match=rf"{name} needs classes.*such as mondrian"):
            policy(k(4), {name: values}).plan()
    with pytest.raises(IncompatibleError, match="downcoding would change"):
        policy(k(4), guard=["downcoding"]).plan()
    with pytest.raises(IncompatibleError, match="matches each person to one record"):
        ht.Policy(identifiers=["who"], quasi=["age"], models=[k(2)], algorithm="k-concealing", entity="who").plan()


def test_attacks_beside_classes(release):
    """Linking by cells is right for about one in k, as with classes; there are no classes to replay worlds in."""
    assert release.attack("linkage").rate < 0.4
    with pytest.raises(UsageError, match="k-concealing makes no classes"):
        release.attack("known-algorithm")


WORLDS = sorted(set(permutations("aabbb")))


def worlds_of(ages, size, secrets):
    """Yield, for every way to give five people their values and for every secret: values, each one's cells, crowds."""
    people = pa.table({"age": ages, "ill": list(WORLDS[0])})
    rules = ht.Policy(
        quasi=["age"], sensitive=["ill"], models=[k(size)], algorithm={"k-concealing": {"effort": 0, "rounds": 0}}
    )
    problem = local.run(people, rules.plan()).problem
    start = Mondrian().run(problem)
    ill = problem.table.sensitive[0]
    for world in WORLDS:
        codes = np.array(["ab".index(value) for value in world], dtype=ill.codes.dtype)
        table = replace(problem.table, sensitive=(replace(ill, codes=codes),))
        for secret in range(secrets):
            coins = Coins(f"{world} {secret}".encode())
            ((rows, classes),) = _blocks(replace(problem, store=table, tossed=coins), start)
            crowds = KConcealing(effort=0, rounds=0)._crowds(table, rows, classes, size)
            drawn = draw_matching(crowds, coins.purse("draw"))
            cells = {int(rows[p]): tuple(ages[i] for i in rows[crowds[c]]) for c, p in enumerate(drawn.tolist())}
            yield world, cells


def test_who_replays_all_worlds_believes_one_in_k():
    """The adversary knows ages and algorithm, and replays all worlds; here with 40 secrets each.

    Two people are 20. In the order of their values, who has the lower one would be in other crowds than who has the
    higher one, and the values of these two crowds would tell something about their owners.
    """
    ages = [20, 20, 21, 22, 23]
    telling = (20, 21, 22), (20, 22, 23)
    seen, times, inside = Counter(), Counter(), {}
    for world, cells in worlds_of(ages, 3, 40):
        shown = {who: tuple(sorted(set(crowd))) for who, crowd in cells.items()}
        value = {cell: world[who] for who, cell in shown.items()}
        assert len(value) == 5
        published = tuple(value[cell] for cell in telling)
        times[published] += 1
        for who, crowd in cells.items():
            inside[shown[who]] = Counter(crowd)
            seen[published, ages[who], shown[who]] += 1
    assert len(times) == 4 and min(times.values()) > 20
    for published, often in times.items():
        for cell, crowd in inside.items():
            for age, there in crowd.items():
                belief = seen[published, age, cell] / often
                assert abs(belief - there / 3) < 4 * np.sqrt(2 / 9 / often), (published, age, cell)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_one_known_record_does_not_decide_for_others(size):
    """Of 40 people in one ring; drawn with pairs that everybody knows, a few matchings would be left."""
    crowds = _rings(np.zeros(40, np.int64), size)
    found = np.array([np.argsort(draw_matching(crowds, Coins(f"{i}".encode()))) for i in range(200)])
    assert len(np.unique(found, axis=0)) > 150
    known = found[found[:, 0] == found[0, 0]]
    others = [np.bincount(own).max() / len(known) for own in known[:, 1:].T]
    # somebody who shares most crowds with the first one may be known
    assert np.median(others) < 1 / size + 0.2 and np.count_nonzero(np.array(others) > 0.95) <= 2


def test_two_a_crowd_stay_in_their_classes():
    """Crowds of two form cycles, which one record decides; none is longer than a class."""
    made = ht.anonymize(patients(60).select(NAMES), policy(k(2)))
    offsets, rows = made.partition.crowds
    start = Mondrian().run(made.problem)
    classes = np.asarray(start.labels)[rows.reshape(-1, 2)]
    assert (np.diff(offsets) == 2).all() and (classes[:, 0] == classes[:, 1]).all()


def test_public_files_do_not_tell_the_draw(tmp_path, monkeypatch):
    """Other people have the values, and another secret gives the same table: then so are all public files.

    All but the number of the release, which is an HMAC with the secret.
    """
    rules = ht.Policy(
        quasi=["age"], sensitive=["ill"], models=[k(3)], algorithm={"k-concealing": {"effort": 0, "rounds": 0}}
    ).plan()
    made = {}
    for turn in range(120):
        secret = tmp_path / f"secret {turn}"
        secret.write_bytes(bytes([turn]) * 32)
        secret.chmod(0o600)
        monkeypatch.setenv("HUSHTABLE_SECRET", str(secret))
        ill = ["flu", "HIV", "gout", "cold"]
        people = pa.table({"age": [20, 21, 22, 23], "ill": ill[turn % 4 :] + ill[: turn % 4]})
        number = re.compile(rb'"release": "[0-9a-f]{32}"')
        files = {name: number.sub(b"", content) for name, content in local_files(people, rules).items()}
        table = files["csv/release.csv"]
        assert made.setdefault(table, (turn % 4, files))[1] == files
        if made[table][0] != turn % 4:
            return
    raise AssertionError("no two draws gave the same table")


def diverse(l):
    return {"distinct-l": {"l": l}}


@settings(max_examples=40)
@given(values=st.lists(st.sampled_from("abcd"), min_size=4, max_size=8), l=st.integers(2, 3), size=st.integers(2, 4))
def test_crowds_are_as_large_as_every_draw_needs(values, l, size):
    """Against all subsets: the smallest number of records, of which any so many have l values."""
    if len(set(values)) < l:
        return
    people = pa.table({"age": [20] * len(values), "ill": values})
    rules = ht.Policy(quasi=["age"], sensitive=["ill"], models=[k(size), diverse(l)], algorithm="mondrian")
    problem = local.problem_of(people, rules.plan())
    labels = np.zeros(len(values), np.int64)
    stats = problem.table.stats_of(labels, 1, problem.model.histogram_keys())
    enough = [s for s in range(size, len(values) + 1) if all(len(set(c)) >= l for c in combinations(values, s))]
    assert k_concealing._sufficient(problem, stats, size).tolist() == enough[:1]


def possible_values(release):
    """By trying every assignment of people to records: the values of each person's possible records, and vice versa."""
    rows = release.table.to_pylist()
    ages = [row["age"] for row in people_with_values().to_pylist()]
    covered = [{int(part) for part in re.findall(r"\d+", str(row["age"]))} for row in rows]
    ill = people_with_values().column("ill").to_pylist()
    by_person, by_record = [set() for _ in ages], [set() for _ in rows]
    for people in permutations(range(len(ages))):
        if all(ages[who] in covered[record] for record, who in enumerate(people)):
            for record, who in enumerate(people):
                by_person[who].add((record, rows[record]["ill"]))
                by_record[record].add((who, ill[who]))
    return by_person, by_record


def people_with_values():
    return pa.table({"age": [20, 21, 22, 23, 24, 25, 26], "ill": list("aaabbcb")})


def with_values(monkeypatch, tmp_path, turn):
    secret = tmp_path / f"secret {turn}"
    secret.write_bytes(bytes([turn]) * 32)
    secret.chmod(0o600)
    monkeypatch.setenv("HUSHTABLE_SECRET", str(secret))
    rules = ht.Policy(quasi=["age"], sensitive=["ill"], models=[k(3), diverse(2)], algorithm="k-concealing")
    return ht.anonymize(people_with_values(), rules)


def test_every_draw_leaves_k_records_with_l_values(monkeypatch, tmp_path):
    for turn in range(8):
        made = with_values(monkeypatch, tmp_path, turn)
        sides = possible_values(made)
        assert [e.achieved for e in made.verification.evidence] == [
            min(len(found) for side in sides for found in side),
            min(len({value for _, value in found}) for side in sides for found in side),
        ]
        assert made.verification.ok
    assert len({tuple(map(str, row.values())) for row in made.table.to_pylist()}) > 3


def test_who_replays_all_worlds_believes_one_in_s_with_l_values():
    """Five people in one class, crowds of four: three of them have b, so only four records surely have two values."""
    ages = [20, 20, 21, 22, 23]
    people = pa.table({"age": ages, "ill": list(WORLDS[0])})
    rules = ht.Policy(quasi=["age"], sensitive=["ill"], models=[k(3), diverse(2)], algorithm="k-concealing")
    problem = local.run(people, rules.plan()).problem
    ill = problem.table.sensitive[0]
    seen, times = Counter(), Counter()
    for world in WORLDS:
        codes = np.array(["ab".index(value) for value in world], dtype=ill.codes.dtype)
        table = replace(problem.table, sensitive=(replace(ill, codes=codes),))
        for secret in range(40):
            coins = Coins(f"{world} {secret}".encode())
            offsets, rows = KConcealing().run(replace(problem, store=table, tossed=coins)).crowds
            assert np.diff(offsets).tolist() == [4] * 5
            cells = [tuple(sorted({ages[i] for i in crowd})) for crowd in rows.reshape(5, 4).tolist()]
            published = tuple(sorted(zip(cells, world, strict=True)))
            times[published] += 1
            seen.update((published, who, cells[who]) for who in (2, 3, 4))
    assert len(times) > 4 and min(times.values()) > 15
    for published, often in times.items():
        shown = Counter(cell for cell, _ in published)
        for who in (2, 3, 4):
            for cell in shown:
                belief = seen[published, who, cell] / often
                expected = shown[cell] / 4 if ages[who] in cell else 0.0
                assert abs(belief - expected) < 4 * np.sqrt(0.25 / often)


def test_a_draw_without_l_values_is_not_published(monkeypatch, tmp_path):
    """Crowds of k alone: of four people with a, a, a and b, somebody always has three records with a."""
    monkeypatch.setattr(k_concealing, "_sufficient", lambda problem, stats, size: np.full(len(stats), 3))
    with pytest.raises(VerificationError, match="distinct-l"):
        with_values(monkeypatch, tmp_path, 1)


def test_blocks_are_worked_on_one_by_one(monkeypatch):
    """Tables above the size of a block: crowds stay in their block, and everything is verified."""
    monkeypatch.setattr(k_concealing, "BLOCK", 50)
    made = ht.anonymize(patients(240).select(NAMES), policy(k(4)))
    offsets, rows = made.partition.crowds
    assert made.verification.ok and (np.diff(offsets) == 4).all() and (np.bincount(rows) == 4).all()
    blocks = list(_blocks(made.problem, Mondrian().run(made.problem)))
    block = np.empty(240, dtype=np.int64)
    for number, (own, _) in enumerate(blocks):
        block[own] = number
        assert len(own) <= 50
    crowds = block[rows.reshape(-1, 4)]
    assert len(blocks) > 4 and (crowds == crowds[:, :1]).all()
