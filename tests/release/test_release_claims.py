"""What a release.json claims is believed as far as the published rows allow."""

from __future__ import annotations

from itertools import groupby

import pyarrow as pa
import pytest
from support_release_files import saved

from hushtable.algorithms.base import Recoding
from hushtable.algorithms.invariant.m_invariant import MInvariant
from hushtable.errors import DataError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.files import load_evidence, verify_published
from hushtable.table.encode import Extra
from support_core import PEOPLE, WHO, people_table, plan_of, random_people


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
