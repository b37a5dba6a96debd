"""The papers whose experiments can be run again: every module here that is called after an author and a year.

Such a module has a function ``rows`` that yields ``{"experiment", "setting", "published", "ours"}``. It is given those
of ``part``, ``seed`` and ``quick`` that it takes. ``PARTS`` names its parts, if it has any, and a function
``write(folder, rows)``, if there is one, writes more than the rows (plots, say) and returns the files.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import io
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from hushtable.errors import OutputError, UsageError, did_you_mean
from hushtable.io.atomic import atomic_write_text

__all__ = ["COLUMNS", "Paper", "Row", "find_paper", "paper_names", "row"]

Row: TypeAlias = dict[str, Any]

COLUMNS = ("experiment", "setting", "published", "ours")
"""What every row of a reproduction has."""

_NAME = re.compile(r"[a-z]+\d{4}")


def row(experiment: str, setting: str, published: Any, ours: Any) -> Row:
    """Return one row; what a paper does not say is None.

    Examples
    --------
    >>> row("Table 10", "k=3", 25, 0)
    {'experiment': 'Table 10', 'setting': 'k=3', 'published': 25, 'ours': 0}
    """
    return {"experiment": experiment, "setting": setting, "published": published, "ours": ours}


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
        """How the experiments were read: the whole docstring."""
        return inspect.getdoc(self.module) or ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts; none where it is one piece."""
        return tuple(getattr(self.module, "PARTS", ()))

    def rows(self, *, part: str | None = None, seed: int | None = None, quick: bool = False) -> Iterator[Row]:
        """Run the experiments and yield their rows as they are done.

        Parameters
        ----------
        part : str, optional
            One of ``parts``; all of them where left out.
        seed : int, optional
            The module's own where left out.
        quick : bool
            Small tables and few settings: shows that it runs, not what the paper shows.
        """
        if part is not None and part not in self.parts:
            raise UsageError(
                f"{self.name} has no part {part!r}.",
                code="unknown-part",
                hint=did_you_mean(part, self.parts) or "It is one piece: leave --part out.",
            )
        takes = inspect.signature(self.module.rows).parameters
        if quick and "quick" not in takes:
            raise UsageError(f"{self.name} has no quick run.", code="no-quick-run", hint="Leave --quick out.")
        if seed is not None and "seed" not in takes:
            raise UsageError(f"{self.name} takes no seed.", code="no-seed", hint="Leave --seed out.")
        given: Mapping[str, Any] = {"part": part, "seed": seed, "quick": quick or None}
        yield from self.module.rows(**{name: value for name, value in given.items() if value is not None})

    def write(self, folder: Path, rows: Sequence[Row]) -> list[Path]:
        """Write the rows as CSV and JSON, and what else the paper's module has to show; return the files."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise OutputError(f"The folder {str(folder)!r} cannot be made.", hint="Choose another one.") from None
        table, data = folder / f"{self.name}.csv", folder / f"{self.name}.json"
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        atomic_write_text(table, text.getvalue())
        atomic_write_text(data, json.dumps(list(rows), indent=2, ensure_ascii=False) + "\n")
        more = self.module.write(folder, rows) if hasattr(self.module, "write") else []
        return [table, data, *more]


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
    >>> find_paper("sun2011").parts
    ('global', 'local')
    >>> find_paper("sun2012")
    Traceback (most recent call last):
    hushtable.errors.UsageError: There is no paper 'sun2012'. Did you mean 'sun2011'?
    """
    if name not in paper_names():
        raise UsageError(f"There is no paper {name!r}.", code="unknown-paper", hint=did_you_mean(name, paper_names()))
    return Paper(name, importlib.import_module(f"hushtable.reproduce.{name}"))
