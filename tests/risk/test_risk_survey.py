"""Risk as official statistics counts it: individual, household, l-diversity and SUDA scores."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import UsageError
from hushtable.laws.joining import any_member_found
from hushtable.release.exposure import Exposure
from hushtable.risk.household import Household
from hushtable.risk.individual import Individual, individual_risk
from hushtable.risk.marketer import Marketer
from hushtable.risk.minimal_uniques import MinimalUniques
from hushtable.risk.pitman import Pitman


def negative_binomial_risk(f, p):
    """E(1 / F | f), summed over all F."""
    if p >= 1:
        return 1 / f
    total, h = 0.0, f
    while True:
        term = math.exp(
            math.lgamma(h) - math.lgamma(f) - math.lgamma(h - f + 1) + f * math.log(p) + (h - f) * math.log1p(-p)
        )
        total += term / h
        if h > f / p and term / h < 1e-13 * total:
            return total
        h += 1


def test_the_worked_example_of_the_manuals():
    """Classes with weights of 110, 84.5, 17, 541, 8, 5 and 92 in all, as in the papers about mu-Argus."""
    keys = [1, 2, 2, 3, 4, 5, 6, 1, 7, 7]
    weights = [18, 45.5, 39, 17, 541, 8, 5, 92, 50, 42]
    risk, basis, population = individual_risk(Exposure.of({"key": keys}, weights=weights), None)
    assert basis == "survey weights" and population == sum(weights)
    # by hand: -ln(p) p / q for classes of one, p / q + ln(p) (p / q)^2 for pairs
    assert risk[2] == pytest.approx(math.log(17) / 16)
    assert risk[3] == pytest.approx(math.log(541) / 540)
    pair = (2 / 110) / (108 / 110)
    assert risk[0] == pytest.approx(pair - math.log(55) * pair**2)
    assert risk.round(4).tolist() == [0.0171, 0.022, 0.1771, 0.0117, 0.2971, 0.4024, 0.0203]


@given(st.integers(1, 60), st.floats(0.01, 1))
@settings(max_examples=60, deadline=None)
def test_individual_risk_is_the_sum_over_all_populations(f, p):
    weights = [1 / p] * f
    risk = individual_risk(Exposure.of({"key": [0] * f}, weights=weights), None)[0]
    assert risk[0] == pytest.approx(negative_binomial_risk(f, f / sum(weights)), rel=1e-8)


@pytest.mark.parametrize("f", [1, 2, 3, 40, 41, 5000])
@pytest.mark.parametrize("p", [1e-12, 1e-6, 0.499999, 0.500001, 1 - 1e-12])
def test_individual_risk_is_stable_at_the_edges(f, p):
    risk = individual_risk(Exposure.of({"key": [0] * f}, weights=[1 / p] * f), None)[0][0]
    assert p / f * (1 - 1e-9) <= risk <= 1 / f  # Jensen: E(1 / F) >= 1 / E(F) = p / f
    more = individual_risk(Exposure.of({"key": [0] * f}, weights=[1 / p * 1.01] * f), None)[0][0]
    assert more <= risk


def test_the_global_risk_adds_up():
    table = Exposure.of({"key": [1, 2, 2, 3]}, weights=[17, 60, 50, 8])
    found = Individual().compute(table)
    by_hand = math.log(17) / 16 + 2 * individual_risk(table, None)[0][1] + math.log(8) / 7
    assert found.expected == pytest.approx(by_hand)
    assert found.average == pytest.approx(by_hand / 4)
    assert found.population == 135
    assert found.at_risk == 2


def test_a_fraction_stands_for_equal_weights():
    keys = [1, 2, 2, 3, 3, 3]
    by_fraction = Individual(fraction=0.1).compute(Exposure.of({"key": keys}))
    by_weight = Individual().compute(Exposure.of({"key": keys}, weights=[10] * 6))
    assert by_fraction.expected == pytest.approx(by_weight.expected)
    assert by_fraction.population == by_weight.population == 60


def test_without_weights_it_says_what_to_do():
    plain = Exposure.of({"key": [1, 2]})
    with pytest.raises(UsageError, match="role 'weight'"):
        Individual().compute(plain)
    with pytest.raises(UsageError, match="role 'cluster'"):
        Household().compute(plain)
    counted = Exposure(("key",), (np.array([0, 1]),), (2,), np.array([1, 1]))
    with pytest.raises(UsageError, match="local engine"):
        Individual().compute(counted)
    assert not Individual().applies(plain) and not Household().applies(plain)


def test_people_who_stand_out():
    keys = [*range(1, 4), *([9] * 50), *([10] * 47)]
    weights = [2, 2, 3, *([40] * 97)]
    found = Individual().compute(Exposure.of({"key": keys}, weights=weights))
    assert found.stands_out == 3


def test_the_uniqueness_laws_take_the_population_from_the_weights():
    rows = {"age": [1] * 9 + [2] * 4 + [3, 3, 4, 4, 5, 6, 7]}
    weighted = Exposure.of(rows, weights=[5, 15] * 10)
    for risk in (Pitman, Marketer):
        found, same = risk().compute(weighted), risk(fraction=0.1).compute(Exposure.of(rows))
        assert found.basis == "survey weights"
        assert found.as_dict() | {"basis": ""} == same.as_dict() | {"basis": ""}
    # a fraction that is given counts more
    assert Pitman(fraction=0.5).compute(weighted).population == 40


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
def test_household_risk_is_the_product_over_members(rows):
    risk = np.array([r for r, _ in rows])
    homes, home = np.unique([h for _, h in rows], return_inverse=True)
    slow = [1 - math.prod(1 - r for r, h in rows if h == number) for number in homes]
    assert any_member_found(risk, home) == pytest.approx(np.array(slow), abs=1e-12)


def test_household_risk_by_hand():
    table = Exposure.of({"age": [30, 30, 31, 31, 40]}, households=[7, 7, 7, 8, 8])
    found = Household(threshold=0.9).compute(table)
    # 1 - (1/2)(1/2)(1/2), and 1 for who lives with somebody unique
    assert (found.highest, found.households, found.largest) == (1.0, 2, 3)
    assert found.expected_households == pytest.approx(1.875)
    assert found.expected == pytest.approx(3 * 0.875 + 2)
    assert found.at_risk == 2


def test_a_release_counts_the_members_who_are_published():
    n = 60
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["a", "b", "c"], n),
            "disease": rng.choice(["flu", "gout", "cold"], n),
            "w": rng.uniform(5, 30, n).round(2),
            "home": rng.integers(0, 20, n),
        }
    )
    policy = ht.Policy(
        quasi=["age", "town"], sensitive=["disease"], weight="w", cluster="home", models=[ht.KAnonymity(k=3)]
    )
    release = ht.anonymize(table, policy)
    found = release.risk()
    assert {"individual", "household"} <= set(found.risks)
    rows = np.asarray(release.source_rows)
    cells = list(zip(*(release.table.column(name).to_pylist() for name in ("age", "town")), strict=True))
    weights, homes = table.column("w").to_numpy(), table.column("home").to_numpy()
    risk = {}
    for cell in set(cells):
        members = [rows[i] for i, c in enumerate(cells) if c == cell]
        risk[cell] = negative_binomial_risk(len(members), len(members) / sum(weights[m] for m in members))
    assert found["individual"].after.expected == pytest.approx(sum(risk[c] for c in cells))
    by_home = {h: 1 - math.prod(1 - risk[c] for c, r in zip(cells, rows, strict=True) if homes[r] == h) for h in homes}
    assert found["household"].after.highest == pytest.approx(max(by_home.values()))
    assert found["household"].after.expected_households == pytest.approx(sum(by_home.values()))


def test_a_saved_release_knows_weights_from_its_original(tmp_path):
    n = 40
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 40, n), "disease": rng.choice(["flu", "gout"], n), "w": rng.uniform(5, 30, n)}
    table = pa.table({**columns, "home": rng.integers(0, 20, n)})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], weight="w", cluster="home", models=[ht.KAnonymity(k=3)])
    release = ht.anonymize(table, policy)
    release.save(tmp_path / "release")
    again = ht.open_release(tmp_path / "release", table)
    for name in ("individual", "household", "l-diversity", "pitman"):
        assert again.risk(name).as_dict() == release.risk(name).as_dict()
    folder = b"".join(path.read_bytes() for path in (tmp_path / "release").iterdir() if path.is_file())
    assert all(f"{weight}".encode() not in folder for weight in columns["w"])


def test_streaming_reads_weights_too(tmp_path):
    rng = np.random.default_rng(2)
    n = 60
    lines = [f"{rng.integers(20, 40)},{rng.uniform(5, 30):.2f},{rng.integers(0, 20)}" for _ in range(n)]
    (tmp_path / "survey.csv").write_text("\n".join(["age,w,home", *lines]) + "\n")
    policy = ht.Policy(quasi=["age"], weight="w", cluster="home", models=[ht.KAnonymity(k=3)])
    releases = [ht.run(tmp_path / "survey.csv", policy, tmp_path / how, engine=how) for how in ("local", "stream")]
    for name in ("individual", "household", "dankar"):
        one, other = (release.risk(name).after.as_dict() for release in releases)
        # weights are added up in another order
        assert one == {key: pytest.approx(v) if isinstance(v, float) else v for key, v in other.items()}
    assert (tmp_path / "local" / "release.csv").read_bytes() == (tmp_path / "stream" / "release.csv").read_bytes()


def test_l_diversity_by_hand():
    table = pa.table({"age": [1] * 4 + [2] * 2, "disease": ["a", "a", "b", "c", "d", "d"]})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    found = ht.anonymize(table, policy).risk("l-diversity").after
    distinct, entropy, recursive = found.diversity
    assert (distinct.least, distinct.median, distinct.most) == (1, 3, 3)
    assert distinct.mean == pytest.approx((4 * 3 + 2) / 6)
    assert entropy.most == pytest.approx(math.exp(1.5 * math.log(2)))
    assert recursive.least == pytest.approx(2 / 2) and recursive.most == math.inf
    assert (found.one_value, found.share_one_value) == (2.0, pytest.approx(1 / 3))


def test_l_diversity_needs_sensitive_values():
    release = ht.anonymize(pa.table({"age": [1, 1]}), ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match="role 'sensitive'"):
        release.risk("l-diversity")


rows = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=12)


@given(rows, st.sampled_from([None, 0.05, 0.5]))
@settings(max_examples=60, deadline=None)
def test_suda_scores_are_those_of_every_subset(table, fraction):
    columns = {f"c{j}": [row[j] for row in table] for j in range(4)}
    found = MinimalUniques(size=3, fraction=fraction).compute(Exposure.of(columns))

    def alone(row, subset):
        return sum(all(other[j] == row[j] for j in subset) for other in table) == 1

    scores = []
    for row in table:
        unique = [set(s) for size in range(1, 4) for s in combinations(range(4), size) if alone(row, s)]
        minimal = [s for s in unique if not any(t < s for t in unique)]
        # (A - s)(A - s - 1) ... (A - M): factorials of what is left of four columns
        scores.append(sum(math.factorial(4 - len(s)) for s in minimal))
    scored = [s for s in scores if s]
    assert found.score == pytest.approx(sum(scored) / max(len(scored), 1))
    uniques = sum(alone(row, range(4)) for row in table)
    pairs = sum(table.count(row) == 2 for row in table)
    pi = fraction or 1
    chance = uniques * pi / (uniques * pi + pairs * (1 - pi)) if uniques else 0
    assert found.dis == pytest.approx(chance)
    if scored:
        dis = [min(s * chance * uniques / sum(scores), 1) for s in scores]
        assert found.highest_dis == pytest.approx(max(dis))
        assert sum(found.by_dis) == pytest.approx(len(table))
        assert found.by_dis[0] == sum(d == 0 for d in dis)
