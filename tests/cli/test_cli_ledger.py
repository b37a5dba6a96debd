from __future__ import annotations

import pytest
from support_cli import CANARY, rows, write_csv


@pytest.fixture
def book(tmp_path):
    return tmp_path / "releases.ledger"


def add(call, release, people, book, *more):
    return call("ledger", "add", release, "--data", people, "--ledger", book, *more)


def test_add_list_and_check(call, release, people, book):
    answer = add(call, release, people, book, "--name", "spring")
    assert answer.code == 0 and "New ledger" in answer.words and "Added." in answer.words
    assert "40 people, and no earlier release." in answer.words
    answer = call("ledger", "list", "--ledger", book)
    assert answer.code == 0 and "1 release, unchanged since it was added" in answer.words
    assert "spring" in answer.out and max(map(len, answer.out.splitlines())) <= 80
    data = call("ledger", "list", "--ledger", book, "--json").data
    assert [(r["name"], r["people"]) for r in data["releases"]] == [("spring", 40)]
    data = call("ledger", "check", release, "--data", people, "--ledger", book, "--json").data
    assert data["accepted"] is True and data["already"] == "spring" and data["added"] is False


def test_a_release_that_breaks_the_promise_is_refused(call, policy, release, people, book, tmp_path):
    assert add(call, release, people, book).code == 0
    fewer = write_csv(tmp_path / "fewer.csv", rows()[1:])
    assert call("run", policy, "--data", fewer, "--output", tmp_path / "second").code == 0
    before = book.read_bytes()
    answer = call("ledger", "check", tmp_path / "second", "--data", fewer, "--ledger", book)
    assert answer.code == 1 and "REFUSED" in answer.words and "k-anonymity(k=3) fails for" in answer.words
    answer = call("ledger", "add", tmp_path / "second", "--data", fewer, "--ledger", book, "--json")
    assert answer.code == 1 and answer.data["code"] == "ledger-refused"
    assert "person 1" not in answer.out and book.read_bytes() == before


def test_a_release_that_leaves_one_value_to_somebody_is_refused(call, book, tmp_path):
    """Q and S can only have flu and cold, so that P has HIV and X gout, though their classes share three values."""
    lines = {
        "first": "P,1,HIV Q,1,flu S,1,cold X,2,gout Y,2,flu Z,2,cold",
        "later": "P,5,HIV Y,5,flu Z,5,cold Q,6,flu S,6,cold X,6,gout",
    }
    policy = tmp_path / "dealt.yaml"
    policy.write_text(
        "columns: {name: {role: identifier}, age: {role: quasi}, d: {role: sensitive}}\n"
        "models: [{distinct-l: {l: 2}}]\nalgorithm: {optimal: {fixed: {age: 0}}}\n"
    )
    for name, cells in lines.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["name,age,d", *cells.split()]) + "\n")
        assert call("run", policy, "--data", tmp_path / f"{name}.csv", "--output", tmp_path / name).code == 0
    assert add(call, tmp_path / "first", tmp_path / "first.csv", book).code == 0
    answer = call("ledger", "check", tmp_path / "later", "--data", tmp_path / "later.csv", "--ledger", book)
    assert answer.code == 1 and "distinct-l(on=d, l=2) fails for 2 people" in answer.words
    assert add(call, tmp_path / "later", tmp_path / "later.csv", book).code == 1


def test_people_with_several_rows_that_the_policy_did_not_count(call, policy, book, tmp_path):
    visits = write_csv(tmp_path / "visits.csv", [[f"person {i // 4}", *row[1:]] for i, row in enumerate(rows())])
    assert call("run", policy, "--data", visits).code == 0
    answer = add(call, tmp_path / "release", visits, book)
    assert (answer.code, "some have several rows" in answer.words, "'entity'" in answer.words) == (1, True, True)
    policy.write_text(f"{policy.read_text()}entity: name\n")
    assert call("run", policy, "--data", visits, "--overwrite").code == 0
    assert add(call, tmp_path / "release", visits, book).code == 0


def test_what_releases_have_in_common_is_drawn(call, release, people, policy, book, tmp_path):
    add(call, release, people, book)
    others = write_csv(tmp_path / "others.csv", [[f"other {i}", *row[1:]] for i, row in enumerate(rows())])
    assert call("run", policy, "--data", others, "--output", tmp_path / "second").code == 0
    assert add(call, tmp_path / "second", others, book, "--expect-new-people").code == 0
    shown = call("ledger", "show", "--ledger", book)
    assert shown.code == 0 and "░" in shown.out and "in 1" in shown.out
    assert call("ledger", "show", "--ledger", book, "--json").data["in_common"] == [[40, 0], [0, 40]]
    assert call("ledger", "show", "--json").data["code"] == "no-ledger"


def test_the_same_twice(call, release, people, book):
    add(call, release, people, book)
    answer = add(call, release, people, book, "--json")
    assert answer.code == 2 and answer.data["code"] == "already-added"


def test_bad_ledgers(call, release, people, book):
    add(call, release, people, book)
    whole = book.read_bytes()
    for damaged in (whole[:-3], whole.replace(b"e", b"f", 1), whole + b"x"):
        book.write_bytes(damaged)
        for action in ("add", "check"):
            answer = call("ledger", action, release, "--data", people, "--ledger", book, "--json")
            assert answer.code == 2 and answer.data["code"] == "ledger-damaged"
        assert call("ledger", "list", "--ledger", book, "--json").data["code"] == "ledger-damaged"
        assert book.read_bytes() == damaged
    book.write_bytes(whole)
    key = book.with_name(book.name + ".key")
    secret = key.read_bytes()
    key.unlink()
    answer = call("ledger", "list", "--ledger", book, "--json")
    assert answer.code == 2 and answer.data["code"] == "ledger-key"
    assert not key.exists() and book.read_bytes() == whole and secret


def test_the_ledger_of_the_policy(call, policy, people, tmp_path):
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text + "ledger: book\n", encoding="utf-8")
    gone = call("run", policy, "--data", people, "--json")
    assert gone.code == 2 and gone.data["code"] == "no-ledger"
    policy.write_text(text + "ledger: {file: book, new: true}\n", encoding="utf-8")
    assert "The ledger is empty so far." in call("run", policy, "--data", people).words
    policy.write_text(text + "ledger: book\n", encoding="utf-8")
    release = tmp_path / "release"
    answer = call("ledger", "add", release, "--data", people, "--json")
    assert answer.code == 2 and answer.data["code"] == "ledger-place"
    assert sorted(p.name for p in release.iterdir()) == ["policy.yaml", "release.csv", "release.json"]
    assert call("ledger", "add", release, "--data", people, "--files", tmp_path).code == 0
    assert (tmp_path / "book").exists()
    fewer = write_csv(tmp_path / "fewer.csv", rows()[1:])
    answer = call("run", policy, "--data", fewer, "--output", tmp_path / "second")
    assert answer.code == 1 and "1 earlier release of the same people" in answer.words
    assert not (tmp_path / "second").exists()
    # a release of before can still be worked on
    assert call("measure", release, "--data", people, "--only", "ncp", "--files", tmp_path).code == 0
    inside = call("ledger", "add", release, "--data", people, "--ledger", release / "book", "--json")
    assert inside.data["code"] == "ledger-place"


def test_bad_calls(call, release, people, book, tmp_path):
    assert call("ledger").code == 2
    assert call("ledger", "forget").code == 2
    assert call("ledger", "list").code == 2
    assert call("ledger", "list", "--ledger", book, "--json").data["code"] == "no-ledger"
    assert call("ledger", "add", "--json").data["code"] == "no-release"
    assert "The original is missing." in call("ledger", "add", release).words
    answer = call("ledger", "add", release, "--data", people, "--json")
    assert answer.code == 2 and answer.data["code"] == "no-ledger"
    answer = add(call, release, people, book, "--person", "age2", "--json")
    assert answer.code == 2 and answer.data["code"] == "unknown-column"
    other = write_csv(tmp_path / "other.csv", [[*rows()[0][:3], CANARY], *rows()[1:]])
    answer = add(call, release, other, book)
    assert answer.code == 2 and CANARY not in answer.words
    assert not book.exists(), "a refusal made a ledger"
    nowhere = tmp_path / "no" / "such" / "ledger"
    assert add(call, release, people, nowhere, "--json").data["code"] == "ledger-unusable"
