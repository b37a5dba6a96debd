"""Base of attacks and their results.

An attack is a frozen dataclass that plays one published adversary against a release. It sees a ``View``: the
published classes and cells, the policy, and the adversary's additional knowledge. The original is used only for
scoring. The result says how often the adversary was right, compared with how often the same guess is right without the
release, and never contains a value of a record.
"""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from hushtable.arrays import FloatArray
from hushtable.attacks.view import View
from hushtable.errors import UsageError, did_you_mean
from hushtable.io.figures import html_grid
from hushtable.io.plots import COLOURS, new_axes
from hushtable.models.base import compare
from hushtable.params import Parametrised
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.stats import Histogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Attack", "AttackResult", "SensitiveAttack"]


@dataclass(frozen=True, repr=False)
class AttackResult:
    """Result of an attack. Numbers only: no value of a record.

    Attributes
    ----------
    name : str
    knowledge : str
        What the adversary is assumed to know.
    targets : int
        Number of people (or guesses) that were attacked.
    successes : int
    baseline : float
        Success rate of the same guess without the release.
    control : float, optional
        Success rate on people who are not in the release; None if it does not apply or nobody is known.
    counts : mapping
        Other counts of records and classes.
    remedy : str
        What to change, in one paragraph.

    Examples
    --------
    >>> result = AttackResult("homogeneity", "...", 10, 5, 0.2)
    >>> result.rate, result.lift, [round(end, 2) for end in result.interval]
    (0.5, 0.3, [0.24, 0.76])
    """

    name: str
    knowledge: str
    targets: int
    successes: int
    baseline: float
    control: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)
    remedy: str = ""

    def __repr__(self) -> str:
        low, high = self.interval
        verdict = "beyond the baseline" if low > self.baseline else "no better than guessing"
        lines = [
            f"{self.name}: {verdict}",
            f"  correct guesses: {self.successes:,} of {self.targets:,}, {self.rate:.1%} (95%: {low:.1%} to "
            f"{high:.1%})",
            f"  the same guess without the release: {self.baseline:.1%}",
        ]
        return "\n".join([*lines, *([f"  remedy: {self.remedy}"] if self.remedy and low > self.baseline else [])])

    def _repr_html_(self) -> str:
        low, high = self.interval
        verdict = "beyond the baseline" if low > self.baseline else "no better than guessing"
        rows = [
            ["correct guesses", f"{self.successes:,} of {self.targets:,}"],
            ["share", f"{self.rate:.1%} (95%: {low:.1%} to {high:.1%})"],
            ["the same guess without the release", f"{self.baseline:.1%}"],
            *([["remedy", self.remedy]] if self.remedy and low > self.baseline else []),
        ]
        return f"<p><b>{html.escape(self.name)}</b>: {verdict}</p>{html_grid(['', ''], rows)}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the adversary's success rate with its 95% interval, and the rate of the same guess without the release.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Defaults to the axes of a new figure.

        Returns
        -------
        matplotlib axes
        """
        made = new_axes(ax, (7.0, 1.8))
        low, high = self.interval
        made.errorbar(
            [self.rate], [0], xerr=[[max(self.rate - low, 0)], [max(high - self.rate, 0)]], fmt="o", color=COLOURS[0],
            capsize=4, label="with the release",
        )  # fmt: skip
        made.axvline(self.baseline, color=COLOURS[1], linestyle="--", label="without it")
        made.set_yticks([0], [self.name])
        made.set_xlim(0, 1)
        made.set_xlabel("share of correct guesses")
        made.legend(frameon=False)
        return made

    @property
    def rate(self) -> float:
        """Share of the targets that the adversary was right about; 0 if there were none."""
        return self.successes / self.targets if self.targets else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% confidence interval of the rate."""
        return wilson(self.successes, self.targets)

    @property
    def lift(self) -> float:
        """Contribution of the release: rate minus baseline."""
        return self.rate - self.baseline

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON-ready data."""
        return {
            "attack": self.name,
            "knowledge": self.knowledge,
            "targets": self.targets,
            "successes": self.successes,
            "rate": self.rate,
            "interval": list(self.interval),
            "baseline": self.baseline,
            "control": self.control,
            "lift": self.lift,
            "counts": dict(self.counts),
            "remedy": self.remedy,
        }


@dataclass(frozen=True)
class Attack(Parametrised, ABC):
    """Base of all attacks: parameters as fields, one adversary.

    Class attributes
    ----------------
    name : str
    knowledge : str
        What the adversary knows, as a sentence.
    remedy : str
        What to change in the policy, as a paragraph.
    learns : {"person", "value", "alone", "presence", "cell"}
        What a correct guess reveals: which person a row belongs to, a sensitive value, that a description fits only one
        person, that a person is in the table, or the exact value behind a published cell.
    """

    knowledge: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    learns: ClassVar[str] = "value"

    @abstractmethod
    def run(self, view: View) -> AttackResult:
        """Run the attack.

        Raises
        ------
        UsageError
            If the release or the parameters lack an input of this attack; the message names it.
        """

    def attack(self, release: Any) -> AttackResult:
        """Attack a release."""
        return self.run(View.of(release))

    def result(
        self,
        targets: int,
        successes: int,
        baseline: float,
        counts: Mapping[str, float],
        control: float | None = None,
        knowledge: str = "",
    ) -> AttackResult:
        """Return the result, with this attack's knowledge and remedy."""
        return AttackResult(
            self.name, knowledge or self.knowledge, int(targets), int(successes), float(baseline), control,
            {name: value.item() if hasattr(value, "item") else value for name, value in counts.items()}, self.remedy,
        )  # fmt: skip


@dataclass(frozen=True)
class SensitiveAttack(Attack, ABC):
    """Base of the attacks on one sensitive column.

    Parameters
    ----------
    on : str, optional
        Defaults to the only (or first) sensitive column.
    """

    on: Annotated[str | None, "sensitive column to attack; defaults to the first"] = field(default=None, kw_only=True)

    def column(self, view: View) -> SensitiveColumn:
        """Return the attacked column, or raise ``UsageError``."""
        known = {c.name: c for c in view.table.sensitive}
        if not known:
            raise UsageError(
                f"The {self.name} attack needs a sensitive column, and the release has none.",
                code="no-sensitive",
                hint="Give a column the role sensitive in the policy.",
            )
        if self.on is None:
            return next(iter(known.values()))
        if self.on not in known:
            raise UsageError(
                f"The {self.name} attack needs a sensitive column, and {self.on!r} is not one.",
                code="no-sensitive",
                hint=did_you_mean(self.on, known),
            )
        return known[self.on]

    def by_belief(
        self,
        view: View,
        belief: Callable[[Histogram], FloatArray],
        confidence: float,
        known: Mapping[str, float],
        also: Callable[[Histogram], Mapping[str, float]] | None = None,
    ) -> AttackResult:
        """Count the records whose value is believed; the baseline believes with the whole table as one class.

        ``known`` counts what the adversary knows, ``also`` what else is reported instead of the largest belief.
        """
        column = self.column(view)
        histogram, whole = view.histogram(column), view.whole(column)
        found = belief(histogram)
        hit, hit_whole = (compare(b, ">=", confidence) for b in (found, belief(whole)))
        targets, attacked = len(view.released), int(view.people_of(histogram, column)[hit].sum())
        counts = {
            **view.base_counts(),
            **known,
            "attacked records": attacked,
            "attacked classes": int(np.count_nonzero(histogram.max(hit.astype(np.int64)))),
            **({"greatest belief": float(found.max(initial=0.0))} if also is None else also(histogram)),
        }
        return self.result(targets, attacked, int(whole.units[hit_whole].sum()) / targets, counts)


# Confidence of a success rate: Wilson's interval.
#
# References
# ----------
# E. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.


Z95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95% interval."""


def wilson(successes: float, targets: int, z: float = Z95) -> tuple[float, float]:
    """Return the interval that contains the true rate in 95% of repetitions; [0, 1] if nothing was tried.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if targets == 0:
        return 0.0, 1.0
    rate = successes / targets
    scale = 1.0 + z * z / targets
    centre = (rate + z * z / (2 * targets)) / scale
    half = z / scale * math.sqrt(rate * (1.0 - rate) / targets + z * z / (4.0 * targets * targets))
    # rounding must not push a certain end past the rate itself
    return max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0)
