"""Anti-unification as a release: goldens, readings, discarded records, refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import hushtable as ht
from hushtable import rng
from hushtable.algorithms.pattern.anti_unification import AntiUnification
from hushtable.errors import DataError, IncompatibleError, NotFound, ParameterError, PolicyError
from hushtable.hierarchy.frequency import Frequency
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.registry import models
from hushtable.release.files import patterns
from hushtable.release.forms.pattern import Pattern
from hushtable.release.settle import merge_overlapping
from hushtable.schema.columns import Kind, Role
from hushtable.table.encode import encode
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing import Answer, check_algorithm, check_pair, check_release, model_examples, random_case


def policy(quasi, sensitive=(), model=None, suppression=0.0, **parameters):
    chosen = model or [KAnonymity(k=2)]
    return ht.Policy(
        quasi=list(quasi), sensitive=list(sensitive), models=chosen, algorithm=AntiUnification(**parameters),
        suppression=suppression,
    )  # fmt: skip


def random_people(names="abcds", n=400, seed=3):
    columns = {
        name: [f"{name}{v}" for v in rng.integers(seed, name, n, 0, size).tolist()]
        for name, size in (("a", 2), ("b", 3), ("c", 4), ("d", 5), ("s", 3))
    }
    return pa.table(columns).select(list(names))


class TestFigure2:
    """35 records in four classes of 7, 3, 12 and 13; with K = 5 the class of 3 is rejected."""

    people = pa.table(
        {
            "texture": ["smooth"] * 35,
            "material": ["wood"] * 35,
            "color": ["blue"] * 7 + ["green"] * 3 + ["blue"] * 12 + ["green"] * 13,
            "size": ["small"] * 10 + ["big"] * 25,
        }
    )

    def release(self, **how):
        return ht.anonymize(
            self.people,
            policy(["texture", "material"], ["color", "size"], [KAnonymity(k=5)], within=["color", "size"], **how),
        )

    def test_the_class_of_3_is_rejected(self):
        release = self.release(suppression=0.1, rest="refuse")
        left = Counter(zip(release.table["color"].to_pylist(), release.table["size"].to_pylist(), strict=True))
        assert left == {("blue", "small"): 7, ("blue", "big"): 12, ("green", "big"): 13}
        assert release.partition.notes["discarded"] == 3
        assert release.n_suppressed == 3

    def test_without_a_limit_it_joins_the_others(self):
        release = self.release()
        assert release.n_suppressed == 0
        assert release.partition.notes["joined"] == 3

    def test_without_a_limit_it_can_be_refused(self):
        with pytest.raises(NotFound, match=r"discard 3 people.*limit to 0\.0858"):
            self.release(rest="refuse")


def test_a_pattern_within_a_column_carries_its_value():
    people = pa.table({"a": ["x"] * 14, "b": ["y"] * 14, "color": ["green"] * 9 + ["blue"] * 5})
    rules = patterns(ht.anonymize(people, policy("ab", ["color"], [KAnonymity(k=5)], within="color"))).to_pylist()
    found = [(rule["color"], rule["color: share"], rule["records"]) for rule in rules]
    assert found == [("blue", 1.0, 5), ("green", 1.0, 9)]
    mixed = patterns(ht.anonymize(people, policy("ab", ["color"], [KAnonymity(k=5)]))).to_pylist()
    assert [(rule["color"], rule["records"]) for rule in mixed] == [("green", 14)]


def test_every_record_keeps_at_most_so_many_indifferent_values():
    release = ht.anonymize(random_people(), policy("abcd", ["s"], [KAnonymity(k=5)], suppression=1.0, indifferent=2))
    rules = patterns(release)
    assert min(rules["length"].to_pylist()) >= 2
    assert min(rules["records"].to_pylist()) >= 5
    assert sum(rules["records"].to_pylist()) == release.table.num_rows == 400 - release.partition.notes["discarded"]


def test_joining_shortens_patterns_instead_of_suppressing():
    release = ht.anonymize(random_people(), policy("abcd", ["s"], [KAnonymity(k=12)], indifferent=0))
    assert release.n_suppressed == 0
    assert release.partition.notes["pattern_length"] == 4
    assert release.partition.notes["joined"] > 0
    assert min(patterns(release)["length"].to_pylist()) < 4


def test_the_other_reading_of_long():
    """As a minimum length of 2 patterns leave open more, so fewer records are discarded."""
    people = random_people()
    strict = ht.anonymize(people, policy("abcd", ["s"], [KAnonymity(k=20)], suppression=1.0, indifferent=1))
    loose = ht.anonymize(people, policy("abcd", ["s"], [KAnonymity(k=20)], suppression=1.0, long=2))
    assert loose.partition.notes["discarded"] < strict.partition.notes["discarded"]
    assert min(patterns(loose)["length"].to_pylist()) == 2


def test_the_order_of_conditions_matters():
    first, second = (
        ht.anonymize(random_people("abcd"), policy("abcd", [], [KAnonymity(k=5)], suppression=1.0, conditions=c))
        for c in (["<", ">"], [">", "<"])
    )
    assert first.table.to_pylist() != second.table.to_pylist()


class TestUnknownValues:
    people = pa.table({"a": ["x", "x", "y", "y"], "b": [None, None, "u", "u"]})

    def test_a_value_of_their_own(self):
        release = ht.anonymize(self.people, policy("ab", indifferent=0))
        assert release.table.to_pylist() == [{"a": "x", "b": None}] * 2 + [{"a": "y", "b": "u"}] * 2

    def test_indifferent(self):
        release = ht.anonymize(self.people, policy("ab", indifferent=1, unknown="indifferent"))
        assert release.table.to_pylist() == [{"a": "x", "b": "*"}] * 2 + [{"a": "y", "b": "u"}] * 2

    def test_indifferent_values_do_not_make_a_pattern_long(self):
        with pytest.raises(NotFound, match="discard 2 people"):
            ht.anonymize(self.people, policy("ab", indifferent=0, unknown="indifferent", rest="refuse"))

    def test_a_column_without_any_value_is_refused(self):
        people = self.people.set_column(1, "b", pa.array([None] * 4, pa.string()))
        with pytest.raises(DataError, match=r"'b' has no known value.*role 'identifier'"):
            ht.anonymize(people, policy("ab"))


class TestRefusals:
    def test_a_model_on_the_column_that_is_kept_apart(self):
        with pytest.raises(IncompatibleError, match=r"within 's'.*distinct-l.*Remove 'within'"):
            policy("ab", ["s"], [DistinctL(l=2)], within="s").plan()

    def test_a_model_on_another_column_is_fine(self):
        people = random_people()
        release = ht.anonymize(people, policy("abc", ["s", "d"], [DistinctL(l=2, on="d")], within="s"))
        assert release.verify().ok

    def test_a_column_that_is_not_sensitive(self):
        with pytest.raises(PolicyError, match="within 'a', which is not a sensitive column"):
            ht.anonymize(random_people("abs"), policy("ab", ["s"], within="a"))

    def test_k_larger_than_every_class(self):
        with pytest.raises(PolicyError, match=r"A group needs 300 people, but no value of 's' has more than 1\d\d"):
            ht.anonymize(random_people("abs"), policy("ab", ["s"], [KAnonymity(k=300)], within="s"))

    def test_a_pattern_longer_than_the_record(self):
        with pytest.raises(ParameterError, match="is 3, but a record has only 2 quasi-identifiers"):
            ht.anonymize(random_people("abs"), policy("ab", ["s"], long=3))

    @pytest.mark.parametrize("bad", [{"conditions": ()}, {"conditions": ("=",)}, {"long": 0}, {"indifferent": -1}])
    def test_parameters(self, bad):
        with pytest.raises(ParameterError):
            AntiUnification(**bad)


@pytest.mark.parametrize("model", [DistinctL(l=3), EntropyL(l=2.5), TCloseness(t=0.2)], ids=lambda m: m.name)
def test_with_a_model_the_search_goes_on_until_it_holds(model):
    people = random_people()
    release = ht.anonymize(people, policy("abcd", ["s"], [KAnonymity(k=4), model], suppression=0.3))
    assert release.verify().ok
    assert release.verification.classes > 3


def test_the_same_release_whatever_the_order():
    people = random_people()
    order = np.argsort(rng.uniform(1, "order", 400))
    how = policy("abcd", ["s"], [KAnonymity(k=5)], suppression=0.02)
    assert ht.anonymize(people, how).table.equals(ht.anonymize(people.take(pa.array(order)), how).table)


def test_patterns_are_saved_as_rules(tmp_path):
    release = ht.anonymize(random_people(), policy("abcd", ["s"], [KAnonymity(k=5)], suppression=0.1))
    release.save(tmp_path / "out")
    saved = pa_csv.read_csv(tmp_path / "out" / "patterns.csv").to_pylist()
    assert saved == patterns(release).to_pylist()
    assert ht.verify(tmp_path / "out" / "release.csv", policy("abcd", ["s"], [KAnonymity(k=5)])).ok
    cells = Counter(zip(*(release.table[c].to_pylist() for c in "abcd"), strict=True))
    assert {tuple(rule[c] for c in "abcd"): rule["records"] for rule in saved} == cells
    other = ht.anonymize(random_people("a"), ht.Policy(quasi=["a"], models=[KAnonymity(k=5)]))
    other.save(tmp_path / "out", overwrite=True)
    assert not (tmp_path / "out" / "patterns.csv").exists()


def test_rules_tell_the_commonest_value():
    release = ht.anonymize(random_people("abs"), policy("ab", ["s"], [KAnonymity(k=5)], suppression=0.5))
    rows = release.table.to_pylist()
    for rule in patterns(release).to_pylist():
        own = Counter(r["s"] for r in rows if (r["a"], r["b"]) == (rule["a"], rule["b"]))
        assert own[rule["s"]] == max(own.values())
        assert rule["s: share"] == pytest.approx(own[rule["s"]] / own.total())


VARIANTS = [
    AntiUnification(conditions=("<",)),
    AntiUnification(conditions=("<", ">"), indifferent=0),
    AntiUnification(long=1, unknown="indifferent"),
    AntiUnification(rest="refuse"),
]


@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
@pytest.mark.parametrize("model", ["k-anonymity", "entropy-l", "average-risk", "eps-m"])
def test_the_contract_of_variants(algorithm, model):
    done = check_pair(models[model], algorithm, tables=2, seed=70)
    assert done.total() > 0


def test_within_passes_the_contract_for_identity_models():
    answers = Counter(
        check_release([example], AntiUnification(within="disease"), random_case(seed, 40), suppression=s)
        for seed in range(4)
        for name in ("k-anonymity", "average-risk", "distinct-l")
        for example in model_examples(models[name], random_case(seed, 40), 2)
        for s in (0.0, 0.3)
    )
    assert answers[Answer.RELEASED] > 8
    assert answers[Answer.INCOMPATIBLE] > 0


@pytest.mark.slow
def test_variants_on_many_tables():
    for algorithm in VARIANTS:
        check_algorithm(algorithm, tables=2, seed=700)


def test_a_blank_covers_every_value():
    """Also where the hierarchy's nodes are called after the values published in them."""
    table = encode(
        pa.table({"age": ["0", "25", "43", "5", "52", "8"]}),
        TablePlan((ColumnPlan("age", Role.QUASI, Kind.NOMINAL, Frequency(3)),)),
    )
    cells = Pattern().from_records(table.quasi[0], np.arange(6), np.array([0, 5, 6]))
    assert cells.labels().to_pylist() == ["*", "8"]
    assert cells.covers(np.zeros(6, dtype=np.int64), np.arange(6)).all()
    assert merge_overlapping([cells])[1] == 1
