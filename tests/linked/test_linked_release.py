"""Linked releases on disk: whole or not at all, opened again, attacked."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import DataError, OutputError, UsageError, VerificationError
from hushtable.io.files import read_table, write_table
from hushtable.linked.attacks import ATTACKS, attack_release
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import open_linked
from hushtable.linked.run import anonymize_linked, order_kept
from hushtable.table.coins import Coins


@pytest.fixture(scope="module")
def made():
    tables = hospital(200)
    return tables, anonymize_linked(tables, LinkedPolicy(**{**hospital_policy(), "crowd": 100, "suppression": 1.0}))


def test_saved_and_opened(made, tmp_path):
    tables, release = made
    folder = release.save(tmp_path / "out")
    names = {"people.csv", "stays.csv", "diagnoses.csv", "prescriptions.csv", "labs.csv", "policy.yaml", "release.json"}
    assert {file.name for file in folder.iterdir()} == names
    told = json.loads((folder / "release.json").read_text())
    assert told["satisfied"] is True
    assert "measures" not in told
    opened = open_linked(folder)
    assert opened.verification == release.verification
    whole = open_linked(folder, original=tables)
    assert (whole.origin["people"] == release.origin["people"]).all()
    assert whole.measures["suppressed"] == release.measures["suppressed"]


def test_no_original_key_is_published(made, tmp_path):
    tables, release = made
    text = "".join(file.read_text() for file in release.save(tmp_path / "out").iterdir())
    assert not any(key in text for key in tables["people"]["person"].to_pylist()[:50])
    assert not any(key in text for key in tables["stays"]["stay"].to_pylist()[:50])


def test_keys_have_no_gaps_that_would_count_what_is_suppressed():
    tables = {
        "people": pa.table({"id": ["a", "b", "c", "d"], "age": [30, 30, 30, 30]}),
        "stays": pa.table({"id": list("abcdaab"), "stay": list("1234567"), "ward": list("AAAABCD")}),
        "notes": pa.table({"stay": list("1234567"), "note": list("xxxxxxx")}),
    }
    quasi = {"role": "quasi"}
    policy = LinkedPolicy(
        tables={
            "people": {"key": "id", "columns": {"age": quasi}},
            "stays": {"of": "people", "key": "stay", "columns": {"ward": quasi}},
            "notes": {"of": "stays", "columns": {"note": quasi}},
        },
        knows=1, models=[{"k-anonymity": {"k": 2}}], suppression=1.0,
    )  # fmt: skip
    release = anonymize_linked(tables, policy)
    assert 0 < release.tables["stays"].num_rows < 7
    for name, key in (("people", "id"), ("stays", "stay")):
        assert sorted(release.tables[name][key].to_pylist()) == list(range(1, release.tables[name].num_rows + 1))


def test_cells_that_overlap_tell_no_order():
    """January and the year around it differ, but nobody knows which was first."""
    column = SimpleNamespace(
        column=SimpleNamespace(codes=np.array([0, 1, 0, 2])),
        labels_by_level=((np.array([0, 1, 2]), np.array([3, 3, 4])), ()),
    )
    person, gone = np.array([0, 0, 1, 1]), np.zeros(4, dtype=bool)
    assert order_kept(person, column, np.array([0, 1, 0, 1]), gone) == 0.5
    assert order_kept(person, column, np.array([0, 0, 0, 0]), gone) == 1.0


def test_rows_are_sorted_by_what_they_show(made):
    _, release = made
    for name, table in release.tables.items():
        shown = [c for c in table.column_names if c not in release.policy.tables[name].key + release.policy.by(name)]
        rows = [tuple(str(v) for v in row.values()) for row in table.select(shown).to_pylist()]
        assert len(set(rows)) == bool(rows) + sum(a != b for a, b in zip(rows, rows[1:], strict=False)), name


def test_a_release_is_whole_or_not_there(made, tmp_path, monkeypatch):
    _, release = made
    calls = []

    def broken(table, path):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        write_table(table, path)

    monkeypatch.setattr("hushtable.linked.release.write_table", broken)
    with pytest.raises(OutputError):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_is_gone_is_said(made, tmp_path):
    folder = made[1].save(tmp_path / "out", format="parquet")
    (folder / "labs.parquet").unlink()
    with pytest.raises(DataError, match="must have exactly one file for table 'labs'"):
        open_linked(folder)


def test_an_edited_table_fails(made, tmp_path):
    folder = made[1].save(tmp_path / "out")
    rows = read_table(folder / "labs.csv").to_pylist()
    rows[0]["test"] = "cortisol"
    write_table(pa.Table.from_pylist(rows), folder / "labs.csv")
    opened = open_linked(folder)
    found = opened.verification
    assert not found.ok
    with pytest.raises(VerificationError):
        opened.save(tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert [one.tables for one in found.found if one.failing and len(one.tables) == 1] == [("labs",)]


def test_attacks_are_scored_against_a_baseline(made):
    results = attack_release(made[1])
    assert [r.name for r in results] == [name for name in ATTACKS if name != "event-membership"]
    linkage, *_ = results
    assert linkage.counts["fewest_candidates"] >= 5
    assert linkage.interval[0] <= 1 / 5
    assert all(0 <= r.interval[0] <= r.rate <= r.interval[1] <= 1 and r.targets for r in results)


def test_the_attack_finds_people_in_tables_that_nobody_protected(made):
    """Unprotected events under the same classes: the attack works, so it would tell of a leak."""
    tables, release = made
    number = dict(zip(release.origin["people"].tolist(), release.tables["people"]["person"].to_pylist(), strict=True))
    place = {key: number[i] for i, key in enumerate(tables["people"]["person"].to_pylist())}
    stay = {key: i for i, key in enumerate(tables["stays"]["stay"].to_pylist())}
    raw = {"people": release.tables["people"]}
    for name in release.policy.events:
        columns = {c: tables[name][c].to_pylist() for c in tables[name].column_names}
        columns |= {c: [place[v] for v in columns[c]] for c in ("person",) if c in columns}
        columns |= {c: [stay[v] for v in columns[c]] for c in ("stay",) if c in columns}
        raw[name] = pa.table({c: [str(v) for v in values] for c, values in columns.items()})
    exposed = replace(release, tables=raw)
    assert attack_release(exposed, ["event-linkage"])[0].rate > 4 * attack_release(release, ["event-linkage"])[0].rate


def test_what_is_no_attack_is_refused(made, tmp_path):
    with pytest.raises(UsageError, match=r"no attack 'event-linkag' on linked tables\. Did you mean"):
        attack_release(made[1], ["event-linkag"])
    with pytest.raises(UsageError, match="opened without its original"):
        attack_release(open_linked(made[1].save(tmp_path / "out")))


def test_open_release_opens_linked_tables(made, tmp_path):
    tables, release = made
    folder = release.save(tmp_path / "out")
    (tmp_path / "clinic").mkdir()
    for name, table in tables.items():
        write_table(table, tmp_path / "clinic" / f"{name}.csv")
    for original in (tables, tmp_path / "clinic", [str(tmp_path / "clinic")]):
        opened = ht.open_release(folder, original)
        assert isinstance(opened, ht.LinkedRelease)
        assert opened.measures == release.measures
    with pytest.raises(UsageError, match="'population' is for releases of one table"):
        ht.open_release(folder, population=pa.table({"a": [1]}))


@pytest.mark.parametrize("change", ["order", "another", "fewer"])
def test_another_original_is_refused(made, tmp_path, change):
    tables, release = made
    folder = release.save(tmp_path / "out")
    people = tables["people"]
    if change == "order":
        other = {**tables, "people": people.take(pa.array(range(people.num_rows)[::-1]))}
    elif change == "another":
        other = hospital(200, seed=8)
    else:
        other = {**tables, "labs": tables["labs"].slice(1)}
    with pytest.raises(DataError, match="not the tables that were released"):
        ht.open_release(folder, other)


def test_an_earlier_linked_release_is_replaced(made, tmp_path):
    release = made[1]
    folder = release.save(tmp_path / "out", format="parquet")
    release.save(folder, overwrite=True)
    assert {file.suffix for file in folder.iterdir()} == {".csv", ".yaml", ".json"}
    (folder / "mine.csv").write_text("x")
    with pytest.raises(OutputError):
        release.save(folder, overwrite=True)
    assert (folder / "mine.csv").exists()


# Non-interference: what is suppressed, hidden by a cell or dropped does not reach a public byte.


def public_bytes(tables, policy, folder, form):
    """Every public file of a release, with fixed coins: the secret alone decides about keys."""
    release = anonymize_linked(tables, policy)
    return {file.name: file.read_bytes() for file in release.save(folder, format=form).iterdir()}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "change", ["suppressed value", "suppressed other columns", "fewer suppressed", "behind a cell", "dropped", "date"]
)
def test_no_public_byte_depends_on_what_is_not_published(monkeypatch, tmp_path, change, form):
    monkeypatch.setattr("hushtable.linked.run._coins", lambda links: Coins(b"fixed"))
    quasi = {"role": "quasi"}
    policy = LinkedPolicy(
        tables={
            "people": {"key": "id", "columns": {"age": quasi, "name": {"role": "identifier"}}},
            "visits": {"of": "people", "columns": {
                "code": {"role": "quasi", "hierarchy": {"prefix": {"steps": [6], "length": 7}}},
                "day": {"role": "quasi", "kind": "date", "hierarchy": {"dates": ["year"]}},
                "result": {"role": "sensitive"}, "remark": {"role": "insensitive"}}},
        },
        knows=1, models=[{"k-anonymity": {"k": 4}}, {"distinct-l": {"l": 2, "on": "visits.result"}}],
        suppression=1.0, crowd=8,
    )  # fmt: skip
    people = {"id": list("abcdefgh"), "age": [30] * 8, "name": list("ABCDEFGH")}
    visits = {
        "id": [*"abcdefgh", "a", "b"],
        "code": ["A10", "A11", "A12", "A13", "A10", "A11", "A12", "A13", "Z99", "Y98"],
        "day": [f"2021-0{i + 1}-11" for i in range(8)] + ["2021-05-05", "2021-05-06"],
        "result": ["p", "q"] * 4 + ["rare", "p"],
        "remark": ["r"] * 8 + ["hidden", "hidden too"],
    }
    first = public_bytes({"people": pa.table(people), "visits": pa.table(visits)}, policy, tmp_path / "one", form)
    shown = read_table(tmp_path / "one" / f"visits.{form}")
    assert (shown.num_rows, set(shown["code"].to_pylist()), set(shown["day"].to_pylist())) == (8, {"A*"}, {"2021"})
    if change == "suppressed value":
        visits["code"][8:] = ["Q77777", "X1"]
    elif change == "suppressed other columns":
        visits["result"][8:], visits["remark"][8:] = ["other", "rarest"], ["x", "y"]
    elif change == "fewer suppressed":
        visits = {name: values[:9] for name, values in visits.items()}
    elif change == "behind a cell":
        visits["code"][:4] = ["A77", "A8", "A1234", "A10"]
    elif change == "dropped":
        people["name"] = list("IJKLMNOP")
    else:
        visits["day"][:8] = [f"2021-1{i % 3}-0{i + 1}" for i in range(8)]
    again = public_bytes({"people": pa.table(people), "visits": pa.table(visits)}, policy, tmp_path / "two", form)
    assert again == first


def test_no_dictionary_of_a_published_table_keeps_other_values():
    visits = {"id": list("abcda"), "reason": ["x", "x", "x", "x", "alone"], "remark": ["r"] * 4 + ["hidden"]}
    tables = {"people": pa.table({"id": list("abcd"), "age": [30] * 4}),
              "visits": pa.table({n: pa.array(v).dictionary_encode() for n, v in visits.items()})}  # fmt: skip
    policy = LinkedPolicy(
        tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
                "visits": {"of": "people",
                           "columns": {"reason": {"role": "quasi"}, "remark": {"role": "insensitive"}}}},
        models=[{"k-anonymity": {"k": 2}}], suppression=1.0,
    )  # fmt: skip
    published = anonymize_linked(tables, policy).tables["visits"]
    for name in ("reason", "remark"):
        kept = [value for chunk in published[name].chunks for value in chunk.dictionary.to_pylist()]
        assert not {"alone", "hidden"} & set(kept)
