"""What a release of this kind cannot promise, and what was assumed: stated plainly, from what is there."""

from __future__ import annotations

from hushtable.registry import algorithms
from hushtable.report.content.report import Facts

__all__ = ["assumptions", "limits", "not_promised"]


def assumptions(facts: Facts) -> tuple[str, ...]:
    """Return what has to be true for the verdict to mean anything."""
    quasi = [c.name for c in facts.columns if c.role == "quasi"]
    sensitive = [c.name for c in facts.columns if c.role == "sensitive"]
    plain = [c.name for c in facts.columns if c.role == "insensitive" and not c.treatments]
    treated = [c.name for c in facts.columns if c.treatments]
    found = [
        f"What an adversary may know about a person is no more than {_listed(quasi)}.",
        "The adversary has this one release, and no other of the same people.",
    ]
    if sensitive:
        found.append(f"What must not be learnt about a person is {_listed(sensitive)}.")
    if plain:
        found.append(f"{_listed(plain)} can neither help to find a person nor harm one: published as in the input.")
    if treated:
        found.append(f"{_listed(treated)} are published with treated values: the models are verified on those.")
    return tuple(found)


def not_promised(facts: Facts) -> tuple[str, ...]:
    """Return the limits that belong on the first screen."""
    found = ["Protection when several releases about the same people are combined (composition)."]
    if not any("attribute" in m.threats for m in facts.models):
        found.append(
            "That sensitive values stay unknown: no model of this policy protects them, so a class whose people share "
            "a value gives it away."
        )
    elif facts.treatment.people < facts.treatment.released:
        found.append(
            "That somebody with several records has none with a value: models bound the shares of records, and "
            "everybody of a class may have the value in one of theirs."
        )
    if any(c.role == "pseudonym" for c in facts.columns):
        found.append(
            "That pseudonyms are anonymous: whoever has the key can undo them, and tables with the same key can be "
            "joined. No figure of this report counts them as protection."
        )
    if any(c.role == "weight" and c.treatment != "removed" for c in facts.columns):
        found.append(
            "That survey weights stay unknown: every class shows its mean weight, which no model of this policy looks "
            "at. A class of one stratum gives the stratum away."
        )
    if not any("identity" in m.threats for m in facts.models):
        found.append("That nobody is found in the table: no model of this policy hides who a record belongs to.")
    found += [
        "That nobody can be singled out: a rule that isolates one record may exist although every class is large.",
        "Any bound on what statistics about a group say about its members.",
    ]
    return tuple(found)


def limits(facts: Facts) -> tuple[str, ...]:
    """Return all limits, each with its reason."""
    found = [
        "Composition: guarantees over classes do not add up. Two releases of the same people, each sound on its own, "
        "can "
        "together give values away. Keep account of what was released before.",
        "Singling out: k-anonymity bounds the size of classes, not what a predicate over published cells can isolate. "
        "Cells that are the smallest to cover their class carry information about its records.",
        "The choice of quasi-identifiers is an assumption. A column called insensitive that an adversary knows makes "
        "every number here too small.",
        "Background knowledge about individuals (who does not have a value, who is related to whom) is covered only as "
        "far as an attack above assumes it.",
        "What is true of a class is true of its people: the release shows how often each value occurs in a class, and "
        "for a large or uniform class that is an inference about a person. No model of classes forbids it.",
        "An attack that did not succeed proves little: it is one adversary, on these data. Intervals are for the "
        "chance "
        "in choosing targets, not for cleverer adversaries.",
        "Utility is measured with generic questions. Whether the release serves a purpose has to be tried for it.",
    ]
    found += _known_algorithm(facts)
    found.append(
        "This report is a private document. Its figures compare the release with the original: together with the "
        "published rows, they can tell something about suppressed records and about what a cell hides. Hand it to "
        "people who may see the original, such as the data protection officer, not to whoever gets the release."
    )
    if facts.treatment.counterfeits:
        found.append(
            "This report says how many rows are counterfeits. Keep it with the private companion: with that number, "
            "some of them can be told from records."
        )
    if facts.attacks_not_run:
        names = ", ".join(n.name for n in facts.attacks_not_run)
        found.append(f"Not tried: {names}. The reasons stand with the attacks.")
    return tuple(found)


def _known_algorithm(facts: Facts) -> list[str]:
    """Return what somebody learns who knows the code, which is public."""
    name = facts.provenance.algorithm
    if name not in algorithms:
        return []
    known = algorithms[name]
    told = f"The code is public. {name}: {known.reads_sensitive.sentence}"
    if known.disclosure:
        told = f"{told} {known.disclosure}"
    if known.reads_sensitive.excess and "minimality" not in facts.provenance.guards:
        told += (
            " In tests on small tables, guesses of somebody who knows the code were right for up to "
            f"{known.reads_sensitive.excess:.0%} of the people more than the models promise. The known-algorithm "
            "attack measures it for this release."
        )
    return [told]


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    if len(quoted) < 2:
        return "".join(quoted) or "nothing"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
