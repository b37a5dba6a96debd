"""Masking characters from one end: 14248, 1424*, 142**, ..., ``*``.

Shorter values are filled up with the mask before masking, so that labels of one level have one length and equal
labels mean the same node. Published labels have as many masks as the longest published value needs: a longer one that
only suppressed records have does not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.hierarchy.naming import Masked
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind

__all__ = ["Prefix"]

MAX_DEFAULT_LENGTH = 64
"""Longer values are texts rather than codes; a level per character would help nobody."""


@dataclass(frozen=True)
class Prefix(Recipe):
    """Mask ever more characters.

    Parameters
    ----------
    mask : str
        The character written in place of a masked one.
    steps : tuple of int, optional
        How many characters each level masks; 1, 2, 3, ... where left out.
    from_end : bool
        Whether the last characters are masked first, as suits postcodes; otherwise the first ones.

    Examples
    --------
    >>> codes = pa.array(["14248", "14250"])
    >>> counts = np.array([1, 1])
    >>> Prefix(steps=(2, 3)).code(codes, Kind.NOMINAL, missing=False, column="zip", counts=counts).labels
    (('14248', '14250'), ('142**',), ('14***',), ('*',))
    """

    mask: Annotated[str, "the character in place of a masked one"] = "*"
    steps: Annotated[tuple[int, ...] | None, "characters masked at each level; 1, 2, 3, ... by default"] = None
    from_end: Annotated[bool, "mask the last characters first"] = True

    name: ClassVar[str] = "prefix"
    shorthand: ClassVar[str] = "mask"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.mask) != 1:
            raise ParameterError(f"The 'mask' of Prefix must be one character. Got {self.mask!r} instead.")
        if self.steps is not None and not (self.steps and all(a < b for a, b in pairwise((0, *self.steps)))):
            raise ParameterError(
                f"The 'steps' of Prefix must be a rising list of int >= 1. Got {list(self.steps)} instead."
            )

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Mask the text of the values."""
        leaves, _ = sorted_leaves(values, kind, counts, column)
        text = to_labels(leaves)
        length = pc.max(pc.utf8_length(text)).as_py() or 0
        if self.steps is None and length > MAX_DEFAULT_LENGTH:
            raise HierarchyError(
                f"Column {column!r} has values of up to {length} characters: masking them one by one would give"
                f" {length} levels.",
                code="too-many-levels",
                hint="Give the 'steps' of the prefix hierarchy, or use 'frequency'.",
            )
        levels: list[Level] = []
        nodes, labels = np.arange(len(leaves), dtype=np.int64), text
        for step in self.steps or range(1, length):
            if step >= length:
                break
            # masking more is a function of the label below, so each level works on the nodes of the one before
            level = Level.of(nodes, self._masked(labels, step, length))
            levels.append(level)
            nodes, labels = level.nodes, level.labels
        return Draft.over(leaves, levels, Masked(self.mask, self.from_end))

    def _masked(self, text: pa.Array, step: int, length: int) -> pa.Array:
        if self.from_end:
            kept = pc.utf8_slice_codeunits(pc.utf8_rpad(text, length, self.mask), 0, length - step)
            return pc.utf8_rpad(kept, length, self.mask)
        kept = pc.utf8_slice_codeunits(pc.utf8_lpad(text, length, self.mask), step, length)
        return pc.utf8_lpad(kept, length, self.mask)
