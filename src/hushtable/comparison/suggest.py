"""From a comparison to a policy: the best setting among those that meet all conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushtable._version import __version__
from hushtable.comparison.outcomes import Outcomes, better
from hushtable.errors import NotFound, ParameterError, UsageError
from hushtable.io.grids import html_text
from hushtable.models.base import TOLERANCE, compare
from hushtable.policy.files import rebased
from hushtable.policy.policy import Policy
from hushtable.policy.text import in_a_comment

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


def suggest(
    outcomes: Outcomes, minimise: str | None = None, where: Sequence[str] = (), *, maximise: str | None = None
) -> Suggestion:
    """Choose the best setting in one quantity among those that meet all conditions.

    Ties go to the first setting in the grid.

    Raises
    ------
    UsageError
        If a quantity was not measured.
    NotFound
        If no setting meets the conditions; the message names the closest and what it lacks.
    """
    if minimise is not None and maximise is not None:
        raise UsageError("A suggestion can minimize or maximize, not both.", code="goal", hint="Leave one of them out.")
    conditions = [Condition.read(text) for text in where]
    released = [row for row in outcomes.rows if row["status"] == "ok"]
    if not released:
        raise NotFound(
            "None of the settings produced a release.",
            hint="The comparison lists the reasons; relax a parameter, or try other algorithms.",
        )
    named = minimise or maximise or outcomes.utility
    goal = outcomes.quantity(named)
    highest = maximise is not None or (minimise is None and better(goal) == "higher")
    conditions = [Condition(outcomes.quantity(c.name), c.sign, c.bound) for c in conditions]
    fitting = [row for row in released if all(c.holds(row["values"].get(c.name)) for c in conditions)]
    if not fitting:
        raise _nothing(released, conditions, len(outcomes.rows))
    defined = [row for row in fitting if row["values"].get(goal) is not None]
    if not defined:
        raise NotFound(
            f"{goal!r} is not defined for the {len(fitting)} settings that meet the conditions.",
            hint="Choose another quantity.",
        )
    best = min(defined, key=lambda row: -row["values"][goal] if highest else row["values"][goal])
    words = f"{'maximize' if highest else 'minimize'} {goal}"
    return Suggestion(best, words, tuple(conditions), len(fitting), len(outcomes.rows), outcomes.folder)


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
