"""Formatting of numbers in human-readable form, for the command line and the studio."""

from __future__ import annotations

import math


def number(value: float | None) -> str:
    """Return a number in human-readable form.

    Examples
    --------
    >>> number(1234567), number(0.123456), number(5.0), number(None), number(float("inf"))
    ('1,234,567', '0.1235', '5', 'not defined', 'unbounded')
    """
    if value is None or math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-unbounded"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(part: float) -> str:
    """Return a share as a percentage that never rounds a positive share to zero.

    Examples
    --------
    >>> share(0.5), share(0.00001), share(0.0)
    ('50.0%', '<0.1%', '0%')
    """
    if part <= 0:
        return "0%"
    return "<0.1%" if part < 0.001 else f"{100 * part:.1f}%"
