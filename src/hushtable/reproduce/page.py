"""The page of a paper: one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hushtable._version import __version__
from hushtable.io.figures import number
from hushtable.report.charts.frame import Heading
from hushtable.report.charts.lines import Curve, line_chart
from hushtable.report.charts.squares import square_chart
from hushtable.report.html import Markup, document, join, tag
from hushtable.report.page.look import LINES
from hushtable.report.page.style import STYLE
from hushtable.reproduce.items import VERDICTS, Cell, Item, Lines, PaperReading, Picture, Row, Squares, Table, Value
from hushtable.reproduce.papers import Reproduction

__all__ = ["page", "scoreboard"]

_STYLE = f"""{STYLE}{LINES}
.v {{ font-weight: 600; white-space: nowrap; }} .v-exact {{ color: var(--good); }} .v-within {{ color: var(--link); }}
.v-same-trend {{ color: var(--judge); }} .v-differs {{ color: var(--bad); }}
.item > .words {{ margin: .2rem 0 .6rem; }} td.both {{ white-space: nowrap; }}
td.same {{ color: var(--good); }} td.other b {{ color: var(--after); }} td .was {{ color: var(--soft); }}
tr.favoured td {{ background: var(--mark); }} table.summary td:last-child {{ color: var(--soft); }}
table.summary th {{ white-space: nowrap; }}
"""

_MEANING = {
    "exact": "every published value comes out, digit for digit",
    "within": "every value lies within the stated share of the published one, at most 25%",
    "same trend": "what the paper says in words holds; its numbers are not given, or ours are farther off",
    "differs": "something that was published does not come out here",
}


def page(found: Reproduction) -> str:
    """Return the whole HTML file.

    Examples
    --------
    >>> page(Reproduction("toy2000", "A toy.", "A toy.", ())).startswith("<!doctype html>")
    True
    """
    quick = "A quick run on small tables: it shows that everything runs, not what the paper shows. "
    body = join(
        tag("header", tag("h1", found.title), tag("p", quick, class_="not-met") if found.quick else None),
        tag(
            "main",
            scoreboard([found]),
            _summary(found.items),
            tag("h2", "How the paper was read"),
            *(tag("p", paragraph.replace("\n", " ")) for paragraph in found.text.split("\n\n")[1:]),
            *(_item(found.name, item) for item in found.items),
        ),
        _footer(found.name),
    )
    return document(found.title, _STYLE, body)


def scoreboard(papers: Sequence[Reproduction]) -> Markup:
    """Return the number of items by paper and verdict, as a table."""
    head = tag("tr", tag("th", "paper", scope="col"), *(tag("th", v, scope="col", class_="n") for v in VERDICTS))
    rows = [
        tag("tr", tag("th", p.name, scope="row"), *(tag("td", str(n), class_="n") for n in p.scores.values()))
        for p in papers
    ]
    meaning = tag("dl", *(join(tag("dt", name, class_=_class(name)), tag("dd", _MEANING[name])) for name in VERDICTS))
    folded = tag("details", tag("summary", "What the verdicts mean"), meaning)
    caption = tag("caption", "Items by verdict")
    return join(tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="scores"), folded)


def _summary(items: Sequence[Item]) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", tag("a", item.name, href=f"#{_anchor(item.name)}"), scope="row"),
            tag("td", item.words.partition(": ")[0], class_=_class(item.verdict)),
            tag("td", item.words.partition(": ")[2]),
            tag("td", item.reason),
        )
        for item in items
    ]
    head = tag("tr", *(tag("th", title, scope="col") for title in ("item", "verdict", "exactly", "why")))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="summary"), class_="wide")


def _item(paper: str, item: Item) -> Markup:
    return tag(
        "section",
        tag("h2", item.name, id=_anchor(item.name)),
        tag("p", item.about, class_="about"),
        tag("p", tag("span", item.words, class_=_class(item.verdict)), class_="words"),
        tag("p", item.reason) if item.reason else None,
        *(_picture(f"{paper}/{item.name}/{i}", picture, item.about) for i, picture in enumerate(item.pictures)),
        _statements(item.rows),
        _readings(item.readings),
        class_="item",
    )


def _picture(key: str, picture: Picture, about: str) -> Markup:
    if isinstance(picture, Table):
        return _table(picture, "Published and ours" if picture.caption == about else picture.caption)
    if isinstance(picture, Squares):
        return square_chart(
            Heading(key, picture.caption, picture.caption), picture.points, picture.boxes, x=picture.x, y=picture.y,
            show=number,
        )  # fmt: skip
    return _lines(key, picture)


def _lines(key: str, picture: Lines) -> Markup:
    curves = [Curve(line.name, line.points, line.band, line.published) for line in picture.lines]
    heading = Heading(key, picture.caption, picture.caption)
    return line_chart(heading, curves, x=picture.x, y=picture.y, show=number, zero=picture.zero)


def _table(picture: Table, title: str) -> Markup:
    head = tag("tr", *(tag("th", title, scope="col") for title in picture.head))
    rows = [
        tag("tr", tag("th", name, scope="row"), *(_cell(cell) for cell in cells))
        for name, cells in zip(picture.names, picture.cells, strict=True)
    ]
    caption = tag("caption", title)
    return tag("div", tag("table", caption, tag("thead", head), tag("tbody", *rows)), class_="wide")


def _cell(cell: Cell) -> Markup:
    """One value if both agree, both if they differ, and only ours if the paper has none."""
    if cell.published is None:
        return tag("td", _text(cell.ours))
    if cell.published == cell.ours:
        return tag("td", f"{_text(cell.ours)} ✓", class_="same")
    was = tag("span", f"{_text(cell.published)} ", class_="was")
    return tag("td", was, tag("b", _text(cell.ours)), class_="other")


def _statements(rows: Sequence[Row]) -> Markup | None:
    said = [r for r in rows if r.published == "yes"]
    if not said:
        return None
    marks = {"yes": "holds", "no": "broken", "undecided": "to-judge"}
    words = {"yes": "holds here", "no": "does not hold here", "undecided": "not decided by our numbers"}
    body = [
        tag("tr", tag("td", r.setting), tag("td", words[str(r.ours)], class_=f"short {marks[str(r.ours)]}"))
        for r in said
    ]
    head = tag("tr", tag("th", "what the paper says", scope="col"), tag("th", "here", scope="col"))
    return tag("table", tag("thead", head), tag("tbody", *body))


def _readings(readings: Sequence[PaperReading]) -> Markup | None:
    if not readings:
        return None
    body = [
        tag(
            "tr",
            tag("td", r.question if i == 0 or readings[i - 1].question != r.question else ""),
            tag("td", r.reading),
            tag("td", r.result),
            tag("td", "favoured" if r.favoured else "", class_="short"),
            class_="favoured" if r.favoured else None,
        )
        for i, r in enumerate(readings)
    ]
    titles = ("question", "reading", "what comes out", "by the published figures")
    head = tag("tr", *(tag("th", title, scope="col") for title in titles))
    return tag("div", tag("h3", "Readings tried"), tag("table", tag("thead", head), tag("tbody", *body)), class_="wide")


def _footer(name: str) -> Markup:
    files = [tag("a", f"{name}.{kind}", href=f"{name}.{kind}") for kind in ("csv", "json")]
    return tag(
        "footer",
        tag("p", "Where a table shows two values, the published one comes first and ours is bold. In figures, "
            "published values are dashed lines with hollow marks."),
        tag("p", f"Made by hushtable {__version__}: hushtable reproduce {name}. All rows: ", files[0], ", ", files[1],
            "."),
    )  # fmt: skip


def _text(value: Value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else number(value)


def _class(verdict: str) -> str:
    return f"v v-{verdict.replace(' ', '-')}"


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
