"""Anti-unification: what a set of records has in common, and by which attribute to divide it if that is too little.

References
----------
E. Armengol, V. Torra, "Generalization-based k-anonymization", MDAI 2015, Figures 4-6.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from hushtable.arrays import BoolArray, IntArray

INDIFFERENT = -1
"""Marks an attribute in which the records of a pattern differ."""

Condition = Literal["<", ">"]
"""Whether the attribute that induces the fewest or the most sets divides first."""


def anti_unify(records: npt.ArrayLike) -> IntArray:
    """Return the pattern of some records: their value where all agree, ``INDIFFERENT`` elsewhere.

    Parameters
    ----------
    records : (n, d) array of codes
        Codes are not negative.

    Examples
    --------
    >>> anti_unify([[3, 0, 5], [3, 1, 5]]).tolist()
    [3, -1, 5]
    """
    codes = np.asarray(records, dtype=np.int64)
    return np.where((codes == codes[:1]).all(axis=0), codes[0], INDIFFERENT)


def attribute_order(n_sets: npt.ArrayLike, condition: Condition) -> IntArray:
    """Return the attributes that divide a set, in the order that a condition requires.

    Parameters
    ----------
    n_sets : array of int
        Number of sets that each attribute induces; an attribute with a single set divides nothing and is omitted.
    condition : {"<", ">"}
        Fewest sets first, or most; ties go to the first.

    Examples
    --------
    >>> attribute_order([3, 2, 4, 2, 3, 5, 1], "<").tolist(), attribute_order([3, 2, 4, 2, 3, 5, 1], ">").tolist()
    ([1, 3, 0, 4, 2, 5], [5, 2, 0, 4, 1, 3])
    """
    counts = np.asarray(n_sets, dtype=np.int64)
    order = np.argsort(counts if condition == "<" else -counts, kind="stable")
    return order[counts[order] > 1]


def selected(n_sets: npt.ArrayLike, condition: Condition) -> BoolArray:
    """Return which attributes divide each set: those with the fewest sets (but at least two), or with the most.

    Parameters
    ----------
    n_sets : (sets, attributes) array of int
    condition : {"<", ">"}

    Examples
    --------
    >>> selected([[3, 2, 2, 1]], "<").tolist(), selected([[1, 1]], ">").tolist()
    ([[False, True, True, False]], [[False, False]])
    """
    counts = np.asarray(n_sets, dtype=np.int64)
    divides = counts > 1
    wanted = counts if condition == ">" else -counts
    best = np.where(divides, wanted, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
    return np.asarray(divides & (wanted == best))
