"""Small tables as text and as HTML, for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any


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
