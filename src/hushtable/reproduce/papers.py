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
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from hushtable.errors import OutputError, UsageError, did_you_mean
from hushtable.io.atomic import atomic_write_text
from hushtable.reproduce.items import VERDICTS, Item

__all__ = ["COLUMNS", "Paper", "Reproduction", "find_paper", "paper_names"]

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
        from hushtable.reproduce.page import page

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
