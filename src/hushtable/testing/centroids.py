"""Representatives computed again, record by record, in fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hushtable.engines.release import Release
from hushtable.schema.columns import Kind
from hushtable.table.encoded import QuasiColumn
from hushtable.testing.covers import cell_text
from hushtable.testing.require import require

__all__ = ["check_representatives", "representative"]


def check_representatives(release: Release, classes: Sequence[Sequence[int]]) -> None:
    """Every cell of every class is the representative of the class's records: no gap is left in place.

    Parameters
    ----------
    release : Release
    classes : sequence of sequences of int
        The published rows of each class.
    """
    whole = release.partition.whole_numbers
    for column in release.problem.table.quasi:
        shown = release.table.column(column.name).to_pylist()
        for rows in classes:
            codes = [int(column.codes[release.source_rows[row]]) for row in rows]
            good = representative(column, codes, whole_numbers=whole)
            cell = shown[rows[0]]
            if isinstance(good, float) and cell is not None:
                require(math.isclose(cell, good, rel_tol=1e-9, abs_tol=1e-9), f"{column.name!r}: not the mean")
            else:
                require(cell == good, f"{column.name!r}: a class does not publish its representative")


def representative(column: QuasiColumn, codes: Sequence[int], *, whole_numbers: bool = False) -> Any:
    """Return what a class with these codes publishes.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age, city = example().table.quasi
    >>> representative(age, [0, 1]), representative(city, [0, 1, 1])
    (30.5, 'Oslo')
    """
    coded = column.coded
    known = sorted(c for c in codes if c >= int(coded.missing))
    if not known:
        return None
    if coded.kind in (Kind.NUMERIC, Kind.DATE):
        values = [coded.values[c - int(coded.missing)].as_py() for c in known]
        if coded.kind is Kind.DATE:
            return type(values[0]).fromordinal(sum(v.toordinal() for v in values) // len(values))
        mean = sum(map(Fraction, values)) / len(values)
        return round(mean) if whole_numbers and all(isinstance(v, int) for v in values) else float(mean)
    if coded.kind is Kind.ORDINAL:
        code = known[(len(known) - 1) // 2]
    else:
        code = max(Counter(known).items(), key=lambda item: (item[1], -item[0]))[0]
    name = cell_text(coded.labels[0][code]) or ""
    return f"\\{name}" if name == "*" or name[:1] in ("{", "[", "\\") else name
