"""Ranges as written in labels and cells: ``[20, 30)``, ``[17, 24]``, ``< 20``, ``>= 80``, read back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

_RANGE = re.compile(r"\[((?:\\.|[^\\,])+), ((?:\\.|[^\\,])+)([\])])", re.DOTALL)


class Span(NamedTuple):
    """A range of numbers, of dates or of ordered labels. Bounds are text, or None if the range is open.

    Attributes
    ----------
    low, high : str, optional
        The lower bound belongs to the range.
    closed : bool
        Whether the upper one belongs to it too.
    text : str
        Its notation, for columns whose values happen to look like a range.
    """

    low: str | None
    high: str | None
    closed: bool = False
    text: str = ""


Below: TypeAlias = Sequence[str | Span]
"""What a label covers."""


def unescape(text: str) -> str:
    r"""Remove the backslash before any character.

    Examples
    --------
    >>> print(unescape(r"a\, b\\"))
    a, b\
    """
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text


def parse_span(text: str) -> Span | None:
    """Read a range; None for text that is not one.

    Examples
    --------
    >>> parse_span("[20, 30)")[:3], parse_span(">= 80")[:3], parse_span("teacher")
    (('20', '30', False), ('80', None, False), None)
    """
    if text.startswith("< ") and len(text) > 2:
        return Span(None, text[2:], text=text)
    if text.startswith(">= ") and len(text) > 3:
        return Span(text[3:], None, text=text)
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    return Span(unescape(found[1]), unescape(found[2]), found[3] == "]", text)
