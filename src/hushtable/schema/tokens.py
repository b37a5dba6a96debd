"""Texts and numbers that look like missing values, but are values until they are listed as missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.schema.describe import MARKERS
from hushtable.schema.prepare import Prepared

__all__ = ["Token", "find_tokens"]

_SENTINELS = (-1, -8, -9, -88, -99, -888, -999, -9999, -99999, 999, 9999, 99999, 999999)


@dataclass(frozen=True)
class Token:
    """A suspicious text, trimmed, and the number of rows that hold it.

    Attributes
    ----------
    text : str
    rows : int
    number : bool
        Whether it is a number far from all others, such as -999.
    """

    text: str
    rows: int
    number: bool = False


def find_tokens(column: Prepared) -> tuple[Token, ...]:
    """Return the suspicious tokens of a column, the most frequent first.

    Examples
    --------
    >>> from hushtable.schema.prepare import prepare
    >>> find_tokens(prepare(pa.array(["a", "N/A", " N/A"]), name="x"))
    (Token(text='N/A', rows=2, number=False),)
    >>> find_tokens(prepare(pa.array([31, 45, -999, 28]), name="age"))
    (Token(text='-999', rows=1, number=True),)
    """
    values = column.values
    if pa.types.is_string(values.type):
        found = _markers(column)
    elif pa.types.is_integer(values.type) and len(values) > 2:
        found = _sentinels(column)
    else:
        found = {}
    numeric = not pa.types.is_string(values.type)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Token(text, rows, numeric) for text, rows in ranked)


def _markers(column: Prepared) -> dict[str, int]:
    trimmed = pc.utf8_trim_whitespace(column.values)
    places = np.flatnonzero(pc.is_in(pc.utf8_lower(trimmed), pa.array(MARKERS)))
    counts = column.counts()
    found: dict[str, int] = {}
    for place in places.tolist():
        text = trimmed[place].as_py()
        found[text] = found.get(text, 0) + int(counts[place])
    return found


def _sentinels(column: Prepared) -> dict[str, int]:
    """Whole numbers of the usual shape at an end of the range, further from the rest than the rest is wide."""
    numbers = column.values.to_numpy()
    counts = column.counts()
    found: dict[str, int] = {}
    for end, rest in ((0, numbers[1:]), (len(numbers) - 1, numbers[:-1])):
        value = int(numbers[end])
        low, high = int(rest[0]), int(rest[-1])
        gap = low - value if end == 0 else value - high
        if value in _SENTINELS and gap > high - low:
            found[str(value)] = int(counts[end])
    return found
