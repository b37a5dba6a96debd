"""Whole numbers that are codes: their order means nothing."""

from __future__ import annotations

from hushtable.arrays import AnyArray
from hushtable.schema.hints import words_of

__all__ = ["code_reason"]

_CODES = (
    "code codes recode category class classification type kind status industry occupation sector race ethnicity region"
    " state county fips district department relationship citizenship nationality religion language marital sex gender"
    " sic soc isco isced nace naics msa puma stratum"
)
_QUANTITIES = (
    "age ages number num count amount sum total income salary wage wages earnings weeks week hours hour days day months"
    " month years year minutes seconds size weight height score rate ratio percent share price cost value gain loss"
    " points grade temperature pressure distance length width latitude longitude lat lon"
)
_MOST = 1000
"""More numbers than that are hardly codes of groups."""


def code_reason(name: str, numbers: AnyArray) -> str:
    """Return why the numbers of a column are codes; ``""`` where they are numbers.

    Parameters
    ----------
    name : str
        The column's name.
    numbers : array
        Its distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> code_reason("detailed industry recode", np.arange(52))
    "its name suggests codes ('industry'), and its numbers are few and whole"
    >>> code_reason("weeks worked in year", np.arange(53)), code_reason("income", np.arange(52))
    ('', '')
    """
    words = words_of(name)
    hints = [word for word in words if word in _CODES.split()]
    few = 1 < len(numbers) <= _MOST and numbers.dtype.kind in "iu" and bool((numbers >= 0).all())
    if not few or not hints or not set(_QUANTITIES.split()).isdisjoint(words):
        return ""
    return f"its name suggests codes ({hints[0]!r}), and its numbers are few and whole"
