"""Formatting of numbers in human-readable form."""

from __future__ import annotations


def count(value: float | None) -> str:
    """Format a count.

    Examples
    --------
    >>> count(30162), count(2.5), count(4220.3), count(None)
    ('30,162', '2.5', '4,220', 'n/a')
    """
    if value is None:
        return "n/a"
    # fractions of people occur if some of a person's records are suppressed; among thousands they do not matter
    return f"{value:,.0f}" if float(value).is_integer() or value >= 1000 else f"{value:,.1f}"


def percent(share: float | None) -> str:
    """Format a share as a percentage that is never rounded to certainty or to nothing.

    Examples
    --------
    >>> percent(0.2), percent(0.00004), percent(0.99996), percent(0.0), percent(None)
    ('20.0%', '<0.1%', '>99.9%', '0%', 'n/a')
    """
    if share is None:
        return "n/a"
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 < share < 1 else f"{100 * share:.1f}%"


def number(value: float | None) -> str:
    """Format any other number, to four digits.

    Examples
    --------
    >>> number(0.0179595), number(583750.0), number(12.0)
    ('0.01796', '583,750', '12')
    """
    if value is None:
        return "n/a"
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 10000 else f"{value:.4g}"
