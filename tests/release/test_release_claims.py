"""What a release.json claims is believed as far as the published rows allow."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest
from support_release_files import same, saved

import hushtable as ht
from hushtable.errors import DataError, HierarchyError, UsageError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.companion import load_evidence
from hushtable.release.published import verify_published
from support_core import PEOPLE, people_table, plan_of, sensitive

BOTH = ["illness", "other"]


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


def test_a_table_without_rows_is_no_release():
    plan = plan_of([KAnonymity(k=2)])
    with pytest.raises(DataError, match="no rows"):
        verify_published(people_table([(1, "Fiji", "a")]).slice(1), plan.table, plan.model(), None)


def test_nulls_and_empty_text_are_not_one_class(tmp_path):
    plan = plan_of([KAnonymity(k=2)])
    cells = {"age": ["1", "1"], "country": [None, ""], "illness": ["a", "b"]}
    with pytest.raises(DataError, match="can distinguish them"):
        verify_published(pa.table(cells), plan.table, plan.model(), None)


def _whole(tmp_path, plan, rows=((30, "a"),) * 50 + ((30, "b"),) * 50 + ((50, "a"),) * 5):
    return saved(people_table([(age, "Fiji", illness) for age, illness in rows]), plan, tmp_path)


@pytest.mark.parametrize(
    ("counts", "people", "words"),
    [
        ([75, 25], 105, "different number of people"),
        ([79, 26], 105, "fewer values"),
        ([1000, 330], 1330, "more suppressed people than the policy allows"),
        ([60, 20], 80, "more people in the classes"),
    ],
)
def test_published_counts_that_the_rows_contradict_are_refused(tmp_path, counts, people, words):
    models = [KAnonymity(k=2), TCloseness(t=0.6)]
    _, published, _ = _whole(tmp_path, plan_of(models, document={"publish": ["reference"]}))
    told = load_evidence(tmp_path / "out" / "release.json")
    strict = plan_of([KAnonymity(k=2), TCloseness(t=0.3)])
    assert not verify_published(published, strict.table, strict.model(), told, suppression=0.0).ok
    told["whole_table"]["people"] = people
    told["whole_table"]["columns"][0]["values"] = [["a", counts[0]], ["b", counts[1]]]
    with pytest.raises(DataError, match=words):
        verify_published(published, strict.table, strict.model(), told, suppression=0.0)


def test_a_reference_in_release_json_is_not_believed(tmp_path):
    """Files of 0.1 have one, without a keyed hash."""
    rows = [(30, "a")] * 5 + [(30, "b")] * 5 + [(50, "a")]
    plan = plan_of([KAnonymity(k=2), TCloseness(t=0.5)], suppression=0.2)
    release, published, kept = _whole(tmp_path, plan, rows)
    assert release.n_suppressed == 1
    old = {name: value for name, value in kept.items() if name != "seal"}
    with pytest.raises(UsageError, match="with the whole input table, which is not in the published file"):
        verify_published(published, plan.table, plan.model(), old, suppression=0.2)
    whole = release.encoded.reference(plan.model().histogram_keys())
    found = verify_published(published, plan.table, plan.model(), old, suppression=0.2, whole=whole)
    same(found, release.verification)


def test_the_companion_knows_the_hierarchy_of_sensitive_values(tmp_path):
    file = tmp_path / "illness.csv"
    file.write_text("a,m,*\nb,n,*\n")
    columns = (*PEOPLE[:2], sensitive("illness", hierarchy=Taxonomy(file=str(file))))
    looking = plan_of([KAnonymity(k=2), TCloseness(t=1.0, distance="hierarchical")], columns)
    release, published, kept = _whole(tmp_path, looking)
    file.unlink()
    same(verify_published(published, looking.table, looking.model(), kept), release.verification)
    told = load_evidence(tmp_path / "out" / "release.json")
    with pytest.raises(HierarchyError, match="cannot be read"):
        verify_published(published, looking.table, looking.model(), told)


def test_a_companion_does_not_serve_another_reading_of_the_columns(tmp_path):
    # as text there are two values, as numbers one
    table = people_table([(30, "Fiji", text) for text in ("1", "1.0") * 3])
    text = ht.Policy(quasi=["age", "country"], sensitive={"illness": {"kind": "nominal"}}, models=[DistinctL(l=2)])
    ht.anonymize(table, text).save(tmp_path / "out")
    numbers = text.with_column("illness", kind="numeric")
    with pytest.raises(UsageError, match="differs in 'columns'") as caught:
        ht.verify(tmp_path / "out" / "release.csv", numbers)
    assert caught.value.code == "other-policy"
    shutil.rmtree(tmp_path / "out.private")
    assert not ht.verify(tmp_path / "out" / "release.csv", numbers).ok
