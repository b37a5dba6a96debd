"""The hierarchy without intermediate levels: the value, then ``*``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.hierarchy.build import Draft, Recipe, sorted_leaves
from hushtable.schema.columns import Kind


@dataclass(frozen=True)
class Flat(Recipe):
    """A value is published unchanged or as ``*``.

    Examples
    --------
    >>> import numpy as np
    >>> values, counts = pa.array(["m", "f"]), np.array([1, 1])
    >>> Flat().code(values, Kind.NOMINAL, missing=False, column="sex", counts=counts).labels
    (('f', 'm'), ('*',))
    """

    of_policy = True  # there are always two levels
    name: ClassVar[str] = "flat"
    in_a_policy: ClassVar[str] = "flat"

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Return only the values."""
        leaves, _ = sorted_leaves(values, kind, counts, column)
        return Draft.over(leaves, [])
