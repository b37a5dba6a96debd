"""The quasi-identifiers to keep if a table has many, and proposals for the rest.

Every quasi-identifier costs detail in all the others. With more than ten of them, a release is of little use, so the
starter policy keeps ten: for every topic that others plausibly know (age, sex, place, family, work), the column that
identifies people best, then those that add most. It proposes to drop the rest. In a table about health, numbers
without a meaningful name are treated as sensitive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.arrays import IntArray
from hushtable.schema.columns import Kind, Role
from hushtable.schema.hints import QUASI, SENSITIVE, name_hint
from hushtable.schema.infer import OTHERS_MIGHT
from hushtable.schema.subsets import count_alone, regroup

if TYPE_CHECKING:
    from hushtable.schema.profile import ColumnProfile

MANY = 10
"""Maximum number of quasi-identifiers for a useful release."""

_ROWS = 20_000
_HEALTH = 3


def shortlisted(columns: Sequence[ColumnProfile], codes: Mapping[str, IntArray]) -> list[ColumnProfile]:
    """Return the columns with the roles that the whole table suggests.

    Parameters
    ----------
    columns : sequence of ColumnProfile
        With the role that each has by itself.
    codes : mapping of str to int64 array
        One code per row, from 0, of the columns that can be used.
    """
    about_health = [c for c in columns if c.role is Role.SENSITIVE and name_hint(c.name, SENSITIVE) == "health"]
    if len(about_health) >= max(_HEALTH, len(columns) / 5):
        columns = [_as_health(c) for c in columns]
    quasi = [c for c in columns if c.role is Role.QUASI and c.name in codes]
    if len(quasi) <= MANY:
        return list(columns)
    kept = _kept(quasi, codes)
    why = f"others might know {len(quasi)} columns of this table; the {MANY} that identify people best are kept"
    return [c if c.name in kept or c not in quasi else replace(c, role=Role.DROP, role_reason=why) for c in columns]


def _as_health(column: ColumnProfile) -> ColumnProfile:
    # labels may name places and people: they stay quasi-identifiers
    if column.role is not Role.QUASI or column.role_reason != OTHERS_MIGHT or column.kind is not Kind.NUMERIC:
        return column
    return replace(column, role=Role.SENSITIVE, role_reason="most columns of the table are about health")


def _kept(quasi: Sequence[ColumnProfile], codes: Mapping[str, IntArray]) -> list[str]:
    """Return one column of every topic, the most identifying topics first; then those that add most."""
    n = len(codes[quasi[0].name])
    rows = np.arange(min(n, _ROWS)) * n // min(n, _ROWS)
    held = {c.name: codes[c.name][rows] for c in quasi}
    topics = {c.name: _topic(c) for c in quasi}
    groups = np.zeros(len(rows), dtype=np.int64)
    kept: list[str] = []
    left = [c.name for c in quasi]
    while len(kept) < MANY:
        open_topics = {topics[name] for name in left} - {topics[name] for name in kept} - {""}
        named = [name for name in left if topics[name] in open_topics] or [n for n in left if topics[n]] or left
        best = max(named, key=lambda name: _isolating(groups, held[name]))  # ties go to the column that stands first
        kept.append(best)
        left.remove(best)
        groups = regroup(groups, held[best])[0]
    return kept


def _topic(column: ColumnProfile) -> str:
    """Return the topic of a name; a name with "year" in it is not a date if the column is not."""
    topic = name_hint(column.name, QUASI)
    return topic if topic != "a date" or column.kind is Kind.DATE else ""


def _isolating(groups: IntArray, codes: IntArray) -> tuple[int, int, int]:
    """Return the number of rows that a column would isolate, of groups that it would make, and of its values."""
    return count_alone(groups, codes), len(np.unique(regroup(groups, codes)[0])), len(np.unique(codes))
