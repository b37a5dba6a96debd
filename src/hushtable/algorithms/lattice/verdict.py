"""What judging a node found."""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.arrays import FloatArray, IntArray

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """What judging a node found.

    Attributes
    ----------
    node : int64 array
    fits : bool
        Whether the node satisfies the models within the suppression budget.
    lost : int
        Units that have to be suppressed; at least these, where they are more than the budget.
    small : int
        Units that every finer node has to suppress too: those in groups that are too small for any of the models, all
        that violate where adding records never hurts, and what no part of a violating group can keep.
    groups : int
    value : float
        The objective; infinite where the node does not fit.
    floor : float
        What the bounds of all coarser nodes inherit; see ``Objective.floor``.
    extras : float64 array, optional
        What the suppressed records cost more, column by column, where every finer node has to suppress them too.
    """

    node: IntArray
    fits: bool
    lost: int
    small: int
    groups: int
    value: float
    floor: float = -float("inf")
    extras: FloatArray | None = None
