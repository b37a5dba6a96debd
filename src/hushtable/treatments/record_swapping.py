"""Record swapping: some records swap their values with others that agree in chosen columns.

In each stratum (records with equal values in ``within``), a share of the records is drawn and paired at random, and
each pair swaps its values. So every stratum keeps its counts. Columns with equal settings move together, as region and
district should.

References
----------
T. Dalenius, S. Reiss, "Data-swapping: a technique for disclosure control", 1982.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.params import Between
from hushtable.treatments.base import Given, Treatment


@dataclass(frozen=True)
class RecordSwapping(Treatment):
    """Swaps values between pairs of records that agree in chosen columns.

    Parameters
    ----------
    share : float
    within : tuple of str

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
    >>> treatment = ht.RecordSwapping(share=1.0, within=["sex"])
    >>> policy = ht.Policy(quasi=["sex"], insensitive={"town": {"treatment": treatment}}, models=[ht.KAnonymity(k=2)])
    >>> ht.anonymize(table, policy).frame["town"].to_pylist()
    ['Bonn', 'Ulm', 'Bonn', 'Ulm']
    """

    share: Annotated[float, Between(0, 1, closed="right"), "share of the records that swap their values"] = 0.1
    within: Annotated[tuple[str, ...], "columns in which the records of a pair are equal"] = ()

    name: ClassVar[str] = "record-swapping"
    promise: ClassVar[str] = "Guarantees nothing: records that were not drawn publish their own values."
    joint: ClassVar[bool] = True

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return the strata's columns."""
        return self.within

    def treat(self, given: Given) -> pa.Array:
        """Swap within the strata."""
        codes, strata = given.codes, given.strata(self.within)
        rows = given.order  # also rows without a value: columns that move together have the same pairs
        order = rows[np.lexsort((given.coins.words("lots", len(rows)), strata[rows]))]
        sorted_strata = strata[order]
        starts = np.searchsorted(sorted_strata, sorted_strata)
        sizes = np.searchsorted(sorted_strata, sorted_strata, side="right") - starts
        place = np.arange(len(order)) - starts
        drawn = place < np.rint(self.share * sizes).astype(np.int64) // 2 * 2
        out = codes.copy()
        out[order[drawn]] = codes[order[np.flatnonzero(drawn) + np.where(place[drawn] % 2 == 0, 1, -1)]]
        return given.chosen(out)
