"""The result of evaluating a node."""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class NodeVerdict:
    """The result of evaluating a node.

    Attributes
    ----------
    node : int64 array
    fits : bool
        Whether the node satisfies the models within the suppression budget.
    lost : int
        Units to suppress; a lower bound if they exceed the budget.
    small : int
        Units that every finer node has to suppress too: those in groups that are too small for any of the models, all
        violating ones if adding records never hurts, and those that no part of a violating group can keep.
    groups : int
    value : float
        The objective; infinite if the node does not fit, or is ruled out before it is known.
    floor : float
        The value that the bounds of all coarser nodes inherit; see ``Objective.floor``.
    extras : float64 array, optional
        Extra cost, column by column, of the records that every finer node has to suppress too.
    """

    node: IntArray
    fits: bool
    lost: int
    small: int
    groups: int
    value: float
    floor: float = -float("inf")
    extras: FloatArray | None = None
