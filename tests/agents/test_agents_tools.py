"""No reply holds a cell, whatever is asked."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from support_agents import CANARY, NUMBERS, fill, hostile, reply_to

from hushtable.agents.tools import TOOLS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("agents")


@pytest.fixture(scope="module")
def desk(folder):
    return fill(folder)


def check_silent(text, folder):
    assert CANARY not in text.lower(), text
    assert not any(number in text for number in NUMBERS), text
    assert str(folder) not in text and "people.csv" not in text and "secret" not in text


def campaign(desk, folder, seed, calls):
    draw, codes = random.Random(seed), Counter()
    for _ in range(calls):
        call = hostile(draw)
        text, failed = reply_to(desk, call)
        check_silent(text, folder)
        codes[json.loads(text)["code"] if failed else f"ok {call[0]}"] += 1
    return codes


def test_replies_to_hostile_calls_hold_no_canary(desk, folder):
    codes = campaign(desk, folder, 1, 250)
    # the campaign is worth something only if calls get as far as the data
    assert {"ok profile", "ok check", "ok audit", "ok explain", "outside", "argument", "header"} <= codes.keys()
    assert len(codes) > 12 and not codes["internal"]


@pytest.mark.slow
def test_ten_thousand_replies_hold_no_canary(desk, folder):
    codes = campaign(desk, folder, 2, 10_000)
    assert {f"ok {tool}" for tool in TOOLS} <= codes.keys() and not codes["internal"]


def test_a_whole_release(desk, folder):
    def call(name, **arguments):
        text, failed = reply_to(desk, (name, arguments))
        check_silent(text, folder)
        assert not failed, text
        return json.loads(text)

    found = call("profile", data="people.csv")
    assert {c["name"]: c["role"] for c in found["columns"]}["illness"] == "sensitive" and found["rows"] == 60
    roles = {"name": "identifier", "seen": "drop", "pay": "sensitive"}
    drafted = call("draft", data="people.csv", policy="whole.yaml", roles=roles, models=[{"k-anonymity": {"k": 5}}])
    assert drafted["policy"]["columns"]["pay"]["role"] == "sensitive"
    assert drafted["policy"]["settings"]["models"] == [{"k-anonymity": {"k": 5}}]
    checked = call("check", data="people.csv", policy="whole.yaml")
    assert checked["ok"] and checked["policy"] == drafted["policy"]
    done = call("run", data="people.csv", policy="whole.yaml", release="whole")
    assert done["verified"] and (folder / "out" / "whole" / "release.csv").exists()
    assert call("audit", data="whole/release.csv", quasi=["age", "town"])["smallest"] == done["models"][0]["achieved"]
    raw = call("audit", data="people.csv", quasi=["age", "town"], sensitive=["illness"])
    assert raw["smallest"] == "fewer than 5"
    assert call("explain", release="whole", data="people.csv")["grade"] in ("useful", "coarse", "nearly-empty")
    tried = call("compare", data="people.csv", policy="whole.yaml", vary={"k-anonymity.k": [2, 10, 61]})["settings"]
    assert [row["status"] for row in tried] == ["ok", "ok", "infeasible"]
    assert [row["risk"] is None for row in tried] == [True, False, True]
    assert call("explain", topic="k-anonymity")["parameters"][0]["name"] == "k"
    assert "mondrian" in call("explain", topic="algorithms")["algorithms"]


def test_what_is_drafted_is_not_overwritten_nor_written_elsewhere(desk, folder):
    for name in ("whole.yaml", "../data/x.yaml", "/tmp/x.yaml", ".", "nowhere/x.yaml"):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        (folder / "out" / "whole.yaml").touch()
        assert reply_to(desk, ("draft", {"data": "people.csv", "policy": name}))[1]
        assert {p for p in folder.rglob("*") if p.is_file()} <= {*before, folder / "out" / "whole.yaml"}


def test_a_release_that_names_files_elsewhere_is_refused(desk, folder):
    reply_to(desk, ("run", {"data": "people.csv", "policy": "good.yaml", "release": "forged"}))
    told, table = (folder / "out" / "forged" / name for name in ("release.json", "release.csv"))
    written = told.read_text()
    told.write_text(written.replace('"release.csv"', '"../../secret/people.csv"'))
    text, failed = reply_to(desk, ("explain", {"release": "forged", "data": "people.csv"}))
    assert failed and json.loads(text)["code"] == "bad-release-json"
    told.write_text(written)
    table.unlink()
    table.symlink_to(folder / "secret" / "people.csv")
    text, failed = reply_to(desk, ("explain", {"release": "forged", "data": "people.csv"}))
    assert failed and json.loads(text)["code"] == "outside"


def test_names_of_columns_that_may_be_cells_are_refused(desk):
    for name in ("headless.csv",):
        assert json.loads(reply_to(desk, ("profile", {"data": name}))[0])["code"] == "header"


def test_a_share_does_not_count_fewer_people_than_the_floor(desk, folder):
    ages = [20 + i % 40 for i in range(396)] + [91, 92, 93, 94]
    (folder / "data" / "few.csv").write_text("age,sex\n" + "".join(f"{age},{age % 2}\n" for age in ages))
    text, failed = reply_to(desk, ("audit", {"data": "few.csv", "quasi": ["age"]}))
    assert not failed, text
    assert json.loads(text)["risks"]["unique_share"] is None
    text, failed = reply_to(desk, ("profile", {"data": "few.csv"}))
    assert not failed, text
    assert all(subset["unique_share"] in (None, 0) for subset in json.loads(text)["subsets"])
