"""Masking characters from one end: 14248, 1424*, 142**, ..., ``*``.

Shorter values are padded with the mask before masking, so that labels of one level have one length and equal
labels mean the same node. Published labels have as many masks as the longest published value needs: a longer value that
only suppressed records have does not show. For the same reason, ``steps`` need a ``length`` if values differ in length.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.hierarchy.naming import Masked
from hushtable.io.text import to_labels
from hushtable.params import AtLeast
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

MAX_DEFAULT_LENGTH = 64
"""Longer values are texts rather than codes; a level per character would be useless."""

MOST_TEXTS = 1000
"""Number of texts that represent a mask without published values."""


@dataclass(frozen=True)
class Prefix(Recipe):
    """Mask more and more characters.

    Parameters
    ----------
    mask : str
        The character written in place of a masked one.
    steps : tuple of int, optional
        Number of characters that each level masks. Defaults to 1, 2, 3, ...
    from_end : bool
        Whether the last characters are masked first, as suits postal codes; otherwise, the first ones.
    length : int, optional
        Length of the longest possible value. Required with ``steps`` if values differ in length: what a level keeps
        would otherwise reveal the length of the longest value, which might belong to a suppressed record.

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
    length: Annotated[int | None, AtLeast(1), "length of the longest value there may be"] = None

    name: ClassVar[str] = "prefix"
    in_a_policy: ClassVar[str] = '{prefix: "*"}'
    shorthand: ClassVar[str] = "mask"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.mask) != 1:
            raise ParameterError(f"The 'mask' of Prefix must be one character. Got {self.mask!r} instead.")
        if self.steps is not None and not (self.steps and all(a < b for a, b in pairwise((0, *self.steps)))):
            raise ParameterError(
                f"The 'steps' of Prefix must be an ascending list of int >= 1. Got {list(self.steps)} instead."
            )

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the published values that each mask hides, or texts that it may hide.

        These texts have at every position one of the characters that published labels show there, or anywhere; at most
        a thousand texts.

        Examples
        --------
        >>> Prefix().below(["1424*", "14248", "7*"], "zip")
        [['14248'], None, ['74']]
        """
        turn = slice(None) if self.from_end else slice(None, None, -1)
        turned = [label[turn] for label in labels]
        values = sorted(text for text in turned if not text.endswith(self.mask))
        signs = _signs(turned, self.mask)
        out: list[Below | None] = []
        for text in turned:
            kept = text.rstrip(self.mask)
            if kept == text:
                out.append(None)
                continue
            begin, end = bisect_left(values, kept), bisect_left(values, kept + "\U0010ffff")
            found = [v for v in values[begin:end] if len(v) <= len(text)]
            out.append([v[turn] for v in found or _filled(kept, signs[len(kept) : len(text)])])
        return out

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Mask the text of the values."""
        leaves, _ = sorted_leaves(values, kind, counts, column)
        text = to_labels(leaves)
        longest = pc.max(pc.utf8_length(text)).as_py() or 0
        length = self.length or longest
        if longest > length:
            raise HierarchyError(
                f"Column {column!r} has values of up to {longest} characters, but its prefix hierarchy says {length}.",
                code="length",
                hint="Correct 'length'.",
            )
        if self.steps is not None and self.length is None and pc.count_distinct(pc.utf8_length(text)).as_py() > 1:
            raise HierarchyError(
                f"Column {column!r} has values of different lengths, so what the 'steps' of its prefix hierarchy keep "
                "would reveal the longest one, which might belong to a suppressed record.",
                code="length",
                hint="Write the length of the longest value there may be: {prefix: {steps: [2, 3], length: 7}}.",
            )
        if self.steps is None and length > MAX_DEFAULT_LENGTH:
            raise HierarchyError(
                f"Column {column!r} has values of up to {length} characters: masking them one by one would give"
                f" {length} levels.",
                code="too-many-levels",
                hint="Set the 'steps' of the prefix hierarchy, or use 'frequency'.",
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


def _signs(labels: Sequence[str], mask: str) -> list[list[str]]:
    """Return the characters that labels show at each position; if they show none, those of all positions."""
    places: list[set[str]] = [set() for _ in range(max(map(len, labels), default=0))]
    for label in labels:
        for place, sign in zip(places, label, strict=False):
            place.add(sign)
    anywhere = sorted(set().union(*places) - {mask}) or list("0123456789")
    return [sorted(place - {mask}) or anywhere for place in places]


def _filled(kept: str, signs: Sequence[Sequence[str]]) -> list[str]:
    """Return texts with this beginning, evenly spaced among all combinations of the characters."""
    total = math.prod(map(len, signs))
    texts = []
    for number in range(min(total, MOST_TEXTS)):
        rest, tail = number * total // min(total, MOST_TEXTS), ""
        for choice in signs[::-1]:
            rest, at = divmod(rest, len(choice))
            tail = choice[at] + tail
        texts.append(kept + tail)
    return texts
