"""The first screen: the release, whether it is safe and under which assumptions, and what is not promised."""

from __future__ import annotations

from collections.abc import Iterator

from hushtable.errors import counted
from hushtable.report.content.privacy import AttackEvidence
from hushtable.report.content.report import Facts, Summary, TemplateAnswer
from hushtable.report.gather.limits import assumptions, not_promised
from hushtable.report.numbers import count, percent

__all__ = ["summary"]


def summary(facts: Facts, findings: tuple[TemplateAnswer, ...]) -> Summary:
    """Summarize facts and findings for a reader who reads nothing else."""
    place, done = facts.provenance, facts.treatment
    ok = all(m.holds for m in facts.models)
    names = ", ".join(dict.fromkeys(m.model for m in facts.models))
    fakes = f" and {count(done.counterfeits)} counterfeits" if done.counterfeits else ""
    what = (
        f"A table about {count(done.people)} people ({count(done.released)} records{fakes}, {len(done.columns)} "
        f"columns), made from {count(place.input_rows)} records with {place.algorithm}: {place.recoding}."
    )
    if ok:
        verdict = (
            f"The release keeps every promise of its policy ({names}). This was recomputed from the published cells "
            f"alone, independently of the algorithm."
        )
    else:
        verdict = f"The release breaks its policy ({names}). It must not be published."
    return Summary(
        what=what,
        verdict=verdict,
        ok=ok,
        unmet=tuple(f"{found.question} {found.answer}" for found in findings if found.status == "not met"),
        figures=_figures(facts),
        assumptions=assumptions(facts),
        not_promised=not_promised(facts),
    )


def _figures(facts: Facts) -> tuple[tuple[str, str, str], ...]:
    done = facts.treatment
    figures = [(count(done.smallest), "people in the smallest class", f"a typical person has {count(done.median)}")]
    first = next((r for r in facts.risks if r.after.highest is not None), None)
    if first is not None:
        figures.append(
            (
                percent(first.after.highest),
                "highest chance of finding a known person",
                f"before: {percent(first.before.highest)}",
            )
        )
        figures.append((percent(first.after.average), "average chance", f"before: {percent(first.before.average)}"))
    left_out = counted(done.suppressed, "record", "records")
    figures.append((percent(done.suppressed_share), "of the records suppressed", left_out))
    return (*figures, *_harm(facts.attacks))


_LEARNT = {
    "person": "people can be linked to their row because of the release",
    "value": "people have a sensitive value that can be guessed because of the release",
    "alone": "people can be singled out by their published cells",
    "presence": "people can be recognized as present because of the release",
    "cell": "records have an exact value that can be guessed from a published cell",
}
"""Meaning of correct guesses, the gravest first."""


def _harm(attacks: tuple[AttackEvidence, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield the meaning of the gravest successful attack, in people; nothing if none was run."""
    if not attacks:
        return
    for learns, words in _LEARNT.items():
        beyond = [a for a in attacks if a.above_baseline and a.learns == learns]
        if beyond:
            worst = max(beyond, key=lambda a: a.rate - a.baseline)
            more = round((worst.rate - worst.baseline) * worst.targets)
            yield f"{count(more)} of {count(worst.targets)}", words, f"the attack “{worst.name}”; see “Attacks”"
            return
    yield "0", "people harmed by the attacks that were run", f"{len(attacks)} attacks did no better than guessing"
