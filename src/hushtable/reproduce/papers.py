"""The papers whose experiments can be repeated: every module here that is named after an author and a year.

Such a module has ``PARTS``: the name of each part and the function ``(seed, quick)`` that returns its items. ``SEED``
is its default seed. Its docstring says how the paper was interpreted.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import multiprocessing
import os
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from hushtable._version import __version__
from hushtable.errors import OutputError, UsageError, did_you_mean
from hushtable.io.atomic import atomic_write_text
from hushtable.io.figures import number
from hushtable.parallel import THREADS, threads
from hushtable.report.charts.frame import Heading
from hushtable.report.charts.lines import Curve, line_chart, square_chart
from hushtable.report.html import Markup, document, join, tag
from hushtable.report.page.look import LINES, STYLE
from hushtable.reproduce.items import VERDICTS, Cell, Item, Lines, PaperReading, Picture, Row, Squares, Table, Value

COLUMNS = ("item", "experiment", "setting", "published", "ours")
"""The columns of the CSV file."""

_NAME = re.compile(r"[a-z]+\d{4}")


@dataclass(frozen=True)
class Paper:
    """One paper's experiments.

    Attributes
    ----------
    name : str
    module : module
    """

    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        """The first sentence of the module's docstring."""
        return (inspect.getdoc(self.module) or self.name).partition("\n")[0]

    @property
    def text(self) -> str:
        """How the experiments were interpreted: the whole docstring."""
        return inspect.getdoc(self.module) or ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts."""
        return tuple(self.module.PARTS)

    def chosen(self, part: str | None) -> tuple[str, ...]:
        """The requested part, or all of them."""
        if part is None:
            return self.parts
        if part not in self.parts:
            raise UsageError(
                f"{self.name} has no part {part!r}.",
                code="unknown-part",
                hint=did_you_mean(part, self.parts),
            )
        return (part,)

    def run(self, part: str, *, seed: int | None = None, quick: bool = False) -> list[Item]:
        """Run one part and return its items.

        Parameters
        ----------
        part : str
            One of ``parts``.
        seed : int, optional
            Defaults to the module's own.
        quick : bool
            Whether to use small tables and few settings, which shows that it runs, not what the paper shows.
        """
        work: Callable[[int, bool], Sequence[Item]] = self.module.PARTS[part]
        return list(work(self.seed if seed is None else seed, quick))

    @property
    def seed(self) -> int:
        """The default seed."""
        return int(getattr(self.module, "SEED", 0))


@dataclass(frozen=True)
class Reproduction:
    """The results of a paper's experiments.

    Attributes
    ----------
    name, title, text : str
        Of the paper.
    items : tuple of Item
    quick : bool
    """

    name: str
    title: str
    text: str
    items: tuple[Item, ...]
    quick: bool = False

    @property
    def scores(self) -> dict[str, int]:
        """How many items have each verdict."""
        counts: Counter[str] = Counter(item.verdict for item in self.items)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    def in_order(self) -> Reproduction:
        """The items sorted: tables first, then figures, each by number."""
        return replace(self, items=tuple(sorted(self.items, key=lambda item: _place(item.name))))

    def data(self) -> dict[str, Any]:
        """The results as JSON-ready data."""
        return {
            "paper": self.name,
            "title": self.title,
            "text": self.text,
            "quick": self.quick,
            "scores": self.scores,
            "items": [item.model_dump(mode="json") for item in self.items],
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Reproduction:
        """Read the results from the output of ``data``.

        Examples
        --------
        >>> empty = Reproduction("toy2000", "A toy.", "", ())
        >>> Reproduction.of(empty.data()) == empty
        True
        """
        items = tuple(Item.model_validate(item) for item in data["items"])
        return cls(data["paper"], data["title"], data["text"], items, bool(data["quick"]))

    def csv(self) -> str:
        """Every row of every item."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for item in self.items:
            writer.writerows([item.name, r.experiment, r.setting, r.published, r.ours] for r in item.rows)
        return text.getvalue()

    def write(self, folder: Path) -> list[Path]:
        """Write the page, the rows as CSV and everything as JSON; return the files, the page first."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise OutputError(f"Cannot create the folder {str(folder)!r}.", hint="Choose another one.") from None
        texts = {
            "html": page(self),
            "csv": self.csv(),
            "json": json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n",
        }
        files = []
        for kind, text in texts.items():
            files.append(folder / f"{self.name}.{kind}")
            atomic_write_text(files[-1], text)
        return files


def _place(name: str) -> tuple[int, int, str]:
    """The position of an item on its page; items other than tables and figures keep their order in between."""
    numbered = re.fullmatch(r"(Table|Figure) (\d*)(.*)", name)
    if numbered is None:
        return 1, 0, ""
    kind, number, rest = numbered.groups()
    return (0 if kind == "Table" else 2), int(number or 0), rest


def paper_names() -> tuple[str, ...]:
    """Return the names of all papers, without importing them.

    Examples
    --------
    >>> "sun2011" in paper_names()
    True
    """
    package = importlib.import_module("hushtable.reproduce")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if _NAME.fullmatch(m.name)))


def find_paper(name: str) -> Paper:
    """Return a paper by its name, or raise with a hint.

    Examples
    --------
    >>> find_paper("domingo2007").parts
    ('table-1', 'table-2')
    >>> find_paper("sun2012")
    Traceback (most recent call last):
    hushtable.errors.UsageError: There is no paper 'sun2012'. Did you mean 'sun2011'?
    """
    if name not in paper_names():
        raise UsageError(f"There is no paper {name!r}.", code="unknown-paper", hint=did_you_mean(name, paper_names()))
    return Paper(name, importlib.import_module(f"hushtable.reproduce.{name}"))


_STYLE = f"""{STYLE}{LINES}
.v {{ font-weight: 600; white-space: nowrap; }} .v-exact {{ color: var(--good); }} .v-within {{ color: var(--link); }}
.v-same-trend {{ color: var(--judge); }} .v-differs {{ color: var(--bad); }}
.item > .words {{ margin: .2rem 0 .6rem; }} td.both {{ white-space: nowrap; }}
td.same {{ color: var(--good); }} td.other b {{ color: var(--after); }} td .was {{ color: var(--soft); }}
tr.favoured td {{ background: var(--mark); }} table.summary td:last-child {{ color: var(--soft); }}
table.summary th {{ white-space: nowrap; }}
"""

_MEANING = {
    "exact": "every published value is reproduced, digit for digit",
    "within": "every value lies within the stated share of the published one, at most 25%",
    "same trend": "what the paper says in words holds; its numbers are not given, or ours are farther off",
    "differs": "something that was published is not reproduced here",
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


Task = tuple[str, str]
"""Paper and part."""


def reproduce_papers(
    papers: Sequence[Paper],
    *,
    part: str | None = None,
    seed: int | None = None,
    quick: bool = False,
    done: Callable[[str, str], None] = lambda paper, part: None,
    check: Callable[[], object] = lambda: None,
) -> list[Reproduction]:
    """Run papers and return their results, in the same order.

    Parameters
    ----------
    papers : sequence of Paper
    part, seed, quick
        As in ``Paper.run``.
    done : callable
        Called with paper and part whenever one is finished.
    check : callable
        Called often; may raise to stop everything.
    """
    tasks = [(p, name) for p in papers for name in p.chosen(part)]
    found: dict[Task, list[Item]] = {}
    for task, items in _each(tasks, seed, quick, check):
        found[task] = items
        done(*task)
    return [
        Reproduction(
            p.name, p.title, p.text, tuple(i for name in p.chosen(part) for i in found[p.name, name]), quick
        ).in_order()
        for p in papers
    ]


def _each(
    tasks: Sequence[tuple[Paper, str]], seed: int | None, quick: bool, check: Callable[[], object]
) -> Iterator[tuple[Task, list[Item]]]:
    workers = min(threads(), len(tasks))
    if workers == 1:
        for paper, part in tasks:
            check()
            yield (paper.name, part), paper.run(part, seed=seed, quick=quick)
        return
    # spawned, since a fork would lose the threads of numba and Arrow
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _alone)
    try:
        slow = sorted(tasks, key=lambda task: task[1] not in getattr(task[0].module, "SLOW", ()))
        waiting = {pool.submit(_run, p.name, part, seed, quick): (p.name, part) for p, part in slow}
        while waiting:
            check()
            ready, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in ready:
                yield waiting.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone() -> None:
    """Keep each process to one core: times are then those of one core, and processes do not disturb each other."""
    os.environ[THREADS] = "1"


def _run(paper: str, part: str, seed: int | None, quick: bool) -> list[Item]:
    return find_paper(paper).run(part, seed=seed, quick=quick)
