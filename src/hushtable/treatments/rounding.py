"""Rounding: numbers are published as multiples of a base.

Numbers are rounded to the nearest multiple (to the even one if both are equally near), or with ``random`` to one of the
two adjacent multiples, more often to the nearer one, so that sums are preserved in expectation.

References
----------
A. Hundepool et al., "Statistical disclosure control", 2012, section 3.4; I. Fellegi, "Controlled random rounding",
1975.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.params import Positive
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment


@dataclass(frozen=True)
class Rounding(Treatment):
    """Publishes numbers as multiples of a base.

    Parameters
    ----------
    base : float
    random : bool

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [30, 30, 60, 60], "pay": [1234, 1250, 3049, 3051]})
    >>> policy = ht.Policy(quasi=["age"], insensitive={"pay": {"treatment": ht.Rounding(base=100)}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> ht.anonymize(table, policy).frame["pay"].to_pylist()
    [1200, 1200, 3000, 3100]
    """

    base: Annotated[float, Positive(), "published numbers are multiples of this"]
    random: Annotated[bool, "whether the multiple above or below is drawn, the nearer one more often"] = False

    name: ClassVar[str] = "rounding"
    promise: ClassVar[str] = "Guarantees that a published number is a multiple of the base, and nothing else."
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})
    coarsens: ClassVar[bool] = True
    record_by_record: ClassVar[bool] = True

    @property
    def draws(self) -> bool:
        """Whether it rounds at random."""
        return self.random

    def treat(self, given: Given) -> pa.Array:
        """Round the numbers."""
        steps = given.numbers() / self.base
        if self.random:
            below = np.floor(steps)
            steps = below + (given.uniform("up") < steps - below)
        return given.changed(np.rint(steps) * self.base, whole=float(self.base).is_integer())
