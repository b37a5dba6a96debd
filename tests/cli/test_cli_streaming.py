"""``hushtable run --stream``: the same files, parts, folders and patterns, and what is refused."""

from __future__ import annotations

import json

import pytest
from support_cli import rows, write_csv

from hushtable import api
from hushtable.engines import choose
from hushtable.io.sources import read_tables
from hushtable.io.sql import read_sql, write_sql


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_streaming_writes_the_same_files(call, policy, people, tmp_path):
    assert call("run", policy, "-d", people, "-o", "one", "--no-stream").code == 0
    answer = call("run", policy, "-d", people, "-o", "two", "--stream")
    assert answer.code == 0
    assert "Verified from the published cells and written to two" in answer.words
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_folder_and_a_pattern_stand_for_their_files(call, policy, tmp_path):
    (tmp_path / "days").mkdir()
    write_csv(tmp_path / "days" / "b.csv", rows()[20:])
    write_csv(tmp_path / "days" / "a.csv", rows()[:20])
    write_csv(tmp_path / "whole.csv", rows())
    assert call("run", policy, "-d", "whole.csv", "-o", "whole").code == 0
    for number, words in enumerate((["-d", "days"], ["-d", "days/*.csv"], ["-d", "days/a.csv", "-d", "days/b*"])):
        for way in ("--stream", "--no-stream"):
            out = f"{number}{way}"
            assert call("run", policy, *words, "-o", out, way).code == 0
            assert files(tmp_path / out) == files(tmp_path / "whole")


def test_parts(call, policy, people, tmp_path):
    answer = call("run", policy, "-d", people, "-o", "out", "--part-rows", "15", "--format", "parquet", "--json")
    assert answer.code == 0
    told = answer.data
    assert told["files"]["table"].endswith("release.parquet")
    parts = sorted(p.name for p in (tmp_path / "out" / "release.parquet").iterdir())
    assert parts == ["part-00001.parquet", "part-00002.parquet", "part-00003.parquet"]
    assert call("verify", "out/release.parquet", "-p", policy).code == 0
    assert call("measure", "out", "-d", people).code == 0
    # a part that was changed is not what was released
    (tmp_path / "out" / "release.parquet" / "part-00003.parquet").unlink()
    assert call("measure", "out", "-d", people).code == 2


def test_large_tables_are_streamed_by_themselves(call, policy, people, monkeypatch):
    streamed = []
    from hushtable.engines import stream

    run_files = stream.run_files
    monkeypatch.setattr(stream, "run_files", lambda *words, **more: streamed.append(1) or run_files(*words, **more))
    assert call("run", policy, "-d", people, "-o", "small").code == 0
    assert streamed == []
    monkeypatch.setattr(choose, "LARGE_BYTES", 1)
    assert call("run", policy, "-d", people, "-o", "large").code == 0
    assert streamed == [1]
    assert call("run", policy, "-d", people, "-o", "not", "--no-stream").code == 0
    assert streamed == [1]


def test_databases_are_streamed_like_files(call, policy, people, tmp_path, monkeypatch):
    write_sql(read_tables([people]), "sqlite:///clinic.db", table="people")
    words = ("run", policy, "-d", "sqlite:///clinic.db", "--table", "people", "--json")
    assert call(*words, "-o", "held").code == 0
    monkeypatch.setattr(api, "read_tables", lambda *_, **__: pytest.fail("the table was held in memory"))
    answer = call(*words, "-o", "asked", "--stream", "--to", "sqlite:///open.db?table=people")
    assert answer.data["published"] == "sqlite:///open.db?table=people"
    monkeypatch.setattr(choose, "LARGE_CELLS", 4 * 30)
    assert call(*words, "-o", "large", "--part-rows", "100").code == 0
    assert call(*words, "-o", "larger").code == 0
    assert files(tmp_path / "held") == files(tmp_path / "asked") == files(tmp_path / "larger")
    assert read_sql("sqlite:///open.db", table="people").num_rows == len(rows())


@pytest.mark.parametrize("algorithm", ["anatomy", "anti-unification"])
def test_what_cannot_be_streamed_runs_in_memory_unless_asked(call, people, tmp_path, monkeypatch, algorithm):
    monkeypatch.setattr(choose, "LARGE_BYTES", 1)
    text = "columns: {name: {role: identifier}, age: {role: quasi}, zip: {role: quasi}, disease: {role: sensitive}}\n"
    models = "models: [{distinct-l: {l: 2}}]\n"
    (tmp_path / "p.yaml").write_text(f"{text}{models}algorithm: {algorithm}\nsuppression: 0.5\n")
    assert call("run", "p.yaml", "-d", people, "-o", "out").code == 0
    answer = call("run", "p.yaml", "-d", people, "-o", "stream", "--stream")
    assert answer.code == 2
    assert "cannot be streamed" in answer.words


def test_what_does_not_go_together(call, policy, people):
    answer = call("run", policy, "-d", people, "--no-stream", "--part-rows", "5")
    assert (answer.code, "Only streaming can write a table in parts" in answer.words) == (2, True)
    answer = call("run", policy, "-d", people, "--engine", "spark", "--stream")
    assert (answer.code, "Spark needs no streaming" in answer.words) == (2, True)
    assert call("run", policy, "-d", people, "--part-rows", "0").code == 2


def test_a_file_given_twice(call, policy, people, tmp_path):
    for way in ("--stream", "--no-stream"):
        answer = call("run", policy, "-d", people, "-d", tmp_path / "people.csv", way, "--json")
        assert (answer.code, json.loads(answer.out)["code"]) == (2, "file-twice")
