"""Numbers and dates on a scale from 0 to 1, which measures of distance share."""

from __future__ import annotations

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.hierarchy.base import Coded
from hushtable.table.encoded import numbers_of

__all__ = ["scaled_numbers"]


def scaled_numbers(coded: Coded) -> FloatArray | None:
    """Return the number (for dates: the day) of each leaf on a scale from 0 to 1; NaN for the missing value.

    None for labels, which are no numbers, and for columns with infinite values, which have no scale.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> scaled_numbers(example().table.quasi[0].coded).round(2).tolist()
    [0.0, 0.02, 0.37, 0.38, 1.0]
    """
    numbers = numbers_of(coded)
    if numbers is None:
        return None
    first = int(coded.missing)
    known = numbers[first:]
    if not np.isfinite(known).all():
        return None
    scaled = np.full(coded.size, np.nan)
    # halves do not overflow
    width = known[-1] / 2 - known[0] / 2 if len(known) else 0.0
    scaled[first:] = (known / 2 - known[0] / 2) / width if width > 0 else 0.0
    return scaled
