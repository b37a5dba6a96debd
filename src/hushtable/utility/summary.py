"""Several measures at once."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.registry import measures
from hushtable.utility.base import Comparison

__all__ = ["measure_all"]


def measure_all(comparison: Comparison, names: Sequence[str] | None = None) -> dict[str, float]:
    """Compute the named measures with their default parameters, or every measure that is part of a summary.

    Parameters
    ----------
    comparison : Comparison
    names : sequence of str, optional
        As in the registry, in the order wanted. Left out: all with ``default``, by name.

    Returns
    -------
    dict
        Name -> number; NaN where a measure is not defined for this release.

    Raises
    ------
    UsageError
        If there is no measure of that name.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> measure_all(example(), ["ncp", "discernibility"])
    {'ncp': 0.4, 'discernibility': 13}
    """
    if names is None:
        names = [name for name, measure in measures.items() if measure.default]
    return {name: measures.build(name).compute(comparison) for name in names}
