"""Several measures of one release: the requested ones, or those of every summary."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.parallel import each
from hushtable.registry import measures
from hushtable.utility.base import Comparison, Measured

_MANY = 10_000
"""Number of classes at which measures are computed on all cores."""


def summary_measures() -> list[str]:
    """Return the names of the measures of every summary, including plug-ins: those that declare ``default``.

    Examples
    --------
    >>> "ncp" in summary_measures()
    True
    """
    return [name for name, measure in measures.items() if measure.default]


def measure_all(comparison: Comparison, names: Sequence[str] | None = None) -> dict[str, float]:
    """Compute the named measures with their default parameters, or every measure of a summary.

    Parameters
    ----------
    comparison : Comparison
    names : sequence of str, optional
        As in the registry, in the requested order. Defaults to those with ``default``, sorted.

    Returns
    -------
    dict
        Name -> number; NaN if a measure is not defined for this release.

    Raises
    ------
    UsageError
        If there is no measure of that name.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> measure_all(example(), ["ncp", "discernibility"])
    {'ncp': 0.4, 'discernibility': 13.0}
    """
    wanted = summary_measures() if names is None else names
    chosen = {name: measures.build(name) for name in wanted}

    def measured(name: str) -> Measured:
        measure = chosen[name]
        return Measured(float(measure.compute(comparison)), measure.about(comparison))

    return dict(zip(chosen, each(measured, chosen, many=comparison.n_classes >= _MANY), strict=True))
