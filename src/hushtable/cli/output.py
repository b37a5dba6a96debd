"""Output to the terminal: plain text on stdout, progress and errors on stderr, or one JSON document.

Column names and messages are printed literally: nothing in them is read as markup, and control characters are
escaped, so that a file cannot control the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import rich.console
    from rich.table import Table

Console: TypeAlias = "rich.console.Console"
"""What text is printed on; rich is imported when something is."""
quiet = False
"""Whether to print only errors and ``--json`` output."""
logged = False
"""Whether stderr contains only JSON objects, one per line."""


def console(*, stderr: bool = False, error: bool = False) -> Console:
    """Return a console for stdout or stderr; color only on a terminal and without ``NO_COLOR``.

    With ``--quiet``, only an ``error`` console prints; with ``--log-json``, nothing goes to stderr.
    """
    from rich.console import Console

    hushed = (quiet and not error) or (logged and stderr)
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, quiet=hushed)


def deliver(data: Mapping[str, Any], as_json: bool, text: Callable[[Console], None]) -> None:
    """Print a command's result: the data as one JSON document, or as plain text."""
    if as_json:
        print_json(data)
    else:
        text(console())


def print_json(data: Any) -> None:
    """Print one JSON document on stdout; numbers that JSON cannot express (NaN, infinity) become null."""
    from hushtable.io.canonical import plain

    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(plain(data), indent=2, ensure_ascii=not utf8, allow_nan=False) + "\n")


def safe(text: str) -> str:
    r"""Return text with unprintable characters escaped; line breaks stay.

    Examples
    --------
    >>> safe("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def put(to: Console, text: str, style: str | None = None, *, wrap: bool = True) -> None:
    """Print a paragraph wrapped at words; text meant for copying (a command, a path) is not wrapped."""
    to.print(safe(text), style=style, soft_wrap=not wrap)


def bullet(to: Console, text: str, style: str | None = None) -> None:
    """Print a paragraph as a list item, with further lines indented."""
    from rich.padding import Padding
    from rich.table import Table

    item = Table.grid(padding=(0, 1))
    item.add_row("-", safe(text), style=style)
    to.print(Padding(item, (0, 0, 0, 2)))


def grid(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    fold: Sequence[str] = (),
) -> Table:
    """Return a table that stays readable at 80 columns.

    Parameters
    ----------
    columns : sequence of str
    rows : iterable of sequence of str
    right : sequence of str
        Columns with numbers, aligned right.
    fold : sequence of str
        Columns that may be wrapped; the others stay on one line as long as they fit.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="fold",
            no_wrap=name not in fold,
            min_width=10 if name in fold else None,
        )
    for row in rows:
        table.add_row(*(safe(cell) for cell in row))
    return table
