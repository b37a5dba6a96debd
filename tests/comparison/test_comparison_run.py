from __future__ import annotations

import json
import multiprocessing
from concurrent.futures.process import BrokenProcessPool

import pyarrow as pa
import pytest

from hushtable.api import anonymize
from hushtable.comparison import run as module
from hushtable.comparison.evaluate import Wanted
from hushtable.comparison.outcomes import pareto
from hushtable.comparison.run import Results, compare, input_key
from hushtable.datasets import patients, patients_policy
from hushtable.errors import Cancelled, DataError, OutputError, ParameterError, UsageError
from hushtable.io.layout import Rows
from hushtable.ledger.ledger import Ledger
from hushtable.policy.files import rebased
from hushtable.policy.policy import Policy
from hushtable.release.addresses import writing_rows
from support_core import first_of

GRID = {"algorithms": ["mondrian", "datafly", "anatomy"], "models": [{"k-anonymity": {"k": [2, 10, 700]}}]}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return patients(600)


@pytest.fixture(scope="module")
def base() -> Policy:
    return Policy(**patients_policy())


@pytest.fixture(autouse=True)
def _own_secret(monkeypatch, tmp_path):
    monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / "secret"))


def without_time(found):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found.rows]


def test_every_setting_is_a_row_with_its_reason(people, base):
    found = compare(people, base, GRID)
    assert [row["status"] for row in found.rows] == ["ok", "ok", "infeasible"] * 2 + ["refused"] * 3
    assert "the table has 600 people" in found.rows[2]["reason"]
    assert "cannot promise k-anonymity" in found.rows[-1]["reason"]
    ok = [row["values"] for row in found.rows if row["status"] == "ok"]
    assert all(v["prosecutor"] == 1 / v["achieved k-anonymity"] for v in ok)
    assert all(v["prosecutor-average"] <= v["prosecutor"] for v in ok)
    assert ok[0]["ncp"] < ok[1]["ncp"]
    assert found.rows[0]["policy"]["models"] == [{"k-anonymity": {"k": 2}}]
    assert found.table.num_rows == len(found.rows)


def test_processes_give_the_same_rows(people, base):
    wanted = Wanted.of(["accuracy", "query-error"], ["marketer"])
    alone = compare(people, base, GRID, wanted=wanted)
    together = compare(people, base, GRID, wanted=wanted, jobs=2)
    assert without_time(alone) == without_time(together)
    values = alone.rows[0]["values"]
    assert values["accuracy-drop"] == pytest.approx(values["accuracy-original"] - values["accuracy"])
    assert "marketer" in values


def test_an_interrupted_comparison_goes_on(people, base, tmp_path, monkeypatch):
    whole = compare(people, base, GRID)
    kept = tmp_path / "results.jsonl"

    def stop(done: int, total: int) -> None:
        if done >= 6:
            raise Cancelled("Canceled.")

    with pytest.raises(Cancelled):
        compare(people, base, GRID, results=kept, progress=stop)
    # three settings are refused without being tried, so three were finished
    assert len(kept.read_text().splitlines()) == 3
    kept.write_bytes(kept.read_bytes()[:-20])  # the last line was being written when the power went
    tried = []
    real = module.in_turn
    monkeypatch.setattr(module, "in_turn", lambda d, tasks, tick: (tried.extend(tasks), real(d, tasks, tick))[1])
    resumed = compare(people, base, GRID, results=kept)
    assert [task.place for task in tried] == [2, 3, 4, 5]
    assert without_time(resumed) == without_time(whole)
    assert resumed.reused == 2
    again = compare(people, base, GRID, results=kept)
    assert again.rows == resumed.rows
    assert again.reused == 6


@pytest.mark.parametrize("what", ["table", "measures", "version", "secret", "policy"])
def test_results_of_something_else_are_passed_over(people, base, tmp_path, monkeypatch, what):
    kept, grid = tmp_path / "results.jsonl", {"models": [{"k-anonymity": {"k": 5}}]}
    compare(people, base, grid, results=kept)
    wanted = None
    if what == "table":
        people = patients(601)
    elif what == "measures":
        wanted = Wanted.of(["query-error"])
    elif what == "version":
        monkeypatch.setattr("hushtable.comparison.run.__version__", "99")
    elif what == "secret":
        monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / "other"))
    else:
        base = base.changed(seed=99)
    assert compare(people, base, grid, wanted=wanted, results=kept).reused == 0


def test_a_hierarchy_file_that_changed_is_noticed(tmp_path):
    table = pa.table({"city": ["Bonn", "Trier", "Paris", "Lyon"] * 3, "pay": list(range(12))})
    file = tmp_path / "city.csv"
    file.write_text("Bonn;DE;*\nTrier;DE;*\nParis;FR;*\nLyon;FR;*\n")
    policy = Policy(quasi={"city": {"hierarchy": "city.csv"}}, sensitive=["pay"], models=[{"k-anonymity": {"k": 4}}])
    policy = policy.changed(algorithm="datafly").based_in(tmp_path)
    first = compare(table, policy, {}, results=tmp_path / "r.jsonl")
    file.write_text("Bonn;X;*\nTrier;Y;*\nParis;X;*\nLyon;Y;*\n")
    second = compare(table, policy, {}, results=tmp_path / "r.jsonl")
    assert (first.reused, second.reused) == (0, 0)
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        compare(table, policy, {}, results=tmp_path / "r.jsonl")


def test_results_hold_no_value_of_the_table(people, base, tmp_path):
    kept = tmp_path / "results.jsonl"
    compare(people, base, {"models": [{"k-anonymity": {"k": [5, 9999]}}]}, results=kept)
    text = kept.read_text()
    for name in people.column_names:
        values = {str(v) for v in people.column(name).to_pylist() if isinstance(v, str) and len(str(v)) > 3}
        assert not any(f'"{value}"' in text for value in values)
    assert set(json.loads(text.splitlines()[0])) == {"format", "key", "row"}


def test_a_fault_of_the_table_is_an_error_not_a_table_of_errors(people, base):
    with pytest.raises(UsageError, match="'age'"):
        compare(people.drop_columns(["age"]), base, GRID)


@pytest.mark.parametrize("jobs", [0, -1])
def test_jobs_are_at_least_one(people, base, jobs):
    with pytest.raises(ParameterError):
        compare(people, base, {}, jobs=jobs)


def test_a_quantity_that_is_not_measured_by_default_is_measured(people, base):
    found = compare(people, base, {}, privacy="journalist", utility="accuracy_drop")
    assert found.frontier == (0,)
    assert found.quantity("accuracy_drop") == "accuracy-drop"
    with pytest.raises(UsageError, match="did not measure 'ncpp'"):
        compare(people, base, {}, utility="ncpp")


def test_a_foreign_file_is_not_written_to(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("my notes\n")
    with pytest.raises(DataError, match="not a results file"):
        Results(file)
    assert file.read_text() == "my notes\n"


def test_the_frontier_by_hand():
    assert pareto([]) == []
    assert pareto([(1, 1), (1, 2), (2, 0.5), (3, 0.5)]) == [True, False, True, False]


def test_the_frontier_of_what_models_achieved(people, base):
    found = compare(people, base, {"models": [{"k-anonymity": {"k": [2, 10]}}]}, privacy="achieved k-anonymity")
    # more is better here: the larger k protects more and costs more, so both stand
    assert found.frontier == (0, 1)


def test_a_file_that_cannot_be_written_is_told_before_any_work(people, base, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "in_turn", lambda *a: pytest.fail("worked"))
    with pytest.raises(OutputError, match="cannot be written"):
        compare(people, base, {}, results=tmp_path / "nowhere" / "results.jsonl")


def test_no_process_goes_on_behind_an_error(people, base, tmp_path, monkeypatch):
    def full(self, key, row):
        raise OutputError("The disk is full.")

    monkeypatch.setattr(Results, "add", full)
    before = set(multiprocessing.active_children())
    with pytest.raises(OutputError):
        compare(people, base, GRID, results=tmp_path / "r.jsonl", jobs=2)
    assert set(multiprocessing.active_children()) <= before


def test_processes_that_die_at_once_are_reported(people, base, monkeypatch):
    def submit(*_):
        raise BrokenProcessPool

    monkeypatch.setattr(module.ProcessPoolExecutor, "submit", submit)
    with pytest.raises(UsageError, match="was killed"):
        compare(people, base, GRID, jobs=2)


def test_results_are_not_taken_over_when_the_ledger_has_grown(tmp_path):
    people = pa.table({"who": list("abcdef"), "age": [1, 1, 1, 9, 9, 9]})
    base = Policy(
        identifiers=["who"], quasi=["age"], models=[{"k-anonymity": {"k": 2}}], ledger="releases.ledger"
    ).based_in(tmp_path)
    empty = input_key(people, first_of(base), b"secret")
    other = Policy(identifiers=["who"], quasi=["age"], models=[{"k-anonymity": {"k": 2}}])
    moved = people.set_column(1, "age", pa.array([1, 1, 9, 1, 9, 9]))
    Ledger(tmp_path / "releases.ledger").add(anonymize(moved, other))
    assert input_key(people, base, b"secret") != empty
    (row,) = compare(people, base, {}).rows
    assert row["status"] == "violated" and "earlier release" in row["reason"]


def test_a_population_in_a_database_is_compared_with_and_taken_from_no_earlier_run(tmp_path):
    people = pa.table({"age": [1, 1, 9, 9]})
    address = f"duckdb:///{tmp_path}/all.db?table=everybody"
    with writing_rows([(address, Rows.of(pa.table({"age": [1, 1, 1, 9, 9, 9]})))]):
        pass
    base = Policy(quasi=["age"], models=[{"k-map": {"k": 3}}], population=address)
    assert rebased(base.document(), None, tmp_path)["population"] == address
    for _ in range(2):
        found = compare(people, base, {}, results=tmp_path / "results.jsonl")
        assert found.rows[0]["status"] == "ok" and found.reused == 0
