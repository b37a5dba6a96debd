"""Running attacks on a release; results kept with an opened release are not computed again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from hushtable.attacks.base import Attack, AttackResult, wilson
from hushtable.attacks.view import View
from hushtable.registry import attacks
from hushtable.release.released import Released

_log = logging.getLogger(__package__)

ATTACKED = 100_000
"""Approximate number of records that an attack sees if the rows are not on this machine."""


def play(
    release: Released, name: str | Attack, parameters: Mapping[str, Any] | None = None, *, sample: int | None = None
) -> AttackResult:
    """Run a published attack on a release.

    Parameters
    ----------
    release : Released
    name : str or Attack
        Name (see ``hushtable attack --list``) or object.
    parameters : mapping, optional
        Parameters of the attack.
    sample : int, optional
        If the rows are not on this machine (Spark), approximate number of attacked records: whole classes, drawn with
        the policy's seed.

    Returns
    -------
    AttackResult
        If the rows are not on this machine, with the error of sampling.
    """
    attack = attacks.chosen(name, parameters)
    drawn = release.origin.attack_sample(release.plan, sample or ATTACKED)
    if drawn is not None:
        view, sampled, weight = drawn
        return SampledResult.of(attack.run(view), release.verification.rows, sampled, weight)
    # with parameters it may depend on other files
    usual = isinstance(name, str) and not parameters
    known = release.origin.recall(attack.name) if usual else None
    if known is not None:
        return AttackResult(**known)
    result: AttackResult = attack.run(_view(release))
    _log.info("Attack %s: %d of %d correct guesses", attack.name, result.successes, result.targets,
              extra={"attack": attack.name, "rate": result.rate, "baseline": result.baseline})  # fmt: skip
    if usual:
        release.origin.remember(attack.name, asdict(result))
    return result


def _view(release: Released) -> View:
    """One view for all attacks on a release, so that they share their counts."""
    known = vars(release)
    if "attacked" not in known:
        known["attacked"] = View.of(release)
    view: View = known["attacked"]
    return view


# How an attack went on a sample of whole classes, with the error that sampling leaves.


@dataclass(frozen=True)
class SampledResult(AttackResult):
    """Result of an attack on a sample of whole classes.

    Attributes
    ----------
    records : int
        Records of the release.
    sampled : int
        Records that the attack saw.
    weight : float
        Weight of a target, from 0 to 1: less than 1 if it was drawn together with others.

    Examples
    --------
    >>> result = SampledResult("homogeneity", "...", 1000, 500, 0.2, records=10**6, sampled=1000, weight=0.1)
    >>> result.rate, [round(end, 2) for end in result.interval], round(result.error, 2)
    (0.5, [0.4, 0.6], 0.1)
    """

    records: int = 0
    sampled: int = 0
    weight: float = 1.0

    @classmethod
    def of(cls, result: AttackResult, records: int, sampled: int, weight: float) -> SampledResult:
        """Attach the number of sampled records to a result."""
        plain = {f.name: getattr(result, f.name) for f in fields(AttackResult)}
        return cls(**plain, records=records, sampled=sampled, weight=weight)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% confidence interval of the rate over the whole release."""
        counted = max(round(self.targets * self.weight), 1) if self.targets else 0
        return wilson(self.rate * counted, counted)

    @property
    def error(self) -> float:
        """Largest distance from the rate over the whole release, with 95% confidence."""
        low, high = self.interval
        return max(high - self.rate, self.rate - low)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON-ready data."""
        sample = {"records": self.records, "sampled": self.sampled, "error": self.error}
        return {**super().as_dict(), "sample": sample}
