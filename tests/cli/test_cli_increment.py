from __future__ import annotations

import pytest
from support_cli import CANARY, DISEASES, rows, write_csv


@pytest.fixture
def batch(tmp_path):
    more = [[f"newcomer {i}", str(20 + i % 37), f"{14000 + 7 * i}", DISEASES[i % 4]] for i in range(40)]
    return write_csv(tmp_path / "batch.csv", more)


def test_a_batch_beside_a_release(call, release, people, batch, policy, tmp_path):
    answer = call("increment", release, "--earlier", people, "--data", batch)
    assert answer.code == 0, answer.words
    assert "of 40 new records joined" in answer.words and "Verified on its own and together" in answer.words
    assert call("verify", tmp_path / "increment" / "release.csv", "--policy", policy).code == 0
    data = call("increment", release, "--earlier", people, "--data", batch, "--output", "two", "--json").data
    assert data["notes"]["increment"] is True and data["records"] == 40
    assert (tmp_path / "two" / "release.csv").read_bytes() == (tmp_path / "increment" / "release.csv").read_bytes()
    again = call("increment", release, "--earlier", people, "--data", batch, "--json")
    assert again.code == 2 and again.data["code"] == "not-empty"


def test_batches_in_a_ledger(call, release, people, batch, tmp_path):
    assert call("increment", release, "--earlier", people, "--data", batch).code == 0
    book = ("--ledger", tmp_path / "book")
    assert call("ledger", "add", release, "--data", people, *book).code == 0
    saved = tmp_path / "increment"
    asked = call("ledger", "add", saved, "--data", batch, *book, "--json")
    assert asked.code == 2 and asked.data["code"] == "ledger-asks"
    answer = call("ledger", "add", saved, "--data", batch, *book, "--expect-new-people", "--json")
    assert answer.code == 0 and answer.data["known"] == 0 and answer.data["earlier"] == 1
    assert call("measure", saved, "--data", batch, "--only", "query-error").code == 0


def test_bad_batches(call, release, people, tmp_path):
    same = call("increment", release, "--earlier", people, "--data", people, "--json")
    assert same.code == 2 and same.data["code"] == "known-people"
    small = write_csv(tmp_path / "small.csv", [[CANARY, "20", "14000", "flu"]])
    answer = call("increment", release, "--earlier", people, "--data", small)
    assert answer.code == 3 and "next batch" in answer.words and CANARY not in answer.words
    other = write_csv(tmp_path / "other.csv", rows()[1:])
    assert call("increment", release, "--earlier", other, "--data", small, "--json").data["code"] == "other-original"
    assert not (tmp_path / "increment").exists()
