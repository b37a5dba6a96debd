from __future__ import annotations

import json
import logging
import re

import pyarrow as pa
import pytest

from hushtable.cli.failures import JsonLines
from hushtable.errors import Infeasible
from hushtable.pipelines.publish import publish
from hushtable.policy.policy import Policy


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_step_can_be_repeated_and_tells_whether_anything_changed(place, caplog):
    caplog.set_level(logging.INFO, "hushtable")
    words = (place / "patients.csv", place / "policy.yaml", place / "release")
    first = publish(*words, metrics=place / "a.prom")
    before = files(first.folder)
    again = publish(*words, metrics=place / "a.prom")
    assert (first.changed, again.changed, again.version) == (True, False, first.version)
    assert files(again.folder) == before
    assert 'hushtable_run_changed{target="release"} 0' in (place / "a.prom").read_text()
    record = next(one for one in caplog.records if one.name == "hushtable.pipelines")
    told = json.loads(JsonLines().format(record))
    assert (told["records"], told["released"], told["changed"]) == (400, first.released, True)
    # fewer people: another release
    lines = (place / "patients.csv").read_text().splitlines(keepends=True)
    (place / "patients.csv").write_text("".join(lines[:300]))
    assert publish(*words).changed


def test_what_was_published_stays_where_a_step_fails(place):
    words = (place / "patients.csv", place / "policy.yaml", place / "release")
    before = files(publish(*words).folder)
    text = (place / "policy.yaml").read_text()
    (place / "policy.yaml").write_text(text.replace("k: 5", "k: 5000"))
    with pytest.raises(Infeasible):
        publish(*words, metrics=place / "a.prom")
    assert files(place / "release") == before
    assert 'hushtable_run_exit_code{target="release"} 3' in (place / "a.prom").read_text()


@pytest.mark.parametrize(
    ("settings", "quiet"),
    [
        ({"models": [{"dp": {"epsilon": 2, "delta": 1e-5}}], "algorithm": "safe-pub", "suppression": 1}, True),
        ({"models": [{"k-anonymity": {"k": 2}}], "algorithm": "m-invariant"}, True),
        ({"models": [{"k-anonymity": {"k": 2}}]}, False),
    ],
)
def test_schedulers_learn_no_more_than_release_json_states(settings, quiet, tmp_path, caplog):
    """The number of records would tell whether one person is among them, and how many rows are counterfeits."""
    caplog.set_level(logging.INFO, "hushtable.pipelines")
    town = {"kind": "nominal", "hierarchy": {"taxonomy": {"tree": {"*": ["bonn", "celle"]}}}}
    people = pa.table({"town": ["bonn", "celle"] * 211})
    outcome = publish(people, Policy(quasi={"town": town}, **settings), tmp_path / "out", metrics=tmp_path / "a.prom")
    stated = json.loads((tmp_path / "out" / "release.json").read_text())
    assert ("records" not in stated) is quiet
    assert (outcome.records, outcome.suppressed) == (stated.get("records"), stated.get("suppressed"))
    assert outcome.released == stated["rows"]
    told = json.loads(JsonLines().format(caplog.records[-1]))
    for text in ((tmp_path / "a.prom").read_text(), json.dumps(told), json.dumps(outcome.as_dict())):
        # as a number of its own: seconds have any digits
        assert bool(re.search(r"(?<![\d.])422(?![\d.])", text)) is (not quiet or outcome.released == 422)
    assert ("hushtable_run_records" in (tmp_path / "a.prom").read_text()) is not quiet
