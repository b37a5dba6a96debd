"""Risks by recipient: what each could link and learn with the data that it already holds.

A recipient who holds some columns of people in the release finds, for each person, the published rows with the same
cells in those columns. If these are few, the person may be found among them; if all of them have one sensitive value,
it is learned with certainty. Columns that are published unchanged count with their exact values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hushtable.arrays import IntArray
from hushtable.errors import UsageError, did_you_mean
from hushtable.kernels.grouping import number_rows
from hushtable.report.content.about import About, Recipient
from hushtable.report.content.privacy import RecipientEvidence
from hushtable.risk.linkage import above
from hushtable.schema.columns import Role
from hushtable.table.ranks import dense_ranks

if TYPE_CHECKING:
    from hushtable.release.released import Released

__all__ = ["recipient_evidence"]


def recipient_evidence(
    release: Released, about: About, threshold: float, comparison: str
) -> tuple[RecipientEvidence, ...]:
    """Assess every recipient.

    Parameters
    ----------
    release : Released
    about : About
    threshold, comparison : float and str
        Defines when a person is at risk.

    Raises
    ------
    UsageError
        If a recipient holds a column that is not published.
    """
    if release.apart and about.recipients:
        raise UsageError(
            "Recipients cannot be assessed if sensitive values are published separately from people.",
            code="recipients",
            hint="Remove 'recipients'.",
        )
    return tuple(_assessed(release, one, threshold, comparison) for one in about.recipients)


def _assessed(release: Released, recipient: Recipient, threshold: float, comparison: str) -> RecipientEvidence:
    published = release.columns
    for name in recipient.holds:
        if name not in published:
            raise UsageError(
                f"The recipient {recipient.name!r} holds the column {name!r}, which is not published.",
                code="recipients",
                hint=did_you_mean(name, published),
            )
    groups = _groups(release, recipient.holds)
    sizes = np.bincount(groups)
    risk = 1.0 / sizes[groups]
    hidden = [name for name in release.plan.table.named(Role.SENSITIVE) if name not in recipient.holds]
    certain = {name: _certain(release, groups, sizes, name) for name in hidden}
    worst = max(certain, key=lambda name: certain[name], default=None)
    return RecipientEvidence(
        name=recipient.name,
        holds=recipient.holds,
        terms=recipient.terms,
        smallest=int(sizes.min()),
        highest=float(risk.max()),
        average=float(risk.mean()),
        share_at_risk=float(above(risk, comparison, threshold).mean()),
        learnt=worst,
        share_learnt=certain[worst] if worst is not None else 0.0,
    )


def _groups(release: Released, columns: tuple[str, ...]) -> IntArray:
    """Return the number of each published row's group: rows with the same cells in some columns."""
    rows = release.table.num_rows
    if not columns:
        return np.zeros(rows, dtype=np.int64)
    ranks = [dense_ranks(release.table.column(name)) for name in columns]
    return np.asarray(number_rows([r for r, _ in ranks], [n for _, n in ranks])[0], dtype=np.int64)


def _certain(release: Released, groups: IntArray, sizes: IntArray, column: str) -> float:
    """Return the share of rows in whose group all rows have the same value of a sensitive column."""
    value, distinct = dense_ranks(release.table.column(column))
    pairs = np.unique(groups * (distinct + 1) + value)
    several = np.bincount(pairs // (distinct + 1), minlength=len(sizes))
    return float((several[groups] == 1).mean())
