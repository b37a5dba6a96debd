"""Figures 2 to 5 of Sun et al.: time, distortion and two other losses under the three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pyarrow as pa

from hushtable.models.alpha_k import AlphaK
from hushtable.reproduce.items import Item, Line, Lines, PaperReading, Row, item_of, row, statement
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, Models, Result, models_of
from hushtable.reproduce.sun_tables import ADULT, RACES, adult_plan, adult_table, census_like, census_plan

_SLACK = 0.005
"""Distortion ratios this close count as equal, since greedy algorithms fluctuate."""

Curves = dict[str, dict[float, Result]]
"""Line -> x -> result."""


def trend(curve: Sequence[float], slack: float = _SLACK) -> str:
    """Describe the trend of a curve in words; steps within the slack are ignored.

    Examples
    --------
    >>> trend([0.1, 0.2, 0.2]), trend([0.3, 0.1]), trend([0.1, 0.3, 0.1]), trend([0.1, 0.1])
    ('rises', 'falls', 'rises and falls', 'stays')
    """
    falls = any(b < a - slack for a, b in pairwise(curve))
    rises = any(b > a + slack for a, b in pairwise(curve))
    return " and ".join([*(["rises"] if rises else []), *(["falls"] if falls else [])]) or "stays"


def adult_figures(seed: int, quick: bool) -> list[Item]:
    """Figures 2 and 3, on Adult; quick: 600 records and two or three quasi-identifiers."""
    sizes = range(2, 4) if quick else range(2, len(ADULT) + 1)
    bench = Bench(adult_table(seed, 600 if quick else None), {size: adult_plan(size) for size in sizes})
    return [*_by_quasi(bench, sizes), *_by_p_and_alpha(bench, max(sizes), quick)]


def _by_quasi(bench: Bench, sizes: Sequence[int]) -> list[Item]:
    slow = _curves(bench, sizes, models_of(k=3, p=4, alpha=4))
    name = "Figure 2(a)"
    plain, plus = (sum(r.seconds for r in slow["localpk"][NAMES[i]].values()) for i in (0, 1))
    ratio = plus / plain
    rows = [statement(name, "p+ takes about as long as p (Localpk, within a factor of 1.5)", 1 / 1.5 < ratio < 1.5)]
    reason = f"p+ takes {ratio:.2f} times as long as p: it counts categories as well as values."
    time_item = item_of(
        name, "CPU time by |QI|, k = 3, p = 4, alpha = 4", rows, reason,
        pictures=[_timed(f"Seconds by |QI|, {a}", "|QI|", curves) for a, curves in slow.items()],
        more=_seconds(name, "|QI|", slow),
    )  # fmt: skip
    found = _curves(bench, sizes, models_of(k=3, p=2, alpha=1))
    name = "Figure 3(a)"
    rows = [
        statement(name, f"distortion almost increases with |QI|: {model}, {algorithm}",
                  trend([r.distortion for r in points.values()]) in ("rises", "stays"))
        for algorithm, curves in found.items() for model, points in curves.items()
    ]  # fmt: skip
    means = {a: {m: sum(r.distortion for r in p.values()) / len(p) for m, p in c.items()} for a, c in found.items()}
    rows += [
        statement(name, f"model 3 distorts more than model 2 on average: {a}",
                  None if m[NAMES[2]] == m[NAMES[1]] else m[NAMES[2]] > m[NAMES[1]])
        for a, m in means.items()
    ]  # fmt: skip
    reason = (
        "The minimal table of Incognito with the least distortion is shown. It is the same table under models 2 and "
        "3, so it decides nothing between them. Whether its distortion rises to the end depends on the levels of the "
        "columns that come last: see the readings."
    )
    item = item_of(
        name, "distortion ratio by |QI|, k = 3, p = 2, alpha = 1", rows, reason, readings=_by_race(bench.table, sizes),
        pictures=[_chart(f"Distortion ratio by |QI|, {a}", "|QI|", "distortion ratio", curves, lambda r: r.distortion)
                  for a, curves in found.items()],
        more=_numbers(name, "|QI|", found, "distortion"),
    )  # fmt: skip
    return [time_item, item]


def _by_race(table: pa.Table, sizes: Sequence[int]) -> list[PaperReading]:
    """Incognito's distortion by |QI| under model 1, for every grouping of race."""
    models = models_of(k=3, p=2, alpha=1)[0]
    readings = []
    for race in RACES:
        bench = Bench(table, {size: adult_plan(size, race) for size in sizes})
        curve = [bench.run(size, models, "incognito").distortion for size in sizes]
        shown = ", ".join(f"{size}: {value:.3f}" for size, value in zip(sizes, curve, strict=True))
        goes = trend(curve)
        readings.append(PaperReading(question="levels of race (Incognito, model 1)", reading=race,
                                result=f"distortion {goes} ({shown})", favoured="falls" not in goes))  # fmt: skip
    return readings


def _curves(bench: Bench, sizes: Sequence[int], models: Sequence[Models]) -> dict[str, Curves]:
    return {
        algorithm: {
            NAMES[i]: {float(size): bench.run(size, one, algorithm) for size in sizes} for i, one in enumerate(models)
        }
        for algorithm in ALGORITHMS
    }


def _by_p_and_alpha(bench: Bench, whole: int, quick: bool) -> list[Item]:
    alphas, ps = ((1, 4), (2,)) if quick else ((1, 2, 3, 4, 6, 8), (2, 3, 4))
    by_p = {
        a: {NAMES[i]: {float(p): bench.run(whole, models_of(k=3, p=p, alpha=1)[i], a) for p in ps} for i in range(3)}
        for a in ALGORITHMS
    }
    by_alpha = {
        a: {NAMES[2]: {float(x): bench.run(whole, models_of(k=3, p=2, alpha=x)[2], a) for x in alphas}}
        for a in ALGORITHMS
    }
    name = "Figure 2(b)"
    fast, slow = by_p["localpk"][NAMES[1]], by_p["localpk"][NAMES[2]]
    least = fast[float(ps[0])].seconds
    grow = [r.seconds - least for r in by_alpha["localpk"][NAMES[2]].values()]
    rows = [
        statement(name, f"p+ is faster than (p, alpha) at p = {p:g}, alpha = 1 (Localpk)", _faster(fast[p], slow[p]))
        for p in fast
    ]
    rows.append(statement(name, "the difference grows with alpha (Localpk)", grow[-1] > grow[0]))
    reason = (
        "The difference grows with alpha, since a larger alpha requires more. With p = 3 and 4, p+ requires three or "
        "four of the four categories in every class, a harder search than as many values with alpha = 1."
    )
    times = item_of(
        name, "CPU time by p and by alpha, k = 3", rows, reason,
        pictures=[_timed(f"Seconds by p, alpha = 1, {a}", "p", c) for a, c in by_p.items()]
        + [_timed("Seconds by alpha, p = 2", "alpha", {a: c[NAMES[2]] for a, c in by_alpha.items()})],
        more=_seconds(name, "p", by_p) + _seconds(name, "alpha", by_alpha),
    )  # fmt: skip
    name = "Figure 3(b)"
    distortion = {a: [r.distortion for r in c[NAMES[2]].values()] for a, c in by_alpha.items()}
    rows = [statement(name, f"distortion falls as alpha grows: {a}", "falls" in trend(d) and "rises" not in trend(d))
            for a, d in distortion.items()]  # fmt: skip
    item = item_of(
        name, "distortion ratio by alpha, k = 3, p = 2", rows, _ALPHA,
        readings=_directions(bench, whole, quick, lambda r: r.distortion, "distortion"),
        pictures=[
            _chart("Distortion ratio by alpha", "alpha", "distortion ratio",
                   {a: c[NAMES[2]] for a, c in by_alpha.items()}, lambda r: r.distortion),
            _chart("Distortion ratio by p, Localpk", "p", "distortion ratio", by_p["localpk"], lambda r: r.distortion),
        ],
        more=_numbers(name, "p", by_p, "distortion") + _numbers(name, "alpha", by_alpha, "distortion"),
    )  # fmt: skip
    return [times, item]


_ALPHA = (
    "The paper explains its figure by saying that a larger alpha requires less. By Definition 4, a class has to weigh "
    "at least alpha, so a larger alpha requires more, and distortion cannot fall. The explanation fits an alpha that "
    "bounds a "
    "share from above, as in (alpha, k)-anonymity of Wong et al., which the paper cites: see the readings."
)


def _directions(
    bench: Bench, size: int, quick: bool, value: Callable[[Result], float], what: str, slack: float = _SLACK
) -> list[PaperReading]:
    """Both directions of alpha under Localpk: at least (Definition 4), and at most, as in (alpha, k)-anonymity."""
    ways: dict[str, dict[float, Models]] = {
        "weight at least alpha (Definition 4)": {a: models_of(k=3, p=2, alpha=a)[2] for a in (1, 4, 8)},
        "share of a value at most alpha": {a: (AlphaK(alpha=a, k=3),) for a in (0.25, 0.5, 1.0)},
    }
    readings = []
    for reading, settings in ways.items():
        # 600 records cannot reach the extremes
        fitting = {a: m for a, m in settings.items() if not quick or 0.5 <= a <= 4}
        curve = {a: value(bench.run(size, models, "localpk")) for a, models in fitting.items()}
        goes = trend(list(curve.values()), slack or max(curve.values()) / 10)
        shown = ", ".join(f"alpha {a:g}: {y:.4g}" for a, y in curve.items())
        readings.append(PaperReading(question="alpha's direction", reading=reading, result=f"{what} {goes} ({shown})",
                                favoured=goes == "falls"))  # fmt: skip
    return readings


def census_figures(seed: int, quick: bool) -> list[Item]:
    """Figures 4 and 5, on the CENSUS-like table; quick: 600 records."""
    bench = Bench(census_like(600 if quick else 500_000, seed), {3: census_plan()})
    sizes = (3, 5) if quick else (3, 5, 8, 10)
    # the paper compares Clustering under model 1 with Localpk under models 2 and 3
    compared = {"Clustering (k-member)": ("k-member", 0), "localpk2": ("localpk", 1), "localpk3": ("localpk", 2)}
    found: Curves = {
        line: {float(k): bench.run(3, models_of(k=k, p=2, alpha=1)[i], algorithm) for k in sizes}
        for line, (algorithm, i) in compared.items()
    }
    return [*_losses(found), *_census_times(bench, found, quick)]


def _losses(found: Curves) -> list[Item]:
    items = []
    figures: dict[str, tuple[str, Callable[[Result], float]]] = {
        "Figure 4(a)": ("distortion ratio", lambda r: r.distortion),
        "Figure 4(b)": ("discernibility", lambda r: r.discernibility),
        "Figure 4(c)": ("CAVG", lambda r: r.cavg),
    }
    for name, (what, value) in figures.items():
        cluster = list(found["Clustering (k-member)"].values())
        rows = [
            statement(name, f"{line} is better than Clustering at every k",
                      all(value(a) < value(b) for a, b in zip(found[line].values(), cluster, strict=True)))
            for line in ("localpk2", "localpk3")
        ]  # fmt: skip
        reason = (
            "The table is generated with the paper's domains, since its CENSUS extract is not given; the intervals' "
            "widths (10, 50 and 50) are ours. k-member minimizes NCP, not distortion, and runs in blocks."
        )
        items.append(item_of(
            name, f"{what} by k, p = 2, alpha = 1, 500,000 records", rows, reason,
            pictures=[_chart(f"{what} by k", "k", what, found, value)],
            more=[row(name, f"{line}, k={k:g}", None, value(r)) for line, p in found.items() for k, r in p.items()],
        ))  # fmt: skip
    return items


def _census_times(bench: Bench, found: Curves, quick: bool) -> list[Item]:
    name = "Figure 5(a)"
    rows = [statement(name, f"time grows with k: {line}", _rises(list(p.values()))) for line, p in found.items()]
    reason = (
        "Here equal records are counted once and specializing stops earlier for a larger k, so there is hardly more "
        "work to do as k grows; the paper explains its growth by more candidates."
    )
    by_k = item_of(
        name, "CPU time by k", rows, reason, pictures=[_timed("Seconds by k", "k", found)],
        more=_seconds(name, "k", {"": found}),
    )  # fmt: skip
    name = "Figure 5(b)"
    alphas = (1, 4) if quick else (1, 2, 4, 8)
    curve = {float(a): bench.run(3, models_of(k=3, p=2, alpha=a)[2], "localpk") for a in alphas}
    up = _rises(list(curve.values()))
    rows = [statement(name, "time falls as alpha grows (localpk3)", None if up is None else not up)]
    reason = (
        "A larger alpha requires more (Definition 4), so more records move back up and the search takes longer. The "
        "paper's sentence fits an upper bound instead: see Figure 3(b)."
    )
    by_alpha = item_of(
        name, "CPU time by alpha, k = 3, p = 2", rows, reason,
        readings=_directions(bench, 3, quick, lambda r: r.distortion, "distortion")
        + _directions(bench, 3, quick, lambda r: r.seconds, "time", 0.0),
        pictures=[_timed("Seconds by alpha", "alpha", {"localpk3": curve})],
        more=_seconds(name, "alpha", {"": {"localpk3": curve}}),
    )  # fmt: skip
    return [by_k, by_alpha]


def _faster(a: Result, b: Result) -> bool | None:
    """Whether a is faster than b; None if their bands overlap."""
    if a.slowest < b.seconds:
        return True
    return False if b.slowest < a.seconds else None


def _rises(points: Sequence[Result]) -> bool | None:
    """Whether time rises from the first to the last point by at least a tenth, and beyond the bands."""
    first, last = points[0], points[-1]
    if last.seconds > max(first.slowest, 1.1 * first.seconds):
        return True
    return False if first.seconds > max(last.slowest, 1.1 * last.seconds) else None


def _chart(caption: str, x: str, y: str, curves: Curves, value: Callable[[Result], float]) -> Lines:
    lines = tuple(Line(name=line, points=tuple((at, value(r)) for at, r in p.items())) for line, p in curves.items())
    return Lines(caption=caption, x=x, y=y, lines=lines)


def _timed(caption: str, x: str, curves: Curves) -> Lines:
    lines = tuple(
        Line(name=line, points=tuple((at, r.seconds) for at, r in p.items()),
             band=tuple((r.seconds, r.slowest) for r in p.values()))
        for line, p in curves.items()
    )  # fmt: skip
    return Lines(caption=caption, x=x, y="seconds", lines=lines)


def _numbers(name: str, x: str, found: Mapping[str, Curves], what: str) -> list[Row]:
    return [
        row(f"{name}, {what}", f"{x}={at:g}, {line}, {a}".rstrip(", "), None, getattr(r, what))
        for a, curves in found.items() for line, points in curves.items() for at, r in points.items()
    ]  # fmt: skip


def _seconds(name: str, x: str, found: Mapping[str, Curves]) -> list[Row]:
    return _numbers(name, x, found, "seconds")
