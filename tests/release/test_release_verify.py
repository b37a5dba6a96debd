"""The verifier against naive checkers that know nothing but the published cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.engines import local
from hushtable.errors import DataError, PolicyError, UsageError, VerificationError
from hushtable.models.average_risk import AverageRisk
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.judge import judge as judge_cells
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing.cases import chosen_forms
from support_core import COUNTRIES, ILLNESSES, PEOPLE, classes, people_table, plan_of, quasi, random_people, sensitive

TEXT = (quasi("age", Kind.NOMINAL), quasi("country", Kind.NOMINAL), sensitive("illness"))
CELLS = st.one_of(st.none(), st.sampled_from(["1", "[1, 2]", "*", "{a, b}"]))
PUBLISHED = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(ILLNESSES)), min_size=1, max_size=25)
MODELS = (KAnonymity(k=2), DistinctL(l=2), ProbabilisticL(l=2))


def text_table(rows) -> pa.Table:
    names = ("age", "country", "illness")
    return pa.table({n: pa.array([r[j] for r in rows], pa.string()) for j, n in enumerate(names)})


def judge(table: pa.Table, missing: Missing, columns=TEXT, models=MODELS):
    model = AllOf.bound_to(models, ("illness",))
    return verify_published(table, TablePlan(columns, missing=missing), model, None)


def violations(groups: list[list[str]]) -> list[int]:
    """Of 2-anonymity, 2 distinct values, and no value above half, in that order."""
    return [
        sum(len(g) < 2 for g in groups),
        sum(len(set(g)) < 2 for g in groups),
        sum(max(Counter(g).values()) > len(g) / 2 for g in groups),
    ]


def counted(verification) -> list[int]:
    by_name = {e.model: e.violations for e in verification.evidence}
    return [by_name[m.name] for m in MODELS]


@given(PUBLISHED)
def test_own_category(rows):
    table = text_table(rows)
    groups = [[rows[i][2] for i in members] for members in classes(table, ["age", "country"]).values()]
    verification = judge(table, Missing.OWN_CATEGORY)
    assert counted(verification) == violations(groups)
    assert verification.classes == len(groups) and verification.rows == len(rows)
    assert verification.ok == (not any(violations(groups)))
    if not verification.ok:
        with pytest.raises(VerificationError, match="violates"):
            verification.raise_if_violated()


@given(PUBLISHED)
def test_wildcard_judges_every_distinct_row_with_all_it_could_be(rows):
    table = text_table(rows)
    distinct = sorted({r[:2] for r in rows}, key=str)

    def compatible(a, b):
        return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))

    groups = [[r[2] for r in rows if compatible(one, r[:2])] for one in distinct]
    verification = judge(table, Missing.WILDCARD)
    assert counted(verification) == violations(groups)
    assert verification.classes == len(distinct)


def test_overlapping_unions_do_not_lower_an_average_over_people():
    # 100 people alike, three who may be any of them, and 100 who stand alone but for the one that may be anybody
    rows = [("a", "b")] * 100 + [(None, "b"), ("a", None), (None, None)] + [(f"c{i}", f"d{i}") for i in range(100)]
    alike = [sum(all(x is None or y is None or x == y for x, y in zip(a, b, strict=True)) for b in rows) for a in rows]
    average = sum(1 / n for n in alike) / len(rows)
    assert average > 0.25
    table = text_table([(*row, "flu") for row in rows])
    assert not judge(table, Missing.WILDCARD, models=[AverageRisk(average=0.2)]).ok
    whole = text_table([("a", "b", "flu")] * 5)
    assert judge(whole, Missing.WILDCARD, models=[AverageRisk(average=0.2)]).ok


def test_wildcards_in_numbers_and_chunks():
    ages = pa.chunked_array([pa.array([1.5, None]), pa.array([1.5, 2.0])])
    table = pa.table({"age": ages, "country": ["x", "x", "x", "y"], "illness": ["flu", "HIV", "flu", "HIV"]})
    verification = judge(table, Missing.WILDCARD, models=[KAnonymity(k=3)])
    assert [e.violations for e in verification.evidence] == [1]  # only (2.0, y) stands alone


# counts publish no empty cells, and refuse the wildcard
FORMS = [
    (form, missing)
    for form in chosen_forms()
    for missing in (Missing.OWN_CATEGORY, Missing.WILDCARD)
    if not form.counts_records or missing is Missing.OWN_CATEGORY
]


@pytest.mark.parametrize(("style", "missing"), FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_released_passes_the_naive_check_and_tampering_is_found(style, missing, seed):
    source = random_people(80, seed, missing=0.1)
    plan = plan_of([KAnonymity(k=4), DistinctL(l=2)], cells=style, missing=missing)
    outcome = local.run(source, plan)
    table = outcome.published
    assert Counter(table["illness"].to_pylist()) == Counter(source["illness"].to_pylist())
    found = classes(table, ["age", "country"])
    assert outcome.verification.classes == len(found)
    for members in found.values():
        assert len(members) >= 4 and len({table["illness"][i].as_py() for i in members}) >= 2
    smallest = min(found.values(), key=len)
    without = table.take(pa.array([i for i in range(80) if i not in smallest[: len(smallest) - 3]]))
    check = verify_published(without, plan.table, plan.model(), None)
    naive = classes(without, ["age", "country"])
    expected = sum(len(m) < 4 for m in naive.values())
    if missing is Missing.OWN_CATEGORY:
        assert {e.model: e.violations for e in check.evidence}["k-anonymity"] == expected
        assert not check.ok
    changed = table.to_pydict()
    changed["country"][smallest[0]] = "Atlantis"
    check = verify_published(pa.table(changed), plan.table, plan.model(), None)
    assert check.ok == (missing is Missing.WILDCARD and check.ok)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_t_closeness_is_judged_against_the_input(seed):
    source = random_people(60, seed)
    plan = plan_of([KAnonymity(k=3), TCloseness(t=0.25)])
    outcome = local.run(source, plan)
    whole = Counter(source["illness"].to_pylist())
    for members in classes(outcome.published, ["age", "country"]).values():
        mine = Counter(outcome.published["illness"][i].as_py() for i in members)
        distance = sum(abs(mine[v] / len(members) - whole[v] / 60) for v in whole) / 2
        assert distance <= 0.25 + 1e-9


def test_models_that_compare_with_the_input_are_refused_without_it():
    table = text_table([("1", "x", "flu"), ("1", "x", "HIV")])
    with pytest.raises(UsageError) as caught:
        judge(table, Missing.OWN_CATEGORY, models=[TCloseness(t=0.5)])
    assert caught.value.exit_code == 2


def test_columns_must_be_those_of_the_policy():
    table = text_table([("1", "x", "flu")] * 2)
    plan = TablePlan((*TEXT, ColumnPlan("who", Role.IDENTIFIER)))
    model = AllOf.bound_to([KAnonymity(k=2)], ("illness",))
    assert verify_published(table, plan, model, None).ok
    with pytest.raises(PolicyError, match="does not publish: 'who'"):
        verify_published(table.append_column("who", pa.array(["a", "b"])), plan, model, None)
    with pytest.raises(PolicyError, match="lacks columns of the policy: 'illness'"):
        verify_published(table.select(["age", "country"]), plan, model, None)


def test_an_altered_release_fails_its_own_verification():
    source = random_people(40, 2)
    plan = plan_of([KAnonymity(k=3)])
    outcome = local.run(source, plan)
    shown = outcome.published.to_pydict()
    shown["age"][0] = "17"
    table = pa.table(shown)
    verification = judge_cells(outcome.problem, plan.table, outcome.recoded, table, outcome.source_rows)
    assert not verification.ok
    with pytest.raises(VerificationError, match="violates 1 of 1 models: k-anonymity") as caught:
        verification.raise_if_violated()
    assert caught.value.exit_code == 1
    shown["illness"][0] = "canary"
    with pytest.raises(DataError, match="'illness' has 1 value that its input did not have") as refused:
        judge_cells(outcome.problem, plan.table, outcome.recoded, pa.table(shown), outcome.source_rows)
    assert "canary" not in str(refused.value)


def test_summary_is_data():
    verification = judge(text_table([("1", "x", "flu"), ("1", "x", "HIV")]), Missing.OWN_CATEGORY)
    data = verification.as_dict()
    assert data["satisfied"] and data["rows"] == 2 and data["classes"] == 1
    assert {m["model"]: m["achieved"] for m in data["models"]}["k-anonymity"] == 2


def test_many_rows_take_the_compiled_path():
    generator = np.random.default_rng(5)
    n = 20_000
    table = pa.table(
        {
            "age": generator.integers(0, 900, n).astype(str).tolist(),
            "country": generator.choice(COUNTRIES, n).tolist(),
            "illness": generator.choice(ILLNESSES, n).tolist(),
        }
    )
    groups = [[table["illness"][i].as_py() for i in m] for m in classes(table, ["age", "country"]).values()]
    assert counted(judge(table, Missing.OWN_CATEGORY)) == violations(groups)


def test_people_table_is_what_the_other_tests_think():
    assert people_table([(1, "Fiji", "flu")]).schema.names == [c.name for c in PEOPLE]
