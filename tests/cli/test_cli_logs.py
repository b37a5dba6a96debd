"""--quiet and --log-json."""

from __future__ import annotations

import json
import logging

import pyarrow as pa
import pytest
from support_cli import CANARY, rows, write_csv

import hushtable as ht


@pytest.fixture(autouse=True)
def as_before():
    yield
    from hushtable.cli.failures import configure

    configure(quiet=False, as_json=False)


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_quiet_prints_errors_alone(call, policy, people):
    answer = call("run", policy, "--data", people, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert call("--quiet", "models").out == ""
    failed = call("run", policy, "--data", people, "--quiet")
    assert failed.code == 2 and failed.err.startswith("Error: ") and not failed.out
    told = call("measure", "release", "--quiet", "--json").data
    assert "ncp" in told["measures"]
    assert "ncp" in call("measure", "release").out


def test_a_log_of_json_lines_on_stderr(call, policy, tmp_path):
    people = write_csv(tmp_path / "people.csv", [[CANARY + row[0], *row[1:3], CANARY + row[3]] for row in rows()])
    answer = call("run", policy, "--data", people, "--log-json")
    assert answer.code == 0 and "published" in answer.out
    found = lines(answer.err)
    assert {"time", "level", "logger", "message"} <= set(found[0])
    assert {"hushtable.io", "hushtable.engines", "hushtable.release"} <= {one["logger"] for one in found}
    assert next(one for one in found if one["logger"] == "hushtable.io")["rows"] == 40
    # the verdict's trials are no releases
    assert [one["records"] for one in found if "records" in one and one["logger"] == "hushtable.engines"] == [40]
    assert CANARY not in answer.err
    call("attack", "release", "--data", people, "--only", "homogeneity", "--log-json")
    again = call("run", policy, "--data", people, "--log-json", "--json")
    assert again.data["code"]
    last = lines(again.err)[-1]
    assert (last["level"], last["logger"], last["code"]) == ("error", "hushtable.cli", again.data["code"])
    plain = call("run", policy, "--data", people, "-o", "other")
    assert plain.err == ""


def test_the_library_logs_without_a_cell(caplog, tmp_path):
    table = pa.table({"age": list(range(20, 32)), "ill": [CANARY, CANARY + "2"] * 6})
    policy = ht.Policy(quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)])
    with caplog.at_level(logging.INFO, logger="hushtable"):
        release = ht.anonymize(table, policy)
        release.save(tmp_path / "out")
        release.attack("homogeneity")
        ht.compare(table, policy, {"models": [{"k-anonymity": {"k": [2, 3]}}]})
    names = {record.name for record in caplog.records}
    assert {"hushtable.engines", "hushtable.release", "hushtable.attacks", "hushtable.comparison"} <= names
    assert all(name.count(".") <= 2 for name in names)
    assert CANARY not in caplog.text
    assert not any(CANARY in str(vars(record)) for record in caplog.records)
