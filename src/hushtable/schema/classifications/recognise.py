"""Recognition of the classification of a column's values, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.arrays import IntArray
from hushtable.schema.classifications.base import NAMES, Classification, classification
from hushtable.schema.hints import words_of

__all__ = ["Recognised", "recognise"]

_FEWEST = 3
"""Minimum number of different values for a conclusion."""
_FIRST = 200
"""Number of values examined before deciding on a closer look."""
_MOST_VALUES, _MOST_RECORDS, _FEW = 0.2, 0.1, 3
"""Shares of values and of records that may be unknown to a classification; more records for so few values."""


@dataclass(frozen=True)
class Recognised:
    """A classification that fits a column.

    Attributes
    ----------
    classification : Classification
    unknown : int
        Number of the column's values that it does not know.
    reason : str
    """

    classification: Classification
    unknown: int
    reason: str


def recognise(name: str, values: Sequence[str], counts: IntArray) -> Recognised | None:
    """Return the classification of a column's values, or None.

    It must know nearly all values. Ambiguous codes, such as two-digit numbers, are only taken for a classification if
    the column's name suggests it.

    Parameters
    ----------
    name : str
        Name of the column.
    values : sequence of str
        Its distinct values.
    counts : int64 array
        How often each occurs.

    Examples
    --------
    >>> import numpy as np
    >>> found = recognise("dx", ["I21.9", "J45.0", "E11"], np.array([5, 4, 3]))
    >>> found.classification.name, found.reason
    ('icd-10', 'its values are ICD-10 codes')
    >>> recognise("points", ["10", "20", "30"], np.array([5, 4, 3])) is None
    True
    """
    words = set(words_of(name))
    found: list[tuple[int, int, Recognised]] = []
    for known in map(classification, NAMES):
        named, about = (not words.isdisjoint(listed.split()) for listed in (known.named, known.about))
        if sum(known.place(value) is None for value in values[:_FIRST]) > len(values[:_FIRST]) / 2:
            continue
        fits = [known.place(value) is not None for value in values]
        n = sum(fits)
        outside = int(counts.sum() - counts[fits].sum())
        many = outside > _MOST_RECORDS * counts.sum() and len(fits) - n > _FEW
        if n < _FEWEST or len(fits) - n > _MOST_VALUES * len(fits) or many:
            continue
        if named or known.telling([value for value, fit in zip(values, fits, strict=True) if fit], about):
            reason = f"{'its' if n == len(fits) else 'nearly all of its'} values are {known.title}"
            found.append((named, n, Recognised(known, len(fits) - n, reason)))
    # two that fit equally well: no answer
    found.sort(key=lambda one: one[:2], reverse=True)
    return found[0][2] if found and [one[:2] for one in found].count(found[0][:2]) == 1 else None
