"""Noise: each number gets an independent normal deviate.

The noise has ``sd`` times the column's standard deviation, so sums are preserved in expectation and the variance grows
by 1 + sd squared. Whole numbers and dates are rounded again.

References
----------
J. Kim, "A method for limiting disclosure in microdata based on random noise and transformation", 1986.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pyarrow as pa

from hushtable.params import Positive
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment, spread


@dataclass(frozen=True)
class Noise(Treatment):
    """Adds independent normal noise to each number.

    Parameters
    ----------
    sd : float

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "pay": [1000, 2000, 3000, 4000]})
    >>> policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": ht.Noise(sd=0.5)}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> ht.anonymize(table, policy).frame["pay"].to_pylist() == [1000, 2000, 3000, 4000]
    False
    """

    sd: Annotated[float, Positive(), "standard deviation of the noise, relative to that of the column"] = 0.1

    name: ClassVar[str] = "noise"
    promise: ClassVar[str] = "Guarantees nothing: normal noise does not bound odds, and outliers stay outliers."
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.DATE})

    def treat(self, given: Given) -> pa.Array:
        """Add noise."""
        numbers = given.numbers()
        return given.changed(numbers + self.sd * spread(numbers) * given.normal("noise"))
