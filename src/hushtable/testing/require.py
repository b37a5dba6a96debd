"""Assertions with a sentence, which also work under ``python -O``."""

from __future__ import annotations


def require(condition: object, message: str) -> None:
    """Raise ``AssertionError`` with the message unless the condition holds.

    Examples
    --------
    >>> require(1 < 2, "order is broken")
    >>> require(2 < 1, "order is broken")
    Traceback (most recent call last):
    AssertionError: order is broken
    """
    if not condition:
        raise AssertionError(message)
