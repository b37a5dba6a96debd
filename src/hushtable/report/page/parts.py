"""Small pieces that several sections use."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report.html import Child, Markup, tag


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
