"""Answers that several templates give."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hushtable.models.base import TOLERANCE
from hushtable.release.verify import needed_and_achieved
from hushtable.report.content import AttackEvidence, Facts, TemplateAnswer
from hushtable.report.numbers import count, number, percent
from hushtable.risk.linkage import above


def models_hold(facts: Facts, question: str) -> TemplateAnswer:
    """Whether every model of the policy holds."""
    broken = [m.model for m in facts.models if not m.holds]
    return TemplateAnswer(
        question=question,
        answer=f"No: {', '.join(broken)}." if broken else "Yes, in every class of the published table.",
        status="not met" if broken else "met",
        evidence=tuple(
            "{0}{1}: worst class: {3} (required: {2}).".format(
                m.model, f" on “{m.column}”" if m.column else "", *needed_and_achieved(m.model_dump(), number)
            )
            for m in facts.models
        ),
    )


def highest_risk(facts: Facts, question: str, *, strict: bool) -> TemplateAnswer:
    """Whether anybody is above the threshold; ``strict`` makes it a condition instead of a remark."""
    risk = facts.risks[0]
    exposed = risk.after.share_at_risk or 0.0
    limit = "at most" if risk.comparison == ">" else "below"
    if exposed:
        above = "above" if risk.comparison == ">" else "at or above"
        answer = f"No: for {percent(exposed)} of the people, it is {above} {risk.threshold:g}."
        status = "not met" if strict else "to judge"
    else:
        answer, status = f"Yes: it is {limit} {risk.threshold:g} for everybody.", "met"
    return TemplateAnswer(
        question=question,
        answer=answer,
        status=status,
        evidence=(
            f"Highest chance after: {number(risk.after.highest)} (before: {number(risk.before.highest)}); on average "
            f"{number(risk.after.average)} (before: {number(risk.before.average)}).",
            f"A person is at risk if the chance is {risk.comparison} {risk.threshold:g}, compared unrounded: a class "
            f"needs at least {_people_needed(risk.threshold, risk.comparison)} people.",
        ),
    )


def _people_needed(threshold: float, comparison: str) -> str:
    """Return the size of the smallest class that is not at risk, with the tolerance of the risks."""
    if not threshold or above(np.zeros(1), comparison, threshold)[0]:
        return "infinitely many"
    limit = threshold + (TOLERANCE if comparison == ">" else -TOLERANCE)
    # one short of it, so that rounding does not matter
    people = max(int(1 / limit) - 1, 1)
    while above(np.array([1 / people]), comparison, threshold)[0]:
        people += 1
    return count(people)


def attacks_named(
    facts: Facts,
    question: str,
    names: Collection[str] | None = None,
    *,
    otherwise: str = "None of the attacks that were run did better than guessing.",
    extra: tuple[str, ...] = (),
) -> TemplateAnswer:
    """Whether attacks did better than guessing: those named, or all."""
    tried = [a for a in facts.attacks if names is None or a.name in names]
    lacking = [n for n in facts.attacks_not_run if names is None or n.name in names]
    above = [a for a in tried if a.above_baseline]
    level = [a.name for a in tried if not a.above_baseline]
    evidence = [*extra, *(_attack(a) for a in above)]
    evidence += [f"No better than guessing: {', '.join(level)}."] if level else []
    evidence += (
        [f"Not run: {', '.join(n.name for n in lacking)}. The reasons are listed with the attacks."] if lacking else []
    )
    if above:
        answer = f"Not ruled out: {len(above)} of {len(tried)} attacks did better than guessing."
    elif tried:
        answer = otherwise
    else:
        answer = "Unknown: none of these attacks was run."
    return TemplateAnswer(
        question=question,
        answer=answer,
        status="met" if tried and not above else "to judge",
        evidence=tuple(evidence),
    )


def _attack(attack: AttackEvidence) -> str:
    if not attack.targets:
        return f"{attack.name}: no person could be attacked."
    return (
        f"{attack.name}: right for {percent(attack.rate)} of {count(attack.targets)} (95% interval "
        f"{percent(attack.low)} "
        f"to {percent(attack.high)}), without the release {percent(attack.baseline)}."
    )


def attribute_models(facts: Facts) -> tuple[str, ...]:
    """What the policy promises about sensitive values."""
    found = [m for m in facts.models if "attribute" in m.threats]
    if not found:
        return ("No model of the policy protects sensitive values.",)
    return tuple(f"{m.model}{f' on “{m.column}”' if m.column else ''} holds: {m.summary}" for m in found if m.holds)


def identifiers_gone(facts: Facts, question: str) -> TemplateAnswer:
    """Whether direct identifiers were removed."""
    named = [c.name for c in facts.columns if c.role == "identifier"]
    left = [name for name in named if name in facts.treatment.columns]
    return TemplateAnswer(
        question=question,
        answer="No."
        if left
        else "Yes."
        if named
        else "The policy names no identifier: the input had none, or one was overlooked.",
        status="not met" if left else "met" if named else "to judge",
        evidence=tuple(f"“{name}” was removed." for name in named if name not in left),
    )


def utility_kept(facts: Facts, question: str) -> TemplateAnswer:
    """What the release is still good for."""
    evidence = [
        f"“{c.name}”: {c.treatment}"
        + (f"; a cell covers {percent(c.covered)} of the domain on average." if c.covered is not None else ".")
        for c in facts.columns
        if c.role == "quasi"
    ]
    evidence += [
        f"Predicting “{a.target}”: accuracy {percent(a.release)} after training on the release, {percent(a.original)} "
        f"on the original, {percent(a.majority)} by always guessing the most frequent value."
        for a in facts.accuracy
    ]
    evidence += [
        f"{m.name}: {number(m.value)} ({m.better} is better)." for m in facts.measures if m.name == "query-error"
    ]
    return TemplateAnswer(
        question=question,
        answer="A person has to judge this for the intended use, based on these numbers.",
        status="to judge",
        evidence=tuple(evidence),
    )


def recipients_assessed(facts: Facts, question: str) -> TemplateAnswer:
    """What each recipient could do with data that it may already hold."""
    if not facts.recipients:
        return TemplateAnswer(
            question=question,
            answer="No recipient is named, so no recipient's own data were considered.",
            status="to judge",
            evidence=("Name recipients and the columns that they may hold: hushtable report --about FILE.",),
        )
    exposed = [who.name for who in facts.recipients if who.share_at_risk or who.share_learned]
    return TemplateAnswer(
        question=question,
        answer=f"Not for {', '.join(exposed)}: see the evidence." if exposed else "Yes, for every recipient named.",
        status="to judge" if exposed else "met",
        evidence=tuple(
            f"{who.name}: at least {count(who.smallest)} rows look the same; {percent(who.share_at_risk)} of the rows "
            f"are above the threshold; "
            + (
                f"“{who.learned}” is certain for {percent(who.share_learned)}."
                if who.learned
                else "no sensitive column to learn."
            )
            for who in facts.recipients
        ),
    )


def for_people(question: str, *points: str) -> TemplateAnswer:
    """Questions that no number answers."""
    return TemplateAnswer(
        question=question, answer="People have to decide the following.", status="to judge", evidence=points
    )
