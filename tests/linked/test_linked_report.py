"""The evidence of a linked release: one offline page and JSON, with losses, risks, attacks, limits and files."""

from __future__ import annotations

import hashlib
import json

import pytest

from hushtable import open_release
from hushtable._version import code_digest
from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import OutputError, UsageError
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import linked_measures
from hushtable.linked.run import anonymize_linked
from hushtable.registry import templates
from hushtable.report.content import Report

MODELS = [{"k-anonymity": {"k": 5}}, {"distinct-l": {"l": 2, "on": "labs.result"}}]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    tables = hospital(200)
    policy = LinkedPolicy(**{**hospital_policy(), "crowd": 100, "suppression": 1.0, "models": MODELS})
    return tables, anonymize_linked(tables, policy).save(tmp_path_factory.mktemp("linked") / "release")


@pytest.fixture(scope="module")
def written(saved, tmp_path_factory):
    tables, folder = saved
    page = tmp_path_factory.mktemp("report") / "evidence.html"
    return open_release(folder, tables), open_release(folder, tables).report(page), page


def test_the_page_and_the_json_say_the_same(written):
    release, report, page = written
    data = json.loads(page.with_suffix(".json").read_text())
    assert Report.model_validate(data) == report
    text = page.read_text()
    for words in ("5 linked tables about 200 people", "event-linkage", "event-sweep", "labs: kept", "diagnoses.code",
                  "combinations of known events that only one person has", "no guard covers linked tables",
                  report.facts.files[0].sha256, "SHA-256 of every released file"):  # fmt: skip
        assert words in text, words
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert not any(str(key) in text for key in release.original().people["person"].to_pylist()[:40])


def test_what_models_achieve_is_that_of_the_worst_combination(written):
    release, report, _ = written
    k, distinct = report.facts.models
    assert (k.achieved, k.violations, k.holds) == (release.verification.smallest, 0, True)
    assert (distinct.column, distinct.bound) == ("labs.result", 2)
    assert distinct.achieved >= 2


def test_risks_files_and_makers_are_named(written, saved):
    release, report, _ = written
    events = report.facts.risks[0]
    assert (events.name, events.before.highest) == ("events", 1.0)
    assert events.after.highest == pytest.approx(1 / release.verification.smallest)
    assert sum(band.after for band in report.facts.bands) == pytest.approx(1)
    assert next(band.after for band in report.facts.bands if band.label == "1") == 0
    files = {file.name: file.sha256 for file in report.facts.files}
    assert set(files) == {file.name for file in saved[1].iterdir()}
    assert files["labs.csv"] == hashlib.sha256((saved[1] / "labs.csv").read_bytes()).hexdigest()
    assert report.facts.provenance.made_by_code_sha256 == code_digest()
    assert [one.name for one in report.facts.attacks_not_run] == ["event-membership"]
    assert all(one.low <= one.rate <= one.high for one in report.facts.attacks)


def test_a_broken_release_is_said_to_be_broken(saved):
    tables, folder = saved
    release = open_release(folder, tables)
    stricter = type(release)(**{**vars(release), "policy": release.policy.changed(models=[{"k-anonymity": {"k": 90}}])})
    report = stricter.report(attacks=False)
    assert not report.summary.ok
    assert report.facts.models[0].violations > 0
    assert "must not be published" in report.summary.verdict


@pytest.mark.parametrize("template", list(templates))
def test_every_template_answers(saved, template):
    tables, folder = saved
    report = open_release(folder, tables).report(template=template, attacks=False)
    assert report.template == template
    assert report.findings


def test_it_needs_the_original(saved):
    with pytest.raises(UsageError, match="opened without its original"):
        open_release(saved[1]).report()


def test_it_does_not_go_into_the_folder_of_the_release(saved):
    tables, folder = saved
    before = sorted(folder.iterdir())
    with pytest.raises(OutputError, match="a report is not part of it"):
        open_release(folder, tables).report(folder / "evidence.html", attacks=False)
    assert sorted(folder.iterdir()) == before


def test_a_copy_saved_without_the_original_has_no_measures(saved, tmp_path):
    copy = open_release(saved[1]).save(tmp_path / "copy")
    with pytest.raises(UsageError, match="its information loss is not known"):
        linked_measures(copy)
