"""The base of algorithms whose groups can be refined; the refinement itself is imported when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.params import Positive

__all__ = ["Refinable"]


@dataclass(frozen=True)
class Refinable(Algorithm):
    """Base of the algorithms whose groups can be refined afterwards.

    Parameters
    ----------
    refine : bool
        Whether they are; there are no regions for new records then.
    refine_seconds : float, optional
        Stop refining after this time. The result then depends on the machine; off by default.
    """

    refine: Annotated[bool, "whether the groups are refined afterwards"] = field(default=False, kw_only=True)
    refine_seconds: Annotated[float | None, Positive(), "time limit of refining"] = field(default=None, kw_only=True)

    def refined(self, problem: Problem, partition: Partition) -> Partition:
        """Return the partition, refined where that was asked for."""
        if not self.refine:
            return partition
        from hushtable.algorithms.refining.refine import refine

        return refine(problem, partition, seconds=self.refine_seconds)
