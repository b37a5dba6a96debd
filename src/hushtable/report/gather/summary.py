"""The first screen: what it is, whether it is safe and under which assumptions, what is not promised."""

from __future__ import annotations

from hushtable.report.content.report import Facts, Finding, Summary
from hushtable.report.gather.limits import assumptions, not_promised
from hushtable.report.numbers import count, percent

__all__ = ["summary"]


def summary(facts: Facts, findings: tuple[Finding, ...]) -> Summary:
    """Sum facts and findings up for somebody who reads nothing else."""
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
            f"The release keeps every promise of its policy ({names}): recomputed from the published cells alone, by "
            "formulas that do not trust the algorithm."
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
                "highest chance to find a known person",
                f"before: {percent(first.before.highest)}",
            )
        )
        figures.append(
            (percent(first.after.average), "the same on average", f"before: {percent(first.before.average)}")
        )
    figures.append((percent(done.suppressed_share), "of the records left out", f"{count(done.suppressed)} records"))
    tried = len(facts.attacks)
    if tried:
        above = sum(a.above_baseline for a in facts.attacks)
        figures.append((f"{above} of {tried}", "attacks did better than guessing", "which ones: see “Attacks”"))
    return tuple(figures)
