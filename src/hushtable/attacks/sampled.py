"""How an attack went on a sample of whole classes, with the error that sampling leaves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from hushtable.attacks.base import AttackResult
from hushtable.attacks.confidence import wilson

__all__ = ["SampledResult"]


@dataclass(frozen=True)
class SampledResult(AttackResult):
    """How an attack went on a sample of whole classes.

    Attributes
    ----------
    records : int
        Records of the release.
    sampled : int
        Those that the attack saw.
    weight : float
        What a target counts for, from 0 to 1: less than 1 where it was drawn together with others.

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
        """Say on how many of the release's records a result was found."""
        plain = {f.name: getattr(result, f.name) for f in fields(AttackResult)}
        return cls(**plain, records=records, sampled=sampled, weight=weight)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% confidence interval of the rate over the whole release."""
        counted = max(round(self.targets * self.weight), 1) if self.targets else 0
        return wilson(self.rate * counted, counted)

    @property
    def error(self) -> float:
        """How far the rate over the whole release may be from this one, with 95% confidence."""
        low, high = self.interval
        return max(high - self.rate, self.rate - low)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON-ready data."""
        sample = {"records": self.records, "sampled": self.sampled, "error": self.error}
        return {**super().as_dict(), "sample": sample}
