"""Compare: every setting of a grid on one table, in parallel, going on where an earlier run stopped."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from hushtable.comparison.evaluate import Row, Task, Wanted, refused
from hushtable.comparison.grid import Grid, Setting
from hushtable.comparison.keys import input_key, setting_key
from hushtable.comparison.outcomes import Outcomes, spelt
from hushtable.comparison.pool import in_parallel, in_turn
from hushtable.comparison.results import Results
from hushtable.errors import ParameterError, UsageError, did_you_mean
from hushtable.io.frames import to_arrow
from hushtable.io.secret import load_secret
from hushtable.params import typed
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms, measures, models

__all__ = ["compare"]

_log = logging.getLogger(__package__)

_UNUSABLE = "unusable"

Report = Callable[[int, int], None]
"""Called often with (settings finished, settings in all); may raise ``Cancelled``."""


@typed
def compare(
    data: Any,
    policy: Policy,
    grid: Grid | Mapping[str, Any],
    *,
    wanted: Wanted | None = None,
    privacy: str = "prosecutor",
    utility: str = "ncp",
    results: str | Path | None = None,
    jobs: int = 1,
    progress: Report | None = None,
) -> Outcomes:
    """Anonymize a table under many settings, and measure what each protects and what it costs.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
    policy : Policy
        The base: columns, hierarchies and everything that the grid does not vary.
    grid : Grid or mapping
        ``algorithms``, ``models``, ``suppression``, ``cells``; see ``Grid``.
    wanted : Wanted, optional
        What is measured beside the measures of every summary.
    privacy, utility : str
        The two quantities that the frontier weighs.
    results : path, optional
        A file that keeps every finished setting, so that an interrupted comparison goes on. Keyed by the table, the
        setting, what is measured and the version: what belongs to anything else is passed over.
    jobs : int
        Processes. A script that asks for several needs the usual ``if __name__ == "__main__":``. With classes that
        ``hushtable.register`` added, or hierarchies that are functions, there is one process: others do not know them.
    progress : callable, optional

    Returns
    -------
    Outcomes
        The same rows in the same order, however many jobs and interruptions; only ``seconds`` differ.

    Raises
    ------
    UsageError
        If no setting can be used at all, with the reason of the first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 52, 53, 70, 71, 72, 73], "pay": [1, 2, 3, 4, 5, 6, 7, 8]})
    >>> base = Policy(quasi=["age"], sensitive=["pay"], models=[{"k-anonymity": {"k": 2}}])
    >>> found = compare(people, base, {"models": [{"k-anonymity": {"k": [2, 4, 9]}}]})
    >>> [(row["models"], row["status"], row["values"].get("prosecutor")) for row in found.rows]
    [('k-anonymity k=2', 'ok', 0.5), ('k-anonymity k=4', 'ok', 0.25), ('k-anonymity k=9', 'infeasible', None)]
    """
    if jobs < 1:
        raise ParameterError(f"The number of jobs must be an int >= 1. Got {jobs!r} instead.")
    table = to_arrow(data)
    policy = policy.for_columns(table.column_names)
    wanted = (wanted or Wanted.of()).including(spelt(privacy), spelt(utility))
    settings = _grid(grid).settings(policy)
    kept = Results(None if results is None else Path(results))
    keys = _keys(table, policy, settings, wanted) if results is not None else [str(i) for i in range(len(settings))]
    rows: dict[int, Row] = {}
    for place, (setting, key) in enumerate(zip(settings, keys, strict=True)):
        row = refused(setting) or kept.get(key)
        if row is not None:
            rows[place] = row
    reused = sum(kept.get(key) is not None for key in keys)

    def tick() -> None:
        if progress is not None:
            progress(len(rows), len(settings))

    tasks = [
        Task(place, setting.policy.document(), policy.base_dir, wanted, dict(policy.tables))
        for place, setting in enumerate(settings)
        if place not in rows and setting.policy is not None
    ]
    several = 1 if _only_here(policy) else min(jobs, len(tasks))
    kept.check_writable()
    work = in_parallel(table, tasks, several, tick) if several > 1 else in_turn(table, tasks, tick)
    # closed whatever happens, so that no process goes on behind an error
    with closing(work) as finished:
        for place, row in finished:
            rows[place] = row
            _log.info("Setting %d of %d: %s", len(rows), len(settings), row["status"],
                      extra={"finished": len(rows), "settings": len(settings), "status": row["status"]})  # fmt: skip
            if row["status"] != _UNUSABLE:
                kept.add(keys[place], row)
            tick()
    _check_usable(rows)
    ordered = tuple(_whole(setting, rows[place]) for place, setting in enumerate(settings))
    found = Outcomes(ordered, privacy, utility, policy.base_dir, reused)
    if found.quantities:
        # a misspelt name is told now, not when the chart is drawn
        found.quantity(privacy), found.quantity(utility)
    return found


def _grid(given: Grid | Mapping[str, Any]) -> Grid:
    if isinstance(given, Grid):
        return given
    known = list(inspect.signature(Grid.of).parameters)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ParameterError(
            f"A grid varies {', '.join(known)}, and {str(unknown[0])!r} is none of them.",
            hint=did_you_mean(str(unknown[0]), known),
        )
    return Grid.of(**given)


def _only_here(policy: Policy) -> bool:
    """Whether other processes lack something: classes that this one registered, functions that are hierarchies."""
    functions = any(isinstance(c.hierarchy, Mapping) and "function" in c.hierarchy for c in policy.columns.values())
    return functions or bool(models.added or algorithms.added or measures.added)


def _keys(table: Any, policy: Policy, settings: list[Setting], wanted: Wanted) -> list[str]:
    secret = load_secret()
    key = input_key(table, policy, secret)
    return ["" if s.policy is None else setting_key(key, s.policy, wanted, secret) for s in settings]


def _check_usable(rows: Mapping[int, Row]) -> None:
    """A fault of the table or the policy meets every setting alike: that is an error, not a table of errors."""
    unusable = [row["reason"] for row in rows.values() if row["status"] == _UNUSABLE]
    if unusable and all(row["status"] in (_UNUSABLE, "refused") for row in rows.values()):
        raise UsageError(unusable[0], code="unusable")


def _whole(setting: Setting, row: Row) -> dict[str, Any]:
    return {
        "algorithm": setting.algorithm,
        "models": setting.models,
        "suppression limit": float(setting.changes["suppression"]),
        "cells": str(setting.changes["cells"]),
        **row,
        "policy": None if setting.policy is None else setting.policy.document(),
    }
