"""Built-in standard classifications: countries, diagnoses, occupations, industries, ages.

Values are the leaves as they appear in the column. Their groups are named by the classification, so a name reveals
nothing about the records. ``hushtable.schema.classifications`` has one classification per file, with source and
version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.hierarchy.intervals import Intervals
from hushtable.io.text import to_labels
from hushtable.schema.classifications.base import classification
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

_Name = Literal[
    "ages", "countries", "icd-10", "isced-2011", "isco-08", "nace-2", "naics-2022", "us-states", "us-zip3"
]  # fmt: skip

AGES = Intervals(cuts=(tuple(range(5, 90, 5)), tuple(range(15, 90, 10)), (15, 65)))
"""Five years; ten years from 15 on; children, working age and 65 or older: United Nations, "Provisional guidelines on
standard international age classifications", 1982."""


@dataclass(frozen=True)
class Standard(Recipe):
    """The groups of a standard classification.

    Parameters
    ----------
    classification : str
        ``ages``, ``countries``, ``icd-10``, ``isced-2011``, ``isco-08``, ``nace-2``, ``naics-2022``, ``us-states`` or
        ``us-zip3``.
    others : str, optional
        Group of values that the classification does not know. Without it, such values are an error.

    Examples
    --------
    >>> values, counts = pa.array(["I21.9", "I10", "J45.0"]), np.array([1, 1, 1])
    >>> coded = Standard("icd-10").code(values, Kind.NOMINAL, missing=False, column="diagnosis", counts=counts)
    >>> coded.labels[2:]
    (('I10-I15', 'I20-I25', 'J40-J47'), ('IX (I00-I99)', 'X (J00-J99)'), ('*',))
    """

    classification: Annotated[_Name, "which classification"]
    others: Annotated[str | None, "group of unknown values; without it, they are an error"] = None

    of_policy = True  # the levels are defined by the policy
    name: ClassVar[str] = "standard"
    in_a_policy: ClassVar[str] = "{standard: icd-10}"
    shorthand: ClassVar[str] = "classification"
    if_uncovered: ClassVar[str] = (
        "Give them a separate group, {standard: {classification: ..., others: other}}, or list "
        "missing-value markers under missing_values."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.others is not None and (self.classification == "ages" or self.others.strip() in ("", "*")):
            raise ParameterError(
                "The 'others' of Standard must be the name of a group, and cannot be used with 'ages'.",
                hint="For example: {standard: {classification: countries, others: other}}.",
            )

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Find the groups of every value."""
        if self.classification == "ages":
            return AGES.draft(values, kind, column=column, counts=counts)
        leaves, weights = sorted_leaves(values, kind, counts, column)
        places = [self._groups(text) for text in to_labels(leaves).to_pylist()]
        unknown = np.array([place is None for place in places], dtype=np.bool_)
        height = len(classification(self.classification).levels)
        # an uncovered value needs some place: the draft is refused, and a check still counts its levels
        filled = [("*",) * height if place is None else place for place in places]
        levels = [Level.of_labels(pa.array([place[h] for place in filled], pa.string())) for h in range(height)]
        drawn = Draft.over(leaves, levels)
        return Draft(
            drawn.values, drawn.levels,
            uncovered_values=int(unknown.sum()), uncovered_records=int(weights[unknown].sum()),
        )  # fmt: skip

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the values of each group: published ones, and the classification's own for all groups.

        Examples
        --------
        >>> Standard("us-states").below(["Middle Atlantic", "Ohio"], "state")
        [('New Jersey', 'New York', 'Pennsylvania'), None]
        >>> Standard("icd-10").below(["I21*", "I21.9"], "diagnosis")
        [('I21', 'I21.9'), None]
        >>> Standard("us-states").below(["Middle Atlantic", "OH"], "state")
        [('NJ', 'NY', 'PA'), None]
        """
        if self.classification == "ages":
            return AGES.below(labels, column)
        known = classification(self.classification)
        members, spelt = known.members, known.spelt_like(labels)
        listed = {label: dict.fromkeys(spelt.get(code, code) for code in members.get(label, ())) for label in labels}
        # "221*" holds at least the code 221
        shown = {label.rstrip("*") if label.endswith("*") else label: None for label in labels if label not in members}
        for value in shown:
            for group in self._groups(value) or ():
                if group in listed and group != value:
                    listed[group][value] = None
        return [tuple(listed[label]) or None for label in labels]

    def _groups(self, value: str) -> tuple[str, ...] | None:
        found = classification(self.classification)
        place = found.place(value)
        return place if place is not None or self.others is None else (self.others,) * len(found.levels)
