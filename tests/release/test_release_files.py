"""Saving a release and verifying it later from its files."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from support_release_files import FORMATS, same, saved

import hushtable as ht
from hushtable.algorithms.base import Recoding
from hushtable.algorithms.invariant.m_invariant import MInvariant
from hushtable.api import run_plan
from hushtable.errors import OutputError, UsageError, VerificationError
from hushtable.models.average_risk import AverageRisk
from hushtable.models.bayes_optimal import BayesOptimal
from hushtable.models.beta_likeness import BetaLikeness
from hushtable.models.delta_disclosure import DeltaDisclosure
from hushtable.models.delta_presence import DeltaPresence
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.models.t_closeness import TCloseness
from hushtable.release.companion import load_evidence
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.plan import ColumnPlan, SideTables
from hushtable.testing.cases import chosen_forms
from support_core import COUNTRIES, PEOPLE, WHO, people_table, plan_of, quasi, random_people, sensitive

# counts publish no empty cells, and refuse the wildcard
FORMS = [
    (form, missing)
    for form in chosen_forms()
    for missing in (Missing.OWN_CATEGORY, Missing.WILDCARD)
    if not form.counts_records or missing is Missing.OWN_CATEGORY
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("style", "missing"), FORMS)
def test_round_trip(tmp_path, format, style, missing):
    models = [KAnonymity(k=3), EntropyL(l=1.5), TCloseness(t=0.4), BetaLikeness(beta=3.0)]
    plan = plan_of(models, cells=style, missing=missing)
    table = random_people(80, 5, missing=0.1)
    release, published, evidence = saved(table, plan, tmp_path, format)
    assert published.column_names == ["age", "country", "illness"]
    again = verify_published(published, plan.table, plan.model(), evidence)
    same(again, release.verification)
    alone = plan_of(models[:2], cells=style, missing=missing)
    check = verify_published(published, alone.table, alone.model(), None)
    assert check.ok and check.classes == release.verification.classes


@pytest.mark.parametrize("format", FORMATS)
def test_wildcards_are_still_wildcards_in_the_file(tmp_path, format):
    # (1, x) alone is one person, but (1, null) may be the same: judged together they are two
    plan = plan_of([KAnonymity(k=2)], missing=Missing.WILDCARD)
    rows = [(1, "Fiji", "flu")] * 2 + [(None, "Fiji", "flu")] * 2
    _, published, evidence = saved(people_table(rows), plan, tmp_path, format)
    tampered = published.slice(0, 3)
    check = verify_published(tampered, plan.table, plan.model(), evidence)
    assert check.ok and check.classes == 2


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "model",
    [TCloseness(t=0.4), BetaLikeness(beta=3.0), DeltaDisclosure(delta=2.0), BayesOptimal(theta=0.5)],
    ids=lambda m: m.name,
)
def test_models_that_compare_with_the_input_need_release_json(tmp_path, format, model):
    plan = plan_of([model])
    release, published, companion = saved(random_people(80, 5), plan, tmp_path, format)
    told = load_evidence(tmp_path / "out" / "release.json")
    # nothing was suppressed, so the published rows are the whole table
    for evidence in (companion, told):
        same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    for evidence in (None, {**told, "suppressed": 1, "records": 81}):
        with pytest.raises(UsageError, match="private companion is, pass --data, or publish") as caught:
            verify_published(published, plan.table, plan.model(), evidence)
        assert caught.value.code == "needs-companion"


@pytest.mark.parametrize("format", FORMATS)
def test_values_that_look_like_something_else_come_back(tmp_path, format):
    tricky = ["=1+1", "-x", "'=2", "01", "1", "1.0", "1e3", "NA", "null", "NaN", " a", "a ", 'q"t', "x,y"]
    tricky += ["a\nb", "\\*", "*", "{a, b}", "[1, 2]", "\\", "True", "2020-01-01", "è", "漢"]
    table = pa.table({"x": tricky * 2, "s": tricky + tricky[::-1]})
    plan = plan_of([KAnonymity(k=2)], (quasi("x", Kind.NOMINAL), sensitive("s")))
    release, published, evidence = saved(table, plan, tmp_path, format)
    assert release.verification.classes == len(tricky)
    assert published["s"].to_pylist() == release.table["s"].to_pylist()
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "values",
    [
        [0.1, 1e22, -0.0, 3.0, 1e-300, 123456789.123],
        [2**53 + 1, 2**53, -5, 0, 7, 2**63 - 1],
        [None, 1.5, 2.0, None, 3.25, 9.0],
        [True, False, None, True, False, True],
    ],
)
def test_sensitive_numbers_come_back(tmp_path, format, values):
    table = pa.table({"x": [1] * 6, "s": values})
    columns = (quasi("x", Kind.NUMERIC), sensitive("s", None))
    plan = plan_of([KAnonymity(k=2), DistinctL(l=2)], columns)
    release, published, evidence = saved(table, plan, tmp_path, format)
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rows_of_a_person", [1, 3, 25])
def test_people_are_counted_from_the_files(tmp_path, format, rows_of_a_person):
    n = 12 * rows_of_a_person
    table = random_people(n, 3, missing=0.1).append_column("who", pa.array([f"p{i % 12}" for i in range(n)]))
    plan = plan_of([KAnonymity(k=3)], (WHO, *PEOPLE), entity="who")
    release, published, evidence = saved(table, plan, tmp_path, format)
    assert "who" not in published.column_names
    again = verify_published(published, plan.table, plan.model(), evidence)
    same(again, release.verification)
    assert again.people == pytest.approx(12)
    for told in (None, load_evidence(tmp_path / "out" / "release.json")):
        with pytest.raises(UsageError, match=r"does not say which person each row belongs to") as caught:
            verify_published(published, plan.table, plan.model(), told)
        assert caught.value.code == "needs-companion"


def test_an_empty_cell_may_stand_for_people_of_the_population_that_no_file_counts(tmp_path):
    population = random_people(90, 6, missing=0.2).select(["age", "country"])
    sample = population.slice(0, 40).append_column("illness", pa.array(["flu", "HIV"] * 20))
    plan = plan_of([KMap(k=4)], side_tables=SideTables(population=population), missing=Missing.WILDCARD)
    _, published, evidence = saved(sample, plan, tmp_path)
    with pytest.raises(UsageError, match="k-map can only be verified with the original") as caught:
        verify_published(published, plan.table, plan.model(), evidence)
    assert caught.value.code == "needs-input"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("model", [KMap(k=4), DeltaPresence(low=0.0, high=0.7)], ids=lambda m: m.name)
def test_populations_are_counted_from_the_files(tmp_path, format, model):
    population = random_people(90, 6).select(["age", "country"])
    sample = population.slice(0, 40).append_column("illness", pa.array(["flu", "HIV"] * 20))
    plan = plan_of([model], side_tables=SideTables(population=population))
    release, published, evidence = saved(sample, plan, tmp_path, format)
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)
    for told in (None, load_evidence(tmp_path / "out" / "release.json")):
        with pytest.raises(UsageError) as caught:
            verify_published(published, plan.table, plan.model(), told)
        assert caught.value.code == "needs-companion"


@pytest.mark.parametrize("format", FORMATS)
def test_joint_columns_are_verified_from_the_files(tmp_path, format):
    table = random_people(80, 5).append_column("drug", pa.array(["a", "b", "b", "a"] * 20))
    columns = (*PEOPLE, sensitive("drug"))
    for at, model in enumerate([DistinctL(l=2, on=("illness", "drug")), TCloseness(t=0.4, on=("illness", "drug"))]):
        plan = plan_of([model], columns)
        (tmp_path / str(at)).mkdir()
        release, published, companion = saved(table, plan, tmp_path / str(at), format)
        for evidence in (companion, load_evidence(tmp_path / str(at) / "out" / "release.json")):
            same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


def test_background_models_are_refused_from_the_files(tmp_path):
    table = random_people(40, 5)
    background = table.append_column("probability", pa.array([1 / 40] * 40))
    side_tables = SideTables(background=background, background_on="illness")
    plan = plan_of([BayesOptimal(theta=0.9, background=True)], side_tables=side_tables)
    _, published, evidence = saved(table, plan, tmp_path)
    with pytest.raises(UsageError):
        verify_published(published, plan.table, plan.model(), evidence)


def test_a_table_level_model_from_the_files(tmp_path):
    plan = plan_of([AverageRisk(average=0.2)])
    release, published, evidence = saved(random_people(60, 1), plan, tmp_path)
    same(verify_published(published, plan.table, plan.model(), evidence), release.verification)


def test_saving_twice_needs_permission_and_formats_are_known(tmp_path):
    release = run_plan(random_people(30, 1), plan_of([KAnonymity(k=3)]))
    release.save(tmp_path / "out")
    with pytest.raises(OutputError):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", overwrite=True, format="parquet")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["policy.yaml", "release.json", "release.parquet"]
    with pytest.raises(UsageError, match="csv or parquet"):
        release.save(tmp_path / "other", format="xlsx")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_the_number_of_a_group_does_not_stand_for_its_cells(tmp_path, format):
    # exact quasi-identifiers with the numbers of groups behind them are not classes
    plan = plan_of([KAnonymity(k=2)], algorithm=MInvariant())
    table = people_table([(i, "Fiji", ["flu", "HIV"][i % 2]) for i in range(12)])
    release, published, evidence = saved(table, plan, tmp_path, format)
    again = verify_published(published, plan.table, plan.model(), evidence, recoding=Recoding.NUMBERED)
    same(again, release.verification)
    raw = {**published.to_pydict(), "age": [str(i) for i in range(12)]}
    found = verify_published(pa.table(raw), plan.table, plan.model(), None, recoding=Recoding.NUMBERED)
    assert [e.achieved for e in found.evidence] == [1] and found.classes == 12
    tampered = replace(release, published=release.table.set_column(0, "age", pa.array(raw["age"]).dictionary_encode()))
    with pytest.raises(VerificationError):
        tampered.verify()


def test_the_policy_that_travels_with_the_release(tmp_path):
    plan = plan_of([KAnonymity(k=3)], document={"models": [{"k-anonymity": {"k": 3}}]})
    saved(random_people(30, 1), plan, tmp_path)
    assert "k-anonymity" in (tmp_path / "out" / "policy.yaml").read_text()
    assert len(COUNTRIES) == 6


@pytest.mark.parametrize("role", [Role.SENSITIVE, Role.INSENSITIVE])
def test_zeros_with_and_without_a_sign_do_not_tell_the_order_of_rows(tmp_path, role):
    zeros = [0.0, -0.0, -0.0, 0.0, 1.5, -0.0]
    table = pa.table({"age": [30] * 6, "x": zeros})
    plan = plan_of([KAnonymity(k=2)], columns=[quasi("age", kind=Kind.NUMERIC), ColumnPlan("x", role)])
    found = set()
    for number, order in enumerate(([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 4, 5, 1, 2])):
        run_plan(table.take(pa.array(order)), plan).save(tmp_path / str(number), format="parquet")
        found.add((tmp_path / str(number) / "release.parquet").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_with_exponents_are_known_again(tmp_path, format):
    numbers = [1e-5, 2e-7, 123456789012.5, 2.0**53, 1e16, 1.7e308]
    table = pa.table({"age": [30, 31, 32, 50, 51, 52], "x": numbers})
    plan = plan_of([EntropyL(l=2.0)], columns=[quasi("age"), ColumnPlan("x", Role.SENSITIVE)])
    _, published, evidence = saved(table, plan, tmp_path, format)
    assert verify_published(published, plan.table, plan.model(), evidence).ok


def test_apostrophes_only_for_spreadsheets(tmp_path):
    labels = [" - 50000.", "=1+1", "'=2"]
    table = pa.table({"x": labels * 4, "s": [*labels, "ok"] * 3})
    for reader, guarded in (("any", False), ("spreadsheet", True)):
        policy = ht.Policy(quasi=["x"], sensitive=["s"], models=[ht.KAnonymity(k=2)], output={"reader": reader})
        folder = ht.anonymize(table, policy).save(tmp_path / reader)
        assert json.loads((folder / "release.json").read_text())["guarded"] is guarded
        text = (folder / "release.csv").read_text()
        assert ("' - 50000." in text) is guarded
        opened = ht.open_release(folder, table)
        assert sorted(opened.table["s"].to_pylist()) == sorted(table["s"].to_pylist())
        assert opened.verify().ok
        assert ht.verify(folder / "release.csv", policy).ok


@pytest.mark.parametrize("place", ["release/inner", "release/deep/inner", "release.private/inner"])
def test_no_release_is_saved_inside_another_or_its_companion(tmp_path, place):
    """Its private companion would be next to it, and so be handed over with the other release."""
    release = run_plan(random_people(30, 3), plan_of([KAnonymity(k=3)]))
    release.save(tmp_path / "release")
    there = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match="is in the folder of a release") as caught:
        release.save(tmp_path / place)
    assert caught.value.code == "in-release" and sorted(tmp_path.rglob("*")) == there
    release.save(tmp_path / "release", overwrite=True)


def test_a_recipient_can_read_the_cells_from_the_folder_alone(tmp_path):
    """The analyst has the folder and nothing else: no page of ours, nobody to ask."""
    plan = plan_of([KAnonymity(k=3)])
    saved(random_people(40, 1), plan, tmp_path)
    told = (tmp_path / "out" / "policy.yaml").read_text(encoding="utf-8")
    assert "[30, 40)       at least 30 and less than 40" in told and "hushtable sample" in told
