"""What Wang, Xu and Qu 2011 say of their figures in words, and how each sentence is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SENTENCES", "Sentence"]


@dataclass(frozen=True)
class Sentence:
    """What the paper says of a figure, and how to check it: a line's direction, or which of two lines is higher.

    Attributes
    ----------
    figure, words : str
    grows : {-1, 0, 1}
        Whether every line rises or falls along x.
    higher, lower : str
        Which line lies above which, where the sentence compares two.
    """

    figure: str
    words: str
    grows: int = 0
    higher: str = ""
    lower: str = ""

    def holds(self, lines: Mapping[str, Mapping[int, float]]) -> bool:
        """Whether our numbers agree: from a line's first to its last point, none the other way; one line's mean."""
        if self.grows:
            moves = [self.grows * (points[-1] - points[0]) for points in (list(p.values()) for p in lines.values())]
            return min(moves) >= 0 and max(moves) > 0
        above, below = lines[self.higher], lines[self.lower]
        return sum(above.values()) > sum(below.values())


SENTENCES = (
    Sentence("Figure 4", "attacked records fall as k grows", -1),
    Sentence("Figure 4", "(alp, dif) has evidently fewer attacked records", 0, "k-anonymity", "(alp, dif)"),
    Sentence("Figure 5", "time grows with k", 1),
    Sentence("Figure 5", "(alp, dif) takes longer", 0, "(alp, dif)", "k-anonymity"),
    Sentence("Figure 6", "precision falls as k grows", -1),
    Sentence("Figure 6", "(alp, dif) is less precise", 0, "k-anonymity", "(alp, dif)"),
    Sentence("Figure 7", "time grows with k", 1),
    Sentence("Figure 7", "the smaller alp takes longer", 0, "alp 0.41", "alp 0.43"),
    Sentence("Figure 8", "precision falls as k grows", -1),
    Sentence("Figure 8", "the larger alp is more precise", 0, "alp 0.43", "alp 0.41"),
    Sentence("Figure 9", "attacked records fall as k grows", -1),
    Sentence("Figure 9", "the smaller alp has fewer attacked records", 0, "alp 0.43", "alp 0.41"),
    Sentence("Figure 10", "time grows with the number of records", 1),
    Sentence("Figure 10", "the larger k takes longer", 0, "k=3", "k=2"),
)
"""What the paper says in words."""
