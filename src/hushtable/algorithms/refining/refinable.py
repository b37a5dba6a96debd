"""Base of algorithms whose groups can be refined; the refinement itself is imported on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.params import Positive


@dataclass(frozen=True)
class Refinable(Algorithm):
    """Base of the algorithms whose groups can be refined afterwards.

    Parameters
    ----------
    refine : bool
        Whether to refine the groups; if so, there are no regions for new records.
    refine_seconds : float, optional
        Stop refining after this time. The result then depends on the machine. Defaults to no limit.
    """

    refine: Annotated[bool, "whether to refine the groups afterwards"] = field(default=False, kw_only=True)
    refine_seconds: Annotated[float | None, Positive(), "time limit for refining"] = field(default=None, kw_only=True)

    def refined(self, problem: Problem, partition: Partition) -> Partition:
        """Return the partition, refined if requested."""
        if not self.refine:
            return partition
        from hushtable.algorithms.refining.refine import refine

        return refine(problem, partition, seconds=self.refine_seconds)
