"""Canaries: marked values in every column, searched for in every page, file, message and log but the table itself."""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import hushtable as ht
from hushtable.cli.main import main
from hushtable.datasets import patients, patients_policy
from hushtable.errors import HushtableError
from hushtable.registry import templates
from hushtable.report.page.page import write_report

# what can be recognized wherever it turns up; numbers and dates are marked by digits that nothing else has
MARK = "CANARY"
NUMBER = 73195246
DATE = "2031-07-19"
ALGORITHMS = ["mondrian", "optimal", "lattice-sweep", "mdav", "anti-unification", "anatomy"]


def marked(n: int = 240, *, common: bool = False) -> pa.Table:
    """A table with a canary in every cell, or in one record only beside ordinary ones.

    With ``common`` the marked values are shared by many people, as names of categories are.
    """
    every = common

    def text(i: int, column: str, values: int) -> str:
        return f"{MARK}-{column}-{i % values}" if every or i == 7 else f"{column} {i % values}"

    return pa.table(
        {
            "name": [f"{MARK}-name-{i}" for i in range(n)],
            "age": [NUMBER if i == 7 else 20 + i % 60 for i in range(n)],
            "born": [DATE if i == 7 else f"19{50 + i % 50}-0{1 + i % 9}-1{i % 10}" for i in range(n)],
            "city": [text(i, "city", 6) for i in range(n)],
            "school": [text(i, "school", 4) for i in range(n)],
            "disease": [text(i, "disease", 5) for i in range(n)],
            "pay": [NUMBER + 1 if i == 7 else 1000 + 13 * i for i in range(n)],
            "remark": [text(i, "remark", 3) for i in range(n)],
        }
    )


def policy(table: pa.Table, algorithm: str) -> ht.Policy:
    """A policy that names values where a policy can: categories, an order, bounds on values, a taxonomy."""
    diseases = sorted(set(table.column("disease").to_pylist()))
    schools = sorted(set(table.column("school").to_pylist()))
    cities = sorted(set(table.column("city").to_pylist()))
    models: list[Any] = [
        {"distinct-l": {"l": 2, "on": "disease"}},
        {"value-bounds": {"bounds": {diseases[0]: 0.95}, "on": "disease"}},
    ]
    if algorithm != "anatomy":
        models.append(ht.KAnonymity(k=4))
    return ht.Policy(
        identifiers=["name"],
        quasi={
            "age": {"kind": "numeric"},
            "born": {"kind": "date"},
            "city": {"hierarchy": {"tree": {f"{MARK}-north": cities[:3], f"{MARK}-south": cities[3:]}}},
            "school": {"kind": "ordinal", "order": schools},
        },
        sensitive={
            "disease": {"categories": {f"{MARK}-top": diseases[:2], f"{MARK}-low": diseases[2:]}},
            "pay": {"kind": "numeric"},
        },
        insensitive=["remark"],
        models=models,
        algorithm=algorithm,
        suppression=0.05,
    )


def leaks(text: str) -> list[str]:
    """The places where a canary sings."""
    marks = [MARK, str(NUMBER), str(NUMBER + 1), f"{NUMBER:,}", f"{NUMBER + 1:,}", DATE, "73.2M"]
    return [text[max(0, text.index(m) - 60) : text.index(m) + 60] for m in marks if m in text]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """All that is said beside what is returned: stdout, stderr, logs and warnings."""
    said: list[str] = []
    out, err = io.StringIO(), io.StringIO()
    with (
        caplog.at_level(logging.DEBUG),
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        yield said
    said += [out.getvalue(), err.getvalue(), caplog.text, *(str(w.message) for w in warned)]


@pytest.mark.parametrize("common", [False, True], ids=["one record", "every record"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_canary_sings_in_a_report(algorithm: str, common: bool, tmp_path: Path, told: list[str]) -> None:
    table = marked(common=common)
    release = ht.anonymize(table, policy(table, algorithm))
    facts = release.report(tmp_path / "facts.html").facts
    for template in templates:
        path = tmp_path / f"{template}.html"
        report = templates.build(template).answered(facts)
        write_report(report, path)
        texts = [path.read_text(encoding="utf-8"), path.with_suffix(".json").read_text(encoding="utf-8"), repr(report)]
        assert [leak for text in texts for leak in leaks(text)] == []
    for row in (0, 7, 100):
        assert leaks(f"{release.explain(row)} {release.explain(row)!r}") == []
    assert [leak for text in told for leak in leaks(text)] == []


def test_the_canaries_are_there_to_be_found() -> None:
    """The same search finds them in the table, so that silence means something."""
    table = marked()
    release = ht.anonymize(table, policy(table, "mondrian"))
    assert leaks(str(release.table.to_pydict()))
    assert leaks(json.dumps(release.policy))


def test_named_labels_are_those_of_many_only(tmp_path: Path) -> None:
    """Who asks for labels gets those that enough people share: still none of a single record."""
    table = marked()
    release = ht.anonymize(table, policy(table, "mondrian"))
    release.report(tmp_path / "named.html", attacks=False, labels=True)
    text = (tmp_path / "named.html").read_text(encoding="utf-8")
    assert "disease 1" in text
    assert leaks(text) == []


def test_a_common_value_is_named_when_asked_for(tmp_path: Path) -> None:
    table = marked(common=True)
    ht.anonymize(table, policy(table, "mondrian")).report(tmp_path / "named.html", attacks=False, labels=True)
    assert leaks((tmp_path / "named.html").read_text(encoding="utf-8"))


def test_no_canary_sings_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that reads the table, with and without JSON, and what it writes beside the table."""
    monkeypatch.chdir(tmp_path)
    table = marked()
    csv.write_csv(table, "people.csv")
    Path("policy.yaml").write_text(policy(table, "mondrian").to_yaml(), encoding="utf-8")
    Path("wrong.csv").write_text(
        Path("people.csv").read_text(encoding="utf-8").replace("remark 1", f"{MARK}-changed"), encoding="utf-8"
    )
    calls = [
        ["run", "policy.yaml", "--data", "people.csv"],
        ["check", "policy.yaml", "--data", "people.csv"],
        ["verify", "release/release.csv", "--policy", "policy.yaml"],
        ["measure", "release", "--data", "people.csv", "--only", "ncp"],
        ["risk", "release", "--data", "people.csv"],
        ["attack", "release", "--data", "people.csv"],
        ["report", "release", "--data", "people.csv", "--overwrite"],
        ["explain", "release", "7", "8", "--data", "people.csv"],
        # and what goes wrong
        ["report", "release", "--data", "wrong.csv", "--overwrite"],
        ["explain", "release", "100000", "--data", "people.csv"],
        ["report", "release", "--data", "people.csv", "--overwrite", "--template", "none"],
    ]
    for words in calls:
        for extra in ([], ["--json"]):
            if words[0] == "run" and extra:
                extra = ["--json", "--overwrite"]
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit):
                main([*words, *extra])
            assert leaks(out.getvalue() + err.getvalue()) == [], words
    for file in ("evidence.html", "evidence.json"):
        assert leaks(Path(file).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("harm", ["text in numbers", "no such value", "too few"])
def test_no_canary_sings_in_an_error(harm: str) -> None:
    table = marked()
    given = policy(table, "mondrian")
    if harm == "text in numbers":
        table = table.set_column(1, "age", pa.array([f"{MARK}-age"] * table.num_rows))
    elif harm == "no such value":
        table = table.set_column(3, "city", pa.array([f"{MARK}-elsewhere"] * table.num_rows))
    else:
        table = table.slice(6, 3)
    with pytest.raises(HushtableError) as raised:
        ht.anonymize(table, given)
    assert leaks(f"{raised.value} {raised.value!r} {raised.value.as_dict()}") == []


def test_patients_names_and_values_are_nowhere(tmp_path: Path) -> None:
    """Realistic words: no name, postcode, date or diagnosis of the generated patients."""
    table = patients(500)
    release = ht.anonymize(table, ht.Policy(**patients_policy()))
    release.report(tmp_path / "evidence.html")
    text = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    # digits of a postcode may also be digits of a hash or a count: whole words are looked for
    words = set(re.findall(r"[\w-]+", re.sub(r"<[^>]*>", " ", text)))
    for name in ("name", "patient_id", "postcode", "country", "occupation", "education", "admission", "diagnosis"):
        values = {str(v) for v in table.column(name).to_pylist() if v is not None} - {"none"}
        assert values
        assert [v for v in values if v in words or (" " in v and v in text)] == [], name
