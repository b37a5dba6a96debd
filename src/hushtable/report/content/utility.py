"""What the release is still good for: columns, associations, measures."""

from __future__ import annotations

from typing import Literal

from hushtable.report.content.base import Part

__all__ = ["Accuracy", "Association", "Bar", "ColumnEvidence", "Depth", "Measured"]


class Bar(Part):
    """One bar of a histogram, of at least as many records as the report's rule asks."""

    label: str
    before: int
    """records of the input, rounded"""
    after: int
    """records of the release, rounded; a generalised cell is spread evenly over what it covers"""


class Depth(Part):
    """How many records were generalised to one height of the hierarchy."""

    level: int
    share: float


class ColumnEvidence(Part):
    """One column: what was done to it, and what that changed."""

    name: str
    role: Literal["identifier", "quasi", "sensitive", "insensitive", "pseudonym", "weight", "cluster", "drop"]
    kind: str | None
    treatment: str
    """what happened to it, in words"""
    treatments: tuple[str, ...] = ()
    """what changed its values before records were grouped, by name"""
    distinct: int | None
    """different values of the released records"""
    missing: int | None
    """empty cells of the released records, rounded"""
    height: int | None
    """steps of its hierarchy"""
    depths: tuple[Depth, ...]
    """where the released records are in the hierarchy: the level of the lowest node that covers the cell; 0 is exact"""
    nodes: bool
    """whether the published cells are these nodes; ranges and sets are narrower"""
    covered: float | None
    """average share of the domain that a published cell leaves open: 0 is exact, 1 says nothing"""
    shift: float | None
    """how far the distribution moved: total variation distance over the bars, 0 to 1"""
    bars: tuple[Bar, ...]
    caption: str
    """what the bars are"""


class Association(Part):
    """How strongly two columns go together, before and after (Cramér's V over the columns' bars)."""

    columns: tuple[str, str]
    before: float
    after: float


class Measured(Part):
    """One utility measure."""

    name: str
    summary: str
    value: float | None
    better: Literal["lower", "higher"]


class Accuracy(Part):
    """How well a classifier predicts a sensitive column for original records."""

    target: str
    classifier: str
    majority: float | None
    """always guessing the most frequent class"""
    release: float | None
    """trained on the release"""
    original: float | None
    """trained on the original"""
