"""Sun, Sun and Wang 2011: similarity attacks, disclosures, distortion and time under p-, p+ and (p, alpha)-sensitivity.

Data: Adult's 45,222 complete records with one of eight conditions drawn at random for each, and 500,000 generated
records with the domains of the paper's CENSUS table (numeric hierarchies of value, interval and ``*``). Model 1 is
p-sensitive, model 2 p+-sensitive, model 3 (p, alpha)-sensitive k-anonymity; by default k = 3, p = 2, alpha = 1.

Readings. A class whose values all fall into one category is open to the similarity attack. The "attribute
disclosures" of Table 10 are not defined and their algorithm is not said: classes are counted that lie wholly in one
category, wholly in the top secret one, and that have one category over half, for three draws of the conditions. By
definition model 2 has none of the first kind and model 3 none of the second, and a category of two values cannot fill
a class that has three (p = 3), so the published 15/2/3 and 21/1/2 are no such classes; the counts of the third kind
are far above the published ones under local recoding (thousands of small classes) and below under Incognito (44 large
ones). Table 9 counts levels, leaves included. The curves of Figures 2 to 5 have no numbers in the text, so what the
paper says about them in words stands beside ours. Localpk, Incognito and Clustering (k-member) run on the same
encoded table; time is the CPU seconds of the algorithm alone.

Choices of ours that the figures depend on. Of Incognito's minimal tables the one with least distortion is shown, since
that is what is measured; with the one of least loss, hushtable's default, its distortion rises and falls with |QI| and
with alpha. k-member minimises NCP, not distortion, and runs in blocks, so Figure 4's comparison is not with the exact
algorithm; as in the paper it has model 1, and Localpk models 2 and 3. The generated columns are independent and the
widths of their intervals (10, 50 and 50) are ours: the paper gives none.

The paper says that a larger alpha asks for less, so that distortion falls as alpha grows (Figure 3 b). By Definition 4
a class has to weigh *at least* alpha: a larger alpha asks for more, and distortion should not fall. The contradiction
is printed beside what we measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from hushtable.reproduce import sun_disclosures, sun_global
from hushtable.reproduce.papers import Row, row
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, models_of
from hushtable.reproduce.sun_tables import ADULT, adult_plan, adult_table, census_like, census_plan

__all__ = ["PARTS", "rows", "trend"]

PARTS = ("global", "local")

_CENSUS = {"localpk": (1, 2), "incognito": (0, 1, 2), "k-member": (0,)}
"""Which models run on CENSUS: the paper compares Clustering under model 1 with Localpk under models 2 and 3."""

_SLACK = 0.005
"""Distortion ratios this close count as equal: greedy algorithms waver."""


def rows(part: str | None = None, seed: int = 1, quick: bool = False) -> Iterator[Row]:
    """Yield {experiment, setting, published, ours}.

    Parameters
    ----------
    part : {"global", "local"}, optional
        The experiment on minimal tables of section 7.1.2.1, or all others; both where left out.
    seed : int
        Of the conditions and the generated table; the global part and Table 10 take several seeds from this one on.
    quick : bool
        600 records, three quasi-identifiers, one seed.
    """
    if part in (None, "global"):
        yield from sun_global.rows(seed, quick=quick)
    if part in (None, "local"):
        yield from _adult(seed, quick=quick)
        yield from _census(seed, quick=quick)


def _adult(seed: int, *, quick: bool) -> Iterator[Row]:
    sizes = range(2, 4) if quick else range(2, len(ADULT) + 1)
    bench = Bench(adult_table(seed, 600 if quick else None), {size: adult_plan(size) for size in sizes})
    whole = max(sizes)
    yield from sun_disclosures.rows(seed, quick=quick, first=bench)
    yield from _by_quasi(bench, sizes)
    yield from _by_p_and_alpha(bench, whole, quick=quick)


def _by_quasi(bench: Bench, sizes: Sequence[int]) -> Iterator[Row]:
    for algorithm in ALGORITHMS:
        for number, models in enumerate(models_of(k=3, p=4, alpha=4)):
            for size in sizes:
                setting = f"|QI|={size}, k=3, p=4, alpha=4, {NAMES[number]}, {algorithm}"
                yield row("Figure 2(a), seconds", setting, None, bench.run(size, models, algorithm).seconds)
        mean = []
        for number, models in enumerate(models_of(k=3, p=2, alpha=1)):
            curve = [bench.run(size, models, algorithm).distortion for size in sizes]
            for size, value in zip(sizes, curve, strict=True):
                yield row("Figure 3(a), distortion ratio", f"|QI|={size}, {NAMES[number]}, {algorithm}", None, value)
            setting = f"with |QI|, {NAMES[number]}, {algorithm}"
            yield row("Figure 3(a), trend", setting, "almost increases", trend(curve))
            mean.append(_mean(curve))
        compared = "greater" if mean[2] > mean[1] else "equal" if mean[2] == mean[1] else "smaller"
        setting = f"model 3 beside model 2, mean over |QI|, {algorithm}"
        yield row("Figure 3(a), comparison", setting, "greater", compared)


def _by_p_and_alpha(bench: Bench, whole: int, *, quick: bool) -> Iterator[Row]:
    alphas = (1, 4) if quick else (1, 2, 3, 4, 6, 8)
    for algorithm in ALGORITHMS:
        for p in (2,) if quick else (2, 3, 4):
            for number, models in enumerate(models_of(k=3, p=p, alpha=1)):
                got = bench.run(whole, models, algorithm)
                setting = f"p={p}, alpha=1, {NAMES[number]}, {algorithm}"
                yield row("Figure 2(b), seconds", setting, None, got.seconds)
                yield row("Figure 3(b), distortion ratio", setting, None, got.distortion)
        curve = []
        for alpha in alphas:
            got = bench.run(whole, models_of(k=3, p=2, alpha=alpha)[2], algorithm)
            setting = f"p=2, alpha={alpha}, {NAMES[2]}, {algorithm}"
            yield row("Figure 2(b), seconds", setting, None, got.seconds)
            yield row("Figure 3(b), distortion ratio", setting, None, got.distortion)
            curve.append(got.distortion)
        yield _contradiction("Figure 3(b), contradiction", f"alpha={alphas[0]}..{alphas[-1]}, {algorithm}", curve)


def _census(seed: int, *, quick: bool) -> Iterator[Row]:
    bench = Bench(census_like(600 if quick else 500_000, seed), {3: census_plan()})
    sizes = (3, 5) if quick else (3, 5, 8, 10)
    found: dict[str, list[float]] = {}
    for algorithm, numbers in _CENSUS.items():
        times = []
        for k in sizes:
            for number in numbers:
                got = bench.run(3, models_of(k=k, p=2, alpha=1)[number], algorithm)
                setting = f"k={k}, p=2, alpha=1, {NAMES[number]}, {algorithm}"
                yield row("Figure 4(a), distortion ratio", setting, None, got.distortion)
                yield row("Figure 4(b), discernibility", setting, None, got.discernibility)
                yield row("Figure 4(c), CAVG", setting, None, got.cavg)
                yield row("Figure 5(a), seconds", setting, None, got.seconds)
                found.setdefault(algorithm, []).append(got.distortion)
            times.append(got.seconds)
        setting = f"with k, {NAMES[numbers[-1]]}, {algorithm}"
        yield row("Figure 5(a), trend", setting, "increases", _time_trend(times))
    lower = "localpk" if _mean(found["localpk"]) < _mean(found["k-member"]) else "k-member"
    setting = "mean distortion ratio, localpk beside k-member (Clustering)"
    yield row("Figure 4(a), comparison", setting, "localpk is lower", f"{lower} is lower")
    alphas = (1, 4) if quick else (1, 2, 4, 8)
    curve, slow = [], []
    for alpha in alphas:
        got = bench.run(3, models_of(k=3, p=2, alpha=alpha)[2], "localpk")
        yield row("Figure 5(b), seconds", f"k=3, p=2, alpha={alpha}, {NAMES[2]}, localpk", None, got.seconds)
        curve.append(got.distortion)
        slow.append(got.seconds)
    yield row("Figure 5(b), trend", f"with alpha, {NAMES[2]}, localpk", "decreases", _time_trend(slow))
    yield _contradiction("Figure 5(b), contradiction", f"CENSUS, alpha={alphas[0]}..{alphas[-1]}, localpk", curve)


def _contradiction(experiment: str, setting: str, curve: Sequence[float]) -> Row:
    shown = ", ".join(f"{value:.4f}" for value in curve)
    return row(
        experiment, setting,
        "a larger alpha is a weaker requirement: distortion falls (but Definition 4: weight at least alpha)",
        f"distortion {trend(curve)} ({shown})",
    )  # fmt: skip


def trend(curve: Sequence[float], slack: float = _SLACK) -> str:
    """Return in words how a curve goes; steps within the slack are none.

    Examples
    --------
    >>> trend([0.1, 0.2, 0.2]), trend([0.3, 0.1]), trend([0.1, 0.3, 0.1]), trend([0.1, 0.1])
    ('rises', 'falls', 'rises and falls', 'stays')
    """
    falls = any(b < a - slack for a, b in pairwise(curve))
    rises = any(b > a + slack for a, b in pairwise(curve))
    return " and ".join([*(["rises"] if rises else []), *(["falls"] if falls else [])]) or "stays"


def _time_trend(curve: Sequence[float]) -> str:
    """Return in words how running times go; a tenth of the longest is noise."""
    return trend(curve, max(curve) / 10)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
