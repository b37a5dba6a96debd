"""Redraw values that break a rule.

Rows that break a rule first swap values with other rows of their class, or get another value from the same bin, so the
published counts of every class stay the same. If that does not help, they get new values from the cells of their class,
one column after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray
from hushtable.errors import UsageError
from hushtable.kernels.deal import draw_uniform
from hushtable.release.sample.columns import Drawn, Fixed
from hushtable.release.sample.rules import Rule

__all__ = ["keep_rules"]

SWAPS = 200
DRAWS = 500
"""Attempts for rows that break a rule: within the counts of their class, and without."""


def keep_rules(
    columns: Mapping[str, Drawn | Fixed], rules: Sequence[Rule], labels: IntArray, offsets: IntArray, seed: int,
    stream: str,
) -> None:  # fmt: skip
    """Change drawn columns until every row satisfies every rule.

    Parameters
    ----------
    columns : mapping of str to Drawn or Fixed
        Drawn columns are changed in place.
    rules : sequence of Rule
    labels : int64 array
        The class of each row, ascending.
    offsets : int64 array
        Where each class begins.
    seed : int
    stream : str

    Raises
    ------
    UsageError
        If rows that break a rule remain. It names the rule and no value.
    """
    if not rules:
        return
    movable = [n for r in rules for c in r.conditions if isinstance(columns[n := c.column], Drawn)]
    names = list(dict.fromkeys(movable))
    everyone = np.arange(len(labels))
    broken = everyone[_broken(columns, rules, everyone) > 0]
    for turn in range(SWAPS + DRAWS):
        if not len(broken):
            return
        if not names:
            break
        at = f"{stream}/rules/{turn}"
        luck = draw_uniform(4 * len(broken), seed, at).reshape(4, -1)
        chosen = (luck[0] * len(names)).astype(np.int64)
        touched = [broken]
        for j, name in enumerate(names):
            mine = np.flatnonzero(chosen == j)
            column = columns[name]
            if len(mine) and isinstance(column, Drawn):
                rows, numbers = broken[mine], luck[1:, mine]
                if turn < SWAPS and turn % 4 != 3:
                    start, end = offsets[labels[rows]], offsets[labels[rows] + 1]
                    partner = start + (numbers[0] * (end - start)).astype(np.int64)
                    touched.append(_swapped(columns, rules, column, rows, partner))
                else:
                    _replaced(columns, rules, column, rows, numbers, inside=turn < SWAPS)
        seen = np.unique(np.concatenate(touched))
        broken = seen[_broken(columns, rules, seen) > 0]
    if len(broken):
        raise _impossible(columns, rules, broken)


def _broken(columns: Mapping[str, Drawn | Fixed], rules: Sequence[Rule], rows: IntArray) -> IntArray:
    """Number of rules that each row breaks."""
    count = np.zeros(len(rows), dtype=np.int64)
    for rule in rules:
        count += _breaks(columns, rule, rows)
    return count


def _breaks(columns: Mapping[str, Drawn | Fixed], rule: Rule, rows: IntArray) -> IntArray:
    applies: BoolArray = np.ones(len(rows), dtype=np.bool_)
    kept: BoolArray = np.ones(len(rows), dtype=np.bool_)
    for condition in rule.given:
        applies &= columns[condition.column].holds(condition, rule, rows)
    for condition in rule.then:
        kept &= columns[condition.column].holds(condition, rule, rows)
    found: IntArray = (applies & ~kept).astype(np.int64)
    return found


def _swapped(
    columns: Mapping[str, Drawn | Fixed], rules: Sequence[Rule], column: Drawn, rows: IntArray, partner: IntArray
) -> IntArray:
    """Swap values if that breaks no more rules than before; return the partners."""
    # every row takes part in one swap: the first that names it
    pairs = np.column_stack([rows, partner]).reshape(-1)
    first = np.full(2 * len(rows), False)
    first[np.unique(pairs, return_index=True)[1]] = True
    free = first.reshape(-1, 2).all(axis=1) & (rows != partner)
    one: IntArray = rows[free]
    other: IntArray = partner[free]
    before = _broken(columns, rules, one) + _broken(columns, rules, other)
    column.swap(one, other)
    worse = _broken(columns, rules, one) + _broken(columns, rules, other) > before
    column.swap(one[worse], other[worse])
    return other


def _replaced(
    columns: Mapping[str, Drawn | Fixed],
    rules: Sequence[Rule],
    column: Drawn,
    rows: IntArray,
    luck: FloatArray,
    *,
    inside: bool,
) -> None:
    """Redraw values, from the same bin or the whole cell, if that breaks no more rules than before."""
    before, held = _broken(columns, rules, rows), column.values(rows)
    column.put(rows, column.moved(rows, luck[1]) if inside else column.drawn_again(rows, luck[0], luck[1]))
    worse = _broken(columns, rules, rows) > before
    column.put(rows[worse], (held[0][worse], None if held[1] is None else held[1][worse]))


def _impossible(columns: Mapping[str, Drawn | Fixed], rules: Sequence[Rule], broken: IntArray) -> UsageError:
    rule = next(rule for rule in rules if _breaks(columns, rule, broken).any())
    rows = int(_breaks(columns, rule, broken).sum())
    return UsageError(
        f"The rule {rule.text!r} could not be satisfied: {rows:,} rows still violate it after new draws.",
        code="rule-impossible",
        hint="Remove the rule, or write one that the published cells allow.",
    )
