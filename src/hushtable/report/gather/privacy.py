"""The achievements of the models, and the exposure of people before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import numpy as np

from hushtable.about import summary_of
from hushtable.arrays import AnyArray, FloatArray
from hushtable.attacks.base import AttackResult
from hushtable.attacks.play import play
from hushtable.errors import UsageError
from hushtable.params import Parametrised
from hushtable.registry import attacks as known
from hushtable.registry import models, risks
from hushtable.release.exposure import Exposure
from hushtable.release.released import Released
from hushtable.release.verify import Evidence
from hushtable.report.content import (
    Adversary,
    AttackEvidence,
    Band,
    ModelEvidence,
    ModelQuantity,
    NotRun,
    RiskEvidence,
    RiskNumbers,
    finite,
)
from hushtable.report.numbers import percent
from hushtable.risk.before_after import risk_of

if TYPE_CHECKING:
    from hushtable.models.base import PrivacyModel
    from hushtable.release.released import Released


_LINKING = {
    "prosecutor": ("a person's quasi-identifiers, and that this person is in the table", "find this person's record"),
    "journalist": (
        "the quasi-identifiers of everybody in the population, but not which of them are in the table",
        "find the person of any record",
    ),
    "marketer": ("the quasi-identifiers of everybody in the table", "link as many records to people as possible"),
}
_BANDS = (1, 2, 3, 5, 10, 20, 50, 100)


def model_evidence(release: Released) -> tuple[ModelEvidence, ...]:
    """Return every model with the number that the verifier found in the published cells."""
    columns = set(release.policy.get("columns", ())) | set(release.table.column_names)
    return models_found(release.model.members, release.verification.evidence, columns)


def models_found(
    members: Sequence[PrivacyModel], evidence: Sequence[Evidence], columns: set[str]
) -> tuple[ModelEvidence, ...]:
    """Return models with what was found about each; no value of the table is named, but columns are."""
    found = []
    for member, seen in zip(members, evidence, strict=True):
        on = getattr(member, "on", None)
        given = parameter_words(member, columns)
        given.pop("on", None)
        found.append(
            ModelEvidence(
                model=seen.model,
                summary=summary_of(models[seen.model]),
                column=on if on is None or isinstance(on, str) else " + ".join(on),
                parameters=given,
                threats=tuple(sorted((t.value for t in member.threats), reverse=True)),
                comparison=seen.sense,
                bound=seen.bound,
                achieved=finite(seen.achieved),
                quantities=tuple(
                    ModelQuantity(quantity=symbol, comparison=sense, bound=bound, achieved=finite(worst))
                    for symbol, sense, bound, worst in seen.shown
                ),
                violations=seen.violations,
                holds=seen.ok,
            )
        )
    return tuple(found)


def risk_evidence(before: Exposure, after: Exposure, threshold: float, comparison: str) -> tuple[RiskEvidence, ...]:
    """Assess the three adversaries who link records to people."""
    found = []
    for name in (n for n in _LINKING if n in risks):
        declared = {p.name for p in risks[name].params()}
        wanted = {"threshold": threshold, "comparison": comparison}
        result = risk_of(name, {k: v for k, v in wanted.items() if k in declared}, before, after)
        found.append(
            RiskEvidence(
                name=name,
                summary=summary_of(risks[name]),
                basis=str(result.after.basis),
                threshold=threshold,
                comparison=comparison,
                before=risk_numbers(result.before),
                after=risk_numbers(result.after),
            )
        )
    return tuple(found)


def risk_numbers(found: Any) -> RiskNumbers:
    """Return the figures of a risk that a report shows."""
    average = getattr(found, "average", getattr(found, "share", None))
    return RiskNumbers(
        highest=finite(getattr(found, "highest", None)),
        average=finite(average),
        at_risk=finite(getattr(found, "at_risk", None)),
        share_at_risk=finite(getattr(found, "share_at_risk", None)),
    )


def bands(before: Exposure, after: Exposure) -> tuple[Band, ...]:
    """Return the share of people by the size of their class, before and after."""
    return banded((before.counts, before.counts), (after.counts, after.counts))


def banded(before: tuple[AnyArray, AnyArray], after: tuple[AnyArray, AnyArray]) -> tuple[Band, ...]:
    """Return the share of people by the number of people who match them, given these numbers and their frequencies."""
    one, other = _shares(*before), _shares(*after)
    found = []
    for i, least in enumerate(_BANDS):
        most = _BANDS[i + 1] - 1 if i + 1 < len(_BANDS) else None
        label = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
        found.append(Band(label=label, least=least, most=most, before=float(one[i]), after=float(other[i])))
    return tuple(found)


def _shares(crowds: AnyArray, weights: AnyArray) -> FloatArray:
    place = np.searchsorted(np.array(_BANDS), np.maximum(crowds, 1), side="right") - 1
    people = np.bincount(place, weights=weights, minlength=len(_BANDS))
    return np.asarray(people / people.sum())


def adversaries(attacks: tuple[AttackEvidence, ...]) -> tuple[Adversary, ...]:
    """Return all adversaries against whom the release was assessed, by calculation or by an attack."""
    linking = [
        Adversary(name=name, knows=knows, wants=wants, evidence="risk") for name, (knows, wants) in _LINKING.items()
    ]
    return (*linking, *tried_out(attacks))


def tried_out(attacks: tuple[AttackEvidence, ...]) -> tuple[Adversary, ...]:
    """Return the adversaries of attacks."""
    return tuple(
        Adversary(
            name=attack.name,
            knows=attack.knowledge,
            wants=f"beat guessing without the release ({percent(attack.baseline)})",
            evidence="attack",
        )
        for attack in attacks
    )


# Parameters of registry entries, in words that carry no value of the table.


def parameter_words(built: Parametrised, columns: set[str]) -> dict[str, str]:
    """Return the parameters that differ from their defaults, without possible values of the table.

    Numbers, choices from a fixed list and names of columns are written; everything else is counted.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> parameter_words(models.build("k-anonymity", {"k": 5}), set())
    {'k': '5'}
    >>> parameter_words(models.build("value-bounds", {"bounds": {"HIV": 0.1}, "on": "disease"}), {"disease"})
    {'on': 'disease', 'bounds': '1 entries, in the policy'}
    """
    kinds = {p.name: p.type for p in built.params()}
    return {name: _word(value, kinds[name], columns) for name, value in built.values().items()}


def _word(value: Any, kind: Any, columns: set[str]) -> str:
    if value is None or isinstance(value, bool | int | float):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    if isinstance(value, str):
        return value if value in columns or value in _choices(kind) else "given in the policy"
    if isinstance(value, Mapping):
        if value and all(k in columns and isinstance(v, int | float) for k, v in value.items()):
            return ", ".join(f"{k}: {v}" for k, v in value.items())
        return f"{len(value)} entries, in the policy"
    if isinstance(value, list | tuple):
        if all(isinstance(v, int | float) or v in columns for v in value):
            return ", ".join(map(str, value))
        return f"{len(value)} entries, in the policy"
    return "given in the policy"


def _choices(kind: Any) -> set[Any]:
    if get_origin(kind) is Literal:
        return set(get_args(kind))
    return {choice for part in get_args(kind) for choice in _choices(part)}


# Attacks on the release, with baselines and confidence intervals.


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
