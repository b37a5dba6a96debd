"""A sample: rows drawn class by class from the published cells alone.

Quasi-identifiers are drawn; other columns stay with their published row, since the rows of a class look the same.
Counts are assigned to the rows of the class in random order, so the counts of each class stay exact. Draws from other
cells are uniform: each whole number of a region has the same probability. The sample depends only on published data,
the policy and the seed, so it cannot weaken the release.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.algorithms.base import Recoding
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, first_places, inverted
from hushtable.errors import IncompatibleError, UsageError, did_you_mean
from hushtable.hierarchy.base import ROOT
from hushtable.io.dictionaries import decode, encode, null_last, value_type
from hushtable.io.text import is_text, to_labels
from hushtable.kernels.deal import draw_uniform, shuffle_runs
from hushtable.release.bucket import bucket_column
from hushtable.release.forms.reading import Reading, read_cells
from hushtable.release.reading_back import check_published_columns, prepare_as, published_cells
from hushtable.release.recode import check_cells, class_numbers, form_shown
from hushtable.release.sample.columns import Drawn, Fixed, Rule, deal, parse_rule
from hushtable.schema.columns import Kind, Role
from hushtable.schema.prepare import Prepared
from hushtable.table.encode import no_rows
from hushtable.table.plan import ColumnPlan, TablePlan

_VAGUE = 0.1

MOST_TIMES = 100
"""Largest size of a sample, as a multiple of the published rows."""


def sample_table(
    table: pa.Table,
    plan: TablePlan,
    recoding: Recoding,
    *,
    seed: int = 0,
    rows: int | None = None,
    where: Sequence[str] = (),
) -> pa.Table:
    """Draw a sample from a published table.

    Parameters
    ----------
    table : pyarrow.Table
        As published.
    plan : TablePlan
    recoding : Recoding
        Recoding of the algorithm that made it.
    seed : int
    rows : int, optional
        Number of rows. Defaults to the number of published rows. Fewer rows are a random choice; for more, everything
        is drawn several times.
    where : sequence of str
        Rules that every row must satisfy; see ``hushtable.release.sample.columns``.

    Returns
    -------
    pyarrow.Table
        The original's columns without identifiers, in the order of the published rows.

    Examples
    --------
    >>> from hushtable.release.forms.counts import Counts
    >>> plan = TablePlan((ColumnPlan("age", Role.QUASI), ColumnPlan("sex", Role.QUASI)), cells=Counts())
    >>> cells = pa.table({"age": ["{[20, 30): 2, 40: 1}"] * 3, "sex": ["{f: 2, m: 1}"] * 3})
    >>> drawn = sample_table(cells, plan, Recoding.LOCAL, seed=1)
    >>> sorted(drawn.column("sex").to_pylist()), sum(age < 30 for age in drawn.column("age").to_pylist())
    (['f', 'f', 'm'], 2)
    """
    wanted = _checked_rows(rows, table.num_rows)
    rules = [parse_rule(text) for text in where]
    groups = (bucket_column(plan),) if recoding.by_number else ()
    check_published_columns(table, plan, *groups)
    readings, codes = read_columns(table, plan, recoding)
    by = groups if recoding is Recoding.BUCKET else (*plan.named(Role.QUASI), *groups)
    labels = classes_of(table, by)
    order = np.argsort(labels, kind="stable") if np.any(np.diff(labels) < 0) else None
    sorted_labels = labels if order is None else labels[order]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
    first = offsets[:-1] if order is None else order[offsets[:-1]]
    for name, found in readings.items():
        if found.counted and np.any(found.totals[codes[name][first]] != np.diff(offsets)):
            shown = [published_cells(table.column(n)) for n in plan.named(Role.QUASI)]
            check_cells(shown, plan, recoding, labels)
    dealings = []
    for number, begin in enumerate(range(0, wanted, table.num_rows)):
        dealt = _Dealing(table, plan, readings, codes, sorted_labels, offsets, order, seed, f"sample/{number}")
        whole = dealt.table(rules, apart=recoding is Recoding.BUCKET)
        some = min(wanted - begin, table.num_rows)
        if some < table.num_rows:
            chosen = shuffle_runs(np.arange(table.num_rows), np.array([0, table.num_rows]), seed, f"rows/{number}")
            whole = whole.take(pa.array(np.sort(chosen[:some])))
        dealings.append(whole)
    drawn = dealings[0] if len(dealings) == 1 else pa.concat_tables(dealings).unify_dictionaries()
    if plan.shown_weight is None or wanted == table.num_rows:
        return drawn
    # with fewer rows, each represents more people, and vice versa
    place = drawn.column_names.index(plan.shown_weight)
    scaled = pc.multiply(drawn.column(place), table.num_rows / wanted)
    return drawn.set_column(place, plan.shown_weight, scaled)


def _checked_rows(rows: int | None, published: int) -> int:
    if not published:
        raise no_rows()
    if rows is None:
        return published
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise UsageError(
            f"A sample must have at least one row. Got {rows!r} instead.",
            code="rows",
            hint="Omit rows to draw as many as the release has.",
        )
    if rows > MOST_TIMES * published:
        raise UsageError(
            f"{rows:,} rows are more than {MOST_TIMES} times the {published:,} published rows: they would add "
            "no information.",
            code="rows",
            hint=f"Ask for at most {MOST_TIMES * published:,}.",
        )
    return rows


def classes_of(table: pa.Table, by: Sequence[str]) -> IntArray:
    """Return the class of each published row, numbered by its first one."""
    labels, n = class_numbers([published_cells(table.column(name)) for name in by])
    return inverted(np.argsort(first_places(labels, n), kind="stable"))[labels]


def read_columns(
    table: pa.Table, plan: TablePlan, recoding: Recoding, without: Container[str] = ()
) -> tuple[dict[str, Reading], dict[str, AnyArray]]:
    """Return the meaning of the distinct cells of every quasi-identifier, and which of them each row has.

    Columns that are ``*`` everywhere, and of which the policy lists no values, are left out.

    Parameters
    ----------
    table : pyarrow.Table
    plan : TablePlan
    recoding : Recoding
    without : container of str
        Quasi-identifiers that are not read.

    Raises
    ------
    IncompatibleError
        If the meaning of a column's cells is unknown, or nothing is left.
    """
    readings, codes, silent = {}, {}, []
    for column in (c for c in plan.columns if c.role is Role.QUASI and c.name not in without):
        cells = encode(published_cells(table.column(column.name)))
        text = to_labels(cells.dictionary).cast(pa.string())
        if cells.null_count:
            text = pa.concat_arrays([text, pa.array([None], pa.string())])
        found = read_cells(form_shown(plan, column, recoding), text, column)
        if np.any(np.diff(found.offsets) == 0):
            silent.append(column.name)
            continue
        readings[column.name], codes[column.name] = found, null_last(cells).to_numpy()
    if silent and not readings:
        raise nothing_to_draw(silent[0])
    return readings, codes


def nothing_to_draw(name: str) -> IncompatibleError:
    """The error of a column without values to draw."""
    return IncompatibleError(
        f"Column {name!r} is published as '*' everywhere, and the policy lists no values of it, so "
        f"there is nothing to draw from.",
        code="nothing-to-draw",
        hint="Drop the column in the policy (role: drop), give it a taxonomy, or publish 'cells: counts'.",
    )


def silent_columns(table: pa.Table, plan: TablePlan, drawn: pa.Table) -> list[str]:
    """Return the columns of a sample that are empty because they are published as ``*`` everywhere."""
    empty = [n for n in plan.named(Role.QUASI) if drawn.column(n).null_count == drawn.num_rows]
    return [n for n in empty if ROOT in published_cells(table.column(n)).unique().to_pylist()]


def vague_columns(table: pa.Table, plan: TablePlan) -> dict[str, float]:
    """Return the columns of which at least a tenth is published as ``*``, with that share, the vaguest first.

    Whatever is drawn for such a cell may be far from the truth, and so are the means and counts of the column.
    """
    found = {}
    for name in plan.named(Role.QUASI):
        cells = encode(table.column(name))
        if is_text(cells.dictionary.type):
            star = pc.index(cells.dictionary.cast(pa.large_string()), pa.scalar(ROOT, pa.large_string())).as_py()
            stars = pc.sum(pc.equal(cells.indices, star)).as_py() or 0
            found[name] = round(stars / max(table.num_rows, 1), 4)
    return {name: part for name, part in sorted(found.items(), key=lambda one: -one[1]) if part >= _VAGUE}


@dataclass(frozen=True)
class _Dealing:
    """All columns, drawn once."""

    published: pa.Table
    plan: TablePlan
    readings: dict[str, Reading]
    codes: dict[str, AnyArray]
    labels: IntArray
    offsets: IntArray
    order: IntArray | None
    seed: int
    stream: str

    @cached_property
    def dealt(self) -> dict[str, Drawn]:
        """The quasi-identifiers, dealt."""
        return {
            name: deal(found, self._sorted(self.codes[name]), self.offsets, self.seed, f"{self.stream}/{name}")
            for name, found in self.readings.items()
        }

    def _sorted(self, values: AnyArray) -> AnyArray:
        return values if self.order is None else values[self.order]

    def table(self, rules: Sequence[Rule], *, apart: bool) -> pa.Table:
        """Return the rows; if sensitive values are separate from people, these are shuffled too."""
        keep_rules(self._columns_in_rules(rules), rules, self.labels, self.offsets, self.seed, self.stream)
        back = None if self.order is None else inverted(self.order)
        columns, names = [], []
        for column in (c for c in self.plan.columns if c.published):
            names.append(column.name)
            if column.name in self.dealt:
                columns.append(self.dealt[column.name].column(back))
            elif column.role is Role.QUASI:
                columns.append(pa.nulls(self.published.num_rows, pa.string()))
            else:
                fixed = typed_column(self.published.column(column.name), column, self.plan.missing_values)
                moved = apart and column.role is Role.SENSITIVE
                columns.append(fixed.take(pa.array(self._dealt_rows(back))) if moved else fixed)
        shown = [name for name in self.published.column_names if name in names]
        return pa.table(columns, names=names).select(shown)

    def _dealt_rows(self, back: IntArray | None) -> IntArray:
        """For each published row, another one of its class."""
        mine = np.arange(len(self.labels)) if self.order is None else self.order
        dealt = shuffle_runs(mine, self.offsets, self.seed, f"{self.stream}/values")
        return dealt if back is None else dealt[back]

    def _columns_in_rules(self, rules: Sequence[Rule]) -> dict[str, Drawn | Fixed]:
        """The columns that rules name."""
        known: dict[str, Drawn | Fixed] = {}
        planned = {c.name: c for c in self.plan.columns if c.published}
        for rule in rules:
            for name in (c.column for c in rule.conditions):
                if name not in planned:
                    raise UsageError(
                        f"The rule {rule.text!r} names {name!r}, but the release has no such column.",
                        code="rule",
                        hint=did_you_mean(name, planned),
                    )
                if name in self.dealt:
                    known[name] = self.dealt[name]
                elif planned[name].role is Role.QUASI:
                    raise nothing_to_draw(name)
                elif name not in known:
                    known[name] = Fixed(self._prepared(planned[name]))
        return known

    def _prepared(self, column: ColumnPlan) -> Prepared:
        values = self.published.column(column.name)
        if self.order is not None:
            values = values.take(pa.array(self.order))
        return prepare_as(values, column, None, self.plan.missing_values)


def typed_column(column: pa.ChunkedArray, plan: ColumnPlan, missing_values: Sequence[str]) -> Any:
    """Return a published column in its own type, whatever the type in the file."""
    if not is_text(value_type(column.type)):
        return column
    found = prepare_as(column, plan, None, tuple(missing_values))
    if found.kind in (Kind.NUMERIC, Kind.DATE):
        return decode(found.data)
    return published_cells(column)


# Redraw values that break a rule.
#
# Rows that break a rule first swap values with other rows of their class, or get another value from the same bin, so
# the published counts of every class stay the same. If that does not help, they get new values from the cells of
# their class, one column after the other.


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
