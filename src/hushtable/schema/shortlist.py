"""Which quasi-identifiers to keep where a table has many, and what to propose for the rest.

Every quasi-identifier costs detail in all the others. Beyond ten of them a release says little, so the starter policy
keeps ten: of every topic that others plausibly know (age, sex, place, family, work) the column that identifies people
best, then those that add most to what is known already. The rest is proposed to be dropped. In a table about health,
numbers without a telling name are taken for sensitive.
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

__all__ = ["MANY", "shortlisted"]

MANY = 10
"""As many quasi-identifiers as a release bears."""

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
    """One column of every topic, the topics that identify best first; then what adds most, named topics first."""
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
        best = max(named, key=lambda name: _telling(groups, held[name]))  # ties go to the column that stands first
        kept.append(best)
        left.remove(best)
        groups = regroup(groups, held[best])[0]
    return kept


def _topic(column: ColumnProfile) -> str:
    """The topic of a name; a name with "year" in it is no date where the column is none."""
    topic = name_hint(column.name, QUASI)
    return topic if topic != "a date" or column.kind is Kind.DATE else ""


def _telling(groups: IntArray, codes: IntArray) -> tuple[int, int, int]:
    """How many rows a column would set apart; how many groups it would make; how many values it has."""
    return count_alone(groups, codes), len(np.unique(regroup(groups, codes)[0])), len(np.unique(codes))
