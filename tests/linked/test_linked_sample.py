"""Samples of linked tables: typed, drawn from public files alone, every reference kept."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import OutputError, VerificationError
from hushtable.io.files import read_table, write_table
from hushtable.linked.links import link
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import open_linked
from hushtable.linked.run import anonymize_linked
from hushtable.linked.sample import write_linked_sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    policy = LinkedPolicy(**{**hospital_policy(), "crowd": 100, "suppression": 1.0})
    return anonymize_linked(hospital(200), policy).save(tmp_path_factory.mktemp("linked") / "release")


def test_types_and_references_are_those_of_the_original(folder, tmp_path):
    # nothing but the public folder is there
    alone = shutil.copytree(folder, tmp_path / "alone")
    release = open_linked(alone)
    drawn = release.sample(seed=3)
    assert drawn["people"].schema.field("age").type == pa.int64()
    assert drawn["stays"].schema.field("admitted").type == pa.date32()
    links = link(drawn, release.policy, published=True)
    shown = release.published()
    for name in release.policy.events:
        assert (links.person[name] == shown.person[name]).all()
    assert release.sample(seed=3) == drawn
    assert release.sample(seed=4) != drawn


def test_every_value_is_below_its_cell(folder):
    release = open_linked(folder)
    drawn = release.sample()
    for cell, day in zip(release.tables["stays"]["admitted"].to_pylist(), drawn["stays"]["admitted"].to_pylist(),
                         strict=True):  # fmt: skip
        assert str(cell)[:4] == str(day)[:4]
    for cell, code in zip(release.tables["diagnoses"]["code"].to_pylist(), drawn["diagnoses"]["code"].to_pylist(),
                          strict=True):  # fmt: skip
        assert "(" not in code
        if "(" in cell:
            first, last = cell.split("(")[1].rstrip(")").split("-")
            assert first[:3] <= code[:3] <= last[:3]
    assert drawn["labs"]["result"].to_pylist() == release.tables["labs"]["result"].to_pylist()


def test_the_note_says_that_values_are_drawn(folder, tmp_path):
    release = open_linked(folder)
    write_linked_sample(release, tmp_path / "drawn", seed=1)
    note = json.loads((tmp_path / "drawn" / "sample.json").read_text())
    assert (note["drawn"], note["seed"], note["rows"]["people"]) == (True, 1, 200)
    assert set(note["release"]) == {file.name for file in folder.iterdir()}
    assert read_table(tmp_path / "drawn" / "people.csv").num_rows == 200


@pytest.mark.parametrize("place", [".", "inside", "deep/inside"])
def test_no_sample_goes_into_a_release(folder, place):
    before = sorted(folder.rglob("*"))
    with pytest.raises(OutputError, match="in the folder of a release"):
        write_linked_sample(open_linked(folder), folder / place)
    with pytest.raises(OutputError, match="in the folder of a release"):
        write_linked_sample(open_linked(folder), folder.with_name("release.private") / place)
    assert sorted(folder.rglob("*")) == before


def test_what_is_there_stays(folder, tmp_path):
    (tmp_path / "kept").mkdir()
    with pytest.raises(OutputError, match="already"):
        write_linked_sample(open_linked(folder), tmp_path / "kept")


def test_nothing_is_drawn_from_tables_that_break_the_promise(folder, tmp_path):
    edited = shutil.copytree(folder, tmp_path / "edited")
    rows = read_table(edited / "labs.csv").to_pylist()
    rows[0]["test"] = "cortisol"
    write_table(pa.Table.from_pylist(rows), edited / "labs.csv")
    with pytest.raises(VerificationError):
        open_linked(edited).sample()


def test_a_column_that_says_nothing_is_left_empty():
    quasi = {"role": "quasi"}
    tables = {
        "people": {"key": "id", "columns": {"age": {**quasi, "kind": "numeric"}, "sex": quasi}},
        "visits": {"of": "people", "columns": {"code": {**quasi, "hierarchy": {"prefix": "*"}}}},
    }
    policy = LinkedPolicy(tables=tables, models=[{"k-anonymity": {"k": 4}}], suppression=1.0, knows=1)
    release = anonymize_linked(
        {"people": pa.table({"id": [1, 2, 3, 4], "age": [30, 31, 32, 33], "sex": ["f"] * 4}),
         "visits": pa.table({"id": [1, 2, 3, 4], "code": ["A1", "A2", "A3", "A4"]})}, policy)  # fmt: skip
    nothing = release.tables["people"].set_column(1, "age", pa.array(["*"] * 4))
    drawn = replace(release, tables={**release.tables, "people": nothing}).sample()
    assert drawn["people"]["age"].null_count == 4
    assert drawn["people"]["sex"].to_pylist() == ["f"] * 4
    assert all(code.startswith("A") for code in drawn["visits"]["code"].to_pylist())
