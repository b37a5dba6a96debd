"""Allard 2023, "Partition-based models and algorithms": the lecture's worked examples.

Parts: ``k-anonymity`` (the 2-anonymous release of four records, by Mondrian), ``bayes-optimal`` (what an adversary
believes about Don before and after it) and ``l-diversity`` (recursive diversity of the slides' counts, before and after
one negation statement).

Readings. The slides print 0.083 for 1/12 and round on the way, so Don's posterior is printed as 0.46 / 0 / 0.54; it is
0.4653 / 0 / 0.5347. Recursive diversity is strict: 7 < 1 x 7 does not hold. Mondrian has to choose between two columns
of equal width; the lecture cuts the postcode, which the policy here names first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hushtable.api import anonymize
from hushtable.models.bayes_optimal import BayesOptimal
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.policy.policy import Policy
from hushtable.reproduce.papers import Row, row
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

__all__ = ["PARTS", "rows"]

PARTS = ("k-anonymity", "bayes-optimal", "l-diversity")

_ZIP = [75001, 75002, 75003, 75010]
_AGE = [22, 29, 22, 28]
_DISEASE = ["Cold", "Flu", "Cold", "HIV"]
_VALUES = ("Cold", "Flu", "HIV")


def rows(part: str | None = None, quick: bool = False) -> Iterator[Row]:
    """Yield {experiment, setting, published, ours}; quick makes no difference, four records are few.

    Examples
    --------
    >>> [r["ours"] for r in rows("l-diversity")][:2]
    [3, 2]
    """
    if part in (None, "k-anonymity"):
        yield from _k_anonymity()
    if part in (None, "bayes-optimal"):
        yield from _bayes_optimal()
    if part in (None, "l-diversity"):
        yield from _l_diversity()


def _k_anonymity() -> Iterator[Row]:
    people = pa.table({"zip": _ZIP, "age": _AGE, "disease": _DISEASE})
    policy = Policy(quasi=["zip", "age"], sensitive=["disease"], models=[KAnonymity(k=2)], cells="intervals")
    release = anonymize(people, policy).table.to_pylist()
    shown = [f"{r['zip']} {r['age']} {r['disease']}" for r in release]
    # the slide prints the age of the second class as [22, 29], the whole table's range; its records span [22, 28]
    published = [
        "[75001, 75002] [22, 29] Cold",
        "[75001, 75002] [22, 29] Flu",
        "[75003, 75010] [22, 29] Cold",
        "[75003, 75010] [22, 29] HIV",
    ]
    for number, (theirs, ours) in enumerate(zip(published, shown, strict=True), 1):
        yield row("2-anonymous release", f"record {number}", theirs, ours)


def _bayes_optimal() -> Iterator[Row]:
    # mass in units of 1/300: Don 0.1, 0.01, 0.14; the three others 1/12 each; joint code q * 3 + s
    mass = {0: (30, 3, 42), 1: (25, 25, 25), 2: (25, 25, 25), 3: (25, 25, 25)}
    classes = {0: (1, 2), 1: (0, 3)}
    codes = {g: [q * 3 + s for q in members for s in range(3)] for g, members in classes.items()}
    units = {g: [u for q in members for u in mass[q]] for g, members in classes.items()}
    background = Histogram.from_pairs(
        np.repeat([0, 1], 6), np.array(codes[0] + codes[1]), np.array(units[0] + units[1]), 2, 300
    )
    sensitive = Histogram.dense([[1, 1, 0], [1, 0, 1]])
    groups = GroupStats(np.array([2, 2]), histograms={("disease",): sensitive}, background=background)
    whole = Attribute.of("disease", _VALUES, [2, 1, 1])
    table = Reference(4, attributes={("disease",): whole}, background=background, background_values=3)
    model = BayesOptimal(theta=0.2, background=True, on="disease")
    beliefs = model.beliefs(groups, table)
    don = beliefs.quasi == 0
    for values, title, published in (
        (beliefs.prior[don], "prior", (0.4, 0.04, 0.56)),
        (beliefs.posterior[don], "posterior", (0.46, 0, 0.54)),
    ):
        for name, theirs, ours in zip(_VALUES, published, values.tolist(), strict=True):
            yield row("Bayes-optimal", f"{title} belief that Don has {name}", theirs, round(ours, 4))
    gap = float(np.abs(beliefs.prior[don] - beliefs.posterior[don]).max())
    yield row("Bayes-optimal", "greatest change of belief about Don", None, round(gap, 4))


def _greatest_l(counts: Sequence[int], c: float) -> int:
    """The greatest l of recursive (c, l)-diversity that the counts satisfy; 1 where not even 2."""
    groups = GroupStats.of(sizes=[sum(counts)], disease=[list(counts)])
    table = Reference.of(sum(counts), Attribute.of("disease", [str(i) for i in range(len(counts))], counts))
    holds = [l for l in range(2, len(counts) + 1) if RecursiveCL(c=c, l=l, on="disease").satisfied(groups, table)[0]]
    return max(holds, default=1)


def _l_diversity() -> Iterator[Row]:
    counts = (7, 6, 5, 3, 1, 1)
    yield row("Recursive diversity", "counts 7, 6, 5, 3, 1, 1: greatest l at c = 1", 3, _greatest_l(counts, 1))
    without = [c for i, c in enumerate(counts) if i != 1]
    yield row("Recursive diversity", "not the second most frequent: greatest l at c = 1", 2, _greatest_l(without, 1))
    yield row("Recursive diversity", "not the least frequent: greatest l at c = 1", 3, _greatest_l(counts[:-1], 1))
    skewed = (100, 6, 5, 3)
    groups = GroupStats.of(sizes=[sum(skewed)], disease=[list(skewed)])
    table = Reference.of(sum(skewed), Attribute.of("disease", list("abcd"), skewed))
    needed = float(RecursiveCL(c=1, l=2, on="disease").score(groups, table)[0])
    yield row("Recursive diversity", "counts 100, 6, 5, 3: l = 2 needs c above", None, round(needed, 4))
