"""The beliefs of an adversary, estimated from the table by a kernel of some width.

About a person with quasi-identifiers q, the belief in a value s is the weighted share of s among all records, where a
record with quasi-identifiers r weighs prod over the columns of K(d(q, r)), with Epanechnikov's kernel K(x) = 1 - (x /
B)^2 below the bandwidth B, and 0 from B on. Distances run from 0 to 1: differences of numbers, dates and ranks over the
column's range; of labels, the height of the lowest node above both over that of the hierarchy (0 or 1 without one). A
missing value is at distance 1 from all others. With a small B, the adversary knows the table nearly record by record;
with a large one, little about q. The person's own record counts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray, FloatArray, IntArray, joined_ranges
from hushtable.errors import DataError
from hushtable.hierarchy.base import Coded
from hushtable.kernels.grouping import group_rows, number_rows
from hushtable.table.coded_columns import scaled_numbers
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import SideTables

MOST_COMBINATIONS = 50_000
"""Maximum number of distinct combinations of quasi-identifiers to compare with each other."""

_CHUNK = 1 << 22
_SMALL = 1 << 20


@dataclass(frozen=True)
class Estimate:
    """Beliefs about all people with the same quasi-identifiers.

    Attributes
    ----------
    of_row : int64 array
        The combination of quasi-identifiers of every row of the sample.
    first : int64 array
        A row with each combination.
    people : float array
        People with each combination.
    prior : float array
        Bandwidth x combination x value.
    """

    of_row: IntArray
    first: IntArray
    people: FloatArray
    prior: FloatArray


def _distances(coded: Coded, mine: IntArray, theirs: IntArray) -> FloatArray:
    """Distances of codes from others; the arrays are broadcast."""
    if coded.kind.ordered:
        first, number = int(coded.missing), np.arange(coded.size)
        known = scaled_numbers(coded)
        scale = (number - first) / max(coded.size - first - 1, 1) if known is None else known
        scale = np.where(number < first, np.nan, scale)
        gap = np.abs(scale[mine] - scale[theirs])
        if not coded.missing:
            return gap
        return np.where(np.isnan(gap), np.where(mine == theirs, 0.0, 1.0), gap)
    height = max(len(coded.levels) - 1, 1)
    apart = np.zeros(np.broadcast_shapes(mine.shape, theirs.shape))
    for level in coded.levels[:height]:
        apart += level[mine] != level[theirs]
    return apart / height


def kernel_weights(coded: Coded, mine: IntArray, theirs: IntArray, bandwidth: float) -> FloatArray:
    """Return Epanechnikov's weight of codes for others, up to a factor; the arrays are broadcast.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age = example().table.quasi[0].coded
    >>> kernel_weights(age, np.array([0]), np.arange(age.size), 0.5).round(2).tolist()
    [1.0, 1.0, 0.46, 0.41, 0.0]
    """
    return np.asarray(np.maximum(1.0 - (_distances(coded, mine, theirs) / bandwidth) ** 2, 0.0))


def estimate(table: EncodedTable, on: str, bandwidths: Sequence[float], wanted: BoolArray | None = None) -> Estimate:
    """Estimate the beliefs about everyone in a sample.

    Parameters
    ----------
    table : EncodedTable
    on : str
        The sensitive column.
    bandwidths : sequence of float
    wanted : bool array, optional
        The rows of interest; beliefs about combinations that none of them has stay 0.

    Raises
    ------
    DataError
        If there are too many combinations of quasi-identifiers to compare each with all others.
    """
    n = table.n_sample
    quasi = [c.codes[:n].astype(np.int64) for c in table.quasi]
    of_row, first = number_rows(quasi, [c.coded.size for c in table.quasi])
    asked = np.arange(len(first)) if wanted is None else np.unique(of_row[wanted])
    if len(asked) * len(first) > MOST_COMBINATIONS**2:
        raise DataError(
            f"A kernel estimate compares {len(asked):,} combinations of quasi-identifiers with all {len(first):,}; "
            "at most "
            f"{MOST_COMBINATIONS:,} can be compared with each other.",
            code="too-many-combinations",
            hint="Give some quasi-identifiers coarser values, or choose bayes-optimal with a background table.",
        )
    codes, size = table.code_column((on,))
    weights = table.units_of(slice(n))
    # counts of (combination, value): the values of a combination are neighbors
    pair, entry = np.unique(of_row * size + codes[:n], return_inverse=True)
    count = np.bincount(entry.reshape(-1), weights=weights)
    value, begin = pair % size, np.searchsorted(pair, np.arange(len(first) + 1) * size)
    prior = np.zeros((len(bandwidths), len(first), size))
    # labels that differ usually weigh nothing, so columns of many labels leave the fewest others
    turn = sorted(range(len(quasi)), key=lambda j: (table.quasi[j].coded.kind.ordered, -table.quasi[j].coded.size))
    columns = [(table.quasi[j].coded, quasi[j][first]) for j in turn]
    step = max(_CHUNK // max(len(first), 1), 1)
    for place, bandwidth in enumerate(bandwidths):
        tables = [_weight_table(coded, bandwidth) for coded, _ in columns[1:]]
        for low in range(0, len(asked), step):
            part = asked[low : low + step]
            person, other, weight = _near(columns, tables, bandwidth, part)
            times = (begin[1:] - begin[:-1])[other]
            entries = joined_ranges(begin[other], times)
            found = np.bincount(
                np.repeat(person, times) * size + value[entries],
                weights=np.repeat(weight, times) * count[entries],
                minlength=len(part) * size,
            ).reshape(len(part), size)
            prior[place, part] = found / found.sum(axis=1, keepdims=True)
    people = np.bincount(of_row, weights=weights, minlength=len(first)) / table.unit
    return Estimate(of_row, first, people, prior)


def _weight_table(coded: Coded, bandwidth: float) -> FloatArray | None:
    """The weights of all codes for all codes, if there are few."""
    every = np.arange(coded.size)
    return kernel_weights(coded, every[:, None], every, bandwidth) if coded.size**2 <= _SMALL else None


def _near(
    columns: Sequence[tuple[Coded, IntArray]], tables: Sequence[FloatArray | None], bandwidth: float, part: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return which combinations weigh anything for which of some others, and how much.

    Only those with codes that are near in the first column are looked at, and so on.
    """
    coded, codes = columns[0]
    own = kernel_weights(coded, codes[part][:, None], np.arange(coded.size), bandwidth)
    person, code = np.nonzero(own)
    members, offsets = group_rows(codes, coded.size)
    times = np.diff(offsets)[code]
    other = members[joined_ranges(offsets[code], times)]
    person, weight = np.repeat(person, times), np.repeat(own[person, code], times)
    for (coded, codes), every in zip(columns[1:], tables, strict=True):
        mine, theirs = codes[part][person], codes[other]
        own = kernel_weights(coded, mine, theirs, bandwidth) if every is None else every[mine, theirs]
        kept = np.flatnonzero(own)
        person, other, weight = person[kept], other[kept], weight[kept] * own[kept]
    return person, other, weight


def with_estimate(encoded: EncodedTable, table: pa.Table, side_tables: SideTables) -> SideTables:
    """Return the side tables with the estimate in place of a background table."""
    found = estimate(encoded, side_tables.background_on, side_tables.bandwidths)
    joint = found.prior * (found.people / found.people.sum() / len(side_tables.bandwidths))[None, :, None]
    # widths fastest: combination, bandwidth, value
    joint = np.moveaxis(joint, 0, 1)
    combination, place, value = np.nonzero(joint)
    size = joint.shape[2]
    rows = table.select([c.name for c in encoded.quasi]).take(pa.array(found.first[combination]))
    codes = (combination * len(side_tables.bandwidths) + place) * size + value
    return replace(side_tables, background=rows, mass=joint[combination, place, value], codes=codes.astype(np.int64))
