"""The first screen: the release, whether it is safe and under which assumptions, and what is not promised."""

from __future__ import annotations

from collections.abc import Iterator

from hushtable.errors import counted
from hushtable.registry import algorithms
from hushtable.report.content import AttackEvidence, Facts, Summary, TemplateAnswer
from hushtable.report.numbers import count, percent


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
        whose = " and which rows belong to the same person" if done.people != done.released else ""
        verdict = (
            f"The release keeps every promise of its policy ({names}). This was recomputed from the published cells"
            f"{whose}, independently of the algorithm."
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


def assumptions(facts: Facts) -> tuple[str, ...]:
    """Return the assumptions of the verdict."""
    quasi = [c.name for c in facts.columns if c.role == "quasi"]
    sensitive = [c.name for c in facts.columns if c.role == "sensitive"]
    plain = [c.name for c in facts.columns if c.role == "insensitive" and not c.treatments]
    treated = [c.name for c in facts.columns if c.treatments]
    found = [
        f"An adversary knows no more about a person than {_listed(quasi)}.",
        "The adversary has no other release about the same people.",
    ]
    if sensitive:
        found.append(f"Only {_listed(sensitive)} must be kept secret about a person.")
    if plain:
        found.append(f"{_listed(plain)} can neither identify nor harm a person: published unchanged.")
    if treated:
        found.append(f"{_listed(treated)} are published with treated values, on which the models are verified.")
    return tuple(found)


def not_promised(facts: Facts) -> tuple[str, ...]:
    """Return the limits for the first screen."""
    found = ["Protection when several releases about the same people are combined (composition)."]
    if not any("attribute" in m.threats for m in facts.models):
        found.append(
            "That sensitive values stay unknown: no model of this policy protects them, so a class whose members share "
            "a value reveals it."
        )
    elif facts.treatment.people < facts.treatment.released:
        found.append(
            "That a person with several records does not have a particular value: models bound shares of records, and "
            "everybody in a class may have the value in one of their records."
        )
    if any(c.role == "pseudonym" for c in facts.columns):
        found.append(
            "That pseudonyms are anonymous: anyone with the key can reverse them, and tables with the same key can be "
            "linked. No figure in this report counts them as protection."
        )
    if any(c.role == "weight" and c.treatment != "removed" for c in facts.columns):
        found.append(
            "That survey weights stay unknown: every class shows its mean weight, which no model of this policy "
            "covers. A class within one stratum reveals the stratum."
        )
    if not any("identity" in m.threats for m in facts.models):
        found.append(
            "That nobody is found in the table: no model of this policy hides which person a record belongs to."
        )
    found += [
        "That nobody can be singled out: a rule that isolates one record may exist even if every class is large.",
        "Any bound on what statistics about a group reveal about its members.",
    ]
    return tuple(found)


def limits(facts: Facts) -> tuple[str, ...]:
    """Return all limits, each with its reason."""
    found = [
        "This report is a private document. Its figures compare the release with the original: in combination with the "
        "published rows, they can reveal something about suppressed records and about the values behind a cell. Give "
        "it only to people who may see the original, such as the data protection officer, not to recipients of the "
        "release.",
        "Composition: guarantees over classes do not add up. Two releases of the same people, each sound on its own, "
        "can reveal values in combination. Keep a record of earlier releases.",
        "Singling out: k-anonymity bounds the size of classes, not what a predicate over published cells can isolate. "
        "Cells that fit their class tightly carry information about its records.",
        "The choice of quasi-identifiers is an assumption. If an adversary knows a column that the policy calls "
        "insensitive, every number here is too small.",
        "Background knowledge about individuals (who does not have a value, who is related to whom) is covered only if "
        "an attack above assumes it.",
        "The release shows how often each value occurs in a class, and for a large or uniform class that is an "
        "inference about its members. No model of classes forbids it.",
        "An attack that failed proves little: it is one adversary, on these data. Intervals account for the random "
        "choice of targets, not for cleverer adversaries.",
        "Utility is measured with generic questions. Test whether the release serves your purpose.",
    ]
    found += _known_algorithm(facts)
    if facts.treatment.counterfeits:
        found.append(
            "This report gives the number of counterfeits. Keep it with the private companion: with that number, "
            "some of them can be distinguished from records."
        )
    if facts.attacks_not_run:
        names = ", ".join(n.name for n in facts.attacks_not_run)
        found.append(f"Not run: {names}. The reasons are listed with the attacks.")
    return tuple(found)


def _known_algorithm(facts: Facts) -> list[str]:
    """Return what an adversary learns who knows the code, which is public."""
    name = facts.provenance.algorithm
    if name not in algorithms:
        return []
    known = algorithms[name]
    text = f"The code is public. {name}: {known.reads_sensitive.sentence}"
    if known.disclosure:
        text = f"{text} {known.disclosure}"
    if known.reads_sensitive.excess and "minimality" not in facts.provenance.guards:
        text += (
            " In tests on small tables, guesses of an adversary who knows the code were right for up to "
            f"{known.reads_sensitive.excess:.0%} more of the people than the models promise. The known-algorithm "
            "attack measures this for the release."
        )
    return [text]


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    if len(quoted) < 2:
        return "".join(quoted) or "nothing"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
