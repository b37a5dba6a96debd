from __future__ import annotations

import pytest

from hushtable.errors import HierarchyError
from hushtable.hierarchy.categories import code_categories
from hushtable.table.reference import Attribute

SUN = {"top secret": ["HIV", "Cancer"], "secret": ["Phthisis", "Hepatitis"], "non secret": ["Flu"]}


def test_the_first_category_is_the_most_sensitive():
    codes, m = code_categories(["Flu", "HIV", "Hepatitis"], SUN, "disease")
    assert (codes.tolist(), m) == ([2, 0, 1], 3)


@pytest.mark.parametrize(("m", "weights"), [(1, [1.0]), (2, [0.0, 1.0]), (5, [0.0, 0.25, 0.5, 0.75, 1.0])])
def test_weights_of_sun(m, weights):
    attribute = Attribute.of("disease", "abcde"[:m], [1] * m, categories=range(m))
    assert attribute.category_weights().tolist() == weights


def test_uncovered_values_are_counted_not_shown():
    with pytest.raises(HierarchyError, match="1 of the 2 values of column 'disease'") as caught:
        code_categories(["Flu", "Gout"], SUN, "disease")
    assert "Gout" not in str(caught.value)
    assert "including the missing value" not in str(caught.value)


def test_the_missing_value_needs_a_category_of_its_own_choice():
    with pytest.raises(HierarchyError, match="including the missing value"):
        code_categories(["Flu", ""], SUN, "disease")
    for missing in (None, ""):
        codes, _ = code_categories(["Flu", ""], {**SUN, "non secret": ["Flu", missing]}, "disease")
        assert codes.tolist() == [2, 2]


def test_a_value_in_two_categories():
    with pytest.raises(HierarchyError, match="1 of the values listed for column 'd' are in two") as caught:
        code_categories(["a"], {"x": ["a"], "y": ["a"]}, "d")
    assert caught.value.code == "two-categories"


def test_a_value_twice_in_one_category_and_numbers():
    codes, m = code_categories(["1", "2.5"], {"x": [1, 1], "y": [2.5]}, "d")
    assert (codes.tolist(), m) == ([0, 1], 2)
