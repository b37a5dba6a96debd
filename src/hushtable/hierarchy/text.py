"""Values as labels: one way to print a number, a date or a scalar of a policy."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import HierarchyError

__all__ = ["label_text", "number_text", "text_of"]


def number_text(number: int | float) -> str:
    """Return the shortest text that reads back as the same number; whole numbers carry no ``.0``.

    Examples
    --------
    >>> number_text(20.0), number_text(0.1), number_text(2**60)
    ('20', '0.1', '1152921504606846976')
    """
    return str(number) if isinstance(number, int) else repr(float(number)).removesuffix(".0")


def label_text(scalar: Any) -> str:
    """Return a scalar written in a policy or a YAML tree as the text of a value.

    Raises
    ------
    HierarchyError
        For booleans and nulls: YAML reads an unquoted ``No`` or ``null`` as these, and guessing what was meant
        would leave the value uncovered.

    Examples
    --------
    >>> label_text(20), label_text("Norway"), label_text(datetime.date(1899, 1, 2))
    ('20', 'Norway', '1899-01-02')
    """
    if isinstance(scalar, str):
        return scalar
    if isinstance(scalar, int | float) and not isinstance(scalar, bool):
        return number_text(scalar)
    if isinstance(scalar, datetime.date):
        return scalar.isoformat()
    word = "null" if scalar is None else type(scalar).__name__
    raise HierarchyError(
        f"A label is a {word}, not a text, a number or a date.",
        code="bad-label",
        hint='Put labels such as "No", "yes" or "null" in quotes: YAML gives them another meaning.',
    )


def text_of(values: pa.Array) -> pa.Array:
    """Return the values as strings, as they are published.

    Examples
    --------
    >>> text_of(pa.array([1.0, 2.5])).to_pylist()
    ['1', '2.5']
    """
    if not pa.types.is_floating(values.type):
        return values if values.type == pa.string() else pc.cast(values, pa.string())
    doubles = values.cast(pa.float64())
    size = np.abs(doubles.to_numpy(zero_copy_only=False))
    text = pc.cast(doubles, pa.string())
    # Arrow prints these as Python does, in a tenth of the time; it writes other exponents
    odd = np.flatnonzero(~((size >= 1e-4) & (size < 1e10)))
    if not len(odd):
        return text
    other = pa.array([number_text(v) for v in doubles.take(pa.array(odd)).to_pylist()], pa.string())
    mask = np.zeros(len(size), dtype=np.bool_)
    mask[odd] = True
    return pc.replace_with_mask(text, pa.array(mask), other)
