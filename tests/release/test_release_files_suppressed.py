"""What only suppressed records had is in none of the files, and what is there verifies all the same."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support_release_files import FORMATS, same, saved

from hushtable.engines import local
from hushtable.errors import DataError, UsageError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.alp_dif import AlpDif
from hushtable.models.alpha_k import AlphaK
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.models.t_closeness import TCloseness
from hushtable.models.value_bounds import ValueBounds
from hushtable.release.companion import load_evidence
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind
from support_core import PEOPLE, Given, people_table, plan_of, sensitive

CANARY = "zz-canary"
ILLS = Taxonomy(
    rows=(
        ("HIV", "virus", "any"),
        ("flu", "virus", "any"),
        ("cold", "virus", "any"),
        (CANARY, f"rare {CANARY}", "any"),
    )
)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("hierarchy", [None, ILLS])
@pytest.mark.parametrize("category", [False, True])
def test_a_value_of_suppressed_records_alone_is_in_no_file(tmp_path, format, hierarchy, category):
    rows = [(20 + i % 10, "Fiji", ["HIV", "flu", "cold"][i % 3]) for i in range(30)] + [(99, "Spain", CANARY)]
    table = people_table(rows)
    if category:
        table = table.set_column(2, "illness", table["illness"].dictionary_encode())
    columns = (*PEOPLE[:2], sensitive("illness", hierarchy=hierarchy))
    plan = plan_of([KAnonymity(k=5), TCloseness(t=0.5)], columns, suppression=0.05)
    release, published, evidence = saved(table, plan, tmp_path, format)
    assert release.n_suppressed >= 1 and CANARY not in published["illness"].to_pylist()
    for file in (tmp_path / "out").iterdir():
        assert CANARY.encode() not in file.read_bytes(), file.name
    if format == "parquet":
        assert CANARY not in str(pq.read_table(tmp_path / "out" / "release.parquet", read_dictionary=["illness"]))
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    assert CANARY not in str(release.table), "dictionaries of a release hold only what it shows"
    assert CANARY not in repr(release.frame) and CANARY not in json.dumps(release.summary())


def test_numbers_of_suppressed_records_alone_are_in_no_file(tmp_path):
    rows = [(20 + i % 10, "Fiji", 100 + i % 3) for i in range(30)] + [(99, "Spain", 424242)]
    table = pa.table({n: [r[j] for r in rows] for j, n in enumerate(("age", "country", "pay"))})
    columns = (*PEOPLE[:2], sensitive("pay", Kind.NUMERIC))
    plan = plan_of([KAnonymity(k=5), TCloseness(t=0.5, distance="ordered")], columns, suppression=0.05)
    release, published, evidence = saved(table, plan, tmp_path)
    assert release.n_suppressed >= 1
    for file in (tmp_path / "out").iterdir():
        assert b"424242" not in file.read_bytes(), file.name
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


@pytest.mark.parametrize(
    "model",
    [AlphaK(alpha=0.6, k=5, only=(CANARY,)), ValueBounds(bounds={CANARY: 0.6}), AlpDif(alp={CANARY: 0.9})],
    ids=lambda m: m.name,
)
def test_a_policy_may_name_a_value_that_only_suppressed_records_had(tmp_path, model):
    rows = [(20 + i % 10, "Fiji", ["HIV", "flu", "cold"][i % 3]) for i in range(30)] + [(99, "Spain", CANARY)]
    plan = plan_of([KAnonymity(k=5), model], suppression=0.05)
    problem = local.problem_of(people_table(rows), plan)
    labels = np.append(np.zeros(30, dtype=np.int64), -1)
    plan = plan_of([KAnonymity(k=5), model], algorithm=Given(tuple(labels.tolist())), suppression=0.05)
    assert problem.budget == 1
    release, published, evidence = saved(people_table(rows), plan, tmp_path)
    assert CANARY not in (tmp_path / "out" / "release.json").read_text()
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    for public in (told(tmp_path), None):
        assert verify_published(published, plan.table, plan.model(), public).ok


def told(folder):
    return load_evidence(folder / "out" / "release.json")


JOB = sensitive("job")
LONER = ("HIV", "clerk")


def jobs_table() -> pa.Table:
    """Nobody but the one who does not fit has HIV and is a clerk; others have HIV, and others are clerks."""
    people = [(20 + i % 10, "Fiji", *(("HIV", "cook"), ("flu", "clerk"))[i % 2]) for i in range(30)]
    people.append((99, "Spain", *LONER))
    return pa.table({n: [p[j] for p in people] for j, n in enumerate(("age", "country", "illness", "job"))})


def suppressing(models):
    labels = (*(0 for _ in range(30)), -1)
    return plan_of(models, (*PEOPLE, JOB), algorithm=Given(labels), suppression=0.05)


@pytest.mark.parametrize(
    "model",
    [None, DistinctL(l=2), EntropyL(l=1.5), RecursiveCL(c=3, l=2), DistinctL(l=2, on=("illness", "job"))],
    ids=str,
)
def test_models_that_look_at_classes_alone_need_no_companion(tmp_path, model):
    plan = suppressing([KAnonymity(k=5), *([model] if model else [])])
    release, published, companion = saved(jobs_table(), plan, tmp_path)
    assert release.n_suppressed == 1
    for evidence in (companion, told(tmp_path), None):
        same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


@pytest.mark.parametrize("on", ["illness", "job", ("illness", "job")])
def test_models_that_compare_with_the_whole_table_need_the_companion(tmp_path, on):
    plan = suppressing([KAnonymity(k=5), TCloseness(t=0.5, on=on)])
    release, published, companion = saved(jobs_table(), plan, tmp_path)
    same(verify_published(published, plan.table, plan.model(), companion), release.verification)
    with pytest.raises(UsageError) as caught:
        verify_published(published, plan.table, plan.model(), told(tmp_path))
    assert caught.value.code == "needs-companion"


@pytest.mark.parametrize("publish", [(), ("reference",)])
def test_counts_of_the_whole_table_are_published_on_request_only(tmp_path, publish):
    plan = suppressing([KAnonymity(k=5), TCloseness(t=0.5, on="illness"), DistinctL(l=2, on="job")])
    plan = replace(plan, document={"publish": list(publish)})
    release, published, _ = saved(jobs_table(), plan, tmp_path)
    evidence = told(tmp_path)
    assert ("whole_table" in evidence) == bool(publish)
    if not publish:
        return
    assert evidence["whole_table"] == {
        "price": "Subtracting the published counts from those of the whole table reveals suppressed records.",
        "people": 31,
        "columns": [{"columns": ["illness"], "values": [["HIV", 16], ["flu", 15]], "withheld": 0}],
    }
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    other = suppressing([TCloseness(t=0.5, on="job")])
    with pytest.raises(UsageError) as caught:
        verify_published(published, other.table, other.model(), evidence)
    assert caught.value.code == "needs-companion"


def test_combinations_of_suppressed_records_alone_are_one_number(tmp_path):
    plan = suppressing([KAnonymity(k=5), TCloseness(t=0.5, on=("illness", "job"))])
    plan = replace(plan, document={"publish": ["reference"]})
    release, published, _ = saved(jobs_table(), plan, tmp_path)
    evidence = told(tmp_path)
    assert evidence["whole_table"]["columns"] == [
        {"columns": ["illness", "job"], "values": [["HIV", "cook", 15], ["flu", "clerk", 15]], "withheld": 1}
    ]
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (TCloseness(t=0.9, distance="hierarchical"), {"hierarchy": ILLS}),
        (TCloseness(t=0.9, distance="ordered"), {"kind": Kind.ORDINAL, "order": ("HIV", "flu", CANARY, "cold")}),
        (TCloseness(t=0.9, distance="weights"), {"categories": {"x": ["HIV"], "y": ["flu", "cold"], "z": [CANARY]}}),
    ],
    ids=lambda given: getattr(given, "distance", ""),
)
def test_where_a_withheld_value_lies_is_needed_and_not_told(tmp_path, model, settings):
    rows = [(20 + i % 10, "Fiji", ["HIV", "flu", "cold"][i % 3]) for i in range(30)] + [(99, "Spain", CANARY)]
    columns = (*PEOPLE[:2], sensitive("illness", **settings))
    labels = (*(0 for _ in range(30)), -1)
    plan = plan_of(
        [KAnonymity(k=5), model],
        columns,
        algorithm=Given(labels),
        suppression=0.05,
        document={"publish": ["reference"]},
    )
    release, published, companion = saved(people_table(rows), plan, tmp_path)
    assert CANARY not in (tmp_path / "out" / "release.json").read_text()
    same(verify_published(published, plan.table, plan.model(), companion), release.verification)
    with pytest.raises(UsageError, match="the positions of values that are not published") as caught:
        verify_published(published, plan.table, plan.model(), told(tmp_path))
    assert caught.value.code == "needs-companion"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"people": 30}, "more people in the classes|different number of people"),
        ({"people": 10**6}, "more suppressed people|different number of people"),
        ({"columns": [{"columns": ["illness"], "values": [["HIV", 30], ["flu", 1]], "withheld": 0}]}, "fewer values"),
        ({"columns": [{"columns": ["illness"], "values": [["HIV", 16]], "withheld": 15}]}, "fewer values"),
        ({"columns": [{"columns": ["illness"], "values": [["HIV", -1], ["flu", 32]], "withheld": 0}]}, "damaged"),
        ({"columns": [{"columns": ["illness"], "values": [["gout", 16], ["flu", 15]], "withheld": 0}]}, "damaged"),
        ({"columns": [{"columns": ["illness"], "values": [["HIV", 16], ["flu", 15]], "withheld": "x"}]}, "damaged"),
        ({"columns": 7}, "damaged"),
    ],
)
def test_published_counts_that_the_rows_contradict_are_refused(tmp_path, change, words):
    plan = suppressing([KAnonymity(k=5), TCloseness(t=0.9, on="illness")])
    plan = replace(plan, document={"publish": ["reference"]})
    _, published, _ = saved(jobs_table(), plan, tmp_path)
    evidence = told(tmp_path)
    evidence["whole_table"] |= change
    with pytest.raises(DataError, match=words):
        verify_published(published, plan.table, plan.model(), evidence, suppression=0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": 29}, "a different number"),
        ({"records": 40}, "do not match"),
        ({"records": 60, "suppressed": 30}, "more suppressed people"),
        ({"suppressed": -1}, "damaged"),
        ({"suppressed": None}, "damaged"),
    ],
)
def test_sizes_that_the_rows_contradict_are_refused(tmp_path, change, words):
    plan = suppressing([KAnonymity(k=5)])
    _, published, _ = saved(jobs_table(), plan, tmp_path)
    with pytest.raises(DataError, match=words):
        verify_published(published, plan.table, plan.model(), told(tmp_path) | change, suppression=0.05)
