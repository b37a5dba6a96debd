"""Allard 2023, "Partition-based models and algorithms": the lecture's examples, questions and pictures.

The slides print 0.083 for 1/12 and round intermediate results. They also ask questions without printing an answer; ours
are given with the worked examples. Recursive diversity is strict: 7 < 1 x 7 does not hold. Mondrian's picture is drawn
from our own 1,000 points, since the lecture's are not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.api import anonymize
from hushtable.models.bayes_optimal import BayesOptimal
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.policy.policy import Policy
from hushtable.release.plane import plane_of
from hushtable.reproduce.items import Cell, Item, Line, Lines, PaperReading, Squares, Table, item_of, row, statement
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

_ZIP = [75001, 75002, 75003, 75010]
_AGE = [22, 29, 22, 28]
_DISEASE = ["Cold", "Flu", "Cold", "HIV"]
_VALUES = ("Cold", "Flu", "HIV")


def k_anonymity(seed: int, quick: bool) -> list[Item]:
    """The 2-anonymous release of four records, by Mondrian."""
    published = [
        ("[75001, 75002]", "[22, 29]", "Cold"), ("[75001, 75002]", "[22, 29]", "Flu"),
        ("[75003, 75010]", "[22, 29]", "Cold"), ("[75003, 75010]", "[22, 29]", "HIV"),
    ]  # fmt: skip
    shown = _released(["zip", "age"])
    name = "2-anonymous release"
    rows = [
        row(name, f"record {i}, {column}", theirs[j], ours[j])
        for i, (theirs, ours) in enumerate(zip(published, shown, strict=True), 1)
        for j, column in enumerate(("zip", "age", "disease"))
    ]
    cells = tuple(
        tuple(Cell(published=t, ours=o) for t, o in zip(theirs, ours, strict=True))
        for theirs, ours in zip(published, shown, strict=True)
    )
    table = Table(caption=name, head=("record", "zip", "age", "disease"), names=("1", "2", "3", "4"), cells=cells)
    readings = [
        PaperReading(
            question="which of two equally wide columns is cut (a tie)", reading=f"{columns[0]} first",
            result="; ".join(" ".join(r) for r in _released(columns)), favoured=columns[0] == "zip",
        )
        for columns in (["zip", "age"], ["age", "zip"])
    ]  # fmt: skip
    reason = (
        "The classes are the lecture's. It prints the age of the second class as the whole table's range; its two "
        "records span 22 to 28. So two cells differ: the slide generalizes more than its algorithm requires."
    )
    return [item_of(name, "four records cut by Mondrian, k = 2", rows, reason, readings=readings, pictures=[table])]


def _released(quasi: list[str]) -> list[tuple[str, str, str]]:
    people = pa.table({"zip": _ZIP, "age": _AGE, "disease": _DISEASE})
    policy = Policy(quasi=quasi, sensitive=["disease"], models=[KAnonymity(k=2)], cells="intervals")
    return [(r["zip"], r["age"], r["disease"]) for r in anonymize(people, policy).table.to_pylist()]


def bayes_optimal(seed: int, quick: bool) -> list[Item]:
    """An adversary's beliefs about Don, and about the others, before and after the release."""
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
    beliefs = BayesOptimal(theta=0.2, background=True, on="disease").beliefs(groups, table)
    prior = {q: beliefs.prior[beliefs.quasi == q] for q in mass}
    posterior = {q: beliefs.posterior[beliefs.quasi == q] for q in mass}
    name = "Beliefs"
    published = {
        "Don, prior": (0.4, 0.04, 0.56), "others, prior": (0.33, 0.33, 0.33), "Don, posterior": (0.46, 0, 0.54),
    }  # fmt: skip
    ours = {"Don, prior": prior[0], "others, prior": prior[1], "Don, posterior": posterior[0]}
    rows = [
        row(name, f"{who}: {value}", theirs, _as_printed(float(mine), theirs))
        for who, theirs_all in published.items()
        for value, theirs, mine in zip(_VALUES, theirs_all, ours[who], strict=True)
    ]
    gap = float(np.abs(prior[0] - posterior[0]).max())
    everyone = max(float(np.abs(prior[q] - posterior[q]).max()) for q in mass)
    more = [
        row(name, "greatest change of belief about Don", None, round(gap, 4)),
        row(name, "greatest change of belief about anybody", None, round(everyone, 4)),
    ]
    cells = tuple(
        tuple(Cell(published=t, ours=_as_printed(float(o), t)) for t, o in zip(published[who], ours[who], strict=True))
        for who in published
    )
    head = ("about", *_VALUES)
    picture = Table(caption="What the adversary believes", head=head, names=tuple(published), cells=cells)
    reason = (
        "All beliefs agree except for rounding: Don's are 0.4653 and 0.5347 in full; the slides print 0.46 and 0.54."
    )
    readings = [
        PaperReading(
            question="is there a privacy breach? (asked, not answered)", reading=f"theta = {theta:g}",
            result=f"about Don: {_breach(gap, theta)}; about anybody: {_breach(everyone, theta)}",
        )
        for theta in (0.05, 0.1, 0.2, 0.5)
    ]  # fmt: skip
    about = "what an adversary believes before and after the 2-anonymous release"
    return [item_of(name, about, rows, reason, readings=readings, pictures=[picture], more=more)]


def _as_printed(value: float, published: float) -> float:
    """Two digits, rounded or cut off: the slides do both."""
    cut = np.floor(value * 100 + 1e-9) / 100
    return float(cut) if cut == published else round(value, 2)


def _breach(gap: float, theta: float) -> str:
    return f"{'a breach' if gap >= theta else 'no breach'} (beliefs change by {gap:.3f})"


def l_diversity(seed: int, quick: bool) -> list[Item]:
    """Recursive diversity of the slides' counts, before and after one negation statement, and its worst case."""
    counts = (7, 6, 5, 3, 1, 1)
    name = "Recursive diversity"
    without = [c for i, c in enumerate(counts) if i != 1]
    rows = [
        row(name, "counts 7, 6, 5, 3, 1, 1: greatest l at c = 1", 3, _greatest_l(counts, 1)),
        row(name, "Don does not have the second most frequent: greatest l", 2, _greatest_l(without, 1)),
        row(name, "Don does not have the least frequent: greatest l", 3, _greatest_l(counts[:-1], 1)),
    ]
    worst = min(_greatest_l([c for i, c in enumerate(counts) if i != struck], 1) for struck in range(len(counts)))
    lost = _worst_case()
    more = [
        row(name, "worst single negation statement: greatest l left", None, worst),
        row(name, "greatest loss of l by one statement, over all counts up to 7 in five values", None, lost),
        row(name, "counts 100, 6, 5, 3: l = 2 needs c above", None, round(_needed((100, 6, 5, 3)), 4)),
        row(name, "counts 7, 6, 5, 3: l = 2 needs c above", None, round(_needed((7, 6, 5, 3)), 4)),
    ]
    statements = [("100, 6, 5, 3", _needed((100, 6, 5, 3))), ("7, 6, 5, 3", _needed((7, 6, 5, 3)))]
    readings = [
        PaperReading(question="what protection do these counts offer? (asked, not answered)", reading=shown,
                result=f"l = 2 needs c above {c:.4g}; at c = 1 the greatest l is "
                f"{_greatest_l([int(x) for x in shown.split(', ')], 1)}")
        for shown, c in statements
    ]  # fmt: skip
    readings.append(
        PaperReading(question="what is left at worst after one negation statement? (asked, not answered)",
                reading="every multiset of at most five counts from 1 to 7, c = 1",
                result=f"l falls by at most {lost}: (c, l) becomes (c, l - 1)")
    )  # fmt: skip
    curve = [(float(i + 1), float(_greatest_l([c for j, c in enumerate(counts) if j != i], 1))) for i in range(6)]
    picture = Lines(
        caption="Greatest l at c = 1 once one value is ruled out; without a statement it is 3",
        x="rank of the value that Don does not have", y="greatest l",
        lines=(Line(name="counts 7, 6, 5, 3, 1, 1", points=tuple(curve)),
               Line(name="counts 7, 6, 5, 3, 1, 1", points=((2.0, 2.0), (6.0, 3.0)), published=True)),
    )  # fmt: skip
    reason = "All three worked examples are reproduced; the slides' open questions are answered below."
    about = "the greatest l of recursive (c, l)-diversity, before and after one negation statement"
    return [item_of(name, about, rows, reason, readings=readings, pictures=[picture], more=more)]


def _greatest_l(counts: Sequence[int], c: float) -> int:
    """The largest l of recursive (c, l)-diversity that the counts satisfy; 1 if they do not satisfy even 2."""
    groups = GroupStats.of(sizes=[sum(counts)], disease=[list(counts)])
    table = Reference.of(sum(counts), Attribute.of("disease", [str(i) for i in range(len(counts))], counts))
    holds = [l for l in range(2, len(counts) + 1) if RecursiveCL(c=c, l=l, on="disease").satisfied(groups, table)[0]]
    return max(holds, default=1)


def _needed(counts: Sequence[int]) -> float:
    """The c above which the counts are recursive (c, 2)-diverse."""
    groups = GroupStats.of(sizes=[sum(counts)], disease=[list(counts)])
    table = Reference.of(sum(counts), Attribute.of("disease", list("abcd")[: len(counts)], counts))
    return float(RecursiveCL(c=1, l=2, on="disease").score(groups, table)[0])


def _worst_case() -> int:
    """The largest decrease of l by one statement, over all counts up to 7 in at most five values."""
    worst = 0
    for counts in product(range(1, 8), repeat=5):
        if any(a < b for a, b in pairwise(counts)):
            continue
        before = _plain_l(counts)
        after = min(_plain_l(counts[:i] + counts[i + 1 :]) for i in range(5))
        worst = max(worst, before - after)
    return worst


def _plain_l(counts: Sequence[int]) -> int:
    """The largest l at c = 1, by the definition: r1 < rl + ... + rm; 1 if they do not satisfy even 2."""
    return max([l for l in range(2, len(counts) + 1) if counts[0] < sum(counts[l - 1 :])], default=1)


def mondrian(seed: int, quick: bool) -> list[Item]:
    """Mondrian's picture: 1,000 normal points, k = 25, the cuts drawn over the points."""
    n = 1000
    radius = np.sqrt(-2 * np.log(1 - rng.uniform(seed, "allard2023/radius", n)))
    angle = 2 * np.pi * rng.uniform(seed, "allard2023/angle", n)
    x, y = (np.round(50 + 15 * radius * turn(angle)) for turn in (np.cos, np.sin))
    points = pa.table({"x": x, "y": y})
    policy = Policy(
        quasi={"x": {"kind": "numeric"}, "y": {"kind": "numeric"}}, sensitive=[], models=[KAnonymity(k=25)],
        algorithm="mondrian", cells="intervals",
    )  # fmt: skip
    release = anonymize(points, policy)
    plane = plane_of(release.comparison().rows)
    boxes = [(b[0], b[1], b[2], b[3]) for b in plane.boxes.tolist()]
    sizes = np.bincount(release.verification.labels)
    name = "Mondrian's picture"
    rows = [
        statement(name, "every class has at least 25 points", bool(sizes.min() >= 25)),
        statement(name, "boxes do not overlap", not _overlap(boxes)),
        statement(name, "classes near the middle are smaller in area", _dense_is_small(boxes)),
    ]
    more = [row(name, "classes", None, len(sizes)), row(name, "largest class", None, int(sizes.max()))]
    drawn = Squares(
        caption="1,000 points, normally distributed, k = 25", x="x", y="y", boxes=tuple(boxes),
        points=tuple((p[0], p[1]) for p in plane.points.tolist()),
    )  # fmt: skip
    reason = (
        "The lecture's points are not given, so the cuts cannot be compared one by one: what the picture shows is "
        "checked on our own points."
    )
    about = "the classes of Mondrian over 1,000 normally distributed points, k = 25"
    return [item_of(name, about, rows, reason, pictures=[drawn], more=more)]


def _overlap(boxes: Sequence[tuple[float, float, float, float]]) -> bool:
    """Whether the interiors of two boxes intersect."""
    return any(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for i, a in enumerate(boxes) for b in boxes[i + 1 :]
    )


def _dense_is_small(boxes: Sequence[tuple[float, float, float, float]]) -> bool:
    """Whether the boxes nearer to the middle are smaller on average."""
    far = [((b[0] + b[2]) / 2 - 50) ** 2 + ((b[1] + b[3]) / 2 - 50) ** 2 for b in boxes]
    area = np.array([(b[2] - b[0]) * (b[3] - b[1]) for b in boxes])[np.argsort(far)]
    return bool(area[: len(area) // 2].mean() < area[len(area) // 2 :].mean())


PARTS = {"k-anonymity": k_anonymity, "mondrian": mondrian, "bayes-optimal": bayes_optimal, "l-diversity": l_diversity}
