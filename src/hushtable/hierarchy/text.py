"""Scalars of a policy as labels, in the text that values have."""

from __future__ import annotations

import datetime
from typing import Any

from hushtable.errors import HierarchyError
from hushtable.io.text import number_text

__all__ = ["label_text"]


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
