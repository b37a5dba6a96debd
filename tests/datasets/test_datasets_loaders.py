from __future__ import annotations

import csv

import pyarrow as pa
import pytest

from hushtable.datasets import loaders, locate
from hushtable.datasets.adult_facts import COLUMNS_9, COLUMNS_15, NUMERIC
from hushtable.datasets.loaders import adult_hierarchies, load_adult, load_census
from hushtable.errors import DataError, ParameterError

ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Unmarried, White, Male, 2174, 0, 40, {}, {}"
HEADER = ", ".join([*COLUMNS_15[:-1], "some-name"])


@pytest.fixture
def only(tmp_path, monkeypatch):
    """Only this folder is searched."""
    monkeypatch.setattr(locate, "data_dirs", lambda: [tmp_path])
    (tmp_path / "adult").mkdir()
    (tmp_path / "census").mkdir()
    return tmp_path


def test_sizes_and_types_of_the_real_data(adult_full):
    assert adult_full.num_rows == 48_842
    assert adult_full.column_names == list(COLUMNS_15)
    assert load_adult("train").num_rows == 32_561
    assert load_adult("test").num_rows == 16_281
    complete = load_adult("complete45222")
    assert complete.num_rows == 45_222
    assert not any(column.null_count for column in complete.columns)
    for name in COLUMNS_15:
        assert adult_full[name].type == (pa.int64() if name in NUMERIC else pa.string())
    assert set(adult_full["salary-class"].to_pylist()) == {"<=50K", ">50K"}


def test_the_subset_is_derived_exactly_where_its_file_is_absent(adult, monkeypatch):
    published = locate.find_data("adult/adult-30162.csv")
    if published is None:
        pytest.skip("adult-30162.csv is not here to compare with.")
    with published.open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    found = loaders.find_data
    monkeypatch.setattr(loaders, "find_data", lambda path: None if "30162" in path else found(path))
    derived = load_adult("30162")
    assert derived.column_names == header == list(COLUMNS_9)
    assert [[str(c) for c in row.values()] for row in derived.to_pylist()] == rows
    assert derived.equals(adult)


def test_census_is_13_integer_columns(census):
    assert census.shape == (1080, 13)
    assert set(census.schema.types) == {pa.int64()}


def test_published_hierarchies_cover_the_subset(adult, adult_hierarchy_files):
    for name, path in adult_hierarchy_files.items():
        with path.open(newline="") as file:
            covered = {row[0] for row in csv.reader(file, delimiter=";")}
        missing = {str(v) for v in adult[name].to_pylist()} - covered
        assert not missing, name


def test_copies_in_circulation_read_the_same(only):
    body = [ROW.format("United-States", "<=50K"), ROW.format("?", ">50K")]
    variants = {
        "as UCI writes adult.data": "\n".join([*body, "", ""]),
        "as UCI writes adult.test": "\n".join(["|1x3 Cross validator", *(f"{row}." for row in body), ""]),
        "with a header": "\n".join([HEADER, *body]),
        "without spaces, CRLF": "\r\n".join([HEADER, *body]).replace(", ", ","),
    }
    tables = []
    for text in variants.values():
        (only / "adult" / "adult.data").write_bytes(text.encode())
        tables.append(load_adult("train"))
    assert tables[0].num_rows == 2
    assert tables[0]["native-country"].to_pylist() == ["United-States", None]
    assert tables[0]["salary-class"].to_pylist() == ["<=50K", ">50K"]
    assert all(table.equals(tables[0]) for table in tables)
    assert load_adult("30162").num_rows == 1


@pytest.mark.parametrize("text", ["", HEADER, "1, 2, 3\n", HEADER + "\n" + ROW.format("x", "y") + ", z\n"])
def test_a_wrong_file_is_refused(only, text):
    (only / "adult" / "adult.data").write_text(text)
    with pytest.raises(DataError, match=r"'adult\.data' is empty or does not have 15 columns"):
        load_adult("train")


def test_text_where_numbers_belong_is_refused_without_showing_it(only):
    (only / "adult" / "adult.data").write_text(ROW.format("x", "y").replace("39,", "hidden,"))
    with pytest.raises(DataError, match=r"Column 'age' of 'adult\.data' has text") as caught:
        load_adult("train")
    assert "hidden" not in str(caught.value)


def test_an_empty_census_is_refused(only):
    (only / "census" / "census-1080.csv").write_text("")
    with pytest.raises(DataError, match="is empty"):
        load_census()


def test_absence_names_the_publisher(only):
    with pytest.raises(DataError, match=r"UCI Machine Learning Repository.*HUSHTABLE_DATA"):
        load_adult()
    with pytest.raises(DataError, match=r"CASC.*HUSHTABLE_DATA"):
        load_census()
    with pytest.raises(DataError, match=r"ARX.*adult_policy.*HUSHTABLE_DATA"):
        adult_hierarchies()


def test_unknown_parts_are_refused():
    with pytest.raises(ParameterError, match="Did you mean 'complete45222'"):
        load_adult("complete")
