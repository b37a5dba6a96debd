"""The riskiest column subsets: minimal sample uniques, after SUDA.

A person is unique on a set of columns if nobody else has the same cells there; the set is minimal if no proper
subset suffices. The fewer columns it takes, the less an adversary has to know. Sets are searched by size, all
sets of a size before the next; a person who is unique on a set is excluded from the search of its supersets, which
does not affect the others. The work is bounded: a size is only started if its sets times the table's classes still
fit the budget, so the result is complete up to ``searched`` columns.

Each minimal unique of s of the A columns has the SUDA score (A - s)(A - s - 1) ... (A - M), where M is the largest size
searched (at most A - 1): roughly the number of larger sets that are unique because of it. A column's contribution is
the share of the total score on sets with it. A person's score is the sum over their minimal uniques.

DIS-SUDA scales scores to a probability. With U people unique and P people in pairs on all columns, and the
sampling fraction pi, the probability that a match with a unique is correct is (data intrusion simulation)

    d = U pi / (U pi + P (1 - pi)),

and a person's DIS-SUDA score is their score times d U / (sum of all scores), at most 1: its mean over the uniques is d.
If the table is the whole population, every match with a unique is correct: d = 1.

References
----------
M. J. Elliot, A. M. Manning, R. W. Ford, "A computational algorithm for handling the special uniques problem", 2002;
A. M. Manning, D. J. Haglin, J. A. Keane, "A recursive search algorithm for statistical disclosure assessment", 2008;
M. J. Elliot, "Integrating file and record level disclosure risk assessment", 2002 (DIS-SUDA).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray
from hushtable.params import AtLeast
from hushtable.risk.base import Exposure, Finding, Risk
from hushtable.risk.projection import unique_on
from hushtable.risk.sampling import Fraction, Sampling

_BANDS = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])


@dataclass(frozen=True)
class RiskySubset(Finding):
    """A set of columns and the people it singles out.

    Attributes
    ----------
    columns : tuple of str
    people : float
        People for whom this set is a minimal unique.
    share : float
    """

    columns: tuple[str, ...]
    people: float
    share: float


@dataclass(frozen=True)
class ColumnScore(Finding):
    """A column's share of the total score of all minimal uniques; 0 if there are none."""

    column: str
    contribution: float


@dataclass(frozen=True)
class MinimalUniquesFinding(Finding):
    """The minimal sample uniques of a table.

    Attributes
    ----------
    searched : int
        Every set of up to this many columns was examined.
    complete : bool
        Whether that is the requested size, or the number of columns.
    people : float
        People with at least one minimal unique.
    share : float
    by_size : tuple of float
        People whose smallest minimal unique has 1, 2, ... columns.
    subsets : tuple of RiskySubset
        Those with the most people first; ties by size, then in column order.
    columns : tuple of ColumnScore
        In the policy's order.
    score : float
        Mean SUDA score of the people with a minimal unique; 0 if there are none.
    basis : str
        Source of the sampling fraction of ``dis``.
    dis : float
        Probability that a match with a unique is correct.
    highest_dis : float
        The highest DIS-SUDA score of a person.
    by_dis : tuple of float
        People with a DIS-SUDA score of 0, above 0 up to 0.1, up to 0.2, ..., up to 0.7, and above.
    """

    searched: int
    complete: bool
    people: float
    share: float
    by_size: tuple[float, ...]
    subsets: tuple[RiskySubset, ...]
    columns: tuple[ColumnScore, ...]
    score: float
    basis: str
    dis: float
    highest_dis: float
    by_dis: tuple[float, ...]


@dataclass(frozen=True)
class MinimalUniques(Risk):
    """The small sets of columns that single people out.

    Parameters
    ----------
    size : int
        Maximum number of columns in a set.
    top : int
        Number of sets to report.
    budget : int
        Maximum number of examined classes, counted once for each set of columns.
    fraction : float, optional
        Share of the population that is in the table, for DIS-SUDA.

    Examples
    --------
    >>> table = Exposure.of({"age": [30, 31, 31, 31], "sex": ["f", "f", "f", "m"], "zip": [1, 1, 2, 2]})
    >>> found = MinimalUniques().compute(table)
    >>> [(s.columns, s.people) for s in found.subsets]
    [(('age',), 1.0), (('sex',), 1.0), (('age', 'zip'), 1.0), (('sex', 'zip'), 1.0)]
    >>> found.by_size
    (2.0, 2.0, 0.0)
    >>> found.score, round(MinimalUniques(fraction=0.1).compute(table).dis, 2)
    (1.5, 1.0)
    """

    size: Annotated[int, AtLeast(1), "maximum number of columns in a set"] = 3
    top: Annotated[int, AtLeast(1), "number of sets to report"] = 10
    budget: Annotated[int, AtLeast(1), "maximum number of examined classes, counted once for each set of columns"] = (
        100_000_000
    )
    fraction: Fraction = None

    name: ClassVar[str] = "minimal-uniques"

    def compute(self, exposure: Exposure) -> MinimalUniquesFinding:
        """Assess one table."""
        d, n = len(exposure.columns), len(exposure)
        wanted = min(self.size, d)
        # one column at a time is always looked at
        searched = max(s for s in range(1, wanted + 1) if s == 1 or _sets(d, s) * n <= self.budget)
        smallest, score = np.zeros(n, dtype=np.int64), np.zeros(n)
        found: list[tuple[tuple[int, ...], int]] = []
        for subset, unique in _search(exposure, searched):
            if unique.any():
                units = int(exposure.units[unique].sum())
                found.append((subset, units))
                smallest[unique & (smallest == 0)] = len(subset)
                score[unique] += _score(d, len(subset), searched)
        by_size = [int(exposure.units[smallest == s].sum()) for s in range(1, searched + 1)]
        total = int(exposure.units.sum())
        sampling = Sampling.of(exposure, self.fraction)
        chance, dis = _dis(exposure, score, sampling.fraction)
        bands = np.searchsorted(_BANDS, dis, side="left")
        scored = exposure.units[smallest > 0].sum()
        ranked = sorted(found, key=lambda f: (-f[1], len(f[0]), f[0]))[: self.top]
        return MinimalUniquesFinding(
            searched=searched,
            complete=searched == wanted,
            people=sum(by_size) / exposure.unit,
            share=sum(by_size) / total,
            by_size=tuple(units / exposure.unit for units in by_size),
            subsets=tuple(
                RiskySubset(tuple(exposure.columns[j] for j in subset), units / exposure.unit, units / total)
                for subset, units in ranked
            ),
            columns=_contributions(exposure.columns, found, searched),
            score=float((score * exposure.units).sum() / max(int(scored), 1)),
            basis=sampling.basis,
            dis=chance,
            highest_dis=float(dis.max()),
            by_dis=tuple(np.bincount(bands, exposure.counts, minlength=len(_BANDS) + 1).tolist()),
        )


def _sets(columns: int, size: int) -> int:
    """Return the number of sets of up to ``size`` columns."""
    return sum(math.comb(columns, s) for s in range(1, size + 1))


def _search(exposure: Exposure, size: int) -> Iterator[tuple[tuple[int, ...], BoolArray]]:
    """Yield every set of up to ``size`` columns with the classes for which it is a minimal unique."""
    on_all = exposure.unique
    if not on_all.any():
        return  # nobody is unique on all columns, so nobody is on some
    # if classes contain whole people, a person is unique exactly if no other class looks the same
    units = None if exposure.unit == 1 else exposure.units.astype(np.float64)
    below: dict[tuple[int, ...], BoolArray] = {(): np.zeros(len(exposure), dtype=np.bool_)}
    for s in range(1, size + 1):
        level: dict[tuple[int, ...], BoolArray] = {}
        for subset in combinations(range(len(exposure.columns)), s):
            done = np.logical_or.reduce([below[subset[:i] + subset[i + 1 :]] for i in range(s)])
            unique = _unique_on(exposure, subset, units, done)
            unique &= on_all & ~done
            yield subset, unique
            if s < size:
                level[subset] = done | unique
        below = level


def _unique_on(exposure: Exposure, subset: tuple[int, ...], units: FloatArray | None, done: BoolArray) -> BoolArray:
    """Return which of the classes that are not done are unique on a set of columns; other entries are arbitrary.

    Those that are done are unique on a part of the set, so they match nobody: skipping them only saves time.
    """
    sizes = [exposure.sizes[j] for j in subset]
    codes = [exposure.codes[j] for j in subset]
    if 2 * np.count_nonzero(done) < len(exposure):
        return unique_on(codes, sizes, units, exposure.unit)
    among = np.flatnonzero(~done)
    out = np.zeros(len(exposure), dtype=np.bool_)
    if len(among):
        weights = None if units is None else units[among]
        out[among] = unique_on([c[among] for c in codes], sizes, weights, exposure.unit)
    return out


def _score(columns: int, size: int, searched: int) -> int:
    """The SUDA score of a minimal unique of ``size`` columns."""
    return math.prod(columns - i for i in range(size, min(searched, columns - 1) + 1))


def _dis(exposure: Exposure, score: FloatArray, fraction: float) -> tuple[float, FloatArray]:
    """Return the probability that a match with a unique is correct, and the DIS-SUDA score of each class."""
    uniques = float(exposure.counts[exposure.unique].sum())
    pairs = float(exposure.counts[~exposure.unique & (exposure.units <= 2 * exposure.unit)].sum())
    if not uniques:
        return 0.0, np.zeros(len(exposure))
    chance = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    total = float((score * exposure.counts).sum())
    # a budget may have left uniques without a score
    return chance, np.minimum(score * (chance * uniques / total), 1.0) if total else np.zeros(len(exposure))


def _contributions(
    columns: tuple[str, ...], found: list[tuple[tuple[int, ...], int]], searched: int
) -> tuple[ColumnScore, ...]:
    d = len(columns)
    scores = [units * _score(d, len(subset), searched) for subset, units in found]
    total = sum(scores)
    return tuple(
        ColumnScore(name, sum(x for x, (subset, _) in zip(scores, found, strict=True) if j in subset) / max(total, 1))
        for j, name in enumerate(columns)
    )
