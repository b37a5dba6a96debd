"""What was done to each column, and the effect."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import Cells
from hushtable.report.content import Association, Bar, ColumnEvidence, Depth
from hushtable.report.numbers import percent
from hushtable.schema.columns import Kind, Role
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn, numbers_of
from hushtable.table.losses import ncp

if TYPE_CHECKING:
    from hushtable.release.released import Released

ROUNDING = 5
"""Counts of bars are rounded to multiples of this: the difference of two counts does not reveal individual records."""


def rounded(counts: FloatArray | IntArray) -> list[int]:
    """Round counts to multiples of ``ROUNDING``, halves up.

    Examples
    --------
    >>> rounded(np.array([12, 13.2, 100]))
    [10, 15, 100]
    """
    whole: list[int] = (np.floor(np.asarray(counts) / ROUNDING + 0.5) * ROUNDING).astype(np.int64).tolist()
    return whole


def binned_columns(release: Released, comparison: RowComparison, least: int, *, named: bool) -> dict[str, Binned]:
    """Return quasi-identifiers and sensitive columns in bins, by name."""
    table, n = release.encoded, comparison.n
    found = {}
    columns: tuple[QuasiColumn | SensitiveColumn, ...] = (*table.quasi, *table.sensitive)
    for column in columns:
        codes = np.asarray(column.codes[:n], dtype=np.int64)
        counts, released = (np.bincount(c, minlength=column.coded.size) for c in (codes, codes[comparison.labels >= 0]))
        bins = bins_of(column.coded, counts, least, named=named, released=released)
        cells = next((c for c in comparison.cells if c.column is column), None)
        found[column.name] = Binned(column.name, bins, bins.of_code[codes], spread(cells, bins) if cells else None)
    return found


def column_evidence(
    release: Released, comparison: RowComparison, binned: Mapping[str, Binned]
) -> tuple[ColumnEvidence, ...]:
    """Return every column of the policy, in its order."""
    quasi = {c.name: (c, cells) for c, cells in zip(release.encoded.quasi, comparison.cells, strict=True)}
    sensitive = {c.name: c for c in release.encoded.sensitive}
    settings: Mapping[str, Mapping[str, Any]] = release.policy.get("columns", {})
    roles = {name: Role(str(given.get("role"))) for name, given in settings.items()}
    roles |= dict.fromkeys(quasi, Role.QUASI) | dict.fromkeys(sensitive, Role.SENSITIVE)
    evidence = []
    for name, role in roles.items():
        if name in quasi:
            evidence.append(_quasi(*quasi[name], comparison, binned[name]))
        elif name in sensitive:
            evidence.append(_sensitive(sensitive[name], comparison, binned[name], release.codes_of(name)))
        else:
            evidence.append(_plain(name, role, mean=name == release.plan.table.shown_weight))
    named = {c.name: tuple(t.name for t in c.treatments) for c in release.plan.table.columns}
    return tuple(_with_treatments(one, named.get(one.name, ())) for one in evidence)


def _with_treatments(evidence: ColumnEvidence, names: tuple[str, ...]) -> ColumnEvidence:
    """Describe the treatments that changed the values first."""
    if not names:
        return evidence
    words = f"treated by {' and '.join(names)}, then {evidence.treatment}"
    caption = evidence.caption if evidence.bars else "Not compared: published with its treated values."
    before = " Before and after refer to the treated values." if evidence.bars else ""
    return evidence.model_copy(update={"treatment": words, "treatments": names, "caption": caption + before})


def _quasi(column: QuasiColumn, cells: Cells, comparison: RowComparison, binned: Binned) -> ColumnEvidence:
    coded, sizes = column.coded, comparison.sizes
    total = max(int(sizes.sum()), 1)
    height = np.bincount(cells.height, weights=sizes, minlength=coded.height + 1)
    depths: tuple[Depth, ...] = tuple(Depth(level=h, share=float(s) / total) for h, s in enumerate(height.tolist()))
    covered = float((ncp(coded, cells.leaves) * sizes).sum() / total)
    after = sizes @ binned.shares if binned.shares is not None else np.zeros(len(binned.bins))
    treatment = _treatment(cells, 1 - float(sizes[cells.leaves <= 1].sum() / total))
    if cells.points is not None:
        depths = ()  # a representative is no node of the hierarchy
    released = column.codes[: comparison.n][comparison.labels >= 0]
    return _described(column, "quasi", treatment, released, binned, after).model_copy(
        update={
            "height": coded.height,
            "depths": depths,
            "covered": covered,
            "nodes": cells.at_nodes,
        }
    )


def _treatment(cells: Cells, changed: float) -> str:
    """Describe what was done to a quasi-identifier, given the share of records that do not show their exact value."""
    if not changed:
        return "published exactly"
    return f"{cells.treatment} in {percent(changed)} of the released records"


def _sensitive(
    column: SensitiveColumn, comparison: RowComparison, binned: Binned, published: IntArray
) -> ColumnEvidence:
    shown = binned.bins.of_code[published]
    after = np.bincount(shown[shown >= 0], minlength=len(binned.bins))
    treatment = "published unchanged" if comparison.linked else "published separately from the people, by group"
    return _described(column, "sensitive", treatment, published, binned, after)


def _described(
    column: QuasiColumn | SensitiveColumn, role: Any, treatment: str, released: AnyArray, binned: Binned, after: Any
) -> ColumnEvidence:
    """Describe a column; values that only occur in suppressed records are not counted."""
    coded, bins = column.coded, binned.bins
    before = np.bincount(binned.before[binned.before >= 0], minlength=len(bins))
    gaps = int(np.count_nonzero(released == 0)) if coded.missing else 0
    return ColumnEvidence(
        name=column.name,
        role=role,
        kind=str(coded.kind),
        treatment=treatment,
        distinct=len(np.unique(released)) - int(gaps > 0),
        missing=rounded(np.array([gaps]))[0],
        height=None,
        depths=(),
        nodes=False,
        covered=None,
        shift=_shift(before, after),
        bars=tuple(
            Bar(label=label, before=b, after=a)
            for label, b, a in zip(bins.labels, rounded(before), rounded(after), strict=True)
        ),
        caption=bins.caption,
    )


def _shift(before: IntArray, after: FloatArray) -> float | None:
    """Total variation distance of two distributions over the bins, to three digits."""
    if not before.sum() or not after.sum():
        return None
    return round(float(np.abs(before / before.sum() - after / after.sum()).sum() / 2), 3)


def _plain(name: str, role: Role, *, mean: bool) -> ColumnEvidence:
    gone = not role.published and not mean
    caption = "Not compared: its values are published unchanged."
    if mean:
        caption = "Every record shows the mean weight of its class, to three significant digits."
    elif gone:
        caption = "Identifiers never reach the release." if role is Role.IDENTIFIER else "It is not in the release."
    return ColumnEvidence(
        name=name,
        role=str(role),
        kind=None,
        treatment="mean of its class" if mean else "removed" if gone else "published unchanged",
        distinct=None,
        missing=None,
        height=None,
        depths=(),
        nodes=False,
        covered=None,
        shift=None,
        bars=(),
        caption=caption,
    )


# How the records of each class are spread over the bins of a column, as far as the release tells.
#
# A generalized cell is spread evenly over the values that it covers, as an analyst would; a centroid or a midpoint is
# where it is.


def spread(cells: Cells, bins: Bins) -> FloatArray:
    """Return the share of each class (row) in each bin (column); rows sum to 1 if everything is shown.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> ages = example().cells[0]
    >>> spread(ages, Bins(("young", "old"), np.array([0, 0, 1, 1, 1]))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    points = _points(cells, bins)
    if points is not None:
        out = np.zeros((len(cells), len(bins) + 1))
        out[np.arange(len(cells)), points] = 1.0
        return out[:, :-1]
    columns = [cells.expected((bins.of_code == b).astype(np.int64)) for b in range(len(bins))]
    return np.column_stack(columns) if columns else np.zeros((len(cells), 0))


def _points(cells: Cells, bins: Bins) -> IntArray | None:
    """Return the bin of each class's single published point (-1 for none), or None if cells cover several values."""
    points = cells.points
    if points is None:
        return None
    coded = cells.column.coded
    gap = int(bins.of_code[0]) if coded.missing else -1
    if points.numbers is None:
        assert points.codes is not None
        return np.where(points.hidden, gap, bins.of_code[points.codes])
    if points.hidden.all():
        # a column without any known value has no scale either
        return np.full(len(cells), gap, dtype=np.int64)
    return np.where(points.hidden, gap, _at(points.numbers, coded, bins))


def _at(numbers: FloatArray, coded: Coded, bins: Bins) -> IntArray:
    if len(bins.edges):
        return np.searchsorted(bins.edges, numbers, side="right")
    known = numbers_of(coded)
    if known is None:
        raise TypeError("only numbers and dates have a position on a scale")
    first = int(coded.missing)
    at = np.searchsorted(known[first:], numbers).clip(1, max(len(known) - first - 1, 1))
    low, high = at - 1 + first, np.minimum(at + first, len(known) - 1)
    nearest = np.where(numbers - known[low] <= known[high] - numbers, low, high)
    return np.asarray(bins.of_code[nearest])


# Association of columns before and after: Cramér's V over the columns' bins.
#
# After anonymization, the joint distribution is the one that an analyst would take from the release: classes are
# spread evenly over the values that their cells cover. If sensitive values are linked to people only by group, each
# value of a group may belong to anyone in it.


@dataclass(frozen=True)
class Binned:
    """A column in bins, before and after.

    Attributes
    ----------
    name : str
    bins : Bins
    before : int64 array
        The bin of every input record; -1 if it is not shown.
    shares : float array, optional
        Share of each class in each bin of a quasi-identifier. None if records keep their value.
    """

    name: str
    bins: Bins
    before: IntArray
    shares: FloatArray | None = None


def associations(
    columns: Sequence[Binned], labels: IntArray, sizes: IntArray, groups: IntArray | None
) -> tuple[Association, ...]:
    """Compare every pair of columns that has at least two bins each.

    Parameters
    ----------
    columns : sequence of Binned
    labels : int64 array
        The class of every input record; -1 for suppressed ones.
    sizes : int64 array
        Records of each class.
    groups : int64 array, optional
        Group in which the sensitive values of every input record are hidden, if there are such groups.
    """
    usable = [c for c in columns if len(c.bins) > 1]
    return tuple(
        Association(
            columns=(a.name, b.name),
            before=round(cramers_v(_joint(a.before, len(a.bins), b.before, len(b.bins))), 4),
            after=round(cramers_v(_after(a, b, labels, sizes, groups)), 4),
        )
        for a, b in itertools.combinations(usable, 2)
    )


def cramers_v(table: FloatArray) -> float:
    """Cramér's V of a contingency table: 0 for independence, 1 if one column determines the other.

    Examples
    --------
    >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]])), cramers_v(np.array([[4.0, 4.0], [1.0, 1.0]]))
    (1.0, 0.0)
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return min(float(np.sqrt(max(chi2, 0.0) / (n * least))), 1.0)


def _joint(a: IntArray, n_a: int, b: IntArray, n_b: int) -> FloatArray:
    both = (a >= 0) & (b >= 0)
    return np.bincount(a[both] * n_b + b[both], minlength=n_a * n_b).reshape(n_a, n_b).astype(np.float64)


def _after(a: Binned, b: Binned, labels: IntArray, sizes: IntArray, groups: IntArray | None) -> FloatArray:
    kept = labels >= 0
    if a.shares is None and b.shares is None:
        return _joint(a.before[kept], len(a.bins), b.before[kept], len(b.bins))
    if a.shares is not None and b.shares is not None:
        return np.asarray(a.shares.T @ (b.shares * sizes[:, None]))
    if b.shares is not None:
        return _after(b, a, labels, sizes, groups).T
    if groups is None:
        counts = _joint(labels[kept], len(sizes), b.before[kept], len(b.bins))
        return np.asarray(a.shares.T @ counts)  # type: ignore[union-attr]
    n = int(groups.max()) + 1
    own = _joint(groups[kept], n, a.before[kept], len(a.bins))
    other = _joint(groups[kept], n, b.before[kept], len(b.bins))
    members = np.maximum(np.bincount(groups[kept], minlength=n), 1)
    return np.asarray(own.T @ (other / members[:, None]))


# Bins: what a histogram may show of a column without showing a person's value.
#
# - Every bin holds at least ``least`` records of the input; smaller ones are merged with a neighbor or omitted.
# - Numbers are cut at round edges that come from a coarse grid, never from the minimum or maximum: the outer bins
#   are open. Dates are cut at months and years.
# - Labels, and numbers with few distinct values, are identified by rank ("value 2"); columns with many labels and a
# hierarchy, by the nodes of one of its levels ("group 2"). Their names appear only at the user's request.


FEW = 12
"""Up to this number, distinct numbers or dates are single values instead of ranges."""

MOST = 12
"""Maximum number of labels with a separate bin."""

_LEAST_RANGE = 1e-290

_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


@dataclass(frozen=True)
class Bins:
    """The bin of each value of a column.

    Attributes
    ----------
    labels : tuple of str
    of_code : int64 array
        The bin of every code; -1 if it is not shown.
    edges : float array
        Starts of the ranges except the first; empty if bins are not ranges.
    caption : str
    """

    labels: tuple[str, ...]
    of_code: IntArray
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    caption: str = ""

    def __len__(self) -> int:
        return len(self.labels)


def bins_of(
    coded: Coded, counts: IntArray, least: int, *, named: bool = False, released: IntArray | None = None
) -> Bins:
    """Choose the bins of a column.

    Parameters
    ----------
    coded : Coded
    counts : int64 array
        Number of input records with each code.
    least : int
        Minimum number of records in a bin.
    named : bool
        Whether values that enough records share may be named.
    released : int64 array, optional
        Number of released records with each code: values without released records are not named.

    Examples
    --------
    >>> ages = Coded(Kind.NUMERIC, pa.array(range(20, 61)), False, (np.arange(41), np.zeros(41, int)),
    ...              (tuple(map(str, range(20, 61))), ("*",)))
    >>> bins_of(ages, np.full(41, 3), least=10).labels
    ('under 25', '25 to 29', '30 to 34', '35 to 39', '40 to 44', '45 to 49', '50 to 54', '55 and over')
    """
    first = int(coded.missing)
    ranged = coded.kind in (Kind.NUMERIC, Kind.DATE) and np.count_nonzero(counts[first:]) > FEW
    known = counts if released is None else np.minimum(counts, released)
    bins = _ranges(coded, counts, least) if ranged else _ranks(coded, counts, least, known if named else None)
    if not ranged and not coded.kind.ordered:
        bins = _nodes(coded, counts, least, known if named else None) or bins
    if first and counts[0] >= least:
        of_code = bins.of_code.copy()
        of_code[0] = len(bins)
        return Bins((*bins.labels, "missing"), of_code, bins.edges, bins.caption)
    return bins


def _ranks(coded: Coded, counts: IntArray, least: int, known: IntArray | None) -> Bins:
    """Number the values, or name those that enough records have according to ``known``."""
    named = known is not None
    first = int(coded.missing)
    codes = np.arange(first, coded.size)
    order = codes[np.lexsort((codes, -counts[first:]))]
    shown = order[(counts if known is None else known)[order] >= least][:MOST]
    rest = int(counts[codes].sum() - counts[shown].sum())
    while 0 < rest < least and len(shown):
        # the difference would reveal the remainder
        rest += int(counts[shown[-1]])
        shown = shown[:-1]
    ordered = coded.kind.ordered
    if ordered:
        shown = np.sort(shown)
    of_code = np.full(coded.size, -1, dtype=np.int64)
    of_code[shown] = np.arange(len(shown))
    if named:
        labels = [coded.labels[0][c] or "" for c in shown.tolist()]
    else:
        labels = [f"value {i + 1}" for i in range(len(shown))]
    if rest >= least:
        others = np.setdiff1d(codes, shown)
        of_code[others] = len(shown)
        labels.append("all other values")
    how = "in their order" if ordered else "the most frequent first"
    caption = f"Values, {how}" + ("." if named else "; they are numbered, not named.")
    return Bins(tuple(labels), of_code, caption=caption)


def _nodes(coded: Coded, counts: IntArray, least: int, known: IntArray | None) -> Bins | None:
    """Return nodes of the lowest level with few enough to show nearly everybody; None if values themselves are few."""
    first = int(coded.missing)
    if np.count_nonzero(counts[first:]) <= MOST:
        return None
    everybody = counts[first:].sum()
    for height in range(1, coded.height):
        level = coded.levels[height][first:]
        held = np.bincount(level, weights=counts[first:], minlength=len(coded.labels[height])).astype(np.int64)
        if np.count_nonzero(held) > MOST or held[held >= least].sum() < 0.9 * everybody:
            continue
        # a level is a column of its own, whose values are nodes
        numbers = np.unique(level)
        nodes = Coded(
            Kind.NOMINAL,
            pa.array([coded.labels[height][n] for n in numbers.tolist()], pa.string()),
            False,
            (np.arange(len(numbers)),),
            (tuple(coded.labels[height][n] for n in numbers.tolist()),),
        )
        shared = None
        if known is not None:
            shared = np.bincount(level, weights=known[first:], minlength=len(held)).astype(np.int64)[numbers]
        found = _ranks(nodes, held[numbers], least, shared)
        of_code = np.full(coded.size, -1, dtype=np.int64)
        of_code[first:] = found.of_code[np.searchsorted(numbers, level)]
        labels = tuple(label.replace("value ", "group ") if known is None else label for label in found.labels)
        named = "." if known is not None else "; they are numbered, not named."
        caption = f"Groups of values (level {height} of the hierarchy), the most frequent first{named}"
        return Bins(labels, of_code, caption=caption)
    return None


def _ranges(coded: Coded, counts: IntArray, least: int) -> Bins:
    first = int(coded.missing)
    days = numbers_of(coded)
    if days is None:
        raise TypeError("only numbers and dates have ranges")
    here = np.flatnonzero(counts[first:]) + first
    numbers = _months(days[here]) if coded.kind is Kind.DATE else days[here]
    edges = _merged_ranges(_grid(numbers, counts[here], least, coded), numbers, counts[here], least)
    of_code = np.full(coded.size, -1, dtype=np.int64)
    everything = days[first:]
    at = _months(everything) if coded.kind is Kind.DATE else everything
    of_code[first:] = np.searchsorted(edges, at, side="right")
    whole = pa.types.is_integer(coded.values.type)
    if coded.kind is Kind.DATE:
        labels = _labels([_month_name(e) for e in edges.tolist()], [_month_name(e - 1) for e in edges.tolist()])
        starts = np.array([_first_day(e) for e in edges.tolist()], dtype=np.float64)
        return Bins(labels, of_code, starts, "Ranges of dates; the outer ones are open.")
    texts = [f"{e:,.10g}" for e in edges.tolist()]
    ends = [f"{e - 1:,.10g}" for e in edges.tolist()] if whole else [f"<{t}" for t in texts]
    return Bins(_labels(texts, ends), of_code, edges, "Ranges with round ends; the outer ones are open.")


def _labels(starts: list[str], ends: list[str]) -> tuple[str, ...]:
    if not starts:
        return ("all values",)
    middle = [f"{a} to {b}" for a, b in zip(starts[:-1], ends[1:], strict=True)]
    return (f"under {starts[0]}", *middle, f"{starts[-1]} and over")


def _grid(numbers: FloatArray, counts: IntArray, least: int, coded: Coded) -> FloatArray:
    """Return round edges between the values below and above which ``least`` records lie."""
    total = np.cumsum(counts)
    low = float(numbers[np.searchsorted(total, least)]) if total[-1] >= least else float(numbers[0])
    high = float(numbers[np.searchsorted(total, total[-1] - least, side="right")]) if total[-1] > least else low
    # below that a tenth of the range has no round number near it
    if not high / 2 - low / 2 > _LEAST_RANGE:
        return np.empty(0)
    if coded.kind is Kind.DATE:
        width = float(next((m for m in _MONTHS if m * 10 >= high - low), _MONTHS[-1]))
    else:
        # no more than four digits of an edge tell anything, and a range of integers is never one of them
        width = _round_up(max(high / 10 - low / 10, max(abs(low), abs(high)) / 500))
        if pa.types.is_integer(coded.values.type):
            width = max(width, 2.0)
    begin, end = math.floor(low / width) + 1, math.ceil(high / width)
    return np.arange(begin, end, dtype=np.float64) * width


def _round_up(width: float) -> float:
    """Return the next number of the form 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> _round_up(0.3), _round_up(41.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))


def _merged_ranges(edges: FloatArray, numbers: FloatArray, counts: IntArray, least: int) -> FloatArray:
    """Drop edges until every range holds at least ``least`` records."""
    kept: list[float] = []
    inside = np.bincount(np.searchsorted(edges, numbers, side="right"), weights=counts, minlength=len(edges) + 1)
    running = 0.0
    for edge, count in zip(edges.tolist(), inside.tolist(), strict=False):
        running += count
        if running >= least:
            kept.append(edge)
            running = 0.0
    running += float(inside[-1])
    if kept and running < least:
        kept.pop()
    return np.array(kept)


def _months(days: FloatArray) -> FloatArray:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64).astype(np.float64)


def _first_day(month: float) -> int:
    return int(np.datetime64(int(month), "M").astype("datetime64[D]").astype(np.int64))


def _month_name(month: float) -> str:
    return str(np.datetime64(int(month), "M"))
