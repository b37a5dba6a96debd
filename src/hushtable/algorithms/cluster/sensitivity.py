"""The error of the two p-sensitive algorithms: fewer than p people cannot have p distinct values."""

from __future__ import annotations

from hushtable.algorithms.base import Problem
from hushtable.errors import Infeasible
from hushtable.models.base import Stat

__all__ = ["check_sensitivity"]


def check_sensitivity(problem: Problem) -> None:
    """Refuse p > k before any work, if the models have both; the models themselves refuse too few values.

    Raises
    ------
    Infeasible
        In the paper's words.
    """
    counting = [m for m in problem.model.members if Stat.HISTOGRAM not in m.stats_needed()]
    # a bound on risk requires sizes too, but is not a k that someone chose below p
    sizes = [m.min_group_size() for m in counting if isinstance(getattr(m, "k", None), int)]
    values = [p for m in problem.model.members if isinstance(p := getattr(m, "p", None), int)]
    if sizes and values and max(values) > max(sizes):
        raise Infeasible(
            f"p-sensitive k-anonymity infeasible: p={max(values)} distinct values in classes of k={max(sizes)}.",
            code="p-above-k",
            hint=f"Raise k to {max(values)} or lower p to {max(sizes)}.",
        )
