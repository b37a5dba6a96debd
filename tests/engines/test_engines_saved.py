"""Opening a saved release: the same answers as the release that was saved, from any engine, and nothing made again."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.engines import local
from hushtable.errors import DataError, IncompatibleError, OutputError, UsageError, VerificationError
from hushtable.io.files import write_table
from hushtable.release.companion import companion_of
from support_core import random_people

MEASURES = ["ncp", "sse", "loss", "query-error", "distortion"]
ATTACKS = ["linkage", "homogeneity", "membership", "downcoding", "minimality", "skewness"]

SETTINGS = {
    "mondrian": {"models": [ht.KAnonymity(k=4)]},
    "relative": {"models": [ht.KAnonymity(k=3), ht.TCloseness(t=0.5)], "suppression": 0.1},
    "optimal": {"models": [ht.KAnonymity(k=4)], "algorithm": "optimal", "suppression": 0.1},
    "anatomy": {"models": [ht.DistinctL(l=2)], "algorithm": "anatomy", "suppression": 0.3},
    "m-invariant": {"models": [ht.MInvariance(m=2)], "algorithm": "m-invariant"},
    "mdav": {"models": [ht.KAnonymity(k=4)], "algorithm": "mdav"},
    "patterns": {"models": [ht.KAnonymity(k=3)], "algorithm": "anti-unification"},
    "guarded": {"models": [ht.KAnonymity(k=4)], "guard": ["downcoding"]},
    "nodes": {"models": [ht.KAnonymity(k=4)], "algorithm": "localpk", "cells": "nodes"},
    "midpoints": {"models": [ht.KAnonymity(k=4)], "cells": "midpoint"},
    "people": {"models": [ht.KAnonymity(k=3)], "entity": "who"},
}


def table(n: int = 120, seed: int = 3) -> pa.Table:
    people = random_people(n, seed, missing=0.05)
    people = people.set_column(2, "illness", pa.array([("flu", "HIV", "cold")[i % 3] for i in range(n)]))
    people = people.append_column("who", pa.array([f"p{i % (n - 10)}" for i in range(n)]))
    return people.append_column("note", pa.array([f"n{i % 17}" for i in range(n)]))


def policy(**settings) -> ht.Policy:
    roles = {"identifiers": ["who"], "quasi": ["age", "country"], "sensitive": ["illness"], "insensitive": ["note"]}
    return ht.Policy(**roles, **settings)


def answers(release) -> dict:
    """What a release says of itself, as text: NaN is not equal to itself."""
    found = {"risk": release.risk().as_dict(), "summary": release.summary()}
    found["measures"] = {name: release.measure(name) for name in MEASURES}
    for name in ATTACKS:
        try:
            found[name] = release.attack(name).as_dict()
        except UsageError as error:
            found[name] = error.code
    found["rows"] = [str(release.explain(row)) for row in (0, 7, 31)]
    return json.loads(json.dumps(found))


@pytest.fixture
def solved(monkeypatch):
    """How often something is anonymized."""
    solve, found = local.solve, []
    monkeypatch.setattr(local, "solve", lambda *words: found.append(1) or solve(*words))
    return found


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("name", SETTINGS)
def test_an_opened_release_answers_as_the_one_that_was_saved(tmp_path, solved, name, format):
    made = ht.anonymize(table(), policy(**SETTINGS[name]))
    made.save(tmp_path / "out", format=format)
    opened = ht.open_release(tmp_path / "out", table())
    assert len(solved) == 1
    assert answers(opened) == answers(made)
    assert opened.verify().as_dict() == made.verification.as_dict()
    assert opened.groups.num_rows == made.groups.num_rows
    assert [str(p) for p in opened.recoded.published] == [str(p) for p in made.recoded.published]
    # attacks that replay an algorithm run it themselves; the engine makes nothing
    assert len(solved) == 1
    if not made.apart:
        assert np.array_equal(opened.source_rows, made.source_rows)


@pytest.mark.parametrize("part_rows", [None, 40])
def test_a_streamed_release_is_opened_and_measured_from_files(tmp_path, part_rows):
    write_table(table(), tmp_path / "people.csv")
    rules = policy(**SETTINGS["optimal"])
    made = ht.run(tmp_path / "people.csv", rules, tmp_path / "out", engine="stream", part_rows=part_rows)
    in_memory = ht.run(tmp_path / "people.csv", rules, engine="local")
    opened = ht.open_release(tmp_path / "out", tmp_path / "people.csv")
    assert answers(opened) == answers(made) == answers(in_memory)
    # what is missing is an empty field in CSV
    shown = {name: [cell or None for cell in cells] for name, cells in in_memory.frame.to_pydict().items()}
    assert pickle.loads(pickle.dumps(made)).frame.to_pydict() == shown


def test_a_batch_is_opened_and_added_to_a_ledger(tmp_path):
    people = random_people(60, 1)
    names = pa.array([f"p{i}" for i in range(60)])
    people = people.append_column("who", names)
    rules = ht.Policy(identifiers=["who"], quasi=["age", "country"], sensitive=["illness"], models=[ht.KAnonymity(k=3)])
    first = ht.anonymize(people.slice(0, 40), rules)
    first.save(tmp_path / "first")
    earlier = ht.open_release(tmp_path / "first", people.slice(0, 40))
    batch = ht.increment(people.slice(40), rules, earlier)
    assert batch.table.equals(ht.increment(people.slice(40), rules, first).table)
    batch.save(tmp_path / "batch")
    opened = ht.open_release(tmp_path / "batch", people.slice(40))
    assert opened.measures(MEASURES) == pytest.approx(batch.measures(MEASURES), nan_ok=True)
    with pytest.raises(UsageError, match="does not reproduce it"):
        opened.with_guards([])
    ledger = ht.Ledger(tmp_path / "ledger")
    assert ledger.add(earlier, name="first").ok and ledger.add(opened, name="batch", expect_new_people=True).ok


def test_without_the_original_it_is_shown_verified_and_measured(tmp_path):
    made = ht.anonymize(table(), policy(**SETTINGS["relative"]))
    made.save(tmp_path / "out", format="parquet")
    opened = ht.open_release(tmp_path / "out")
    assert opened.frame.to_pydict() == made.frame.to_pydict()
    assert opened.verify().ok and opened.measures() == pytest.approx(made.measures(), nan_ok=True)
    assert repr(opened) == repr(made) and opened.groups.equals(made.groups)
    for asked in (lambda: opened.measure("query-error"), lambda: opened.risk(), lambda: opened.explain(0)):
        with pytest.raises(UsageError, match="opened without it") as caught:
            asked()
        assert caught.value.code == "needs-original" and "open_release(folder, original=...)" in caught.value.hint


def test_without_the_companion_it_says_what_is_missing(tmp_path):
    made = ht.anonymize(table(), policy(**SETTINGS["mondrian"]))
    made.save(tmp_path / "out")
    shutil.rmtree(companion_of(tmp_path / "out"))
    opened = ht.open_release(tmp_path / "out", table())
    assert opened.verify().ok
    assert opened.risk("prosecutor").as_dict() == made.risk("prosecutor").as_dict()
    with pytest.raises(UsageError, match="which class is not public") as caught:
        opened.measure("ncp")
    assert caught.value.code == "needs-companion"


def test_another_original_is_refused(tmp_path):
    made = ht.anonymize(table(), policy(**SETTINGS["mondrian"]))
    made.save(tmp_path / "out")
    other = table().set_column(0, "age", pa.array([30] * 120))
    fewer = table(110)
    turned = table().take(pa.array(range(119, -1, -1)))
    sizes = "has 110 records, but the release was made from 120"
    for original, words in ((other, "differ from those"), (turned, "or their order"), (fewer, sizes)):
        with pytest.raises(DataError, match=words) as caught:
            ht.open_release(tmp_path / "out", original).measure("query-error")
        assert caught.value.code == "other-original"
    with pytest.raises(UsageError, match="'country'"):
        ht.open_release(tmp_path / "out", table().drop_columns(["country"])).measure("query-error")


@pytest.mark.parametrize("name", ["release.csv", "policy.yaml", "release.json"])
def test_a_folder_that_is_half_there(tmp_path, name):
    ht.anonymize(table(), policy(**SETTINGS["mondrian"])).save(tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    (tmp_path / "out" / name).unlink()
    with pytest.raises(UsageError) as caught:
        ht.open_release(tmp_path / "out", table())
    assert name in caught.value.message and caught.value.hint
    assert {p.name for p in (tmp_path / "out").iterdir()} == set(before) - {name}


def test_edited_newer_and_foreign_files_are_refused(tmp_path):
    out = tmp_path / "out"
    ht.anonymize(table(), policy(**SETTINGS["mondrian"])).save(out)
    ht.anonymize(table(seed=4), policy(**SETTINGS["mondrian"])).save(tmp_path / "other")
    with pytest.raises(DataError, match="does not belong to the release"):
        ht.open_release(out, table(), companion=companion_of(tmp_path / "other"))
    rows = companion_of(out) / "rows.arrow"
    kept = rows.read_bytes()
    rows.write_bytes(kept[:-1] + b"x")
    with pytest.raises(DataError, match=r"'rows\.arrow' is missing, or was changed"):
        ht.open_release(out, table()).attack("linkage")
    rows.write_bytes(kept)
    text = (out / "release.csv").read_text()
    (out / "release.csv").write_text(text.replace("HIV", "flu"))
    with pytest.raises(DataError, match=r"'release\.csv' was changed"):
        ht.open_release(out, table())
    (out / "release.csv").write_text(text)
    told = json.loads((out / "release.json").read_text())
    (out / "release.json").write_text(json.dumps({**told, "format": 99}))
    with pytest.raises(DataError, match="written by a newer hushtable: its format is 99"):
        ht.open_release(out, table())
    with pytest.raises(DataError, match="is not a folder"):
        ht.open_release(tmp_path / "nowhere")


def test_a_release_of_the_first_version_is_opened(tmp_path):
    """release.json of 0.1 had the whole table's counts, and there was no companion."""
    made = ht.anonymize(table(), policy(**SETTINGS["relative"]))
    made.save(tmp_path / "out")
    kept = json.loads((companion_of(tmp_path / "out") / "companion.json").read_text())
    new = {"format", "secret", "files", "private_files", "coins", "seal", "made"}
    old = {name: value for name, value in kept.items() if name not in new}
    (tmp_path / "out" / "release.json").write_text(json.dumps(old))
    shutil.rmtree(companion_of(tmp_path / "out"))
    opened = ht.open_release(tmp_path / "out", table())
    assert opened.verify().as_dict() == made.verification.as_dict()
    for asked in (opened.measures, lambda: opened.attack("linkage")):
        with pytest.raises(UsageError, match="Releases of hushtable"):
            asked()
    with pytest.raises(UsageError, match="with the whole input table, which is not in the published file"):
        ht.open_release(tmp_path / "out").verify()


def test_attacks_are_run_once_and_kept_in_the_companion(tmp_path, monkeypatch):
    ht.anonymize(table(), policy(**SETTINGS["mondrian"])).save(tmp_path / "out")
    first = ht.open_release(tmp_path / "out", table()).attack("linkage")
    monkeypatch.setattr("hushtable.attacks.linkage.Linkage.run", None)
    again = ht.open_release(tmp_path / "out", table())
    assert again.attack("linkage") == first
    with pytest.raises(TypeError):
        again.attack("linkage", targets=10)  # with other parameters it is another attack
    monkeypatch.undo()
    found = companion_of(tmp_path / "out") / "found.json"
    found.write_text(found.read_text().replace('"successes": ', '"successes": 1'))
    assert ht.open_release(tmp_path / "out", table()).attack("linkage") == first, "an edited file is not believed"
    found.unlink()

    def read_only(*words, **more):
        raise OutputError("the file system is read-only")

    monkeypatch.setattr("hushtable.release.companion.atomic_file", read_only)
    assert ht.open_release(tmp_path / "out", table()).attack("linkage") == first
    assert not found.exists()


def _ncp(release) -> float:
    return release.measure("ncp")


def test_releases_travel_through_a_process_pool(tmp_path):
    made = ht.anonymize(table(), policy(**SETTINGS["guarded"]))
    made.save(tmp_path / "out")
    opened = ht.open_release(tmp_path / "out", table())
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(_ncp, [made, opened, opened])) == [made.measure("ncp")] * 3


@pytest.mark.parametrize("name", SETTINGS)
def test_releases_are_plain_data(name):
    made = ht.anonymize(table(), policy(**SETTINGS[name]))
    for copied in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), replace(made)):
        assert copied.table.equals(made.table) and copied.verify().ok
        assert copied.measures() == pytest.approx(made.measures(), nan_ok=True)


@pytest.mark.spark
def test_a_release_of_spark_is_opened_with_its_original(tmp_path, on_spark, far_away):
    people = table()
    rules = policy(models=[ht.KAnonymity(k=4)], suppression=0.1)
    got, want = on_spark(people, rules.plan(), 3), ht.anonymize(people, rules)
    got.save(tmp_path / "out")
    opened = ht.open_release(tmp_path / "out", people)
    mine, theirs = answers(opened), answers(want)
    assert mine == theirs
    assert got.table.num_rows == want.table.num_rows and got.measures() == pytest.approx(want.measures(), nan_ok=True)
    with pytest.raises(IncompatibleError, match="individual records"):
        got.explain(0)
    with pytest.raises(UsageError, match="cannot be pickled"):
        pickle.dumps(got)
    far_away(20)
    got = on_spark(people, policy(models=[ht.KAnonymity(k=4)], cells="intervals").plan(), 3)
    got.save(tmp_path / "far")
    opened = ht.open_release(tmp_path / "far", people)
    assert opened.verify().ok and opened.measures() == got.measures()
    with pytest.raises(IncompatibleError, match="did not know individual records"):
        opened.explain(0)


def test_a_release_that_fails_is_not_written(tmp_path):
    made = ht.anonymize(table(), policy(**SETTINGS["mondrian"]))
    found = made.verification
    broken = replace(found, evidence=(replace(found.evidence[0], violations=1),))
    with pytest.raises(VerificationError):
        replace(made, origin=replace(made.made, verification=broken)).save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_summary_does_not_read_the_published_table(tmp_path, monkeypatch):
    made = ht.anonymize(table(), policy(**SETTINGS["relative"]))
    made.save(tmp_path / "out")
    monkeypatch.setattr("hushtable.release.written.Written.read", None)
    opened = ht.open_release(tmp_path / "out")
    assert json.dumps(opened.summary()) == json.dumps(made.summary())
    assert opened.measure("ncp") == made.measure("ncp")


def test_what_does_not_fit_a_frame_is_refused(tmp_path, monkeypatch):
    rules = policy(**SETTINGS["mondrian"])
    for more in ({"part_rows": 5}, {"master": "local[2]"}, {"engine": "stream"}, {"to": "sqlite:///x.db?table=t"}):
        with pytest.raises(UsageError):
            ht.run(table(), rules, **more)
    write_table(table(), tmp_path / "people.csv")
    monkeypatch.setenv("HUSHTABLE_STREAM_FROM", "many")
    with pytest.raises(UsageError, match="whole number of cells"):
        ht.run(tmp_path / "people.csv", rules, tmp_path / "out")
