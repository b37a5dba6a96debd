from __future__ import annotations

import hashlib

import numpy as np
import pyarrow.compute as pc
import pytest

from hushtable.datasets.adult_facts import ADULT_TREES, ADULT_VALUES, COLUMNS_9
from hushtable.datasets.adult_like import adult_like, adult_like_codes, adult_like_labels, adult_policy
from hushtable.errors import ParameterError
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.schema.columns import Kind


def leaves(tree) -> list[str]:
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in leaves(child)]
    return list(tree)


def test_golden_codes_never_change():
    codes = adult_like_codes(2000)
    joined = b"".join(codes[name].tobytes() for name in COLUMNS_9)
    assert hashlib.sha256(joined).hexdigest() == "013ad58c2321a442a22b5954d0d045f90a3531c7b06194dbd4ce7c846aa0beff"


def test_table_and_codes_say_the_same():
    table, codes, labels = adult_like(500, 3), adult_like_codes(500, 3), adult_like_labels()
    assert table.column_names == list(COLUMNS_9) == list(codes)
    for name in COLUMNS_9:
        assert codes[name].dtype == np.uint8
        assert table[name].to_pylist() == [labels[name][c] for c in codes[name]]


def test_rows_do_not_depend_on_the_size_of_the_table():
    big = adult_like_codes(300_000)
    part = adult_like_codes(50, start=262_120)
    for name in COLUMNS_9:
        assert np.array_equal(part[name], big[name][262_120:262_170])


def test_cardinalities_and_shares_are_those_of_adult():
    codes = adult_like_codes(300_000)
    sizes = {name: len(np.unique(codes[name])) for name in COLUMNS_9}
    assert sizes == {
        "sex": 2, "age": 74, "race": 5, "marital-status": 7, "education": 16, "native-country": 41,
        "workclass": 7, "occupation": 14, "salary-class": 2,
    }  # fmt: skip
    for name, values in ADULT_VALUES.items():
        wanted = np.array(list(values.values()))
        got = np.bincount(codes[name], minlength=len(wanted)) / 300_000
        assert np.abs(got - wanted / wanted.sum()).max() < 0.04, name


def test_columns_depend_on_one_another():
    frame = adult_like(50_000).to_pandas()
    single = frame["marital-status"] == "Never-married"
    assert frame[single].age.mean() < frame[~single].age.mean() - 8
    rich = frame["salary-class"] == ">50K"
    assert rich[frame.education == "Masters"].mean() > 1.5 * rich[frame.education == "HS-grad"].mean()


def test_labels_are_in_sorted_order():
    for name, labels in adult_like_labels().items():
        assert labels == sorted(labels), name


def test_trees_cover_the_vocabulary_of_the_real_data(adult_full):
    for name, tree in ADULT_TREES.items():
        real = set(pc.unique(adult_full[name].drop_null()).to_pylist())
        assert sorted(leaves(tree)) == sorted(real)
        assert set(ADULT_VALUES[name]) <= real


def test_trees_cover_the_generated_vocabulary():
    for name, tree in ADULT_TREES.items():
        assert set(ADULT_VALUES[name]) <= set(leaves(tree))
    assert list(adult_policy()["columns"]) == list(COLUMNS_9)


def test_negative_sizes_are_refused():
    with pytest.raises(ParameterError, match="must not be negative"):
        adult_like_codes(-1)


def test_every_hierarchy_of_the_policy_covers_its_column():
    table = adult_like(20_000)
    for name, column in adult_policy()["columns"].items():
        if column["role"] != "quasi":
            continue
        counted = pc.value_counts(table[name])
        values, counts = counted.field("values"), counted.field("counts").to_numpy()
        hierarchy = parse_hierarchy(column["hierarchy"], name)
        coded = hierarchy.code(values, Kind(column["kind"]), missing=False, column=name, counts=counts)
        assert coded.height >= 1
        assert set(values.to_pylist()) <= set(coded.values.to_pylist())
