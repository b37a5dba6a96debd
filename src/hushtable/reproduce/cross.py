"""Every model with every algorithm on the same records: feasibility, loss, time, and the success of three attacks.

No paper has this comparison: each has its own algorithms, and its own reading of the others' models. Here all cells
have the same rows of Adult, the same five quasi-identifiers and hierarchies, the same suppression limit and the same
seed. A cell has a single model at one setting (``SETTINGS``): a moderate one for this table, not the paper's.

A cell is one of: released; *infeasible* (proved: no release exists); *not found* (this algorithm found none); *refused*
(model and algorithm cannot be combined; the reason is given); *too slow* (beyond the limit per cell); *failed* (the
process ended, which is a bug). Loss is NCP, from 0 (exact) to 1 (everything suppressed or generalized away). Attacks
are reported as the share of correct guesses in excess of the same guess without the release.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import registry
from hushtable.api import run_plan
from hushtable.datasets.adult_facts import ADULT_TREES
from hushtable.datasets.adult_like import adult_policy
from hushtable.datasets.loaders import load_adult
from hushtable.engines.release import Release
from hushtable.errors import Infeasible, NotFound, UsageError
from hushtable.models.base import Stat
from hushtable.policy.policy import Policy
from hushtable.report.charts.bars import bar_chart
from hushtable.report.charts.frame import Heading
from hushtable.report.html import Child, Markup, bullets, document, join, table, tag
from hushtable.report.page.look import STYLE

QUASI = ("age", "sex", "race", "marital-status", "education")
"""The quasi-identifiers of every cell."""

SENSITIVE = "occupation"
"""The sensitive column; but eps-m needs numbers, and protects age, and dp publishes no sensitive column."""

SUPPRESSION = 0.02
"""The share of records that may be suppressed."""

ATTACKS = ("linkage", "homogeneity", "definetti")
"""One attack on identities, one on values that are certain, one on values that are likely."""

_GUARD = "guard"

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "k-anonymity": {"k": 5},
    "k-concealment": {"k": 5},
    "k-map": {"k": 20},
    "delta-presence": {"low": 0.0, "high": 0.2},
    "average-risk": {"average": 0.1, "maximum": 0.25},
    "household": {"maximum": 0.5, "size": 3},
    "journalist": {"maximum": 0.05},
    "marketer": {"share": 0.02},
    "sample-uniqueness": {"share": 0.02},
    "minimal-uniques": {"size": 3, "share": 0.02},
    "population-uniqueness": {"share": 0.01},
    "dp": {"epsilon": 2.0, "delta": 1e-6},
    "p-sensitive": {"p": 3},
    "p-plus-sensitive": {"p": 2},
    "p-alpha-sensitive": {"p": 3, "alpha": 1.0},
    "alp-dif": {"alp": {"Exec-managerial": 0.4, "Prof-specialty": 0.4}, "dif": {"Exec-managerial": 0.3}},
    "distinct-l": {"l": 3},
    "probabilistic-l": {"l": 3},
    "entropy-l": {"l": 3},
    "recursive-cl": {"c": 2.0, "l": 3},
    "negation-recursive-cl": {"c": 2.0, "l": 2, "n": 1},
    "value-bounds": {"bounds": {"Exec-managerial": 0.3, "Prof-specialty": 0.3}},
    "l-alpha": {"l": 2, "alpha": 1.0},
    "alpha-k": {"alpha": 0.4, "k": 5},
    "alpha-beta-k": {"alpha": 1, "beta": 3, "k": 5},
    "a-d": {"a": 0.7, "d": 2},
    "eps-m": {"eps": 3.0, "m": 2},
    "t-closeness": {"t": 0.4},
    "beta-likeness": {"beta": 3.0},
    "delta-disclosure": {"delta": 2.0},
    "bayes-optimal": {"theta": 0.3},
    "m-confidentiality": {"m": 2, "k": 6},
    "guarding-nodes": {"guard": _GUARD, "breach": 0.6},
    "m-invariance": {"m": 3},
    "bt-privacy": {"b": 0.5, "t": 0.3},
    "privacy-skyline": {"c": 0.7, "l": 1, "k": 1, "m": 1},
    "ck-safety": {"c": 0.7, "k": 1},
}
"""The parameters of each model."""


@dataclass(frozen=True)
class CrossResult:
    """One model with one algorithm.

    Attributes
    ----------
    model, algorithm : str
    outcome : str
        released, infeasible, not found, refused, too slow or failed.
    reason : str
        Why there is no release.
    seconds : float
        Wall time until the release was verified, or the search ended.
    loss, suppressed : float, optional
        NCP, and the share of suppressed records.
    classes : int
    attacks : mapping of str to (float, float)
        Rate and baseline of each attack that could be run.
    """

    model: str
    algorithm: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0
    loss: float | None = None
    suppressed: float | None = None
    classes: int = 0
    attacks: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the cell as JSON-ready data."""
        return asdict(self)


def cross_table(rows: int) -> tuple[pa.Table, pa.Table]:
    """Return some records of Adult, evenly spaced, with a column of guarding nodes; and all of Adult as population.

    Every tenth person guards the group of their occupation.

    Raises
    ------
    DataError
        If Adult is not found; the message says where it is published.
    """
    everybody = load_adult("30162")
    place = np.linspace(0, everybody.num_rows - 1, min(rows, everybody.num_rows)).astype(np.int64)
    table = everybody.select([*QUASI, SENSITIVE]).take(pa.array(place))
    group = {value: name for name, values in ADULT_TREES[SENSITIVE].items() for value in values}
    guards = [group.get(value) if i % 10 == 0 else None for i, value in enumerate(table.column(SENSITIVE).to_pylist())]
    return table.append_column(_GUARD, pa.array(guards, pa.string())), everybody.select(list(QUASI))


def _policy(model: str, algorithm: str, population: pa.Table) -> Policy:
    """Return the policy of a cell."""
    columns = adult_policy()["columns"]
    chosen: dict[str, Any] = {name: dict(columns[name]) for name in QUASI}
    tree = ADULT_TREES[SENSITIVE]
    similar: Mapping[str, Any] = tree
    if model == "alpha-beta-k":
        # more than half of the people are in one group of occupations, so no class could have a minority of each
        similar = {value: [value] for values in tree.values() for value in values}
    chosen[SENSITIVE] = {"role": "sensitive", "hierarchy": {"tree": tree}, "categories": similar}
    chosen[_GUARD] = {"role": "sensitive" if model == "guarding-nodes" else "drop"}
    on = SENSITIVE
    if model == "eps-m":
        chosen["age"], chosen[SENSITIVE], on = {"role": "sensitive", "kind": "numeric"}, {"role": "drop"}, "age"
    given = dict(SETTINGS[model])
    if any(p.name == "on" for p in registry.models[model].params()):
        given["on"] = on
    counts = Stat.POPULATION in registry.models.build(model, given).stats_needed()
    counted = {"population": population} if counts else {}
    limit = SUPPRESSION
    if model == "dp":
        # it publishes a sample, so most records are missing, and no column unchanged
        limit, chosen[SENSITIVE] = 1.0, {"role": "drop"}
    return Policy(
        columns=chosen, models=[{model: given}], algorithm={algorithm: {}}, suppression=limit, seed=7, **counted
    )


def cross_cells(
    rows: int = 1000,
    seconds: float = 5.0,
    models: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
) -> Iterator[CrossResult]:
    """Run the cells, row by row.

    Parameters
    ----------
    rows : int
        Records of Adult.
    seconds : float
        Limit per cell, and per attack on its release.
    models, algorithms : sequence of str, optional
        Defaults to all.
    """
    cross_table(1)  # without Adult, stop here
    worker = _Worker(rows)
    try:
        for model in SETTINGS if models is None else models:
            for algorithm in registry.algorithms if algorithms is None else algorithms:
                yield worker.cell(model, algorithm, seconds)
    finally:
        worker.stop()


class _Worker:
    """A process that runs cells one after the other, and is replaced by another if a cell takes too long."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._rows), daemon=True)
        self._process.start()
        theirs.close()
        self._line.recv()  # imports and the table are not counted

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._line.close()

    def cell(self, model: str, algorithm: str, seconds: float) -> CrossResult:
        """Run one cell; each attack on its release has the same time limit again."""
        self._line.send((model, algorithm))
        cell = self._answer(seconds)
        if cell is None:
            ended = not self._process.is_alive()
            self.stop()
            self._start()
            if ended:
                return CrossResult(model, algorithm, "failed", "The process that ran it ended.")
            return CrossResult(model, algorithm, "too slow", f"No release within {seconds:g} s.", seconds)
        if cell.outcome != "released":
            return cell
        attacked = self._answer(len(ATTACKS) * seconds)
        if attacked is None:
            self.stop()
            self._start()
        return attacked or cell

    def _answer(self, seconds: float) -> CrossResult | None:
        try:
            if self._line.poll(seconds):
                found: CrossResult = self._line.recv()
                return found
        except (EOFError, OSError):
            self._process.join(5)
        return None


def _work(line: Any, rows: int) -> None:
    """Send a cell for every (model, algorithm) received, and again after its release was attacked."""
    table, population = cross_table(rows)
    line.send(True)
    while True:
        model, algorithm = line.recv()
        cell, release = _cell(model, algorithm, table, population)
        line.send(cell)
        if release is not None:
            attacks = {name: found for name in ATTACKS if (found := _attacked(release, name)) is not None}
            line.send(replace(cell, attacks=attacks))


def _cell(model: str, algorithm: str, table: pa.Table, population: pa.Table) -> tuple[CrossResult, Release | None]:
    start = time.perf_counter()

    def failed(outcome: str, reason: str) -> tuple[CrossResult, None]:
        return CrossResult(model, algorithm, outcome, reason, round(time.perf_counter() - start, 3)), None

    try:
        release = run_plan(table, _policy(model, algorithm, population).plan())
    except Infeasible as error:
        return failed("infeasible", str(error))
    except NotFound as error:
        return failed("not found", str(error))
    except UsageError as error:
        return failed("refused", str(error))
    took = round(time.perf_counter() - start, 3)
    kept = release.verification.people / table.num_rows
    return CrossResult(
        model, algorithm, "released", "", took, _loss(release), round(1 - kept, 6), release.verification.classes
    ), release  # fmt: skip


def _loss(release: Release) -> float | None:
    try:
        return round(float(release.measure("ncp")), 6)
    except UsageError:
        return None


def _attacked(release: Release, name: str) -> tuple[float, float] | None:
    """Return rate and baseline; None if the attack cannot be run."""
    try:
        found = release.attack(name)
    except UsageError:
        return None
    return round(found.rate, 6), round(found.baseline, 6)


_SHORT = {
    "infeasible": "none exists",
    "not found": "not found",
    "refused": "refused",
    "too slow": "too slow",
    "failed": "failed",
}

_BROAD = """
@media screen { body { max-width: 150rem; } body > p, body > ul { max-width: 60rem; }
  td.n, th.n { padding-left: .6rem; }
  .wide tbody th { position: sticky; left: 0; background: var(--paper); white-space: nowrap; } }
"""
"""As wide as the window, with the model names always in view, because there are many algorithms."""


def cross_page(cells: Sequence[CrossResult], *, rows: int, seconds: float) -> str:
    """Return the page.

    Parameters
    ----------
    cells : sequence of CrossResult
    rows : int
        Number of records of Adult in each cell.
    seconds : float
        The limit per cell.

    Examples
    --------
    >>> page = cross_page([CrossResult("k-anonymity", "mondrian", "released", loss=0.2)], rows=500, seconds=5)
    >>> "500 records" in page and "0.200" in page
    True
    """
    body = join(
        tag("h1", "Every model with every algorithm"),
        tag("p", _about(cells, rows, seconds)),
        bar_chart(
            Heading("released", "Models with a release", "For how many models each algorithm released."),
            _released(cells),
            show=lambda v: f"{v:.0f}", scale=lambda v: f"{v:.0f}", head=("algorithm", "models"),
        ),
        tag("h2", "Feasibility and loss"),
        tag("p", "NCP of the release: 0 is exact, 1 says nothing. Otherwise, the reason why there is none."),
        _matrix("Loss (NCP)", cells, lambda c: _number(c.loss, 3)),
        tag("h2", "Time"),
        _matrix("Seconds until a release was verified, or the search ended", cells, lambda c: f"{c.seconds:.2f}",
                every=True),
        tag("h2", "What attacks get"),
        tag("p", "Share of right guesses with the release, minus the same guess without it, in percentage points."),
        *(_matrix(f"Attack: {name}", cells, lambda c, name=name: _lift(c, name)) for name in ATTACKS),  # type: ignore[misc]
        tag("h2", "Settings"),
        bullets([_setting(name) for name in dict.fromkeys(c.model for c in cells)]),
        tag("h2", "Why there is no release"),
        _reasons(cells),
    )  # fmt: skip
    return document("Every model with every algorithm", STYLE + _BROAD, body)


def _about(cells: Sequence[CrossResult], rows: int, seconds: float) -> str:
    models, algorithms = ({getattr(c, name) for c in cells} for name in ("model", "algorithm"))
    released = sum(c.outcome == "released" for c in cells)
    return (
        f"{len(models)} models with {len(algorithms)} algorithms on the same {rows:,} records of Adult: {released} of "
        f"{len(cells)} cells have a release. Quasi-identifiers: {', '.join(QUASI)}. At most {SUPPRESSION:.0%} of "
        "the records are suppressed (no limit for dp, which publishes a sample), and each cell has "
        f"{seconds:g} seconds. Each model is used alone, so a model against attribute disclosure says nothing about "
        "who can be found. Settings are moderate ones for this table, not the papers'."
    )


def _released(cells: Sequence[CrossResult]) -> list[tuple[str, float]]:
    count: dict[str, float] = dict.fromkeys((c.algorithm for c in cells), 0.0)
    for cell in cells:
        count[cell.algorithm] += cell.outcome == "released"
    return sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))


def _matrix(
    caption: str, cells: Sequence[CrossResult], show: Callable[[CrossResult], str], *, every: bool = False
) -> Markup:
    """Return models by algorithms; cells without a release say why, unless every cell is shown."""
    algorithms = list(dict.fromkeys(c.algorithm for c in cells))
    found = {(c.model, c.algorithm): c for c in cells}
    rows: list[list[Child]] = []
    for model in dict.fromkeys(c.model for c in cells):
        own = [found.get((model, algorithm)) for algorithm in algorithms]
        rows.append([model, *("" if c is None else _cell_markup(c, show, every=every) for c in own)])
    return table(caption, ["model", *algorithms], rows, right=range(1, len(algorithms) + 1))


def _cell_markup(cell: CrossResult, show: Callable[[CrossResult], str], *, every: bool) -> Child:
    if every or cell.outcome == "released":
        return show(cell)
    return tag("span", _SHORT[cell.outcome], class_="quiet", title=cell.reason)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _lift(cell: CrossResult, name: str) -> str:
    if name not in cell.attacks:
        return "-"
    rate, baseline = cell.attacks[name]
    return f"{100 * (rate - baseline):+.1f}"


def _setting(model: str) -> str:
    given: Mapping[str, object] = SETTINGS.get(model, {})
    return f"{model}: {', '.join(f'{name} = {value}' for name, value in given.items())}"


def _reasons(cells: Sequence[CrossResult]) -> Markup:
    """Return each reason once, with its cells."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.outcome != "released":
            found.setdefault((cell.outcome, cell.reason), []).append(f"{cell.model} with {cell.algorithm}")
    if not found:
        return tag("p", "Every cell has one.")
    rows: list[list[Child]] = [
        [_SHORT[outcome], reason, "; ".join(which)] for (outcome, reason), which in sorted(found.items())
    ]
    return table("Reasons", ["outcome", "reason", "cells"], rows)
