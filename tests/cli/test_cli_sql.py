"""The command line on databases and stores: one kind of address everywhere, one transaction, no password shown."""

from __future__ import annotations

import re
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from support_cli import CANARY, POLICY, rows

import hushtable as ht
from hushtable.errors import DataError, PolicyError
from hushtable.io import atomic
from hushtable.io.files import read_table, write_table
from hushtable.io.sql import read_sql, write_sql


def crowd():
    name, age, zip_code, disease = zip(*rows(), strict=True)
    return pa.table({"name": name, "age": [int(a) for a in age], "zip": zip_code, "disease": disease})


@pytest.fixture
def database(address):
    """A database with the people in it."""
    write_sql(crowd(), address, table="the people")
    return address


def test_from_init_to_attack_on_a_database(database, call, policy):
    data = ("--data", database, "--table", "the people")
    answers = [
        call("init", database, "--table", "the people", "--output", "starter.yaml", "--json"),
        call("check", policy, *data, "--json"),
        call("run", policy, *data, "--to", f"{database}?table=open", "--json"),
        call("verify", f"{database}?table=open", "--policy", policy, "--json"),
        call("verify", database, "--table", "open", "--policy", policy, "--evidence", "release/release.json"),
        call("measure", "release", "--data", f"{database}?table=the people", "--json"),
        call("risk", "release", "--data", f"{database}?table=the people", "--json"),
        call("risk", f"{database}?table=the people", "--policy", policy),
        call("attack", "release", "--data", f"{database}?table=the people", "--only", "homogeneity", "--json"),
    ]
    assert [a.code for a in answers] == [0] * len(answers), [a.err for a in answers]
    for answer in answers:
        assert "sesame" not in answer.out + answer.err
    assert "sesame" not in Path("starter.yaml").read_text() + Path("release/policy.yaml").read_text()
    run = answers[2].data
    assert re.search(r"table=open$", run["published"])
    published, saved = read_sql(database, table="open"), read_table("release/release.csv")
    assert sorted(_texts(published)) == sorted(_texts(saved))
    assert answers[3].data["satisfied"]


def _texts(table):
    columns = [[None if v in (None, "") else str(v).lower() for v in c.to_pylist()] for c in table.columns]
    return list(zip(*columns, strict=True))


def test_the_same_release_as_from_a_file(database, call, policy):
    write = ("--format", "parquet", "--json")
    assert call("run", policy, "--data", f"{database}?table=the people", "--output", "a", *write).code == 0
    query = 'SELECT disease, zip, age, name FROM "the people" ORDER BY age DESC'
    assert call("run", policy, "--data", database, "--query", query, "--output", "b", *write).code == 0
    release = ht.anonymize(crowd(), ht.load_policy(policy))
    release.save("c", format="parquet")
    assert Path("a/release.parquet").read_bytes() == Path("b/release.parquet").read_bytes()
    assert read_table("a/release.parquet").to_pydict() == read_table("c/release.parquet").to_pydict()


def test_what_exists_and_what_is_read_is_not_replaced(database, call, policy):
    data = ("--data", f"{database}?table=the people")
    answer = call("run", policy, *data, "--to", f"{database}?table=the people", "--overwrite")
    assert answer.code == 2
    assert "is an input" in answer.words
    asked = ("--data", database, "--query", 'SELECT * FROM "the people"')
    answer = call("run", policy, *asked, "--to", f"{database}?table=the people", "--overwrite")
    assert "is an input" in answer.words
    assert call("run", policy, *data, "--to", f"{database}?table=open").code == 0
    answer = call("run", policy, *data, "--to", f"{database}?table=open", "--output", "again", "--json")
    assert (answer.code, answer.data["code"]) == (2, "exists")
    assert not Path("again").exists()
    assert call("run", policy, *data, "--to", f"{database}?table=open", "--overwrite").code == 0
    assert read_sql(database, table="the people").num_rows == crowd().num_rows


def test_a_folder_that_cannot_be_written_leaves_no_table(database, call, policy, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "_sync_files", full)
    answer = call("run", policy, "--data", f"{database}?table=the people", "--to", f"{database}?table=open")
    assert answer.code == 2
    assert "disk is full" in answer.words
    assert not Path("release").exists()
    with pytest.raises(DataError, match="no such table"):
        read_sql(database, table="open")


def test_a_release_that_is_refused_is_not_published(database, call, policy, tmp_path):
    policy.write_text(POLICY.replace("k: 3", "k: 3000"))
    answer = call("run", policy, "--data", f"{database}?table=the people", "--to", f"{database}?table=open")
    assert answer.code == 3
    with pytest.raises(DataError, match="no such table"):
        read_sql(database, table="open")


def test_a_violating_table_is_found_out(database, call, policy):
    open_people = crowd().drop_columns(["name"])
    write_sql(open_people, database, table="open")
    assert call("verify", f"{database}?table=open", "--policy", policy).code == 1


def test_anatomy_publishes_two_tables(database, call, tmp_path):
    policy = tmp_path / "anatomy.yaml"
    text = POLICY.replace("- k-anonymity: {k: 3}\n", "").replace("seed: 7", "algorithm: anatomy\nseed: 7")
    policy.write_text(re.sub(r", hierarchy: \{.*?\}(?=\})", "", text))
    answer = call("run", policy, "--data", f"{database}?table=the people", "--to", f"{database}?table=open")
    assert answer.code == 0, answer.err
    assert "disease" not in read_sql(database, table="open").column_names
    assert read_sql(database, table="open_sensitive").column_names == ["group", "disease"]
    assert call("verify", f"{database}?table=open", "--policy", policy).code == 0
    again = ("--to", f"{database}?table=open", "--output", "b")
    assert call("run", policy, "--data", f"{database}?table=the people", *again).code == 2


def test_people_are_counted_whatever_order_the_database_keeps(database, call, tmp_path):
    policy = tmp_path / "entity.yaml"
    policy.write_text(POLICY.replace("- distinct-l: {l: 2}\n", "").replace("seed: 7", "entity: name\nseed: 7"))
    twice = pa.concat_tables([crowd(), crowd().slice(0, 9)])
    write_sql(twice, database, table="twice")
    assert call("run", policy, "--data", f"{database}?table=twice", "--to", f"{database}?table=open").code == 0
    published = read_sql(database, table="open")
    write_sql(published.take(list(range(published.num_rows))[::-1]), database, table="turned")
    evidence = ("--policy", policy, "--evidence", "release/release.json", "--json")
    answers = [call("verify", f"{database}?table={name}", *evidence) for name in ("open", "turned")]
    assert [a.code for a in answers] == [0, 0]
    assert answers[0].data["models"] == answers[1].data["models"]


def test_a_store(call, policy, people):
    fsspec.filesystem("memory").store.clear()
    write_table(read_table(people), "memory://in/people.parquet")
    to = ("--to", "memory://out/people.parquet")
    assert call("run", policy, "--data", "memory://in/people.parquet", *to).code == 0
    assert call("verify", "memory://out/people.parquet", "--policy", policy).code == 0
    assert call("run", policy, "--data", "memory://in/people.parquet", *to, "--output", "b").code == 2
    answer = call("run", policy, "--data", "memory://out/people.parquet", "--to", "memory://out/people.parquet",
                  "--overwrite", "--output", "c")  # fmt: skip
    assert "is an input" in answer.words
    assert call("run", policy, "--data", f"file://{people}", "--output", "d").code == 0
    assert call("verify", f"file://{Path('d').resolve()}/release.csv", "--policy", policy).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--data", "people.csv", "--table", "x"], "is not a database"),
        (["--data", "sqlite:///no.db?table=x"], "There is no database 'no.db'"),
        (["--data", "sqlite:///no.db"], "neither a table nor a query"),
        (["--data", f"postgresql://ann:{CANARY}@127.0.0.1:1/db?table=x"], "no server is listening there"),
        (["--data", f"mysql://ann:{CANARY}@h/x.parquet"], "fsspec does not know it"),
        (["--data", f"postgresql://ann:{CANARY}@127.0.0.1:1/db", "--query", "DROP TABLE x"], "is not a SELECT"),
        (["--data", "people.csv", "--to", "out.csv"], "is not an address"),
        (["--data", "people.csv", "--to", "file:///tmp/out.parquet"], "needs a folder"),
        (["--data", "people.csv", "--to", "sqlite:///out.db"], "a table is needed to write to"),
        (["--data", "people.csv", "--to", "sqlite:///no/out.db?table=x"], "folder does not exist"),
        (
            ["--data", "people.csv", "--to", f"postgresql://ann:{CANARY}@127.0.0.1:1/db?table=x"],
            "no server is listening there",
        ),
    ],
)
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_wrong_addresses(call, policy, people, words, said, how):
    answer = call("run", policy, *words, *how)
    assert answer.code == 2
    assert said in answer.words
    assert CANARY not in answer.out + answer.err
    assert not Path("release").exists()
    assert not Path("out.db").exists()


def test_a_population_in_a_database(tmp_path, call):
    write_sql(pa.concat_tables([crowd()] * 3), f"sqlite:///{tmp_path / 'crowd.db'}", table="everybody")
    policy = tmp_path / "map.yaml"
    text = POLICY.replace("- k-anonymity: {k: 3}\n- distinct-l: {l: 2}", "- k-map: {k: 5}")
    policy.write_text(text + "population: sqlite:///crowd.db?table=everybody\n")
    write_sql(crowd(), f"sqlite:///{tmp_path / 'clinic.db'}", table="people")
    answer = call("run", policy, "--data", "sqlite:///clinic.db?table=people", "--json")
    assert answer.code == 0, answer.out
    assert answer.data["models"][0]["achieved"] >= 5


def test_a_policy_with_a_password_is_refused(tmp_path):
    address = f"postgresql://ann:{CANARY}@127.0.0.1:1/db?table=x"
    policy = ht.Policy(quasi=["age"], models=[{"k-map": {"k": 5}}], population=address)
    with pytest.raises(PolicyError, match="contains a password") as caught:
        policy.plan()
    assert CANARY not in str(caught.value)
