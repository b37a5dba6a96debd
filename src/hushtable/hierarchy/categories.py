"""Ordered sensitivity categories of a sensitive column; ``Attribute.category_weights`` has their weights.

References
----------
X. Sun, L. Sun, H. Wang, "Extended k-anonymity models against sensitive attribute disclosure", 2011, equation 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError
from hushtable.io.text import label_text


def code_categories(
    labels: Sequence[str], categories: Mapping[str, Sequence[Any]], column: str
) -> tuple[IntArray, int]:
    """Return the category of each label (0 is the most sensitive), and the number of categories.

    Parameters
    ----------
    labels : sequence of str
        The column's values as text; a missing value is ``""``.
    categories : mapping of str to sequence
        The categories, the most sensitive first, with their values. Values need not occur. A missing value belongs
        to the category that lists ``""`` or null.
    column : str
        The column's name, for error messages.

    Raises
    ------
    HierarchyError
        If a label belongs to no category or a value to two.

    Examples
    --------
    >>> codes, m = code_categories(["HIV", "flu"], {"secret": ["HIV", "cancer"], "open": ["flu"]}, "disease")
    >>> codes.tolist(), m
    ([0, 1], 2)
    """
    known: dict[str, int] = {}
    twice = set()
    for category, values in enumerate(categories.values()):
        for value in values:
            text = "" if value is None else label_text(value)
            if known.setdefault(text, category) != category:
                twice.add(text)
    if twice:
        raise HierarchyError(
            f"{len(twice)} of the values listed for column {column!r} are in two sensitivity categories.",
            code="two-categories",
            hint="List each value in one category only.",
        )
    codes = np.fromiter((known.get(label, -1) for label in labels), dtype=np.int64, count=len(labels))
    uncovered = int(np.count_nonzero(codes < 0))
    if uncovered:
        missing = "" not in known and "" in set(labels)
        raise HierarchyError(
            f"{uncovered} of the {len(labels)} values of column {column!r} are in no sensitivity category"
            f"{' (including the missing value)' if missing else ''}.",
            code="uncovered",
            hint='Add them to a category of the policy; a missing value is written as "" or null.',
        )
    return codes, len(categories)
