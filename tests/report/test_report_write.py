from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets import patients_policy
from hushtable.engines.release import Release
from hushtable.errors import Cancelled, OutputError, ParameterError, UsageError
from hushtable.registry import templates
from hushtable.report.content import Report


@pytest.fixture(scope="module")
def release(patients: pa.Table) -> Release:
    return ht.anonymize(patients, ht.Policy(**patients_policy()))


@pytest.mark.parametrize("template", list(templates))
def test_page_and_json_are_written_and_say_the_same(release: Release, template: str, tmp_path: Path) -> None:
    # the attacks are the same whatever the template
    report = release.report(tmp_path / "evidence.html", template, attacks=template == "general" or ["linkage"])
    text = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    read = Report.model_validate_json((tmp_path / "evidence.json").read_text(encoding="utf-8"))
    assert read == report
    assert report.template == template
    for finding in report.findings:
        assert _escaped(finding.question) in text
        assert _escaped(finding.answer) in text
    for attack in report.facts.attacks:
        assert attack.name in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evidence.html", "evidence.json"]


def test_nothing_is_written_where_something_is_wrong(release: Release, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="HTML file"):
        release.report(tmp_path / "evidence.json")
    with pytest.raises(OutputError, match="folder does not exist"):
        release.report(tmp_path / "none" / "evidence.html")
    for folder in (release.save(tmp_path / "release"), tmp_path / "release.private"):
        there = sorted(folder.iterdir())
        with pytest.raises(OutputError, match="a report is not part of it"):
            release.report(folder / "evidence.html")
        assert sorted(folder.iterdir()) == there
    shutil.rmtree(tmp_path / "release")
    shutil.rmtree(tmp_path / "release.private")
    with pytest.raises(UsageError, match=r"no template 'wp261'\. Did you mean 'wp216'"):
        release.report(tmp_path / "evidence.html", "wp261")
    with pytest.raises(ParameterError, match="threshold"):
        release.report(tmp_path / "evidence.html", threshold=2)
    with pytest.raises(UsageError, match="There is no attack"):
        release.report(tmp_path / "evidence.html", attacks=["no-such-attack"])
    assert list(tmp_path.iterdir()) == []


def test_progress_never_falls_and_can_cancel(release: Release, tmp_path: Path) -> None:
    shares: list[float] = []
    release.report(tmp_path / "evidence.html", attacks=["linkage"], progress=lambda share, _: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1

    def stop(share: float, what: str) -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        release.report(tmp_path / "other.html", progress=stop)
    assert not (tmp_path / "other.html").exists()


def test_json_has_no_number_that_json_has_not(release: Release, tmp_path: Path) -> None:
    release.report(tmp_path / "evidence.html", attacks=False)
    text = (tmp_path / "evidence.json").read_text(encoding="utf-8")

    def refuse(name: str) -> float:
        raise AssertionError(name)

    assert json.loads(text, parse_constant=refuse)["format"] == "hushtable-report/2"


def _escaped(text: str) -> str:
    return html.escape(text)


def test_values_that_only_suppressed_records_have_are_not_counted(tmp_path: Path) -> None:
    policy = ht.Policy(
        quasi=["age"],
        sensitive=["ill"],
        models=[ht.KAnonymity(k=5), ht.TCloseness(t=0.9)],
        suppression=0.05,
        publish=["reference"],
    )
    found = []
    for rare in ("flu", "syphilis", ""):
        table = pa.table(
            {
                "age": [20 + i % 10 for i in range(30)] + [99],
                "ill": [("flu", "gout", "cold")[i % 3] for i in range(30)] + [rare],
            }
        )
        release = ht.anonymize(table, policy)
        assert release.n_suppressed == 1
        report = release.report(tmp_path / "evidence.html", attacks=False)
        found.append([(c.name, c.distinct, c.missing) for c in report.facts.columns])
    assert found == [[("age", 10, 0), ("ill", 3, 0)]] * 3
    assert "reveals suppressed records" in (tmp_path / "evidence.html").read_text()
