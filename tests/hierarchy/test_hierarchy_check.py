from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from hushtable.hierarchy.base import Hierarchy
from hushtable.hierarchy.check import check_column, lattice_size
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.schema.columns import Kind


def check(recipe, values, kind=Kind.NOMINAL, missing=False, counts=None):
    counts = np.ones(len(values), dtype=np.int64) if counts is None else np.array(counts)
    return check_column(recipe, pa.array(values), kind, missing=missing, column="x", counts=counts)


def test_a_good_hierarchy():
    report = check(Intervals(widths=(5, 10)), [1, 6, 11], Kind.NUMERIC, missing=True)
    assert report.ok
    assert (report.height, report.nodes) == (3, (4, 4, 3, 1))


def test_all_problems_at_once():
    rows = (("a", "x", "p"), ("a", "y", "p"), ("b", "x", "q"))
    report = check(Taxonomy(rows=rows), ["a", "secret"], counts=[2, 7], missing=True)
    assert not report.ok
    assert (report.uncovered_values, report.uncovered_records) == (1, 7)
    assert report.not_nested == (0, 1)
    assert (report.height, report.nodes) == (3, (3, 3, 3, 1))
    assert len(report.problems) == 3
    assert "secret" not in json.dumps(report.as_dict())
    assert report.as_dict()["ok"] is False


@pytest.mark.parametrize("missing", [False, True])
def test_the_height_of_a_broken_hierarchy_that_has_its_own_root(missing):
    rows = (("a", "x", "*"), ("a", "y", "*"))
    report = check(Taxonomy(rows=rows), ["a"], missing=missing)
    assert (report.height, report.nodes) == (2, (1 + missing, 2 + missing, 1))


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    report = check(Taxonomy(file=str(tmp_path / "none.csv")), ["a"])
    assert (report.ok, report.height, report.nodes) == (False, 0, ())
    assert "cannot be read" in report.problems[0]


def test_a_plug_in_that_is_no_recipe_is_checked_through_code():
    @dataclass(frozen=True)
    class Plug(Hierarchy):
        name: ClassVar[str] = ""

        def code(self, values, kind, *, missing, column, counts):
            return Flat().code(values, kind, missing=missing, column=column, counts=counts)

    assert check(Plug(), ["a", "b"]).nodes == (2, 1)


def test_lattice_size():
    assert lattice_size([]) == 1
    # Adult's eight quasi-identifiers
    assert lattice_size([1, 4, 1, 2, 3, 2, 2, 2]) == 2 * 5 * 2 * 3 * 4 * 3 * 3 * 3
