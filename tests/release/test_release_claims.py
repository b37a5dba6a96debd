"""What a release.json claims is believed as far as the published rows allow."""

from __future__ import annotations

from itertools import groupby

import pyarrow as pa
import pytest
from support_release_files import saved

from hushtable.algorithms.base import Recoding
from hushtable.algorithms.invariant.m_invariant import MInvariant
from hushtable.errors import DataError, HierarchyError, UsageError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.distinct_l import DistinctL
from hushtable.models.guarding_nodes import GuardingNodes
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.companion import load_evidence
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind
from hushtable.table.encode import Extra
from support_core import PEOPLE, WHO, people_table, plan_of, random_people, sensitive

BOTH = ["illness", "other"]


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
    with pytest.raises(DataError, match="no 'rows'"):
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
    with pytest.raises(DataError, match="fewer people than a class has rows for" if claimed == 0 else "damaged"):
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


def test_a_table_without_rows_is_no_release():
    plan = plan_of([KAnonymity(k=2)])
    with pytest.raises(DataError, match="no rows"):
        verify_published(people_table([(1, "Fiji", "a")]).slice(1), plan.table, plan.model(), None)


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


def _stated(evidence, name="illness"):
    return next(entry for entry in evidence["reference"]["attributes"] if entry["column"] == name)


def test_counts_that_overflow_are_refused(tmp_path):
    _, published, evidence = _whole(tmp_path, plan_of([KAnonymity(k=2), TCloseness(t=0.6)]))
    strict = plan_of([KAnonymity(k=2), TCloseness(t=0.3)])
    stated = _stated(evidence)
    # modulo 2^64 these are the people of the table, and nearly all have the value of the small class
    stated.update(labels=["a", "b", None], units=[2**63 - 1, 107, 2**63 - 1])
    stated.update(levels=[[0, 1, 2], [0, 0, 0]], level_labels=[["a", "b", None], ["*"]])
    with pytest.raises(DataError, match="damaged"):
        verify_published(published, strict.table, strict.model(), evidence, suppression=0.0)


def test_negative_counts_of_combinations_are_refused(tmp_path):
    columns = (*PEOPLE, sensitive("other"))
    table = people_table([(30, "Fiji", "a")] * 50 + [(30, "Fiji", "b")] * 50 + [(50, "Fiji", "a")] * 5)
    table = table.append_column("other", table.column("illness"))
    _, published, evidence = saved(table, plan_of([KAnonymity(k=2), TCloseness(t=0.6, on=BOTH)], columns), tmp_path)
    strict = plan_of([KAnonymity(k=2), TCloseness(t=0.3, on=BOTH)], columns)
    assert not verify_published(published, strict.table, strict.model(), evidence).ok
    (joint,) = evidence["reference"]["joint"]
    joint.update(codes=[0, 2, 3], units=[10**6, 55 - 10**6, 50])
    with pytest.raises(DataError, match="damaged"):
        verify_published(published, strict.table, strict.model(), evidence)


def test_combinations_that_no_model_asks_for_take_no_room(tmp_path):
    plan = plan_of([KAnonymity(k=2)])
    _, published, evidence = _whole(tmp_path, plan)
    evidence["reference"]["joint"] = [{"columns": ["illness"] * 50, "codes": [0], "units": [1]}]
    assert verify_published(published, plan.table, plan.model(), evidence).ok


def _in_a_tree(models):
    tree = Taxonomy(tree={"m": ["a", "c"], "n": ["b"]})
    return plan_of(models, (*PEOPLE[:2], sensitive("illness", hierarchy=tree), sensitive("guard")))


def _guarded(tmp_path, plan):
    rows = [(30, "a", "m"), (30, "c", "m")] * 3 + [(50, "a", None), (50, "b", None)] * 3
    table = people_table([(age, "Fiji", illness) for age, illness, _ in rows])
    return saved(table.append_column("guard", pa.array([guard for _, _, guard in rows])), plan, tmp_path)


@pytest.mark.parametrize(
    ("levels", "labels"),
    [
        ([[0, 1, 2]] + [[0, 0, 0]] * 60, [["a", "c", "b"]] + [["*"]] * 60),
        ([[0, 1, 2], [0, 1, 1], [0, 0, 0]], [["a", "c", "b"], ["m", "n"], ["*"]]),
    ],
)
def test_the_hierarchy_of_sensitive_values_is_the_policys(tmp_path, levels, labels):
    _, published, evidence = _guarded(tmp_path, _in_a_tree([KAnonymity(k=2)]))
    strict = _in_a_tree([KAnonymity(k=2), TCloseness(t=0.2, distance="hierarchical", on="illness")])
    assert not verify_published(published, strict.table, strict.model(), evidence).ok
    _stated(evidence).update(levels=levels, level_labels=labels)
    with pytest.raises(UsageError, match="another hierarchy"):
        verify_published(published, strict.table, strict.model(), evidence)


def test_a_hierarchy_whose_file_is_gone_is_missed_by_those_who_look_at_it(tmp_path):
    file = tmp_path / "illness.csv"
    file.write_text("a,m,*\nb,n,*\n")
    columns = (*PEOPLE[:2], sensitive("illness", hierarchy=Taxonomy(file=str(file))))
    plan = plan_of([KAnonymity(k=2)], columns)
    looking = plan_of([KAnonymity(k=2), TCloseness(t=1.0, distance="hierarchical")], columns)
    _, published, evidence = _whole(tmp_path, plan)
    file.unlink()
    assert verify_published(published, plan.table, plan.model(), evidence).ok
    with pytest.raises(HierarchyError, match="cannot be read"):
        verify_published(published, looking.table, looking.model(), evidence)
    _stated(evidence)["ordered"] = True
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_nodes_that_somebody_guards_keep_their_names(tmp_path):
    _, published, evidence = _guarded(tmp_path, _in_a_tree([KAnonymity(k=2)]))
    strict = _in_a_tree([KAnonymity(k=2), GuardingNodes(guard="guard", breach=0.6, on="illness")])
    assert not verify_published(published, strict.table, strict.model(), evidence).ok
    _stated(evidence).update(
        labels=["a", "c", "b", None],
        units=None,
        levels=[[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]],
        level_labels=[["a", "c", "b", None], ["x", "n", "m"], ["*"]],
    )
    with pytest.raises(UsageError, match="another hierarchy"):
        verify_published(published, strict.table, strict.model(), evidence)


@pytest.mark.parametrize("levels", [[[1, 0, 2], [0, 0, 0]], [[0, 1, 10**9], [0, 0, 0]], [[0, 1, -1], [0, 0, 0]]])
def test_levels_that_are_none_are_damage(tmp_path, levels):
    plan = plan_of([KAnonymity(k=2), TCloseness(t=1.0, distance="hierarchical")])
    _, published, evidence = _whole(tmp_path, plan, [(30, "abc"[i % 3]) for i in range(30)])
    _stated(evidence)["levels"] = levels
    with pytest.raises(DataError, match="damaged"):
        verify_published(published, plan.table, plan.model(), evidence)


def test_classes_are_not_all_counterfeits(tmp_path):
    plan = plan_of([KAnonymity(k=2)], algorithm=MInvariant())
    _, published, evidence = saved(random_people(20, 2), plan, tmp_path)
    rows = [len(list(g)) for _, g in groupby(published.column("group").to_pylist())]
    strict = plan_of([KAnonymity(k=15)], algorithm=MInvariant())
    nobody = [0] * len(rows)
    evidence["class_counts"] = {"unit": 1, "units": nobody, "population": None}
    evidence["counterfeits"] = {"total": 20, "classes": rows}
    evidence["reference"]["units"] = 0
    with pytest.raises(DataError, match="fewer people"):
        verify_published(published, strict.table, strict.model(), evidence, recoding=Recoding.NUMBERED)
    # half a counterfeit in each class would be none there, and some in all
    evidence["class_counts"]["units"] = rows
    evidence["counterfeits"]["classes"] = [0.5] * len(rows)
    with pytest.raises(DataError, match="damaged"):
        verify_published(published, strict.table, strict.model(), evidence, recoding=Recoding.NUMBERED)


def test_the_kind_that_the_values_tell_is_not_overruled(tmp_path):
    plan = plan_of([KAnonymity(k=2), DistinctL(l=2)], (*PEOPLE[:2], sensitive("illness", None)))
    _, published, evidence = _whole(tmp_path, plan_of([KAnonymity(k=2)], plan.table.columns), [(30, "1"), (30, "1.0")])
    assert not verify_published(published, plan.table, plan.model(), evidence).ok
    evidence["kinds"]["illness"] = "nominal"
    _stated(evidence).update(labels=["1", "1.0"], units=[1, 1], ordered=False, numbers=None)
    _stated(evidence).update(levels=[[0, 1], [0, 0]], level_labels=[["1", "1.0"], ["*"]])
    with pytest.raises(DataError, match="otherwise than they are"):
        verify_published(published, plan.table, plan.model(), evidence)
