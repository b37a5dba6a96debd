"""The summary that prosecutor and journalist share: risks of re-identification and people above a threshold.

Thresholds are compared unrounded, with the models' tolerance of 1e-9, and the operator is part of the
result: with ``>``, a class of 11 is above 0.09, since 1/11 = 0.0909.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from hushtable.arrays import BoolArray, FloatArray
from hushtable.models.base import compare
from hushtable.params import Between
from hushtable.risk.base import Exposure, Finding

Threshold = Annotated[float, Between(0, 1), "risk above which a person is at risk"]
Comparison = Annotated[Literal[">", ">="], "how a person's risk is compared with the threshold"]


@dataclass(frozen=True)
class LinkageRisks(Finding):
    """Risks of re-identification over the people of a table.

    Attributes
    ----------
    basis : str
        Source of the class sizes: ``table``, ``population table``, ``sampling fraction``.
    people : float
    classes : int
    highest, average, lowest : float
        Over people.
    threshold : float
    comparison : str
        A person is at risk when (risk) (comparison) (threshold).
    at_risk : float
        People at risk.
    share_at_risk : float
    """

    basis: str
    people: float
    classes: int
    highest: float
    average: float
    lowest: float
    threshold: float
    comparison: str
    at_risk: float
    share_at_risk: float


def above(risk: FloatArray, comparison: str, threshold: float) -> BoolArray:
    """Return whether each risk is above (``>``) or at least (``>=``) the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> above(np.array([1 / 11, 1 / 12]), ">", 0.09).tolist()
    [True, False]
    >>> above(np.array([1 / 5]), ">", 0.2).tolist(), above(np.array([1 / 5]), ">=", 0.2).tolist()
    ([False], [True])
    """
    return ~compare(risk, "<=", threshold) if comparison == ">" else compare(risk, ">=", threshold)


def summarise(exposure: Exposure, risk: FloatArray, basis: str, threshold: float, comparison: str) -> LinkageRisks:
    """Summarize a risk per class over people."""
    exposed = above(risk, comparison, threshold)
    return LinkageRisks(
        basis=basis,
        people=exposure.people,
        classes=len(exposure),
        highest=float(risk.max()),
        average=exposure.mean(risk),
        lowest=float(risk.min()),
        threshold=threshold,
        comparison=comparison,
        at_risk=float(int(exposure.units[exposed].sum()) / exposure.unit),
        share_at_risk=exposure.share(exposed),
    )
