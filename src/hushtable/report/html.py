"""HTML without a template engine: elements are functions, and every text is escaped unless it is markup already."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from typing import TypeAlias

_VOID = frozenset({"meta", "br", "hr", "path", "line", "rect", "circle"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | Markup | None"


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
    *children : str or Markup
        Plain text is escaped; None is omitted.
    **attributes
        ``class_`` is ``class``, ``aria_label`` is ``aria-label``; None and False are omitted, True has no value.

    Examples
    --------
    >>> print(tag("p", "a < b", tag("br"), class_="note", hidden=True))
    <p class="note" hidden>a &lt; b<br></p>
    >>> print(tag("td", "x", title='"<'))
    <td title="&quot;&lt;">x</td>
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>" if name in ("meta", "br", "hr") else f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return the children concatenated, plain text escaped.

    Examples
    --------
    >>> print(join("&", tag("b", "x")))
    &amp;<b>x</b>
    """
    return Markup("".join(c if isinstance(c, Markup) else _text(c) for c in children if c is not None))


def document(title: str, style: str, body: Markup, *head: Markup) -> str:
    """Return a whole file that needs no script, no network and no other file.

    >>> document("A < B", "p { color: red; }", tag("p", "x")).startswith("<!doctype html>")
    True
    """
    # no script, no frame, no request: even a hostile column name could do nothing
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    top = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        *head,
        tag("title", title),
        tag("style", Markup(style)),
    )
    return f"<!doctype html>\n{tag('html', top, tag('body', body), lang='en')}\n"


def _text(text: str) -> str:
    """Escape text; control characters, which HTML does not allow, are shown as escapes."""
    return html.escape("".join(c if c.isprintable() or c in "\n " else repr(c)[1:-1] for c in text))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_text(str(value))}"'


# Small pieces that several sections use.


def bullets(items: Sequence[Child]) -> Markup:
    """Return an unordered list."""
    return tag("ul", *(tag("li", item) for item in items if item))


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Child]], *, right: Sequence[int] = ()) -> Markup:
    """Return a table whose rows are named by their first cell; columns in ``right`` hold numbers."""

    def kind(j: int) -> str | None:
        return "n" if j in right else None

    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(tag("th", h, scope="col", class_=kind(j)) for j, h in enumerate(head)))),
            tag(
                "tbody",
                *(
                    tag(
                        "tr",
                        tag("th", row[0], scope="row"),
                        *(tag("td", c, class_=kind(j)) for j, c in enumerate(row[1:], 1)),
                    )
                    for row in rows
                ),
            ),
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def facts_table(caption: str, rows: Sequence[tuple[str, Child]]) -> Markup:
    """Return a table of names and their meanings."""
    return tag(
        "table",
        tag("caption", caption),
        tag("tbody", *(tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows)),
    )
