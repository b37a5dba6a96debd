"""What was done to each column, and the effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.hierarchy.base import Coded
from hushtable.release.comparison import RowComparison
from hushtable.release.forms.base import Cells
from hushtable.report.content.utility import Bar, ColumnEvidence, Depth
from hushtable.report.gather.associations import Binned
from hushtable.report.gather.bins import Bins, bins_of
from hushtable.report.numbers import percent
from hushtable.schema.columns import Role
from hushtable.table.encoded import QuasiColumn, SensitiveColumn, numbers_of

if TYPE_CHECKING:
    from hushtable.release.released import Released

__all__ = ["ROUNDING", "binned_columns", "column_evidence", "rounded", "spread"]

ROUNDING = 5
"""Counts of bars are rounded to multiples of this: the difference of two counts does not reveal single records."""


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
    open_share = (cells.leaves - 1) / max(coded.size - 1, 1)
    covered = float((open_share * sizes).sum() / total)
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
