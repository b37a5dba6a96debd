"""What only suppressed records had is in none of the files, and what is there verifies all the same."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support_release_files import FORMATS, same, saved

from hushtable.engines import local
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.alp_dif import AlpDif
from hushtable.models.alpha_k import AlphaK
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.models.value_bounds import ValueBounds
from hushtable.release.files import verify_published
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
    assert CANARY not in json.dumps(evidence["reference"])
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    assert verify_published(published, plan.table, plan.model(), None).ok
