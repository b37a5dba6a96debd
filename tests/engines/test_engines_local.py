"""The local engine from end to end: what is promised of every run."""

from __future__ import annotations

import datetime
import traceback
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.algorithms.base import check_compatible
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.api import run_plan
from hushtable.engines import local
from hushtable.errors import (
    Cancelled,
    HushtableError,
    IncompatibleError,
    Infeasible,
    NotFound,
    ParameterError,
    PolicyError,
    PrivacyLeakWarning,
)
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing.cases import chosen_forms
from support_core import PEOPLE, WHO, classes, people_table, plan_of, quasi, random_people, sensitive

NOTE = ColumnPlan("note", Role.INSENSITIVE)
CANARY = "xq-canary"


def test_identifiers_never_reach_the_output():
    table = random_people(40, 1).append_column("who", pa.array([f"{CANARY}-{i}" for i in range(40)]))
    for entity in (None, "who"):
        release = run_plan(table, plan_of([KAnonymity(k=3)], (WHO, *PEOPLE), entity=entity))
        assert release.table.column_names == ["age", "country", "illness"]
        for shown in (release.table, release.frame, release.groups, release.summary(), release._repr_html_()):
            assert CANARY not in str(shown)
        assert CANARY not in repr(release)


def test_columns_stand_in_the_policys_order():
    table = random_people(20, 1)
    plan = plan_of([KAnonymity(k=3)], tuple(reversed(PEOPLE)))
    assert local.run(table, plan).published.column_names == ["illness", "country", "age"]


@settings(max_examples=20)
@given(st.permutations(range(30)), st.sampled_from(chosen_forms()))
def test_the_order_of_rows_is_a_function_of_the_release(order, style):
    table = random_people(30, 2, missing=0.1).append_column("note", pa.array([f"n{i % 4}" for i in range(30)]))
    plan = plan_of([KAnonymity(k=3)], (*PEOPLE, NOTE), cells=style)
    one, two = local.run(table, plan), local.run(table.take(pa.array(order)), plan)
    assert one.published.to_pydict() == two.published.to_pydict()
    # published rows ascend by their cells, nulls first
    if style == Sets():
        rows = [tuple((c is not None, (c or "").encode()) for c in r.values()) for r in one.published.to_pylist()]
        assert rows == sorted(rows)


def test_rows_say_where_they_came_from_and_nothing_but_quasi_identifiers_changes():
    table = random_people(50, 3).append_column("note", pa.array(np.arange(50) * 1.5))
    outcome = local.run(table, plan_of([KAnonymity(k=4)], (*PEOPLE, NOTE)))
    source = table.take(pa.array(outcome.source_rows))
    for name in ("illness", "note"):
        assert outcome.published[name].to_pylist() == source[name].to_pylist()
    assert sorted(outcome.source_rows.tolist()) == list(range(50))


@pytest.mark.parametrize("index", [None, [7] * 30, pd.date_range("2020-01-01", periods=30), list("abc") * 10])
def test_a_pandas_index_does_not_matter(index):
    frame = random_people(30, 4).to_pandas()
    expected = run_plan(frame, plan_of([KAnonymity(k=3)])).frame
    other = frame.copy()
    if index is not None:
        other.index = pd.Index(index)
    result = run_plan(other, plan_of([KAnonymity(k=3)])).frame
    pd.testing.assert_frame_equal(result, expected)
    assert list(result.index) == list(range(30))


def test_categories_of_suppressed_rows_do_not_travel_along():
    frame = people_table([(20 + i % 5, "Fiji", "flu") for i in range(30)] + [(99, "Spain", CANARY)]).to_pandas()
    frame["illness"] = frame["illness"].astype("category")
    release = run_plan(frame, plan_of([KAnonymity(k=5)], suppression=0.05))
    assert release.n_suppressed == 1 and not release.kept[30]
    assert CANARY not in str(release.table) and CANARY not in str(pd.Series(release.frame["illness"]).unique())


@pytest.mark.parametrize("style", chosen_forms())
def test_released_groups_and_aligned_rows_agree(style):
    table = random_people(40, 6, missing=0.1)
    release = run_plan(table, plan_of([KAnonymity(k=4)], cells=style, suppression=0.1))
    found = classes(release.table, ["age", "country"])
    assert sorted(release.groups["people"].to_pylist()) == sorted(len(m) for m in found.values())
    assert release.groups.num_rows == len(found) == release.verification.classes
    with pytest.warns(PrivacyLeakWarning):
        aligned = release.aligned()
    assert aligned["illness"].to_pylist() == table.filter(pa.array(release.kept))["illness"].to_pylist()
    assert release.verify().ok


CASES = {
    "too few people": (plan_of([KAnonymity(k=50)]), Infeasible),
    "too few values": (plan_of([DistinctL(l=40)]), Infeasible),
    "not diverse": (plan_of([EntropyL(l=25.0)]), Infeasible),
    "budget too small": (plan_of([EntropyL(l=25.0)], suppression=0.1), NotFound),
    "missing": (plan_of([KAnonymity(k=2)], missing=Missing.ERROR), HushtableError),
    "uncovered": (
        plan_of(
            [KAnonymity(k=2)],
            (PEOPLE[0], quasi("country", Kind.NOMINAL, hierarchy=Taxonomy(tree={"x": ["y"]})), PEOPLE[2]),
        ),
        HushtableError,
    ),
    "not numbers": (
        plan_of([KAnonymity(k=2)], (PEOPLE[0], quasi("country", Kind.NUMERIC), PEOPLE[2])),
        HushtableError,
    ),
    "not dates": (plan_of([KAnonymity(k=2)], (PEOPLE[0], quasi("country", Kind.DATE), PEOPLE[2])), HushtableError),
    "not in order": (
        plan_of([KAnonymity(k=2)], (PEOPLE[0], quasi("country", Kind.ORDINAL, order=("a", "b")), PEOPLE[2])),
        HushtableError,
    ),
    "no role": (plan_of([KAnonymity(k=2)], PEOPLE[:2]), PolicyError),
    "no order": (plan_of([TCloseness(t=0.1, distance="ordered")]), PolicyError),
    "categories miss values": (
        plan_of([KAnonymity(k=2)], (*PEOPLE[:2], sensitive("illness", categories={"top": ("z",)}))),
        HushtableError,
    ),
    "sensitive not numbers": (
        plan_of([KAnonymity(k=2)], (*PEOPLE[:2], sensitive("illness", Kind.NUMERIC))),
        HushtableError,
    ),
}


@pytest.mark.parametrize("case", list(CASES))
def test_errors_carry_no_cell(case):
    plan, error = CASES[case]
    rows = [(None if i == 3 else 4242000 + i, f"{CANARY}-{i % 9}", f"{CANARY}-s{i % 17 % 5 * i}") for i in range(20)]
    columns = plan.table.columns
    if columns[1].kind is Kind.NOMINAL and case != "uncovered":
        columns = (columns[0], quasi("country", Kind.NOMINAL), *columns[2:])
    shown = plan_of(plan.models, columns, plan.algorithm, suppression=plan.suppression, missing=plan.table.missing)
    with pytest.raises(error) as caught:
        local.run(people_table(rows), shown)
    text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(caught.value.as_dict())
    # Python prints no local variables: what is left are messages, also of causes
    assert CANARY not in text and "424200" not in text
    assert caught.value.code and caught.value.message


def test_infeasible_is_proved_and_not_found_claims_nothing():
    table = people_table([(i, "Fiji", "flu" if i else "HIV") for i in range(10)])
    with pytest.raises(Infeasible):
        local.run(table, plan_of([ProbabilisticL(l=2)]))
    with pytest.raises(NotFound) as caught:
        local.run(table, plan_of([ProbabilisticL(l=2)], suppression=0.3))
    assert caught.value.exit_code == 3
    outcome = local.run(table, plan_of([ProbabilisticL(l=2)], suppression=0.8))
    assert Counter(outcome.published["illness"].to_pylist()) == {"flu": 1, "HIV": 1}


def test_more_suppression_does_not_make_people_out_of_nothing():
    with pytest.raises(Infeasible):
        local.run(random_people(4, 1), plan_of([KAnonymity(k=5)], suppression=1.0))


@pytest.mark.parametrize("suppression", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables_give_a_release_or_an_error_but_never_an_empty_frame(n, suppression):
    for models in ([KAnonymity(k=2)], [ProbabilisticL(l=2)], [EntropyL(l=1.0)]):
        try:
            outcome = local.run(random_people(n, 1), plan_of(models, suppression=suppression))
        except (Infeasible, NotFound):
            continue
        assert outcome.published.num_rows > 0 and outcome.verification.ok


def test_cancelling_stops_the_run():
    def progress(share: float, what: str) -> None:
        assert 0 <= share <= 1
        if what == "partitioning":
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        local.run(random_people(40, 1), plan_of([KAnonymity(k=3)]), progress)


def test_progress_is_told():
    seen: list[tuple[float, str]] = []
    local.run(random_people(40, 1), plan_of([KAnonymity(k=3)]), lambda share, what: seen.append((share, what)))
    assert [w for i, (_, w) in enumerate(seen) if not i or seen[i - 1][1] != w] == [
        "encoding", "partitioning", "recoding", "publishing", "verifying",
    ]  # fmt: skip


def test_plans_refuse_what_cannot_work():
    with pytest.raises(PolicyError, match="no privacy model"):
        plan_of([])
    with pytest.raises(ParameterError, match="share from 0 to 1"):
        plan_of([KAnonymity(k=2)], suppression=1.5)
    with pytest.raises(PolicyError, match="declares none"):
        plan_of([DistinctL(l=2)], PEOPLE[:2])
    with pytest.raises(PolicyError, match="not a sensitive column"):
        plan_of([DistinctL(l=2, on="age")])
    with pytest.raises(IncompatibleError, match="needs a population table"):
        plan_of([KMap(k=2)])
    model = plan_of([KAnonymity(k=2)]).model()
    check_compatible(Mondrian(), model, Missing.WILDCARD, population=False)


def test_many_kinds_in_one_table():
    n = 60
    table = pa.table(
        {
            "born": [datetime.date(1950, 1, 1) + datetime.timedelta(days=97 * i) for i in range(n)],
            "grade": ["low", "mid", "high"] * (n // 3),
            "pay": [i * 0.1 for i in range(n)],
            "nothing": pa.nulls(n),
            "same": ["x"] * n,
            "flag": [True, False, None] * (n // 3),
            "illness": ["flu", "cold"] * (n // 2),
            "drug": pa.array(["a", "b", None] * (n // 3)).dictionary_encode(),
            "free": pa.nulls(n),
        }
    )
    columns = (
        quasi("born", Kind.DATE),
        quasi("grade", Kind.ORDINAL, order=("low", "mid", "high")),
        quasi("pay"),
        quasi("nothing"),
        quasi("same"),
        quasi("flag"),
        sensitive("illness"),
        sensitive("drug"),
        ColumnPlan("free", Role.INSENSITIVE),
    )
    for style in chosen_forms():
        outcome = local.run(table, plan_of([KAnonymity(k=4), DistinctL(l=2)], columns, cells=style))
        assert outcome.verification.ok and outcome.published.num_rows == n
        for members in classes(outcome.published, [c.name for c in columns[:6]]).values():
            assert len(members) >= 4
