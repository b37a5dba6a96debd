"""What the release is still good for: columns, associations, measures."""

from __future__ import annotations

from typing import Literal

from hushtable.report.content.base import Part


class Bar(Part):
    """One bar of a histogram, with at least the number of records that the report's rule requires."""

    label: str
    before: int
    """records of the input, rounded"""
    after: int
    """records of the release, rounded; a generalized cell is spread evenly over the values that it covers"""


class Depth(Part):
    """Number of records that were generalized to one level of the hierarchy."""

    level: int
    share: float


class ColumnEvidence(Part):
    """One column: what was done to it, and the effect."""

    name: str
    role: Literal["identifier", "quasi", "sensitive", "insensitive", "pseudonym", "weight", "cluster", "drop"]
    kind: str | None
    treatment: str
    """what happened to it, in words"""
    treatments: tuple[str, ...] = ()
    """treatments of its values before records were grouped, by name"""
    distinct: int | None
    """distinct values of the released records"""
    missing: int | None
    """empty cells of the released records, rounded"""
    height: int | None
    """height of its hierarchy"""
    depths: tuple[Depth, ...]
    """where the released records are in the hierarchy: the level of the lowest node that covers the cell; 0 is exact"""
    nodes: bool
    """whether the published cells are these nodes; ranges and sets are narrower"""
    covered: float | None
    """average share of the domain that a published cell covers: 0 is exact, 1 carries no information"""
    shift: float | None
    """how far the distribution moved: total variation distance over the bars, 0 to 1"""
    bars: tuple[Bar, ...]
    caption: str
    """what the bars are"""


class Association(Part):
    """The association of two columns before and after (Cramér's V over the columns' bars)."""

    columns: tuple[str, str]
    before: float
    after: float


class MeasureEvidence(Part):
    """One utility measure."""

    name: str
    summary: str
    value: float | None
    better: Literal["lower", "higher"]


class AccuracyEvidence(Part):
    """How well a classifier predicts a sensitive column for original records."""

    target: str
    classifier: str
    majority: float | None
    """always guessing the most frequent class"""
    release: float | None
    """trained on the release"""
    original: float | None
    """trained on the original"""
