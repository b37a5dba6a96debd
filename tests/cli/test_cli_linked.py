"""Linked tables on the command line: the usual commands take them."""

from __future__ import annotations

import pytest

POLICY = """\
tables:
  people: {key: id, columns: {age: {role: quasi, kind: numeric}}}
  visits: {of: people, columns: {reason: {role: quasi}, ward: {role: sensitive}}}
knows: 2
models: [k-anonymity: {k: 3}]
crowd: 6
"""


@pytest.fixture
def linked(tmp_path):
    (tmp_path / "linked.yaml").write_text(POLICY)
    data = tmp_path / "data"
    data.mkdir()
    (data / "people.csv").write_text("id,age\n" + "".join(f"{i},{30 + i}\n" for i in range(12)))
    visits = [f"{i},{reason},{'AB'[i % 2]}\n" for i in range(12) for reason in ("cold", "burn")]
    (data / "visits.csv").write_text("id,reason,ward\n" + "".join(visits) + "3,secret-canary,A\n")
    return tmp_path / "linked.yaml", data


def test_check_run_verify_and_attack(call, linked, tmp_path):
    policy, data = linked
    assert call("check", policy).code == 0
    answer = call("check", policy, "--data", data, "--json")
    assert answer.data == {"ok": True, "people": 12, "events": 25, "people_without_events": 0}
    answer = call(
        "run", policy, "--data", data / "people.csv", "--data", data / "visits.csv", "--output", tmp_path / "out"
    )
    assert answer.code == 0, answer.words
    assert "4.0% of the events are suppressed" in answer.words
    assert "known: visits + visits" in answer.words
    assert not any("canary" in file.read_text() for file in (tmp_path / "out").iterdir())
    answer = call("verify", tmp_path / "out", "--policy", policy, "--json")
    assert (answer.code, answer.data["satisfied"], answer.data["smallest_crowd"]) == (0, True, 6)
    answer = call("attack", tmp_path / "out", "--data", data, "--json")
    assert [one["attack"] for one in answer.data["attacks"]][:2] == ["event-linkage", "event-sweep"]
    assert "event-linkage" in call("attack", tmp_path / "out", "--data", data, "--only", "event-linkage").out
    policy.write_text(POLICY.replace("k: 3", "k: 7"))
    answer = call("verify", tmp_path / "out", "--policy", policy)
    assert (answer.code, "VIOLATED" in answer.out) == (1, True)


def test_options_for_one_table_are_refused(call, linked):
    policy, data = linked
    answer = call("run", policy, "--data", data, "--engine", "spark")
    assert (answer.code, "--engine cannot be used with a policy of linked tables" in answer.words) == (2, True)


def test_other_commands_say_what_they_are_given(call, linked, tmp_path):
    policy, data = linked
    answer = call("explore", policy, "--data", data / "people.csv")
    assert (answer.code, "is a policy of linked tables" in answer.words) == (2, True)


def test_a_database_holds_the_tables(call, linked, tmp_path):
    from hushtable.io.files import read_table
    from hushtable.io.sql.access import write_sql

    policy, data = linked
    for name in ("people", "visits"):
        write_sql(read_table(data / f"{name}.csv"), f"sqlite:///{tmp_path}/clinic.db", table=name)
    answer = call("check", policy, "--data", f"sqlite:///{tmp_path}/clinic.db", "--json")
    assert answer.data["events"] == 25


def test_bad_input_leaves_nothing(call, linked, tmp_path):
    policy, data = linked
    (data / "visits.csv").write_text("id,reason,ward\n99,cold,A\n")
    answer = call("run", policy, "--data", data, "--output", tmp_path / "out")
    assert (answer.code, "1 rows of table 'visits' belong to no row of 'people'" in answer.words) == (2, True)
    assert not (tmp_path / "out").exists()
