"""Top and bottom coding: numbers beyond a bound are published as the bound.

It hides how extreme the largest and smallest values are, and nothing else. The bounds are in the policy, and public.

References
----------
A. Hundepool et al., "Statistical disclosure control", 2012, section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.errors import ParameterError
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment


@dataclass(frozen=True)
class TopBottomCoding(Treatment):
    """Publishes numbers beyond a bound as the bound.

    Parameters
    ----------
    bottom, top : float, optional

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 91, 17, 60]})
    >>> policy = ht.Policy(quasi=["sex"], insensitive={"age": {"treatment": ht.TopBottomCoding(bottom=18, top=85)}},
    ...                    models=[ht.KAnonymity(k=2)])
    >>> ht.anonymize(table, policy).frame["age"].to_pylist()
    [30, 85, 18, 60]
    """

    bottom: Annotated[float | None, "lowest number that is published unchanged; none by default"] = None
    top: Annotated[float | None, "highest number that is published unchanged; none by default"] = None

    name: ClassVar[str] = "top-bottom-coding"
    promise: ClassVar[str] = (
        "Guarantees that no published number lies beyond the bounds, and nothing about the other numbers."
    )
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})
    coarsens: ClassVar[bool] = True
    record_by_record: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bottom is None and self.top is None:
            raise ParameterError("TopBottomCoding needs 'bottom' or 'top'.", hint="Write, for example, top: 85.")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ParameterError("The 'bottom' of TopBottomCoding must be below its 'top'.", hint="Swap the two.")

    def treat(self, given: Given) -> pa.Array:
        """Clip the numbers."""
        whole = all(float(bound).is_integer() for bound in (self.bottom, self.top) if bound is not None)
        return given.changed(np.clip(given.numbers(), self.bottom, self.top), whole=whole)
