"""The results of a comparison: a row for every setting, and the frontier among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hushtable.comparison.evaluate import ACHIEVED, DROP
from hushtable.errors import UsageError, counted, did_you_mean
from hushtable.io.grids import html_grid, text_grid
from hushtable.params import typed
from hushtable.registry import measures, models

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hushtable.comparison.suggest import Suggestion

__all__ = ["Outcomes", "better", "pareto", "spelt"]

_SETTINGS = ("algorithm", "models", "suppression limit", "cells", "status")


@dataclass(frozen=True, repr=False)
class Outcomes:
    """The rows of a comparison, in the grid's order.

    Attributes
    ----------
    rows : tuple of mapping
        ``algorithm``, ``models``, ``suppression limit``, ``cells``, ``status``, ``reason``, ``values``, ``seconds``,
        and ``policy``: the setting as policy data, None if its parts cannot be combined.
    privacy, utility : str
        The two quantities of the frontier.
    folder : Path, optional
        Folder that the files of policies are relative to.
    reused : int
        Rows that came from an earlier run.
    """

    rows: tuple[Mapping[str, Any], ...]
    privacy: str = "prosecutor"
    utility: str = "ncp"
    folder: Path | None = field(default=None, compare=False)
    reused: int = field(default=0, compare=False)

    def __repr__(self) -> str:
        return f"{self._heading()}\n{text_grid(*self._shown())}"

    def _repr_html_(self) -> str:
        return f"<p>{self._heading()}</p>{html_grid(*self._shown())}"

    def _heading(self) -> str:
        return f"{counted(len(self.rows), 'setting', 'settings')} compared; * is on the frontier"

    @typed
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw utility over privacy, a mark per setting, and the frontier.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Defaults to the axes of a new figure.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        UsageError
            If no setting produced a release.
        """
        from hushtable.comparison.chart import plot

        return plot(self, ax)

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        """Return the two quantities of the frontier, a row per setting; ``table`` has everything."""
        heads = ["", "algorithm", "models", "suppression limit", self.privacy, self.utility, "status"]
        best = set(self.frontier)
        rows = [
            [
                "*" if place in best else "",
                str(row["algorithm"]),
                str(row["models"]),
                f"{row['suppression limit']:.4g}",
                *(_figure(row["values"].get(name)) for name in (self.privacy, self.utility)),
                row["reason"] or row["status"],
            ]
            for place, row in enumerate(self.rows)
        ]
        return heads, rows

    @cached_property
    def quantities(self) -> list[str]:
        """The names of measured quantities, for ``suggest``."""
        return list(dict.fromkeys(name for row in self.rows for name in row["values"]))

    @typed
    def quantity(self, name: str) -> str:
        """Return a quantity's name as in the rows; ``accuracy_drop`` is ``accuracy-drop``.

        Raises
        ------
        UsageError
            If nothing of that name was measured.
        """
        found = next((q for q in self.quantities if spelt(q) == spelt(name)), None)
        if found is None:
            hint = did_you_mean(name.strip(), self.quantities)
            if name.strip() in measures or spelt(name) == spelt(DROP):
                hint = "Run the comparison again with this measure (--measures, --accuracy)."
            raise UsageError(f"The comparison did not measure {name.strip()!r}.", code="unknown-quantity", hint=hint)
        return found

    @cached_property
    def frontier(self) -> tuple[int, ...]:
        """The positions of the rows that no other row beats in both privacy and utility."""
        if not self.quantities:
            return ()
        privacy, utility = self.quantity(self.privacy), self.quantity(self.utility)
        points = {
            i: (row["values"][privacy], row["values"][utility])
            for i, row in enumerate(self.rows)
            if row["values"].get(privacy) is not None and row["values"].get(utility) is not None
        }
        signs = (-1.0 if better(privacy) == "higher" else 1.0, -1.0 if better(utility) == "higher" else 1.0)
        kept = pareto([(signs[0] * x, signs[1] * y) for x, y in points.values()])
        return tuple(place for place, keep in zip(points, kept, strict=True) if keep)

    @property
    def table(self) -> pa.Table:
        """One line per setting: its settings, whether it is on the frontier, everything measured, and the seconds."""
        on_frontier = set(self.frontier)
        columns: dict[str, Any] = {name: [row[name] for row in self.rows] for name in _SETTINGS}
        columns["frontier"] = [i in on_frontier for i in range(len(self.rows))]
        for name in self.quantities:
            columns[name] = pa.array([row["values"].get(name) for row in self.rows], pa.float64())
        columns["seconds"] = [row["seconds"] for row in self.rows]
        columns["reason"] = [row["reason"] for row in self.rows]
        return pa.table(columns)

    @typed
    def suggest(
        self, minimise: str | None = None, where: Sequence[str] = (), *, maximise: str | None = None
    ) -> Suggestion:
        """Choose the setting that minimizes (or maximizes) a quantity among those that meet all conditions.

        Parameters
        ----------
        minimise, maximise : str
            A quantity; one of the two. Defaults to minimizing (or maximizing) the comparison's utility.
        where : sequence of str
            Such as ``"prosecutor <= 0.09"``.

        Raises
        ------
        NotFound
            If no setting does; the message names the closest.
        """
        from hushtable.comparison.suggest import suggest

        return suggest(self, minimise, where, maximise=maximise)

    def chart(self, path: Any) -> None:
        """Draw utility over privacy, the frontier as a line, as SVG, PNG or PDF depending on the file's suffix."""
        from hushtable.comparison.chart import draw

        draw(self, Path(path))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        on_frontier = set(self.frontier)
        return {
            "privacy": self.privacy,
            "utility": self.utility,
            "settings": len(self.rows),
            "reused": self.reused,
            "rows": [{**row, "frontier": i in on_frontier} for i, row in enumerate(self.rows)],
        }


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def spelt(name: str) -> str:
    """Return a quantity's name in any spelling.

    Examples
    --------
    >>> spelt(" Accuracy_Drop ") == spelt("accuracy-drop")
    True
    """
    return " ".join(name.lower().replace("_", "-").split())


def better(quantity: str) -> str:
    """Whether lower or higher values of a quantity are better.

    Examples
    --------
    >>> better("ncp"), better("accuracy"), better("prosecutor"), better("achieved entropy-l (disease)")
    ('lower', 'higher', 'lower', 'higher')
    >>> better("k-map-smallest"), better("k-map-share-below")
    ('higher', 'lower')
    """
    if quantity.startswith(ACHIEVED):
        name = quantity.removeprefix(ACHIEVED).partition(" (")[0]
        return "higher" if name in models and models[name].sense == ">=" else "lower"
    if quantity in measures:
        return str(measures[quantity].better)
    # of all that risks count, the size of the smallest class alone is the better the greater
    return "higher" if quantity.endswith("-smallest") else "lower"


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return which points no other point beats; lower is better in both.

    Equal points are all kept.

    Examples
    --------
    >>> pareto([(0.5, 1.0), (0.2, 2.0), (0.5, 3.0), (0.2, 2.0)])
    [True, True, False, True]
    """
    return [not any(x <= a and y <= b and (x < a or y < b) for x, y in points) for a, b in points]
