"""m-invariant re-publication: a hospital published twice, and random histories."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import csv

import hushtable as ht
from hushtable import registry
from hushtable.api import run_plan
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound, UsageError, VerificationError
from hushtable.ledger.ledger import Ledger
from hushtable.release.companion import companion_of, read_companion
from support_core import first_of

VALUES = ("bronchitis", "dyspepsia", "flu", "gastritis", "gout")


SPRING = {
    "Anna": (21, 12, "dyspepsia"), "Bert": (22, 14, "bronchitis"), "Carl": (24, 18, "flu"),
    "Dora": (23, 25, "gastritis"), "Emil": (41, 20, "flu"), "Fine": (36, 27, "gastritis"),
    "Gerd": (37, 33, "dyspepsia"), "Hans": (40, 35, "flu"),
    "Inge": (43, 26, "gastritis"), "Jens": (52, 33, "dyspepsia"), "Karl": (56, 34, "gastritis"),
}  # fmt: skip
LEAVE = ("Bert", "Carl", "Fine", "Hans", "Jens")
COME = {
    "Lena": (25, 21, "flu"), "Maja": (46, 30, "gastritis"), "Nora": (54, 31, "dyspepsia"),
    "Olaf": (60, 44, "gastritis"), "Paul": (65, 36, "flu"),
}  # fmt: skip
AUTUMN = {name: row for name, row in SPRING.items() if name not in LEAVE} | COME


def table(people):
    return pa.table(
        {
            "name": list(people),
            "age": [row[0] for row in people.values()],
            "income": [row[1] * 1000 for row in people.values()],
            "disease": [row[2] for row in people.values()],
        }
    )


def policy(m=2, ledger=None, **more):
    return ht.Policy(**{
        "identifiers": ["name"], "quasi": ["age", "income"], "models": [ht.MInvariance(m=m)],
        "sensitive": {"disease": {"categories": {"all": list(VALUES)}}}, "algorithm": "m-invariant", "ledger": ledger,
        **more,
    })  # fmt: skip


def groups_of(release):
    """The people and the values of every class, as far as the house knows."""
    people, values = defaultdict(set), defaultdict(Counter)
    names = release.source.column("name").to_pylist()
    rows = zip(release.table.column("group").to_pylist(), release.source_rows.tolist(), strict=True)
    for (group, row), value in zip(rows, release.table.column("disease").to_pylist(), strict=True):
        values[group][value] += 1
        if row >= 0:
            people[group].add(names[row])
    return people, values


def signatures(release):
    people, values = groups_of(release)
    return {name: frozenset(values[group]) for group, members in people.items() for name in members}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


def test_the_hospital_published_twice(ledger, tmp_path):
    """Where nobody is left with a value of somebody's signature, a counterfeit has it."""
    rules = policy(ledger=str(ledger.path))
    first = ht.anonymize(table(SPRING), first_of(rules))
    assert first.table.num_rows == 11 and first.n_suppressed == 0
    ledger.add(first, name="spring")
    second = ht.anonymize(table(AUTUMN), rules)
    assert (second.n_released, second.n_suppressed) == (11, 0)
    before, after = signatures(first), signatures(second)
    for name in set(SPRING) & set(AUTUMN):
        assert before[name] == after[name]
    people, values = groups_of(second)
    assert all(count == 1 for group in values.values() for count in group.values())
    fakes = {group: sum(values[group].values()) - len(people[group]) for group in values}
    assert sum(fakes.values()) >= 5, "five newcomers, fewer than can be mixed, have a class of their own each"
    assert second.summary()["notes"] == {"people_kept": 6, "counterfeits": sum(fakes.values())}
    assert ledger.check(second).ok
    result = second.attack("composition", others=first)
    assert result.targets == 6 and result.successes == 0
    saved = second.save(tmp_path / "out")
    told = ht.release.companion.load_evidence(saved / "release.json")
    assert not {"counterfeits", "class_counts", "reference", "records", "released", "suppressed", "people"} & set(told)
    kept = read_companion(companion_of(saved), saved)
    assert kept["counterfeits"] == {"total": sum(fakes.values()), "classes": [fakes[g] for g in sorted(fakes)]}
    assert kept["released"] == 11 and kept["suppressed"] == 0
    assert ht.verify(saved / "release.csv", rules).ok
    ledger.add(second, name="autumn")
    # made again as it was, though the ledger has grown
    again = run_plan(table(AUTUMN), ht.load_policy(saved / "policy.yaml").plan().repeating())
    assert again.table.equals(second.table)
    opened = ht.open_release(saved, table(AUTUMN))
    assert opened.risk("prosecutor") == second.risk("prosecutor")


def test_without_keeping_signatures_the_ledger_refuses(ledger):
    ledger.add(ht.anonymize(table(SPRING), policy()))
    with pytest.raises(VerificationError, match="m-invariance"):
        ledger.add(ht.anonymize(table(AUTUMN), policy()))
    with pytest.raises(VerificationError, match="m-invariance"):
        ht.anonymize(table(AUTUMN), policy(algorithm="anatomy", ledger=str(ledger.path)))


def test_counterfeits_are_nobody_for_models_that_count_people(ledger):
    rules = policy(ledger=str(ledger.path))
    ledger.add(ht.anonymize(table(SPRING), first_of(rules)))
    second = ht.anonymize(table(AUTUMN), rules)
    assert second.verification.people == 11
    assert second.verification.stats.sizes.sum() == 11
    both = policy(ledger=str(ledger.path), models=[ht.MInvariance(m=2), ht.KAnonymity(k=2)])
    with pytest.raises((NotFound, VerificationError)):
        ht.anonymize(table(AUTUMN), both)


def test_classes_with_counterfeits_are_judged_beside_a_population(ledger, tmp_path):
    """No model counts the population, but its rows stand behind the sample's, where counterfeits have no row."""
    csv.write_csv(table(SPRING | COME).select(["age", "income"]), tmp_path / "population.csv")
    rules = policy(ledger=str(ledger.path), population=str(tmp_path / "population.csv"))
    ledger.add(ht.anonymize(table(SPRING), first_of(rules)))
    second = ht.anonymize(table(AUTUMN), rules)
    people, _ = groups_of(second)
    assert (second.verification.rows, second.verification.people) == (second.table.num_rows, 11)
    assert second.verification.classes == len(people)
    assert ht.verify(second.save(tmp_path / "out") / "release.csv", rules).ok


def test_what_attacks_see_of_counterfeits(ledger):
    rules = policy(ledger=str(ledger.path))
    ledger.add(ht.anonymize(table(SPRING), first_of(rules)))
    second = ht.anonymize(table(AUTUMN), rules)
    assert second.attack("homogeneity").successes == 0
    assert second.attack("linkage").targets == 11
    for name in registry.attacks:
        try:
            result = second.attack(name)
        except UsageError:
            continue
        assert 0 <= result.successes <= result.targets, name
    assert second.risk("prosecutor").after.highest == 1.0
    assert "11 of 11 records" in second._repr_html_()
    with pytest.warns(ht.errors.PrivacyLeakWarning):
        aligned = second.aligned()
    assert aligned.num_rows == 11
    assert aligned.column("disease").to_pylist() == table(AUTUMN).column("disease").to_pylist()


def test_a_value_that_nobody_names_any_more_is_asked_for(ledger):
    bare = policy(ledger=str(ledger.path), sensitive=["disease"])
    ledger.add(ht.anonymize(table(SPRING), first_of(bare)))
    same = {name: row for name, row in SPRING.items() if row[2] == "dyspepsia"}
    with pytest.raises(DataError, match="neither the table nor the policy names") as caught:
        ht.anonymize(table(same), bare)
    assert "categories" in caught.value.hint and not any(value in str(caught.value) for value in VALUES)


def test_counterfeits_need_a_cell_in_every_column(ledger):
    rules = policy(ledger=str(ledger.path), insensitive=["note"])
    with_note = {k: table(v).append_column("note", pa.array(["x"] * 11)) for k, v in (("1", SPRING), ("2", AUTUMN))}
    ledger.add(ht.anonymize(with_note["1"], first_of(rules)))
    with pytest.raises(IncompatibleError, match=r"none in 'note'\. Give these columns the role 'drop'"):
        ht.anonymize(with_note["2"], rules)


def test_a_first_release_has_no_counterfeits(ledger):
    with pytest.raises(Infeasible):
        ht.anonymize(table(SPRING), policy(m=5))
    people = pa.table({"name": list("abcd"), "age": [1, 2, 3, 4], "x": list("aabb"), "y": list("abcd")})
    rules = ht.Policy(
        identifiers=["name"], quasi=["age"], sensitive=["x", "y"], models=[ht.MInvariance(m=2)], algorithm="m-invariant"
    )
    # all pairs of values differ, so any two make a class, and one with equal x is made
    with pytest.raises(NotFound):
        ht.anonymize(people, rules)


def test_somebody_who_comes_back_keeps_the_signature(ledger):
    rules = policy(ledger=str(ledger.path))
    first = ht.anonymize(table(SPRING), first_of(rules))
    ledger.add(first)
    ledger.add(ht.anonymize(table(AUTUMN), rules))
    third = ht.anonymize(table(AUTUMN | {"Bert": SPRING["Bert"]}), rules)
    assert signatures(third)["Bert"] == signatures(first)["Bert"]
    ledger.add(third)


def test_a_changed_value_makes_a_newcomer(ledger):
    rules = policy(ledger=str(ledger.path))
    first = ht.anonymize(table(SPRING), first_of(rules))
    ledger.add(first)
    changed = SPRING | {"Anna": (21, 12, "gout")}
    second = ht.anonymize(table(changed), rules)
    assert "gout" in signatures(second)["Anna"]
    ledger.add(second)


@st.composite
def histories(draw):
    # the attack takes records of two releases with the same quasi-identifiers and value for one person
    pairs = st.tuples(st.integers(20, 60), st.integers(10, 40))
    places = draw(st.lists(pairs, min_size=18, max_size=18, unique=True))
    own = {f"p{i}": (*place, draw(st.sampled_from(VALUES))) for i, place in enumerate(places)}
    return [
        {name: own[name] for name in sorted(draw(st.sets(st.sampled_from(sorted(own)), min_size=2)))}
        for _ in range(draw(st.integers(2, 4)))
    ]


@settings(max_examples=25, deadline=None)
@given(histories(), st.integers(2, 3))
def test_every_release_of_any_history_keeps_the_definition(tmp_path_factory, history, m):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "releases")
    rules = policy(m=m, ledger=str(ledger.path)).with_column("disease", changes=True)
    kept: dict[str, frozenset[str]] = {}
    released = []
    for people in history:
        try:
            chosen = rules if ledger.exists() else first_of(rules)
            expecting = chosen.changed(ledger={**chosen.ledger.settings(), "expect_new_people": True})
            release = ht.anonymize(table(people), expecting)
        except Infeasible:
            assert not kept.keys() & people.keys(), "where somebody is known, counterfeits always help"
            continue
        except NotFound:
            pytest.fail("a table that is m-eligible, or continues a release, has an m-invariant release")
        groups, values = groups_of(release)
        assert set().union(*groups.values()) == set(people)
        for group, members in groups.items():
            assert len(values[group]) >= m and set(values[group].values()) == {1}
            assert {people[name][2] for name in members} <= set(values[group])
            assert len(members) == len({people[name][2] for name in members})
        for name, signature in signatures(release).items():
            assert kept.setdefault(name, signature) == signature
        if ledger.check(release).already:
            continue
        ledger.add(release, expect_new_people=True)
        for other in released:
            assert release.attack("composition", others=other).successes == 0
        released.append(release)


def test_rows_in_any_order_give_the_same_release(ledger):
    rules = policy(ledger=str(ledger.path))
    ledger.add(ht.anonymize(table(SPRING), first_of(rules)))
    forward = ht.anonymize(table(AUTUMN), rules)
    backward = ht.anonymize(table(dict(reversed(AUTUMN.items()))), rules)
    assert forward.table.to_pylist() == backward.table.to_pylist()


def test_equal_records_of_which_one_is_known_do_not_depend_on_the_order_of_rows(ledger):
    rules = policy(ledger=str(ledger.path))
    twins = {f"{n}{i}": row for i in range(3) for n, row in SPRING.items()}
    ledger.add(ht.anonymize(table({n: r for n, r in twins.items() if n.endswith("0")}), first_of(rules)))
    releases = [
        ht.anonymize(table(dict(order)), rules).table.to_pylist()
        for order in (twins.items(), reversed(twins.items()), sorted(twins.items()))
    ]
    assert releases[0] == releases[1] == releases[2]


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        ("numeric", ["20.00", "30.00"], ["10", "20", "30", "40"]),
        ("date", ["2020-02-01 00:00", "2020-03-01 00:00"], ["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"]),
    ],
)
def test_counterfeits_are_spelt_like_records(ledger, kind, texts, values):
    """Read from text, 20.00 and 10 are numbers; published, all values are written in one way."""
    rules = ht.Policy(
        identifiers=["name"], quasi=["age"], models=[ht.MInvariance(m=2)], algorithm="m-invariant",
        sensitive={"fee": {"kind": kind, "categories": {"all": values}}}, ledger=str(ledger.path),
    )  # fmt: skip
    first = pa.table({"name": list("abcd"), "age": [1, 2, 3, 4], "fee": [values[0], *texts, values[3]]})
    ledger.add(ht.anonymize(first, first_of(rules)))
    second = ht.anonymize(first.slice(1, 2), rules).table
    assert second.num_rows > 2 and set(second.column("fee").to_pylist()) <= set(values)


def test_with_a_ledger_nobody_is_left_out(ledger):
    with pytest.raises(IncompatibleError, match="must not suppress anyone") as caught:
        policy(ledger=str(ledger.path), suppression=0.1).plan()
    assert "suppression: 0" in caught.value.hint


def test_a_missing_value_that_the_policy_names_can_be_a_counterfeit(ledger):
    rules = policy(ledger=str(ledger.path), sensitive={"disease": {"categories": {"all": [*VALUES, ""]}}})
    first = SPRING | {"Zoe": (30, 20, None), "Yan": (31, 21, None)}
    ledger.add(ht.anonymize(table(first), first_of(rules)))
    second = ht.anonymize(table(AUTUMN), rules)
    assert ledger.check(second).ok


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_nothing_but_the_value_shows_in_how_it_is_written(zone):
    """Times of day and listed missing values of records, which counterfeits cannot have, are not published."""
    times = [datetime(2024, 2, 27, hour) for hour in range(4)] + [datetime(2024, 3, day) for day in range(1, 5)]
    seen = pa.array(times, pa.timestamp("us", zone))
    table = pa.table({"age": [30] * 8, "seen": seen, "cost": [0.0, None, 1.0, 2.0] * 2})
    policy = ht.Policy(
        quasi={"age": {}},
        sensitive={"seen": {"kind": "date"}, "cost": {}},
        models=[ht.MInvariance(m=2, on="cost")],
        algorithm="m-invariant",
        missing_values=["0"],
    )
    shown = ht.anonymize(table, policy).table
    assert shown.schema.field("seen").type == table.schema.field("seen").type
    assert {time.hour for time in shown["seen"].to_pylist()} == {0}
    assert set(shown["cost"].to_pylist()) == {None, 1.0, 2.0}
