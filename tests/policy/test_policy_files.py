from __future__ import annotations

import os

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError, OutputError, PolicyError
from hushtable.io.files import write_table
from hushtable.policy.files import load_policy, save_policy
from hushtable.policy.policy import Policy

TEXT = """columns:
  age: {role: quasi}
  country: {role: quasi, hierarchy: country.csv}
  disease: {role: sensitive}
models: [{k-map: {k: 2}}, {bayes-optimal: {theta: 0.9, background: true}}]
population: tables/people.csv
background: {file: tables/beliefs.csv, on: disease, probability: p}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "policy.yaml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "country.csv").write_text("FR;Europe;*\nJP;Asia;*\n", encoding="utf-8")
    people = pa.table({"name": ["a", "b"], "age": ["1", "2"], "country": ["FR", "JP"]})
    write_table(people, tmp_path / "tables" / "people.csv")
    beliefs = {"age": ["1", "2"], "country": ["FR", "JP"], "disease": ["flu", "flu"], "p": [0.25, 0.75], "x": [1, 2]}
    write_table(pa.table(beliefs), tmp_path / "tables" / "beliefs.csv")
    return tmp_path


def test_files_are_relative_to_the_policy(folder, monkeypatch) -> None:
    monkeypatch.chdir(os.sep)
    policy = load_policy(folder / "policy.yaml")
    assert policy.base_dir == folder
    plan = policy.plan()
    assert plan.table.columns[1].hierarchy.file == str(folder / "country.csv")
    assert plan.side_tables.population.column_names == ["age", "country"]
    assert plan.side_tables.background.column_names == ["age", "country", "disease", "p"]
    assert plan.side_tables.background.column("p").to_pylist() == [0.25, 0.75]
    assert (plan.side_tables.background_on, plan.side_tables.probability) == ("disease", "p")
    assert plan.document["columns"]["country"]["hierarchy"] == "country.csv"


def test_another_folder_may_be_named(folder, tmp_path_factory) -> None:
    policy = Policy.from_yaml(TEXT)
    assert policy.plan(folder).side_tables.population.num_rows == 2
    with pytest.raises(DataError, match=r"people\.csv"):
        policy.plan(tmp_path_factory.mktemp("empty"))
    # the columns alone can be resolved without the tables
    assert policy.table_plan(folder).columns[1].hierarchy.file == str(folder / "country.csv")


def test_absolute_paths_stay(folder, tmp_path_factory) -> None:
    policy = Policy.from_yaml(TEXT).changed(
        population=str(folder / "tables" / "people.csv"),
        background={"file": str(folder / "tables" / "beliefs.csv"), "on": "disease", "probability": "p"},
    )
    assert policy.plan(tmp_path_factory.mktemp("empty")).side_tables.population.num_rows == 2


def test_probabilities_that_are_no_numbers(folder) -> None:
    (folder / "tables" / "beliefs.csv").write_text("age,country,disease,p\n1,FR,flu,often\n", encoding="utf-8")
    with pytest.raises(
        DataError, match="column 'p' of the background table contains values that are not numbers"
    ) as caught:
        load_policy(folder / "policy.yaml").plan()
    assert "often" not in str(caught.value)


def test_saved_and_loaded(tmp_path) -> None:
    policy = Policy(quasi=["é: on"], models=[ht.KAnonymity(k=2)])
    save_policy(policy, tmp_path / "p.yaml")
    assert load_policy(str(tmp_path / "p.yaml")) == policy
    assert [f.name for f in tmp_path.iterdir()] == ["p.yaml"]


def test_saving_into_a_folder_that_is_not_there(tmp_path) -> None:
    with pytest.raises(OutputError, match="folder does not exist"):
        save_policy(Policy(quasi=["a"], models=[ht.KAnonymity(k=2)]), tmp_path / "no" / "p.yaml")


def test_no_such_file(tmp_path) -> None:
    with pytest.raises(PolicyError, match=r"There is no policy file .*'hushtable init' writes one"):
        load_policy(tmp_path / "policy.yaml")


def test_a_folder_is_not_a_policy(tmp_path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path)


def test_wrong_encoding_and_byte_order_mark(tmp_path) -> None:
    file = tmp_path / "p.yaml"
    text = "# é\ncolumns: {é: {role: quasi}}\nmodels: [k-anonymity: {k: 2}]\n"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(PolicyError, match=r"p\.yaml: line 1: The policy is not UTF-8 text"):
        load_policy(file)
    file.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert list(load_policy(file).columns) == ["é"]


def test_faults_name_the_file_and_the_line(tmp_path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT + "sede: 1\n", encoding="utf-8")
    with pytest.raises(
        PolicyError, match=r"^mine\.yaml: line 8: sede: There is no setting 'sede'\. Did you mean 'seed'\?$"
    ):
        load_policy(file)
