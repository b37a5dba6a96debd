"""Comparison of several settings of a project's policy on its own table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.comparison.outcomes import Outcomes, Suggestion
from hushtable.comparison.spec import Grid
from hushtable.errors import UsageError
from hushtable.policy.policy import Policy
from hushtable.studio.projects import Project

FILE = "comparison.json"
"""File with the results, in the project's folder."""

MOST = 100
"""Maximum number of settings in a comparison."""


def check_grid(policy: Policy, grid: Mapping[str, Any]) -> int:
    """Return the number of settings; raise if a name, a value or their number is not acceptable.

    Examples
    --------
    >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 3}}])
    >>> check_grid(policy, {"models": [[{"k-anonymity": {"k": [2, 5]}}]], "suppression": [0.0, 0.05]})
    4
    """
    lists = {name: grid[name] for name in ("algorithms", "models", "suppression") if grid.get(name)}
    # first as they are written: multiplying out too many would take long
    several = _written(lists)
    settings = len(Grid.of(**lists).settings(policy)) if several <= 10 * MOST else several
    if settings > MOST:
        raise UsageError(
            f"These are {settings:,} settings; {MOST} can be compared at once.", code="grid", hint="Shorten the lists."
        )
    return settings


def _written(lists: Mapping[str, Any]) -> int:
    """Upper bound on the number of settings: a list may also be one value of a parameter that accepts lists."""
    several = 1
    for values in lists.values():
        several *= len(values)
    for together in lists.get("models", ()):
        for choice in together if isinstance(together, list) else ():
            for parameters in choice.values() if isinstance(choice, Mapping) else ():
                for value in parameters.values() if isinstance(parameters, Mapping) else ():
                    several *= len(value) if isinstance(value, list) else 1
    return several


def found_in(project: Project) -> Outcomes | None:
    """Return the results of the last comparison, or None if there was none."""
    kept = project.json(FILE)
    if kept is None:
        return None
    return Outcomes(tuple(kept["rows"]), kept["privacy"], kept["utility"], project.folder)


def setting_of(project: Project, place: int) -> dict[str, Any]:
    """Return the changes that a compared setting makes to a policy."""
    found = found_in(project)
    if found is None or not 0 <= place < len(found.rows):
        raise UsageError("There is no such setting.", code="not-there", hint="Compare settings first.")
    document = found.rows[place]["policy"]
    if document is None or found.rows[place]["status"] != "ok":
        raise UsageError("This setting gives no release.", code="no-release", hint="Choose one that does.")
    return {name: document[name] for name in ("algorithm", "models", "suppression")}


def suggested(project: Project, risk: float | None = None, left_out: float | None = None) -> tuple[int, Suggestion]:
    """Return the setting with the least loss among those within the limits, and its position.

    Parameters
    ----------
    project : Project
    risk, left_out : float, optional
        The highest acceptable risk that a person is found, and the highest acceptable share of suppressed records.

    Raises
    ------
    NotFound
        If no setting is within them; the message names the closest.
    """
    found = found_in(project)
    if found is None:
        raise UsageError("There is no comparison yet.", code="not-there", hint="Compare settings first.")
    limits = {found.privacy: risk, "suppressed": left_out}
    chosen = found.suggest(where=[f"{name} <= {bound!r}" for name, bound in limits.items() if bound is not None])
    return next(i for i, row in enumerate(found.rows) if row is chosen.row), chosen
