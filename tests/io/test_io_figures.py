from __future__ import annotations

import pytest

from hushtable.io.figures import number


@pytest.mark.parametrize(
    ("value", "want"), [(0, "0"), (12345.6, "12,346"), (1e-7, "1e-07"), (-3.0, "-3"), (None, "not defined")]
)
def test_numbers(value, want):
    assert number(value) == want
