"""What a release.json claims is believed as far as the published rows allow."""

from __future__ import annotations

from itertools import groupby

import pyarrow as pa
import pytest
from support_release_files import saved

from hushtable.algorithms.base import Recoding
from hushtable.algorithms.invariant.m_invariant import MInvariant
from hushtable.errors import DataError
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.files import load_evidence, verify_published
from hushtable.schema.columns import Kind
from hushtable.table.encode import Extra
from support_core import PEOPLE, WHO, people_table, plan_of, random_people, sensitive


def test_files_of_other_releases_do_not_fit(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plan = plan_of([KAnonymity(k=3), TCloseness(t=0.5)])
    _, published, _ = saved(random_people(50, 1), plan, tmp_path / "a")
    other = people_table([(i, "Fiji", "gout") for i in range(20)])
    _, _, evidence = saved(other, plan, tmp_path / "b")
    with pytest.raises(DataError, match="does not belong to this release"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_tampered_files_are_found_out(tmp_path):
    plan = plan_of([KAnonymity(k=3), ProbabilisticL(l=2)])
    table = people_table([(i // 4, "Fiji", ["flu", "HIV"][i % 2]) for i in range(40)])
    _, published, evidence = saved(table, plan, tmp_path)
    assert verify_published(published, plan.table, plan.model(), evidence).ok
    one = published.to_pydict()
    one["age"][5] = "77"
    assert not verify_published(pa.table(one), plan.table, plan.model(), evidence).ok
    two = published.to_pydict()
    two["illness"][0] = two["illness"][1] = two["illness"][2] = two["illness"][3] = "flu"
    assert not verify_published(pa.table(two), plan.table, plan.model(), evidence).ok


def test_bad_release_json(tmp_path):
    with pytest.raises(DataError, match="There is no"):
        load_evidence(tmp_path / "release.json")
    (tmp_path / "release.json").write_text("{not json")
    with pytest.raises(DataError, match="it is not JSON"):
        load_evidence(tmp_path / "release.json")
    (tmp_path / "release.json").write_text("[]")
    with pytest.raises(DataError, match="no 'reference'"):
        load_evidence(tmp_path / "release.json")


def test_claims_of_more_people_than_rows_are_refused(tmp_path):
    table = random_people(36, 3).append_column("who", pa.array([f"p{i % 12}" for i in range(36)]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE), entity="who")
    _, published, evidence = saved(table, plan, tmp_path)
    units = evidence["class_counts"]["units"]
    units[0] = 10**15
    with pytest.raises(DataError, match="more people than a class has rows"):
        verify_published(published, plan.table, plan.model(), evidence)
    evidence["class_counts"]["units"] = units[:-1]
    with pytest.raises(DataError, match="do not belong together"):
        verify_published(published, plan.table, plan.model(), evidence)


@pytest.mark.parametrize("claimed", [0, -1])
def test_a_class_that_is_said_to_have_nobody_is_not_passed_over(tmp_path, claimed):
    table = random_people(36, 3).append_column("who", pa.array([f"p{i % 12}" for i in range(36)]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE), entity="who")
    _, published, evidence = saved(table, plan, tmp_path)
    evidence["class_counts"]["units"][0] = claimed
    with pytest.raises(DataError, match="fewer people than a class has rows for"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_without_an_entity_every_row_is_a_person_whatever_is_claimed(tmp_path):
    plan = plan_of([KMap(k=2)], extra=Extra(population=random_people(60, 2)))
    _, published, evidence = saved(random_people(20, 2), plan, tmp_path)
    evidence["class_counts"]["units"][0] -= 1
    with pytest.raises(DataError, match="fewer people than a class has rows for"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_counterfeits_account_for_rows_and_for_no_more(tmp_path):
    plan = plan_of([KAnonymity(k=2)], algorithm=MInvariant())
    _, published, evidence = saved(random_people(20, 2), plan, tmp_path)
    rows = [len(list(g)) for _, g in groupby(published.column("group").to_pylist())]

    def found(units, fakes):
        evidence["class_counts"] = {"unit": 1, "units": units, "population": None}
        evidence["counterfeits"] = {"total": sum(fakes), "classes": fakes}
        return verify_published(published, plan.table, plan.model(), evidence, recoding=Recoding.NUMBERED)

    none = [0] * (len(rows) - 1)
    assert found(rows, [0, *none]).ok
    assert not found([1, *rows[1:]], [rows[0] - 1, *none]).ok
    for units, fakes in (([rows[0], *rows[1:]], [1, *none]), ([0, *rows[1:]], [0, *none])):
        with pytest.raises(DataError, match="people than a class has rows"):
            found(units, fakes)
    with pytest.raises(DataError, match="damaged"):
        found([rows[0] + 1, *rows[1:]], [-1, *none])


def _whole(tmp_path, plan, rows=((30, "a"),) * 50 + ((30, "b"),) * 50 + ((50, "a"),) * 5):
    return saved(people_table([(age, "Fiji", illness) for age, illness in rows]), plan, tmp_path)


def _numbers():
    return plan_of([KAnonymity(k=2), TCloseness(t=0.9)], (*PEOPLE[:2], sensitive("illness", Kind.NUMERIC)))


@pytest.mark.parametrize(
    ("units", "people", "words"),
    [
        ([75, 25], 105, "another number of people"),
        ([79, 26], 105, "fewer values"),
        ([1000, 330], 1330, "more suppressed people than the policy allows"),
        ([60, 20], 80, "more people in the classes"),
    ],
)
def test_counts_of_the_whole_table_that_the_rows_contradict_are_refused(tmp_path, units, people, words):
    _, published, evidence = _whole(tmp_path, plan_of([KAnonymity(k=2), TCloseness(t=0.6)]))
    strict = plan_of([KAnonymity(k=2), TCloseness(t=0.3)])
    assert not verify_published(published, strict.table, strict.model(), evidence, suppression=0.0).ok
    evidence["reference"]["attributes"][0]["units"] = units
    evidence["reference"]["units"] = people
    with pytest.raises(DataError, match=words):
        verify_published(published, strict.table, strict.model(), evidence, suppression=0.0)


def test_counts_in_two_units_and_counterfeits_of_algorithms_that_make_none_are_refused(tmp_path):
    plan = plan_of([KAnonymity(k=2)])
    _, published, evidence = _whole(tmp_path, plan)
    units = {**evidence, "reference": {**evidence["reference"], "unit": 7}}
    with pytest.raises(DataError, match="two units"):
        verify_published(published, plan.table, plan.model(), units)
    fakes = {**evidence, "counterfeits": {"total": 50, "classes": [50, 0]}}
    with pytest.raises(DataError, match="makes none"):
        verify_published(published, plan.table, plan.model(), fakes)


@pytest.mark.parametrize(
    ("part", "value"),
    [("numbers", [1.0, 1.01, 1.02]), ("ordered", False), ("numbers", None), ("categories", [0, 0, 0])],
)
def test_values_that_are_described_otherwise_than_they_are_are_refused(tmp_path, part, value):
    plan = _numbers()
    _, published, evidence = _whole(tmp_path, plan, [(30, str(i % 3)) for i in range(30)])
    assert verify_published(published, plan.table, plan.model(), evidence).ok
    evidence["reference"]["attributes"][0][part] = value
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_the_order_of_values_is_theirs(tmp_path):
    plan = _numbers()
    _, published, evidence = _whole(tmp_path, plan, [(30, str(i % 3)) for i in range(30)])
    attribute = evidence["reference"]["attributes"][0]
    attribute["labels"] = ["0", "2", "1"]
    attribute["numbers"] = [0.0, 2.0, 1.0]
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_nulls_and_empty_text_are_not_one_class(tmp_path):
    plan = plan_of([KAnonymity(k=2)])
    cells = {"age": ["1", "1"], "country": [None, ""], "illness": ["a", "b"]}
    with pytest.raises(DataError, match="can tell them apart"):
        verify_published(pa.table(cells), plan.table, plan.model(), None)


def test_claims_of_more_population_than_there_is_are_refused(tmp_path):
    plan = plan_of([KMap(k=2)], extra=Extra(population=random_people(60, 2)))
    _, published, evidence = saved(random_people(20, 2), plan, tmp_path)
    assert verify_published(published, plan.table, plan.model(), evidence).ok
    evidence["class_counts"]["population"][0] += 61
    with pytest.raises(DataError, match="more of the population"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_the_kind_that_the_policy_declares_is_not_overruled(tmp_path):
    # as text there are two values, as numbers one
    rows = [(30, "1"), (30, "1.0")] * 3
    _, published, evidence = _whole(tmp_path, plan_of([KAnonymity(k=2)]), rows)
    plan = plan_of([KAnonymity(k=2), DistinctL(l=2)], (*PEOPLE[:2], sensitive("illness", Kind.NUMERIC)))
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan.table, plan.model(), evidence)
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan_of([KAnonymity(k=2)]).table, plan.model(), {**evidence, "kinds": {}})
