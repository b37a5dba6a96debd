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


@pytest.fixture
def release(call, linked, tmp_path):
    policy, data = linked
    assert call("run", policy, "--data", data, "--output", tmp_path / "out").code == 0
    return tmp_path / "out", data


def test_measure_and_risk(call, release):
    folder, data = release
    answer = call("measure", folder, "--json")
    assert answer.data["measures"]["tables"]["visits"] == {
        "events": 25, "kept": 0.96, "generality": 0.0, "levels": {"reason": [0.96, 0.0]}}  # fmt: skip
    assert "96.0% of 25 events kept" in call("measure", folder).words
    answer = call("risk", folder, "--data", data, "--threshold", 0.5, "--json")
    assert answer.data["risks"]["events"]["before"]["highest"] == 1
    assert answer.data["risks"]["events"]["after"]["at_risk"] == 0
    assert "of one person" in call("risk", folder, "--data", data).words
    answer = call("risk", folder)
    assert (answer.code, "Open it with the original tables" in answer.words) == (2, True)


def test_sample_and_report(call, release, tmp_path):
    folder, data = release
    answer = call("sample", folder, "-o", tmp_path / "drawn", "--json")
    assert (answer.code, answer.data["drawn"], answer.data["rows"]["visits"]) == (0, True, 24)
    assert {f.name for f in (tmp_path / "drawn").iterdir()} == {"people.csv", "visits.csv", "sample.json"}
    assert call("sample", folder, "-o", folder / "drawn").code != 0
    answer = call("report", folder, "--data", data, "-o", tmp_path / "evidence.html", "--json")
    assert (answer.code, answer.data["satisfied"]) == (0, True)
    assert "canary" not in (tmp_path / "evidence.html").read_text() + (tmp_path / "evidence.json").read_text()
    answer = call("report", folder, "--data", data, "-o", tmp_path / "other.html", "--only", "no-such")
    assert (answer.code, "no attack 'no-such' on linked tables" in answer.words) == (2, True)
    checked = ["verify", folder, "--policy", folder / "policy.yaml", "--evidence", tmp_path / "evidence.json"]
    assert "All 4 files match the evidence" in call(*checked).words
    (folder / "people.csv").write_text((folder / "people.csv").read_text() + "\n")
    answer = call(*checked)
    assert (answer.code != 0, "does not match the evidence" in answer.words) == (True, True)


def test_a_folder_with_a_file_that_was_not_verified_is_refused(call, release):
    folder, data = release
    assert call("verify", folder).code == 0
    (folder / "originals").mkdir()
    (folder / "originals" / "people.csv").write_bytes((data / "people.csv").read_bytes())
    answer = call("verify", folder, "--json")
    assert (answer.code, answer.data["code"]) == (2, "unverified-files")


def test_attack_with_a_control(call, release, tmp_path):
    folder, data = release
    others = tmp_path / "others"
    others.mkdir()
    (others / "people.csv").write_text("id,age\n" + "".join(f"x{i},{30 + i}\n" for i in range(12)))
    (others / "visits.csv").write_text("id,reason,ward\n" + "".join(f"x{i},gout,A\n" for i in range(12)))
    answer = call("attack", folder, "--data", data, "--control", others, "--only", "event-membership", "--json")
    assert answer.data["attacks"][0]["rate"] > 0.9
    assert "real people" in call("attack", folder, "--data", data).words


def test_ledger(call, release, tmp_path, linked):
    folder, data = release
    book = tmp_path / "ledger"
    assert call("ledger", "add", folder, "--data", data, "--ledger", book).code == 0
    assert "already in the ledger" in call("ledger", "check", folder, "--data", data, "--ledger", book).words
    assert call("run", linked[0], "--data", data, "--output", tmp_path / "same", "--seed", 5).code == 0
    answer = call("ledger", "check", tmp_path / "same", "--data", data, "--ledger", book)
    assert (answer.code, "already in the ledger" in answer.words) == (0, True)
    linked[0].write_text(POLICY.replace("crowd: 6", "crowd: 4"))
    assert call("run", linked[0], "--data", data, "--output", tmp_path / "two").code == 0
    answer = call("ledger", "check", tmp_path / "two", "--data", data, "--ledger", book)
    assert (answer.code, "cannot be checked in combination with earlier releases" in answer.words) == (1, True)
    answer = call("ledger", "add", tmp_path / "two", "--data", data)
    assert (answer.code, "Add --ledger FILE" in answer.words) == (2, True)


@pytest.mark.parametrize(
    "words",
    [["explain", "0"], ["price"], ["measure", "--all"], ["sample", "--rows", "5", "-o", "x"],
     ["risk", "--fraction", "1"], ["report", "--labels"],
     ["attack", "--external", "x.csv"], ["condense", "-o", "x.csv"]],
)  # fmt: skip
def test_what_is_for_one_table_is_refused(call, release, words):
    folder, data = release
    needs = [] if words[0] in ("measure", "sample") else ["--data", data]
    answer = call(words[0], folder, *words[1:], *needs)
    assert (answer.code, "linked tables" in answer.words) == (2, True), answer.words


def test_options_for_one_table_are_refused(call, linked):
    policy, data = linked
    answer = call("run", policy, "--data", data, "--part-rows", 5)
    assert (answer.code, "--part-rows cannot be used with a policy of linked tables" in answer.words) == (2, True)
    answer = call("run", policy, "--data", data, "--master", "local[1]")
    assert (answer.code, "Only the engine 'spark' has a master." in answer.words) == (2, True)
    answer = call("verify", data, "--policy", policy, "--rerun")
    assert (answer.code, "--rerun cannot be used with a policy of linked tables" in answer.words) == (2, True)
    answer = call("run", policy, "--data", f"sqlite:///{data}/clinic.db", "--engine", "spark")
    assert (answer.code, "read through one connection, in one snapshot, without Spark" in answer.words) == (2, True)


def test_a_schema_is_for_linked_tables(call, policy, people):
    for words in (("run", policy, "--data", people), ("check", policy), ("verify", people, "--policy", policy)):
        answer = call(*words, "--schema", "main")
        assert (answer.code, "--schema is for a policy of linked tables" in answer.words) == (2, True)


def test_other_commands_say_what_they_are_given(call, linked, tmp_path):
    policy, data = linked
    answer = call("explore", policy, "--data", data / "people.csv")
    assert (answer.code, "is a policy of linked tables" in answer.words) == (2, True)


def test_a_database_holds_the_tables(call, linked, tmp_path):
    from hushtable.io.files import read_table
    from hushtable.io.sql import write_sql

    policy, data = linked
    for name in ("people", "visits"):
        write_sql(read_table(data / f"{name}.csv"), f"sqlite:///{tmp_path}/clinic.db", table=name)
    answer = call("check", policy, "--data", f"sqlite:///{tmp_path}/clinic.db", "--json")
    assert answer.data["events"] == 25


def test_from_a_schema_to_a_schema(call, tmp_path):
    """A draft by foreign keys, a run into another database, and a check of what is there."""
    import duckdb

    with duckdb.connect(str(tmp_path / "clinic.db")) as session:
        session.execute("CREATE SCHEMA ward; CREATE TABLE ward.people (id INTEGER PRIMARY KEY, age INTEGER)")
        session.execute("CREATE TABLE ward.visits (id INTEGER REFERENCES ward.people (id), reason VARCHAR)")
        session.execute("INSERT INTO ward.people SELECT i, 30 + i FROM range(40) t(i)")
        session.execute(
            "INSERT INTO ward.visits SELECT i % 40, CASE i % 3 WHEN 0 THEN 'a' ELSE 'b' END FROM range(160) t(i)"
        )
    data = f"duckdb:///{tmp_path}/clinic.db"
    answer = call("init", data, "--schema", "ward")
    assert answer.code == 0, answer.words
    assert "belongs to people" in answer.out
    text = (tmp_path / "policy.yaml").read_text()
    (tmp_path / "policy.yaml").write_text(text.replace("suppression: 0.2", "suppression: 1.0"))
    assert call("check", "policy.yaml", "--data", data, "--schema", "ward", "--json").data["events"] == 160
    target = f"duckdb:///{tmp_path}/open.db"
    answer = call("run", "policy.yaml", "--data", data, "--schema", "ward", "--to", target)
    assert answer.code == 0, answer.words
    assert "Published at duckdb" in answer.words
    assert call("verify", target, "--schema", "main", "--policy", "policy.yaml").code == 0
    answer = call("run", "policy.yaml", "--data", data, "--schema", "ward", "--to", target, "--output", "again")
    assert (answer.code, "exists" in answer.words, (tmp_path / "again").exists()) == (2, True, False)
    answer = call("run", "policy.yaml", "--data", data, "--schema", "ward", "--to", f"{data}?schema=ward",
                  "--output", "again", "--overwrite")  # fmt: skip
    assert (answer.code, "is an input" in answer.words) == (2, True)
    answer = call("init", data, "--schema", "ward", "--people", "peple", "--force")
    assert (answer.code, "Did you mean" in answer.words) == (2, True)
    answer = call("init", data, "--schema", "main", "--force")
    assert (answer.code, "No foreign key" in answer.words) == (2, True)


def test_bad_input_leaves_nothing(call, linked, tmp_path):
    policy, data = linked
    (data / "visits.csv").write_text("id,reason,ward\n99,cold,A\n")
    answer = call("run", policy, "--data", data, "--output", tmp_path / "out")
    assert (answer.code, "1 row of table 'visits' belongs to no row of 'people'" in answer.words) == (2, True)
    assert not (tmp_path / "out").exists()
