from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients, patients_policy
from hushtable.registry import templates
from hushtable.report.content import Report, report_schema
from hushtable.report.gather.provenance import input_hash
from hushtable.report.page.page import page
from hushtable.report.templates.base import Template

DOCS = Path(__file__).resolve().parents[2] / "docs" / "report.md"


def release_of(k: int = 2, n: int = 40, **settings: Any) -> Any:
    table = pa.table(
        {"id": [f"p{i}" for i in range(n)], "age": [30 + i // k for i in range(n)], "s": list("abcd") * (n // 4)}
    )
    given = {"identifiers": ["id"], "quasi": ["age"], "sensitive": ["s"], "models": [ht.KAnonymity(k=k)], **settings}
    return ht.anonymize(table, ht.Policy(**given))


@pytest.fixture(scope="module")
def report() -> Report:
    return templates.build("general").report(ht.anonymize(patients(500), ht.Policy(**patients_policy())))


def finding(report: Report, words: str) -> Any:
    return next(f for f in report.findings if words in f.question)


@pytest.mark.parametrize("name", list(templates))
def test_every_template_is_documented_and_describes_itself(name: str) -> None:
    found = templates[name]
    assert re.search(rf"^- `{name}`: \S", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert found.title
    assert found.about.endswith(".")
    assert issubclass(found, Template)


@pytest.mark.parametrize("name", list(templates))
def test_json_validates_against_the_published_schema(name: str, tmp_path: Path) -> None:
    validator = jsonschema_rs.validator_for(report_schema())
    release_of().report(tmp_path / "evidence.html", name)
    written = json.loads((tmp_path / "evidence.json").read_text(encoding="utf-8"))
    assert [str(e) for e in validator.iter_errors(written)] == []
    written["facts"]["treatment"]["released"] = "many"
    assert list(validator.iter_errors(written))


def test_the_published_schema_is_this_one() -> None:
    """Make it again with: hushtable schema --report > docs/report.schema.json."""
    assert json.loads((DOCS.parent / "report.schema.json").read_text(encoding="utf-8")) == report_schema()


def test_the_schema_describes_every_field() -> None:
    schema = report_schema()
    assert schema["properties"]["limits"]["description"]
    assert set(schema["required"]) >= {"summary", "findings", "facts", "limits"}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(("k", "status"), [(11, "not met"), (12, "met"), (5, "not met")])
def test_ema_compares_unrounded_with_its_operator(k: int, status: str) -> None:
    report = templates.build("ema").report(release_of(k, n=132), attacks=False)
    found = report.findings[0]
    assert found.status == status
    assert bool(report.summary.unmet) == (status == "not met")
    assert ('class="verdict bad"' in page(report)) == (status == "not met")
    assert any("chance is > 0.09" in line and "at least 12 people" in line for line in found.evidence)


def test_the_threshold_and_its_operator_can_be_changed() -> None:
    release = release_of(5)
    assert templates.build("ema", {"threshold": 0.2}).report(release, attacks=False).findings[0].status == "met"
    strict = templates.build("ema", {"threshold": 0.2, "comparison": ">="}).report(release, attacks=False)
    assert strict.findings[0].status == "not met"
    assert "chance is >= 0.2" in strict.findings[0].evidence[1]
    assert "at least 6 people" in strict.findings[0].evidence[1]
    assert strict.facts.risks[0].comparison == ">="


def test_wp216_asks_its_three_questions_first() -> None:
    report = templates.build("wp216").report(release_of(4), attacks=["singling-out", "linkage", "homogeneity"])
    assert [f.question.split(":")[0] for f in report.findings[:3]] == ["Singling out", "Linkability", "Inference"]
    assert any("singling-out" in line or "No better" in line for line in report.findings[0].evidence)
    assert any("linkage" in line for line in report.findings[1].evidence)
    assert any("homogeneity" in line for line in report.findings[2].evidence)
    assert any("No model of the policy protects sensitive values." in line for line in report.findings[2].evidence)


def test_without_attacks_nothing_is_claimed() -> None:
    for name in templates:
        report = templates.build(name).report(release_of(), attacks=False)
        assert not [f for f in report.findings if f.status == "met" and "attack" in f.answer]
        assert report.facts.attacks == ()
        assert len(report.facts.attacks_not_run) > 10


def test_nist_names_what_people_have_to_decide() -> None:
    report = templates.build("nist-800-188").report(release_of(), attacks=False)
    assert report.findings[0].status == "met"
    assert "“id” was removed." in report.findings[0].evidence
    assert report.findings[-1].status == "to judge"


def test_the_numbers_are_those_of_the_release(report: Report) -> None:
    release = ht.anonymize(patients(500), ht.Policy(**patients_policy()))
    facts = report.facts
    assert facts.treatment.released == release.table.num_rows
    assert facts.treatment.suppressed == release.n_suppressed
    assert facts.provenance.policy_sha256 == ht.Policy(**patients_policy()).digest()
    assert [m.achieved for m in facts.models] == [e.achieved for e in release.verification.evidence]
    risk = release.risk("prosecutor", threshold=0.09)
    assert facts.risks[0].after.highest == risk.after.highest
    assert facts.risks[0].before.average == risk.before.average
    assert {m.name: m.value for m in facts.measures}["ncp"] == release.measure("ncp")
    homogeneity = next(a for a in facts.attacks if a.name == "homogeneity")
    assert homogeneity.rate == release.attack("homogeneity").rate
    assert sum(b.before for b in facts.bands) == pytest.approx(1)
    assert sum(b.after for b in facts.bands) == pytest.approx(1)


def test_every_column_is_there_with_its_role(report: Report) -> None:
    roles = {name: column["role"] for name, column in patients_policy()["columns"].items()}
    assert {c.name: c.role for c in report.facts.columns} == roles
    for column in report.facts.columns:
        if column.role == "quasi":
            assert sum(d.share for d in column.depths) == pytest.approx(1)
            assert column.bars
        for bar in column.bars:
            assert bar.before % report.facts.rules.rounding == 0
            assert bar.after % report.facts.rules.rounding == 0
            assert bar.before >= report.facts.rules.least - report.facts.rules.rounding // 2


def test_the_first_screen_says_what_no_model_promises() -> None:
    identity = templates.build("general").report(release_of(), attacks=False).summary
    assert any("sensitive values stay unknown" in line for line in identity.not_promised)
    apart = release_of(models=[{"distinct-l": {"l": 2}}], algorithm="anatomy")
    attribute = templates.build("general").report(apart, attacks=False).summary
    assert any("nobody is found" in line for line in attribute.not_promised)
    both = templates.build("general").report(release_of(models=[{"alpha-k": {"alpha": 1, "k": 2}}]), attacks=False)
    assert not any("nobody is found" in line or "stay unknown" in line for line in both.summary.not_promised)
    words = "a person with several records"
    assert not any(words in line for line in attribute.not_promised)
    table = pa.table({"id": [f"p{i // 4}" for i in range(16)], "age": [30] * 16, "s": list("abcd") * 4})
    policy = ht.Policy(quasi=["age"], sensitive=["s"], identifiers=["id"], entity="id", models=[ht.ProbabilisticL(l=4)])
    several = templates.build("general").report(ht.anonymize(table, policy), attacks=False).summary
    assert any(words in line for line in several.not_promised)


@pytest.mark.parametrize("missing", ["own_category", "wildcard"])
def test_missing_values_have_a_meaning(missing: str) -> None:
    table = pa.table({"age": [None, None, *range(38)], "s": list("abcd") * 10})
    policy = ht.Policy(quasi=["age"], sensitive=["s"], models=[ht.KAnonymity(k=2)], missing=missing)
    done = templates.build("general").report(ht.anonymize(table, policy), attacks=False).facts.treatment
    assert done.missing == missing
    assert ("any value" in done.missing_meaning) == (missing == "wildcard")


def test_tables_without_sensitive_columns_and_of_few_rows() -> None:
    table = pa.table({"age": [30, 31, 52, 53]})
    report = templates.build("general").report(
        ht.anonymize(table, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]))
    )
    assert report.facts.accuracy == ()
    assert report.facts.columns[0].bars == ()
    assert report.summary.ok


def test_input_hash_knows_content_not_order() -> None:
    secret = b"s" * 32
    table = pa.table({"a": [1, 2, None], "b": ["x", "y", "y"]})
    same = [
        table.take([2, 0, 1]),
        table.select(["b", "a"]),
        pa.table({"a": ["1", "2", None], "b": ["x", "y", "y"]}),
        table.set_column(1, "b", table.column("b").dictionary_encode()),
    ]
    assert {input_hash(t, secret) for t in same} == {input_hash(table, secret)}
    other = [
        table.slice(0, 2),
        pa.table({"a": [1, None, 2], "b": ["x", "y", "y"]}).take([0, 1]),
        pa.table({"a": [1, 2, None], "b": ["y", "x", "y"]}),
        pa.table({"a": [1, 2, None], "c": ["x", "y", "y"]}),
        pa.table({"a": ["1", "2", ""], "b": ["x", "y", "y"]}),
        pa.concat_tables([table, table]),
    ]
    hashes = {input_hash(t, secret) for t in other}
    assert len(hashes) == len(other)
    assert input_hash(table, secret) not in hashes
    assert input_hash(table, b"t" * 32) != input_hash(table, secret)


def test_reports_are_deterministic_but_for_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    table, policy = patients(300), ht.Policy(**patients_policy())
    shuffled = table.take(np.random.default_rng(1).permutation(300))
    names = ["linkage", "homogeneity"]
    one, other = (templates.build("general").report(ht.anonymize(t, policy), attacks=names) for t in (table, shuffled))
    assert one.facts.provenance.created == "2023-11-14T22:13:20Z"
    assert one == other


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [("mdav", "replaced by a representative"), ("anti-unification", "blanked"), ("mondrian", "gener")],
)
def test_treatment_is_named_for_what_it_is(algorithm: str, words: str) -> None:
    policy = ht.Policy(**{**patients_policy(), "algorithm": {algorithm: {}}})
    report = templates.build("general").report(ht.anonymize(patients(200), policy), attacks=False)
    age = next(c for c in report.facts.columns if c.name == "age")
    assert words in age.treatment
    assert bool(age.depths) == (algorithm != "mdav")


def test_guards_are_named() -> None:
    policy = ht.Policy(**{**patients_policy(), "guard": ["downcoding"]})
    report = templates.build("general").report(ht.anonymize(patients(200), policy), attacks=False)
    assert report.facts.provenance.guards == ("downcoding",)
    assert [line for line in report.limits if "The code is public. mondrian: Only checks" in line]


@pytest.mark.parametrize(
    ("threshold", "comparison", "people"),
    [
        (0.09, ">", "12"),
        (0.2, ">", "5"),
        (0.2, ">=", "6"),
        (1.0, ">", "1"),
        (1e-7, ">", "9,900,991"),
        (1e-12, ">=", "infinitely many"),
        (0.0, ">", "infinitely many"),
    ],
)
def test_how_large_a_class_has_to_be_is_told_at_once(threshold: float, comparison: str, people: str) -> None:
    built = templates.build("general", {"threshold": threshold, "comparison": comparison})
    report = built.report(release_of(), attacks=False)
    (told,) = [line for found in report.findings for line in found.evidence if "a class needs at least" in line]
    assert f"at least {people} people" in told
