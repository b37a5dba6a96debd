"""What guards cost and what they gain: one release with and without them, measured and attacked alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushtable.errors import UsageError
from hushtable.registry import guards

if TYPE_CHECKING:
    from hushtable.engines.release import Release

__all__ = ["MEASURES", "GuardPrice", "Variant", "guard_price"]

MEASURES = ("ncp", "discernibility", "average-class-size")
"""What a price is told in, unless others are asked for."""


@dataclass(frozen=True)
class Variant:
    """A release with some of the guards.

    Attributes
    ----------
    guards : tuple of str
        Those it was made with; none for the release as it would be without.
    measures : mapping of str to float
        Utility.
    attacks : mapping of str to AttackResult
        How the attacks went that the guards answer.
    """

    guards: tuple[str, ...]
    measures: Mapping[str, float]
    attacks: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "guards": list(self.guards),
            "measures": dict(self.measures),
            "attacks": {name: result.as_dict() for name, result in self.attacks.items()},
        }


@dataclass(frozen=True)
class GuardPrice:
    """Utility and attacks without guards, with each of them, and with all.

    Attributes
    ----------
    variants : tuple of Variant
        From none of the guards to all of them.
    refused : mapping of str to str
        Attacks that cannot be run on this release, and why.
    """

    variants: tuple[Variant, ...]
    refused: Mapping[str, str]

    @property
    def without(self) -> Variant:
        """The release as it would be without guards."""
        return self.variants[0]

    @property
    def guarded(self) -> Variant:
        """The release as it is."""
        return self.variants[-1]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {"variants": [v.as_dict() for v in self.variants], "refused": dict(self.refused)}


def guard_price(release: Release, measures: Sequence[str] | None = None) -> GuardPrice:
    """Make the release again without its guards (and with each alone), and compare.

    Raises
    ------
    UsageError
        If the release has no guards.
    """
    names = release.guards
    if not names:
        raise UsageError(
            "The release has no guards.",
            code="no-guards",
            hint="Write 'guard: [minimality, downcoding]' in the policy.",
        )
    subsets: list[tuple[str, ...]] = [(), *((name,) for name in names if len(names) > 1), names]
    answered = list(dict.fromkeys(guards[name].answers for name in names if guards[name].answers))
    refused: dict[str, str] = {}
    variants = []
    for subset in subsets:
        made = release if subset == names else release.with_guards(subset)
        results = {}
        for attack in answered:
            try:
                results[attack] = made.attack(attack)
            except UsageError as error:
                refused[attack] = str(error)
        variants.append(Variant(subset, made.measures(list(measures or MEASURES)), results))
    return GuardPrice(tuple(variants), refused)
