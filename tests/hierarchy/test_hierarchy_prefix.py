from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.prefix import Prefix
from hushtable.schema.columns import Kind


def code(recipe, values, kind=Kind.NOMINAL, missing=False):
    return recipe.code(
        pa.array(values), kind, missing=missing, column="zip", counts=np.ones(len(values), dtype=np.int64)
    )


def test_postcodes_end_in_a_single_star():
    coded = code(Prefix(), ["14248", "14201", "90210"], missing=True)
    assert coded.labels == (
        (None, "14201", "14248", "90210"),
        (None, "1420*", "1424*", "9021*"),
        (None, "142**", "902**"),
        (None, "14***", "90***"),
        (None, "1****", "9****"),
        ("*",),
    )


def test_shorter_values_are_filled_up_so_that_equal_labels_are_equal_nodes():
    coded = code(Prefix(steps=(1, 2), length=5), ["1424", "14248", "142"])
    assert coded.labels[1] == ("142**", "1424*")
    assert coded.levels[1].tolist() == [0, 1, 1]
    assert coded.labels[2] == ("142**",)


def test_masking_from_the_front():
    coded = code(Prefix(from_end=False, mask="#", steps=(2,), length=4), ["abcd", "xycd", "cd"])
    assert coded.labels[1] == ("##cd",)


def test_steps_beyond_the_length_are_the_root():
    assert code(Prefix(steps=(2, 5, 9)), ["14248"]).labels == (("14248",), ("142**",), ("*",))


def test_numbers_are_masked_as_text_and_keep_their_order():
    coded = code(Prefix(steps=(1,), length=3), [100, 12, -5], Kind.NUMERIC)
    assert coded.values.to_pylist() == [-5, 12, 100]
    assert coded.labels[1] == ("-5*", "12*", "10*")


def test_characters_not_bytes_are_masked():
    assert code(Prefix(steps=(1,)), ["東京都", "東京市"]).labels[1] == ("東京*",)


def test_texts_are_refused_without_steps():
    with pytest.raises(HierarchyError, match="'zip' has values of up to 65 characters") as caught:
        code(Prefix(), ["x" * 65])
    assert "steps" in caught.value.hint
    assert code(Prefix(steps=(60,)), ["x" * 65]).height == 2


@pytest.mark.parametrize("params", [{"mask": ""}, {"mask": "**"}, {"steps": ()}, {"steps": (0, 1)}, {"steps": (2, 2)}])
def test_bad_parameters(params):
    with pytest.raises(ParameterError, match="of Prefix must be"):
        Prefix(**params)


def test_steps_need_a_length_where_values_differ_in_length():
    """Else what a level keeps would tell how long the longest value is, even if only a suppressed record has it."""
    with pytest.raises(HierarchyError, match="'zip' has values of different lengths") as caught:
        code(Prefix(steps=(2,)), ["14248", "1424877"])
    assert "length: 7" in caught.value.hint and "1424" not in str(caught.value)
    assert code(Prefix(steps=(2,), length=7), ["14248", "1424877"]).labels[1] == ("14248**",)
    assert code(Prefix(), ["14248", "1424877"]).height == 7
