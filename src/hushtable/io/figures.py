"""Formatting of numbers in human-readable form, for the command line and the studio."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any


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
    """Return a share as a percentage that never rounds a positive share to zero, nor a part to the whole.

    Examples
    --------
    >>> share(0.5), share(0.00001), share(0.0), share(0.9998), share(1.0)
    ('50.0%', '<0.1%', '0%', '>99.9%', '100.0%')
    """
    if part <= 0:
        return "0%"
    if 0.9995 <= part < 1:
        return ">99.9%"
    return "<0.1%" if part < 0.001 else f"{100 * part:.1f}%"


# Small tables as text and as HTML, for terminals and notebooks.


def text_grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as aligned text.

    Examples
    --------
    >>> print(text_grid(["risk", "after"], [["prosecutor", 0.2], ["k", 5]]))
    risk        after
    prosecutor  0.2
    k           5
    """
    cells = [list(map(str, row)) for row in (heads, *rows)]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in cells)


def html_grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as an HTML table, with all cells escaped.

    Examples
    --------
    >>> html_grid(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(str(h))}</th>" for h in heads)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(c))}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_text(text: str) -> str:
    """Return lines of text as preformatted HTML.

    Examples
    --------
    >>> html_text("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{html.escape(text)}</pre>"
