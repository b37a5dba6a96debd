"""The results of a comparison: a row for every setting, and the frontier among them."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable._version import __version__
from hushtable.comparison.evaluate import ACHIEVED, DROP, is_row
from hushtable.errors import DataError, NotFound, ParameterError, UsageError, counted, did_you_mean
from hushtable.io.atomic import atomic_file, atomic_write_text
from hushtable.io.figures import html_grid, html_text, text_grid
from hushtable.io.files import write_table
from hushtable.io.plots import COLOURS, new_axes
from hushtable.models.base import TOLERANCE, compare
from hushtable.params import typed
from hushtable.policy.files import rebased
from hushtable.policy.policy import Policy
from hushtable.policy.text import in_a_comment
from hushtable.registry import measures, models

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_Point = tuple[int, float, float]
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
        return f"{self._heading()}\n{text_grid(*self._heads_and_rows())}"

    def _repr_html_(self) -> str:
        return f"<p>{self._heading()}</p>{html_grid(*self._heads_and_rows())}"

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
        made = new_axes(ax, (7.6, 4.6))
        _plot(made, self, self._to_draw())
        return made

    def _heads_and_rows(self) -> tuple[list[str], list[list[str]]]:
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
        signs = (-1.0 if better(privacy) == "higher" else 1.0, -1.0 if better(utility) == "higher" else 1.0)
        kept = pareto([(signs[0] * x, signs[1] * y) for _, x, y in self._points])
        return tuple(point[0] for point, keep in zip(self._points, kept, strict=True) if keep)

    @cached_property
    def _points(self) -> list[_Point]:
        """Position, privacy and utility of every row that has both."""
        if not self.quantities:
            return []
        privacy, utility = self.quantity(self.privacy), self.quantity(self.utility)
        return [
            (i, row["values"][privacy], row["values"][utility])
            for i, row in enumerate(self.rows)
            if row["values"].get(privacy) is not None and row["values"].get(utility) is not None
        ]

    def _to_draw(self) -> list[_Point]:
        if not self._points:
            raise UsageError("No setting produced a release, so there is no chart to draw.", code="no-release")
        return self._points

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

        Ties go to the first setting in the grid.

        Parameters
        ----------
        minimise, maximise : str
            A quantity; one of the two. Defaults to minimizing (or maximizing) the comparison's utility.
        where : sequence of str
            Such as ``"prosecutor <= 0.09"``.

        Raises
        ------
        UsageError
            If a quantity was not measured.
        NotFound
            If no setting meets the conditions; the message names the closest and what it lacks.
        """
        if minimise is not None and maximise is not None:
            raise UsageError(
                "A suggestion can minimize or maximize, not both.", code="goal", hint="Leave one of them out."
            )
        conditions = [Condition.read(text) for text in where]
        released = [row for row in self.rows if row["status"] == "ok"]
        if not released:
            raise NotFound(
                "None of the settings produced a release.",
                hint="The comparison lists the reasons; relax a parameter, or try other algorithms.",
            )
        named = minimise or maximise or self.utility
        goal = self.quantity(named)
        highest = maximise is not None or (minimise is None and better(goal) == "higher")
        conditions = [Condition(self.quantity(c.name), c.sign, c.bound) for c in conditions]
        fitting = [row for row in released if all(c.holds(row["values"].get(c.name)) for c in conditions)]
        if not fitting:
            raise _nothing(released, conditions, len(self.rows))
        defined = [row for row in fitting if row["values"].get(goal) is not None]
        if not defined:
            raise NotFound(
                f"{goal!r} is not defined for the {len(fitting)} settings that meet the conditions.",
                hint="Choose another quantity.",
            )
        best = min(defined, key=lambda row: -row["values"][goal] if highest else row["values"][goal])
        words = f"{'maximize' if highest else 'minimize'} {goal}"
        return Suggestion(best, words, tuple(conditions), len(fitting), len(self.rows), self.folder)

    def chart(self, path: Any) -> None:
        """Draw utility over privacy, the frontier as a line, as SVG, PNG or PDF depending on the file's suffix.

        Raises
        ------
        UsageError
            If no setting has a release, or the suffix is not a format that can be drawn.
        """
        kind = Path(path).suffix.lower().lstrip(".")
        if kind not in _FORMATS:
            raise UsageError(
                f"A chart can be written as {', '.join(_FORMATS)}. Got {Path(path).suffix!r} instead.",
                code="chart-format",
            )
        points = self._to_draw()
        picture = _render(self, points, kind)
        if kind == "svg":
            picture = _described(picture, self, points)
        with atomic_file(path) as out:
            out.write(picture)

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


_FORMATS = ("svg", "png", "pdf")
_MARKS = "osD^vPX<>*phd"


def _render(outcomes: Outcomes, points: list[_Point], kind: str) -> bytes:
    import matplotlib

    # a figure of its own instead of pyplot: no window system, no state shared with a notebook
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    settings: Any = {"svg.hashsalt": "hushtable", "svg.fonttype": "none", "font.size": 10}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(7.6, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        _plot(new_axes(figure.add_subplot()), outcomes, points)
        out = io.BytesIO()
        figure.savefig(out, format=kind, dpi=150, metadata=_no_date(kind))
    return out.getvalue()


def _plot(axes: Any, outcomes: Outcomes, points: list[_Point]) -> None:
    by_algorithm: dict[str, list[tuple[float, float]]] = {}
    for i, x, y in points:
        by_algorithm.setdefault(outcomes.rows[i]["algorithm"], []).append((x, y))
    for number, (name, own) in enumerate(by_algorithm.items()):
        axes.scatter(
            [x for x, _ in own],
            [y for _, y in own],
            marker=_MARKS[number % len(_MARKS)],
            color=COLOURS[number % len(COLOURS)],
            s=42,
            label=name,
            zorder=3,
        )
    on_frontier = set(outcomes.frontier)
    line = sorted((x, y) for i, x, y in points if i in on_frontier)
    axes.plot([x for x, _ in line], [y for _, y in line], color="#777777", linewidth=1.2, label="frontier", zorder=2)
    axes.set_xlabel(f"{outcomes.privacy} ({better(outcomes.quantity(outcomes.privacy))} is better)")
    axes.set_ylabel(f"{outcomes.utility} ({better(outcomes.quantity(outcomes.utility))} is better)")
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _no_date(kind: str) -> dict[str, None]:
    return {"svg": {"Date": None, "Creator": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]


def _described(picture: bytes, outcomes: Outcomes, points: list[_Point]) -> bytes:
    """Return the same SVG with a title and a description for people who cannot see it."""
    title = f"{outcomes.utility} over {outcomes.privacy} of {len(points)} settings"
    rows = [outcomes.rows[i] for i in outcomes.frontier]
    frontier = "; ".join(
        f"{row['algorithm']} with {row['models']}: {outcomes.privacy} "
        f"{row['values'][outcomes.quantity(outcomes.privacy)]:.4g}, {outcomes.utility} "
        f"{row['values'][outcomes.quantity(outcomes.utility)]:.4g}"
        for row in rows
    )
    words = f"<title>{escape(title)}</title><desc>On the frontier: {escape(frontier)}.</desc>"
    text = picture.decode("utf-8")
    text = re.sub(r"(<svg )", r'\1role="img" ', text, count=1)
    return re.sub(r"(<svg [^>]*>)", lambda m: m.group(1) + words, text, count=1).encode("utf-8")


RESULTS = "results.jsonl"
"""The file of a comparison's folder that keeps finished settings while it runs."""

_JSON, _CSV = "comparison.json", "comparison.csv"


def save_outcomes(outcomes: Outcomes, folder: Path, chart: str = "svg") -> dict[str, Path]:
    """Write a comparison into a folder that exists, each file complete or not at all.

    Returns
    -------
    dict
        Written files by content: ``table``, ``data``, and ``chart`` if a setting produced a release.

    Raises
    ------
    OutputError
    """
    files = {"table": folder / _CSV, "data": folder / _JSON}
    write_table(outcomes.table, files["table"])
    base = Path.cwd() if outcomes.folder is None else outcomes.folder
    document = {
        "hushtable": __version__,
        "policy_folder": Path(os.path.relpath(base, folder)).as_posix(),
        **outcomes.as_dict(),
    }
    atomic_write_text(files["data"], json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if outcomes.frontier:
        files["chart"] = folder / f"comparison.{chart}"
        outcomes.chart(files["chart"])
    return files


def load_outcomes(folder: Path) -> Outcomes:
    """Read the output of ``save_outcomes``.

    Raises
    ------
    DataError
        If the folder does not contain a comparison.
    """
    path = folder / _JSON
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple({k: v for k, v in row.items() if k != "frontier"} for row in document["rows"])
        if not all(_is_setting(row) for row in rows):
            raise ValueError("a row is not valid")
        base = folder / document["policy_folder"]
        return Outcomes(rows, str(document["privacy"]), str(document["utility"]), base)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(
            f"{str(folder)!r} does not contain a finished comparison.",
            code="no-comparison",
            hint="Give the folder that 'hushtable compare' wrote. To resume an interrupted comparison, run its "
            "command again.",
        ) from None


def _is_setting(row: dict[str, Any]) -> bool:
    texts = all(isinstance(row.get(name), str) for name in ("algorithm", "models", "cells"))
    # a setting whose parts refuse each other has no policy
    return texts and is_row(row) and (isinstance(row.get("policy"), dict) or row["status"] != "ok")


# From a comparison to a policy: the best setting among those that meet all conditions.


_FORM = re.compile(r"^\s*(?P<name>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^<>=\s]+)\s*$")


@dataclass(frozen=True)
class Condition:
    """A bound on a quantity, with its operator. Compared unrounded, with the models' tolerance of 1e-9.

    Examples
    --------
    >>> condition = Condition.read("prosecutor <= 0.09")
    >>> condition.holds(1 / 12), condition.holds(1 / 11)
    (True, False)
    >>> Condition.read("prosecutor under 0.09")
    Traceback (most recent call last):
    hushtable.errors.ParameterError: A condition must be QUANTITY <=, >=, < or > NUMBER. Got 'prosecutor under 0.09'
    instead.
    """

    name: str
    sign: str
    bound: float

    @classmethod
    def read(cls, text: str) -> Condition:
        """Read a condition as people write it.

        Raises
        ------
        ParameterError
        """
        found = _FORM.match(text)
        try:
            bound = float(found["bound"]) if found else float("nan")
        except ValueError:
            bound = float("nan")
        if found is None or not np.isfinite(bound):
            raise ParameterError(
                f"A condition must be QUANTITY <=, >=, < or > NUMBER. Got {text!r} instead.",
                code="condition",
            )
        return cls(found["name"], found["sign"], bound)

    def holds(self, value: float | None) -> bool:
        """Whether a value meets it; an undefined one does not."""
        if value is None:
            return False
        if self.sign == ">":
            return not bool(compare(np.array([value]), "<=", self.bound)[0])
        return bool(compare(np.array([value]), self.sign, self.bound)[0])  # type: ignore[arg-type]

    def miss(self, value: float | None) -> float:
        """Return how far a value is from meeting it, relative to the bound; 0 if it does."""
        if self.holds(value):
            return 0.0
        return float("inf") if value is None else max(abs(value - self.bound) / max(abs(self.bound), 0.01), TOLERANCE)

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.bound:g}"


@dataclass(frozen=True, repr=False)
class Suggestion:
    """The chosen setting.

    Attributes
    ----------
    row : mapping
        Its row of the comparison.
    goal : str
        What was minimized or maximized, in words.
    conditions : tuple of Condition
    fulfilled : int
        Number of settings that meet all conditions.
    tried : int
        Number of settings of the comparison.
    folder : Path, optional
        Folder that the files of the policy are relative to.
    """

    row: Mapping[str, Any]
    goal: str
    conditions: tuple[Condition, ...]
    fulfilled: int
    tried: int
    folder: Path | None = None

    def __repr__(self) -> str:
        found = ", ".join(f"{c.name} = {self.row['values'].get(c.name, '-')}" for c in self.conditions)
        return (
            f"Suggestion: {self.row['algorithm']}, {self.row['models']}, at most "
            f"{self.row['suppression limit']:.4g} suppressed\n"
            f"  {self.goal}, among {self.fulfilled:,} of {self.tried:,} settings that meet all conditions"
            + (f"\n  {found}" if found else "")
            + "\n  See .policy."
        )

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    @property
    def policy(self) -> Policy:
        """The setting as a policy."""
        return Policy(**self.row["policy"]).based_in(self.folder)

    def text(self, folder: Path | None = None) -> str:
        """Return the policy as YAML with comments that give the reasons, for a file in ``folder``."""
        policy = self.policy  # one with faults is refused before its files are looked for
        if folder is not None:
            policy = Policy(**rebased(self.row["policy"], self.folder, folder))
        return "\n".join([*self._comments(), policy.to_yaml()])

    def _comments(self) -> list[str]:
        asked = "; ".join(map(str, self.conditions)) or "none"
        lines = [
            f"# Suggested by hushtable {__version__} from a comparison of {self.tried} settings.",
            f"# Goal: {self.goal}. Conditions: {in_a_comment(asked)}. Settings that meet them: {self.fulfilled}.",
            f"# Setting: {in_a_comment(self.row['algorithm'])}; {in_a_comment(self.row['models'])}.",
            "# Results of its release of the compared table (another table will differ):",
        ]
        lines += [f"#   {in_a_comment(name)}: {_number(value)}" for name, value in self.row["values"].items()]
        return [*lines, "# A suggestion considers only what was measured. Read the policy before you run it."]


def _nothing(released: Sequence[Mapping[str, Any]], conditions: Sequence[Condition], tried: int) -> NotFound:
    def distance(row: Mapping[str, Any]) -> tuple[int, float]:
        misses = [c.miss(row["values"].get(c.name)) for c in conditions]
        return sum(miss == float("inf") for miss in misses), sum(miss for miss in misses if miss != float("inf"))

    closest = min(released, key=distance)
    lacks = [
        f"{c.name} is {_number(closest['values'].get(c.name))}, not {c.sign} {c.bound:g}"
        for c in conditions
        if not c.holds(closest["values"].get(c.name))
    ]
    return NotFound(
        f"No setting meets {' and '.join(map(str, conditions))}. The closest is "
        f"{closest['algorithm']} with {closest['models']} (suppression up to {closest['suppression limit']:g}): "
        f"{'; '.join(lacks)}.",
        code="none-fulfils",
        hint="Relax a condition, or compare more settings.",
    )


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.6g}"
