"""Attacks on the release, with baselines and confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hushtable.attacks.base import AttackResult
from hushtable.attacks.play import play
from hushtable.errors import UsageError
from hushtable.registry import attacks as known
from hushtable.release.released import Released
from hushtable.report.content.privacy import AttackEvidence, NotRun


def attack_evidence(
    release: Released, wanted: bool | Sequence[str], progress: Callable[[float, str], None]
) -> tuple[tuple[AttackEvidence, ...], tuple[NotRun, ...]]:
    """Run attacks: all, none, or those named.

    Attacks that lack an input are listed separately with the reason; one that was requested by name raises.
    """
    names = list(known) if wanted is True else [] if wanted is False else list(wanted)
    for name in names:
        known[name]
    done, refused = [], []
    for i, name in enumerate(names):
        progress(i / len(names), f"attacking: {name}")
        try:
            done.append(evidence_of(play(release, name), known[name].learns))
        except UsageError as error:
            if wanted is not True:
                raise
            refused.append(NotRun(name=name, reason=error.message))
    if wanted is False:
        refused = [NotRun(name=name, reason="Attacks were switched off for this report.") for name in known]
    return tuple(done), tuple(refused)


def evidence_of(result: AttackResult, learns: Any) -> AttackEvidence:
    """Return how an attack went; ``learns`` is what a correct guess reveals."""
    low, high = result.interval
    return AttackEvidence(
        name=result.name,
        knowledge=result.knowledge,
        targets=result.targets,
        successes=result.successes,
        rate=result.rate,
        low=low,
        high=high,
        baseline=result.baseline,
        control=result.control,
        above_baseline=result.targets > 0 and low > result.baseline,
        remedy=result.remedy,
        learns=learns,
    )
