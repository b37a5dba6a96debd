"""Wang, Xu and Qu 2011: (alp, dif)-anonymity compared with k-anonymity, Tables I to IV and Figures 4 to 10.

The figures are not in the text that we have, so what the paper says about them in words is checked. Data: the 20,045
records of Adult's training part whose marital status is one of the paper's four values and whose columns are all known;
samples of 6,000, three of them averaged. The trees of the categorical columns are our own, since the paper does not
print its trees; ages go through steps of 5, 10 and 20 years. The axis of k is ours too: the text mentions 5 and 6.

The paper does not give v, the share of records that may be suppressed. The figures are drawn with v = 1%, and all of
them for v = 0, 1, 5 and 10%. An attacked record is one whose whole class has its sensitive value. Times are CPU seconds
of the algorithm alone, each run five times on each sample; the band goes from the fastest to the slowest run, and a
statement about times counts only where bands do not overlap. The steps of the search do not vary, so they are given
too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable import rng
from hushtable.api import run_plan
from hushtable.datasets import adult_policy, load_adult
from hushtable.engines.local import problem_of
from hushtable.engines.release import Release
from hushtable.errors import Infeasible, NotFound
from hushtable.models.alp_dif import AlpDif
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms
from hushtable.reproduce.items import (
    Cell,
    Item,
    Line,
    Lines,
    PaperReading,
    Row,
    Table,
    item_of,
    nearest,
    row,
    statement,
)
from hushtable.table.ranks import dense_ranks
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats

QUASI = ("age", "education", "sex", "occupation", "native-country", "salary-class")
STATUS = "marital-status"
ALP = {"Divorced": 0.43, "Widowed": 0.42, "Separated": 0.5, "Married-civ-spouse": 1.0}
DIF = {"Divorced": 0.27, "Widowed": 0.31, "Separated": 0.6, "Married-civ-spouse": 1.0}
PROTECTED = ("Divorced", "Separated", "Widowed")

_TIMES = 5
"""Number of timed runs."""


@cache
def records() -> pa.Table:
    """The records with one of the paper's four values and without missing values."""
    table = load_adult("train").select([*QUASI, STATUS]).drop_null()
    return table.filter(pc.is_in(table.column(STATUS), value_set=pa.array(sorted(ALP))))


@cache
def sample(n: int, seed: int, turn: int) -> pa.Table:
    """One of the samples that are averaged."""
    table = records()
    order = np.argsort(rng.uniform(seed, f"wang2011/{n}/{turn}", table.num_rows), kind="stable")
    return table.take(pa.array(np.sort(order[:n])))


@dataclass(frozen=True)
class WangSetting:
    """The parameters of a run: k, the bounds of protected values (none: only k-anonymity), and the share v."""

    k: int
    alp: tuple[tuple[str, float], ...] = ()
    dif: tuple[tuple[str, float], ...] = ()
    v: float = 0.01
    as_printed: bool = False

    def policy(self) -> Policy:
        """The policy of the paper's experiment."""
        columns = {name: spec for name, spec in adult_policy()["columns"].items() if name in QUASI}
        columns["age"] = {**columns["age"], "hierarchy": {"intervals": [5, 10, 20]}}
        columns["salary-class"] = {"role": "quasi", "kind": "nominal", "hierarchy": {"flat": {}}}
        columns[STATUS] = {"role": "sensitive", "kind": "nominal"}
        models: list[Any] = [KAnonymity(k=self.k)]
        if self.alp:
            models.append(AlpDif(alp=dict(self.alp), dif=dict(self.dif), on=STATUS))
        algorithm = algorithms.build("greedy-loss", {"as_printed": True} if self.as_printed else {})
        return Policy(columns=columns, models=models, algorithm=algorithm, suppression=self.v)


@dataclass(frozen=True)
class Point:
    """The results, averaged over the samples."""

    # attacked, guarded: records in classes of one value: of any value, and of a protected one
    attacked: float
    guarded: float
    prec: float
    steps: float  # columns raised by the algorithm
    suppressed: float  # share of the records
    seconds: float  # CPU seconds of the algorithm alone: the fastest of several runs, averaged over the samples
    band: tuple[float, float]  # the fastest and the slowest of all runs


def attacked(release: Release, column: str, protected: Sequence[str]) -> tuple[int, int]:
    """Count the records whose whole class has one sensitive value: of any value, and of a protected one.

    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "status": ["a", "a", "b", "b"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["status"], models=[ht.KAnonymity(k=2)])
    >>> attacked(ht.anonymize(people, policy), "status", ["a"])
    (4, 2)
    """
    labels = release.verification.labels[: release.table.num_rows]
    ranks, _ = dense_ranks(release.table.column(column))
    n = int(labels.max()) + 1
    low = np.full(n, np.iinfo(np.int64).max)
    high = np.full(n, -1, dtype=np.int64)
    np.minimum.at(low, labels, ranks)
    np.maximum.at(high, labels, ranks)
    alike = (low == high)[labels]
    guarded = pc.is_in(release.table.column(column).cast(pa.string()), value_set=pa.array(protected))
    return int(alike.sum()), int((alike & guarded.to_numpy(zero_copy_only=False)).sum())


@cache
def measured(setting: WangSetting, n: int, seed: int, repeats: int, timed: bool = False) -> Point:
    """Run a setting on several samples.

    Parameters
    ----------
    setting : WangSetting
    n, seed, repeats : int
        Size of the samples, their seed, and their number.
    timed : bool
        Whether to repeat each run for its time; otherwise no time is given.
    """
    protected = [name for name, bound in setting.alp if bound < 1] or list(PROTECTED)
    plan = setting.policy().plan()
    found, times = [], []
    for turn in range(repeats):
        table = sample(n, seed, turn)
        release = run_plan(table, plan)
        lost = 1 - release.table.num_rows / n
        counts = attacked(release, STATUS, protected)
        found.append((*counts, release.measure("prec"), release.partition.notes["steps"], lost))
        times.append(_seconds(table, plan) if timed else [0.0])
    everyone, guarded, prec, steps, lost = (float(np.mean(part)) for part in zip(*found, strict=True))
    least = float(np.mean([min(runs) for runs in times]))
    every = [seconds for runs in times for seconds in runs]
    return Point(everyone, guarded, prec, steps, lost, least, (min(every), max(every)))


def _seconds(table: pa.Table, plan: Any) -> list[float]:
    """CPU seconds of the algorithm alone, several times, after a warm-up run."""
    problem = problem_of(table, plan)
    plan.algorithm.run(problem)
    times = []
    for _ in range(_TIMES):
        begin = time.process_time()
        plan.algorithm.run(problem)
        times.append(time.process_time() - begin)
    return times


SHARES = (0.0, 0.01, 0.05, 0.1)
"""The values of v to try; the paper gives none."""
_V = 0.01

_Value = Callable[[Point], float]


@dataclass(frozen=True)
class RunSize:
    """The extent of a run: seed, the axis of k, size and number of samples."""

    seed: int
    ks: tuple[int, ...]
    n: int
    repeats: int

    @classmethod
    def of(cls, seed: int, quick: bool) -> RunSize:
        """The paper's extent, or one small sample and two values of k."""
        return cls(seed, (2, 4), 900, 1) if quick else cls(seed, (2, 3, 4, 5, 6), 6000, 3)

    def line(self, of: Callable[[int], WangSetting], *, timed: bool = False) -> dict[float, Point]:
        """A point for each k."""
        return {float(k): measured(of(k), self.n, self.seed, self.repeats, timed) for k in self.ks}


def _divorced(alp: float, v: float, dif: float = 0.3) -> Callable[[int], WangSetting]:
    return lambda k: WangSetting(k, (("Divorced", alp),), (("Divorced", dif),), v)


def _models(v: float) -> dict[str, Callable[[int], WangSetting]]:
    return {
        "k-anonymity": lambda k: WangSetting(k, v=v),
        "(alp, dif)": lambda k: WangSetting(k, tuple(ALP.items()), tuple(DIF.items()), v),
    }


def _alps(v: float) -> dict[str, Callable[[int], WangSetting]]:
    return {"alp 0.43": _divorced(0.43, v), "alp 0.41": _divorced(0.41, v)}


_Of = dict[str, Callable[[int], WangSetting]]
"""Line -> its setting for each k."""

_FIGURES: dict[str, tuple[str, _Value, Callable[[float], _Of], tuple[str, str, str]]] = {
    "Figure 4": ("attacked records", lambda p: p.attacked, _models,
                 ("attacked records fall as k grows", "k-anonymity", "(alp, dif)")),
    "Figure 6": ("Prec", lambda p: p.prec, _models, ("precision falls as k grows", "k-anonymity", "(alp, dif)")),
    "Figure 8": ("Prec", lambda p: p.prec, _alps, ("precision falls as k grows", "alp 0.43", "alp 0.41")),
    "Figure 9": ("attacked records", lambda p: p.attacked, _alps,
                 ("attacked records fall as k grows", "alp 0.43", "alp 0.41")),
}  # fmt: skip
"""Figure -> (y axis, its value, its lines, (what falls with k, which line is above which))."""

_ABOVE = {
    "Figure 4": "(alp, dif) has fewer attacked records than k-anonymity",
    "Figure 6": "(alp, dif) is less precise than k-anonymity",
    "Figure 8": "the larger alp is more precise",
    "Figure 9": "the smaller alp has fewer attacked records",
}


def figures(seed: int, quick: bool) -> list[Item]:
    """Figures 4, 6, 8 and 9: attacked records and precision, for every v."""
    run = RunSize.of(seed, quick)
    return [_figure(name, run) for name in _FIGURES]


def _figure(name: str, run: RunSize) -> Item:
    y, value, lines_of, (falls, above, below) = _FIGURES[name]
    found = {v: {line: run.line(of) for line, of in lines_of(v).items()} for v in SHARES}
    said = {v: _said(curves, value, above, below) for v, curves in found.items()}
    main = found[_V]
    rows = [
        statement(name, falls, said[_V][0]),
        statement(name, _ABOVE[name], said[_V][1]),
    ]
    more = [
        row(f"{name}, {y}", f"{line}, k={k:g}, v={v:g}", None, round(value(point), 4))
        for v, curves in found.items() for line, points in curves.items() for k, point in points.items()
    ]  # fmt: skip
    more += [row(f"{name}, suppressed", f"{line}, k={k:g}, v={_V:g}", None, round(p.suppressed, 4))
             for line, points in main.items() for k, p in points.items()]  # fmt: skip
    readings = nearest(
        "v, the share of records that may be suppressed",
        [(f"v = {100 * v:g}%", _in_words(falls, _ABOVE[name], holds), 2.0 - sum(holds)) for v, holds in said.items()],
    )
    if name == "Figure 9":
        readings += _other_alps(run)
    drawn = [_lines(f"{name}: {y} by k, v = {100 * _V:g}%", y, main, value)]
    drawn += [
        _lines(f"The same for every v: {line}", y, {f"v = {100 * v:g}%": found[v][line] for v in SHARES}, value)
        for line in main
    ]
    return item_of(name, f"{y} by k", rows, _reason(name, main, run.ks), readings=readings, pictures=drawn, more=more)


def _said(curves: Mapping[str, Mapping[float, Point]], value: _Value, above: str, below: str) -> tuple[bool, bool]:
    """Whether no line ends higher than it begins and one ends lower; whether one lies above the other on average."""
    moves = [value(list(points.values())[-1]) - value(next(iter(points.values()))) for points in curves.values()]
    sums = {line: sum(value(p) for p in points.values()) for line, points in curves.items()}
    return max(moves) <= 0 and min(moves) < 0, sums[above] > sums[below]


def _in_words(falls: str, above: str, holds: tuple[bool, bool]) -> str:
    return "; ".join(f"{words}: {'yes' if yes else 'no'}" for words, yes in zip((falls, above), holds, strict=True))


def _reason(name: str, main: Mapping[str, Mapping[float, Point]], ks: Sequence[int]) -> str:
    ends = {line: (points[float(ks[0])], points[float(ks[-1])]) for line, points in main.items()}
    if name == "Figure 4":
        return "Both statements hold: (alp, dif) leaves almost nobody in a class of one value."
    if name == "Figure 6":
        first, last = ends["(alp, dif)"]
        return (
            f"k-anonymity loses precision as k grows. (alp, dif) does not: from k = {ks[0]} to {ks[-1]} it goes from "
            f"{first.prec:.3f} to {last.prec:.3f}. A larger k makes step 1 suppress the classes of few records, where "
            "protected values leak most. Step 2, which suppresses nothing, then stops sooner: after "
            f"{last.steps:.1f} steps instead of {first.steps:.1f}. With v = 0 nothing is suppressed, and the precision "
            "of (alp, dif) is the same for every k."
        )
    if name == "Figure 8":
        return (
            "Precision falls. The lines of alp .43 and .41 coincide: wherever k and dif hold, the average leakage of "
            "Divorced is below both, so the smaller alp requires nothing more."
        )
    return (
        "Attacked records fall. The lines of alp .43 and .41 coincide, as in Figure 8. A smaller alp does leave fewer "
        "attacked records once it binds: see the readings."
    )


def _other_alps(run: RunSize) -> list[PaperReading]:
    """Attacked records for smaller values of alp, which bind; below .28, the algorithm finds nothing."""
    ks = run.ks[:1] if len(run.ks) < 3 else (2, 4)
    readings = []
    for dif, alps in {0.3: (0.43, 0.41, 0.32, 0.3, 0.28), 1.0: (0.43, 0.41, 0.38, 0.3, 0.28)}.items():
        for k in ks:
            shown = []
            for alp in alps:
                try:
                    point = measured(_divorced(alp, _V, dif)(k), run.n, run.seed, run.repeats)
                except (Infeasible, NotFound):
                    continue
                shown.append(f"alp {alp:g}: {point.attacked:.1f}")
            title = f"dif {dif:g}, k = {k}"
            readings.append(PaperReading(question="from which alp on it binds", reading=title, result=", ".join(shown)))
    return readings


def _lines(caption: str, y: str, curves: Mapping[str, Mapping[float, Point]], value: _Value) -> Lines:
    lines = tuple(
        Line(name=line, points=tuple((k, round(value(p), 4)) for k, p in points.items()))
        for line, points in curves.items()
    )
    return Lines(caption=caption, x="k", y=y, lines=lines)


def times(seed: int, quick: bool) -> list[Item]:
    """Figures 5, 7 and 10: time, with a band, and the steps of the search."""
    run = RunSize.of(seed, quick)
    items = []
    for name, lines_of, longer, (slow, fast) in (
        ("Figure 5", _models, "(alp, dif) takes longer than k-anonymity", ("(alp, dif)", "k-anonymity")),
        ("Figure 7", _alps, "the smaller alp takes longer", ("alp 0.41", "alp 0.43")),
    ):
        curves = {line: run.line(of, timed=True) for line, of in lines_of(_V).items()}
        rows = [
            statement(name, "time grows with k", _grows(list(curves.values()))),
            statement(name, longer, _longer(curves[slow], curves[fast])),
        ]
        every = {v: {line: run.line(of) for line, of in lines_of(v).items()} for v in SHARES}
        readings = [
            PaperReading(question="v, by the steps of the search at the first and the last k",
                         reading=f"v = {100 * v:g}%",
                         result=", ".join(f"{line}: {_ends(points)}" for line, points in found.items()))
            for v, found in every.items()
        ]  # fmt: skip
        items.append(_time_item(name, "k", curves, rows, readings, _time_reason(name, curves)))
    return [*items, _figure_10(run)]


def _figure_10(run: RunSize) -> Item:
    name = "Figure 10"
    sizes = [run.n * i // 6 for i in range(1, 7)]
    curves = {
        f"k={k}": {float(n): measured(_divorced(0.4, _V)(k), n, run.seed, run.repeats, True) for n in sizes}
        for k in (2, 3)
    }
    rows = [
        statement(name, "time grows with the number of records", _grows(list(curves.values()))),
        statement(name, "the larger k takes longer", _longer(curves["k=3"], curves["k=2"])),
    ]
    return _time_item(name, "records", curves, rows, [], _time_reason(name, curves))


def _time_item(
    name: str, x: str, curves: Mapping[str, Mapping[float, Point]], rows: Sequence[Row],
    readings: Sequence[PaperReading], reason: str,
) -> Item:  # fmt: skip
    more = [
        row(f"{name}, {what}", f"{line}, {x}={at:g}", None, round(number, 5))
        for line, points in curves.items()
        for at, p in points.items()
        for what, number in (
            ("milliseconds", 1000 * p.seconds), ("fastest", 1000 * p.band[0]), ("slowest", 1000 * p.band[1]),
            ("steps", p.steps),
        )
    ]  # fmt: skip
    timed = tuple(
        Line(name=line, points=tuple((at, round(1000 * p.seconds, 3)) for at, p in points.items()),
             band=tuple((round(1000 * p.band[0], 3), round(1000 * p.band[1], 3)) for p in points.values()))
        for line, points in curves.items()
    )  # fmt: skip
    steps = _lines(f"{name}: steps of the search, which do not waver", "steps", curves, lambda p: p.steps)
    drawn = [
        Lines(caption=f"{name}: CPU time with its band, v = {100 * _V:g}%", x=x, y="milliseconds", lines=timed),
        steps.model_copy(update={"x": x}),
    ]
    return item_of(name, f"time by {x}", rows, reason, readings=readings, pictures=drawn, more=more)


def _grows(curves: Sequence[Mapping[float, Point]]) -> bool | None:
    """Whether time rises from the first to the last point; None if the bands of a line overlap."""
    ends = [(next(iter(c.values())), list(c.values())[-1]) for c in curves]
    if all(first.band[1] < last.band[0] for first, last in ends):
        return True
    return False if any(last.band[1] < first.band[0] for first, last in ends) else None


def _longer(slow: Mapping[float, Point], fast: Mapping[float, Point]) -> bool | None:
    """Whether one line takes longer: by the bands, point by point; None if they overlap anywhere."""
    pairs = list(zip(slow.values(), fast.values(), strict=True))
    if all(a.band[0] > b.band[1] for a, b in pairs):
        return True
    return False if all(a.band[1] < b.band[0] for a, b in pairs) else None


def _ends(points: Mapping[float, Point]) -> str:
    values = list(points.values())
    return f"{values[0].steps:.1f} and {values[-1].steps:.1f}"


def _time_reason(name: str, curves: Mapping[str, Mapping[float, Point]]) -> str:
    steps = "; ".join(f"{line}: {_ends(points)} steps" for line, points in curves.items())
    if name == "Figure 10":
        return (
            f"At the first and the last size, {steps}. A larger k needs a few more steps at best, and each step is "
            "cheaper on a coarser table, so the two lines lie within each other's band. In the paper every step reads "
            "all records again; here equal records are counted once."
        )
    if name == "Figure 7":
        return (
            f"At the first and the last k, {steps}. Both alp lead to the same nodes (see Figure 8), so their times do "
            "not differ."
        )
    return (
        f"At the first and the last k, {steps}. The paper explains time by the steps: more of them for a larger k. "
        "Here equal records are counted once, so a step costs less the coarser the table, and the time hardly depends "
        "on the steps."
    )


def table_4(seed: int, quick: bool) -> list[Item]:
    """Table IV: numbers of records and distinct values."""
    name = "Table IV"
    published = dict(zip((*QUASI, STATUS), (73, 16, 2, 14, 32, 2, 4), strict=True))
    whole = load_adult("train").select([*QUASI, STATUS])
    four = whole.filter(pc.is_in(whole.column(STATUS), value_set=pa.array(sorted(ALP))))
    all_columns = load_adult("train")
    everything = all_columns.filter(pc.is_in(all_columns.column(STATUS), value_set=pa.array(sorted(ALP))))
    used = records()
    rows = [row(name, "records", 21411, used.num_rows)]
    rows += [row(name, f"distinct values of {c}", n, pc.count_distinct(used.column(c)).as_py())
             for c, n in published.items()]  # fmt: skip
    tables = {
        "four values, gaps removed (used here)": used,
        "four values, gaps kept": four,
        "four values, gaps kept, equal records of all 15 columns once":
            everything.group_by(everything.column_names).aggregate([]).select([*QUASI, STATUS]),
        "four values, equal records of the seven columns once": used.group_by([*QUASI, STATUS]).aggregate([]),
        "all marital states, gaps removed": whole.drop_null(),
    }  # fmt: skip
    readings = nearest(
        "which records (gaps, de-duplication)",
        [
            (reading, f"{t.num_rows:,} records, {pc.count_distinct(t['age']).as_py()} ages, "
             f"{pc.count_distinct(t['native-country'], mode='only_valid').as_py()} countries",
             float(abs(t.num_rows - 21411)))
            for reading, t in tables.items()
        ],
    )  # fmt: skip
    cells = tuple((Cell(published=r.published, ours=r.ours),) for r in rows)
    picture = Table(caption="The data set", head=("", "number"), names=tuple(r.setting for r in rows), cells=cells)
    reason = (
        "Except for 18 to 26 records, the number of records is that of the training part with the four values and with "
        "its missing values; the paper says that missing values were removed. Adult has 41 countries; 32 cannot be "
        "derived."
    )
    return [item_of(name, "the data set", rows, reason, readings=readings, pictures=[picture])]


_SMALL = {
    "Table I": ((("(40, 50], Dr., M", ("HIV", "HIV")), ("[30, 40], Master, M", ("cancer", "cold")),
                 ("[20, 30), secondary, F", ("fever", "fever")))),
    "Table II": ((("(20, 50], *, person", ("HIV", "HIV", "cancer", "cold", "fever", "fever")),)),
    "Table III": ((("(40, 50], tertiary, M", ("HIV", "HIV", "cancer", "cold")),
                   ("[20, 30), secondary, F", ("fever", "fever")))),
}  # fmt: skip
"""The classes of the paper's small tables and the illnesses in them."""


def examples(seed: int, quick: bool) -> list[Item]:
    """Tables I to III: which properties each has and what it leaks."""
    illnesses = ("HIV", "cancer", "cold", "fever")
    promises = {
        "Table I": {"2-anonymous": True, "2-sensitive": False, "HIV is disclosed": True, "fever is disclosed": True},
        "Table II": {"2-anonymous": True, "2-sensitive": True, "HIV is disclosed": False, "fever is disclosed": False},
        "Table III": {"2-anonymous": True, "2-sensitive": False, "HIV is disclosed": False, "fever is disclosed": True},
    }
    items = []
    for name, classes in _SMALL.items():
        counts = [[values.count(i) for i in illnesses] for _, values in classes]
        groups = GroupStats.of(sizes=[sum(c) for c in counts], illness=counts)
        table = Reference.of(6, Attribute.of("illness", illnesses, [sum(c) for c in zip(*counts, strict=True)]))
        guard = AlpDif(alp={"HIV": 0.5}, dif={"HIV": 0.0}, on="illness")
        ours = {
            "2-anonymous": bool(KAnonymity(k=2).satisfied(groups, table).all()),
            "2-sensitive": bool(PSensitive(p=2, on="illness").satisfied(groups, table).all()),
            "HIV is disclosed": any(c[0] == sum(c) for c in counts),
            "fever is disclosed": any(c[3] == sum(c) for c in counts),
        }
        rows = [row(name, what, "yes, it is" if holds else "no", "yes, it is" if ours[what] else "no")
                for what, holds in promises[name].items()]  # fmt: skip
        rows.append(row(name, "classes", len(classes), len(counts)))
        leak = sum(c[0] * c[0] / sum(c) for c in counts) / 2
        more = [
            row(name, "average leakage of HIV", None, round(leak, 4)),
            row(name, "(alp .5, dif 0) of HIV holds", None, bool(guard.table_satisfied(groups, table)[0])),
        ]
        cells = tuple((Cell(ours=", ".join(values)),) for _, values in classes)
        picture = Table(caption=name, head=("class", "illnesses"), names=tuple(c for c, _ in classes), cells=cells)
        reason = "What the paper says about this table holds."
        items.append(item_of(name, "a small table, its promises and its leaks", rows, reason, pictures=[picture],
                             more=more))  # fmt: skip
    return items


PARTS = {"examples": examples, "table-4": table_4, "figures": figures, "times": times}
