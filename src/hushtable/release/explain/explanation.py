"""The result of explaining a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hushtable.io.figures import html_text


@dataclass(frozen=True)
class ColumnStory:
    """What happened to one quasi-identifier of a record, and why.

    Attributes
    ----------
    column : str
    published : str
        The published form, in words.
    why : str
        Why it is not finer; empty for an exact value.
    """

    column: str
    published: str
    why: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why a record appears in the release as it does. Words and numbers; no value of any record.

    Attributes
    ----------
    row : int
        The record's number in the input, from 0.
    released : bool
    people : float
        People in its class, or group; 0 for a suppressed record.
    sentences : tuple of str
        Sentences about the record as a whole.
    columns : tuple of ColumnStory
        Its quasi-identifiers, in the policy's order; empty for a suppressed record.
    """

    row: int
    released: bool
    people: float
    sentences: tuple[str, ...]
    columns: tuple[ColumnStory, ...] = ()

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        return "\n".join([*self.sentences, *self.changes])

    @property
    def changes(self) -> tuple[str, ...]:
        """Return what happened to the columns: a sentence for each changed one and one for all others."""
        changed = [f"{c.column!r} is {c.published}. {c.why}" for c in self.columns if c.why]
        exact = [repr(c.column) for c in self.columns if not c.why]
        if exact:
            changed.append(f"Published exactly: {', '.join(exact)}.")
        return tuple(changed)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "row": self.row,
            "released": self.released,
            "people": self.people,
            "sentences": list(self.sentences),
            "columns": [{"column": c.column, "published": c.published, "why": c.why} for c in self.columns],
        }


def people_of(number: float) -> str:
    """A number of people in words.

    Examples
    --------
    >>> people_of(1), people_of(2.5)
    ('1 person', '2.5 people')
    """
    return "1 person" if number == 1 else f"{number:.6g} people"
