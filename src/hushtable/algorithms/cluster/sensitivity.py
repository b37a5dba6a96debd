"""The error of the two p-sensitive algorithms: p distinct values cannot be among fewer than p people."""

from __future__ import annotations

from hushtable.algorithms.base import Problem
from hushtable.errors import Infeasible
from hushtable.models.base import Stat

__all__ = ["check_sensitivity"]


def check_sensitivity(problem: Problem) -> None:
    """Refuse p > k before any work, where the models have both; too few values were refused by the models themselves.

    Raises
    ------
    Infeasible
        With the paper's words.
    """
    counting = [m for m in problem.model.members if Stat.HISTOGRAM not in m.stats_needed()]
    # a bound on risk asks for sizes too, but is no k that somebody chose below p
    sizes = [m.min_group_size() for m in counting if isinstance(getattr(m, "k", None), int)]
    values = [p for m in problem.model.members if isinstance(p := getattr(m, "p", None), int)]
    if sizes and values and max(values) > max(sizes):
        raise Infeasible(
            f"p-sensitive k-anonymity infeasible: p={max(values)} distinct values in classes of k={max(sizes)}.",
            code="p-above-k",
            hint=f"Raise k to {max(values)} or lower p to {max(sizes)}.",
        )
