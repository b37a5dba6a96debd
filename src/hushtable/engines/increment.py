"""A new batch of records in addition to an earlier release: in its classes if enough join, otherwise in new ones.

Anyone with both tables sees their union and their difference. So in every class, the newcomers alone must satisfy the
models (the difference), and so must old and new records together (the union). Newcomers whom a published class covers
join it if there are enough of them; the policy's algorithm makes new classes of all others. If those are too few, they
take newcomers back from the smallest joined classes, if necessary from all of them.

Both are verified from the published cells: the batch on its own like any release, and the union.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Partition, Problem, Progress, Recoding
from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.attacks.matching import candidates, match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.engines.local import finish, problem_of, solve
from hushtable.engines.release import Release
from hushtable.errors import (
    DataError,
    HushtableError,
    IncompatibleError,
    Infeasible,
    NotFound,
    VerificationError,
    counted,
)
from hushtable.io.text import is_text, to_labels
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.release.forms.base import Cells
from hushtable.release.forms.listed import ListedCells
from hushtable.release.plan import Plan
from hushtable.release.reading_back import sensitive_codes
from hushtable.release.recode import Recoded, class_numbers, forms_shown
from hushtable.release.verify import Published, Verification, verify
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.encode import encode
from hushtable.table.people import same_name
from hushtable.table.plan import SideTables, TablePlan, check_columns

_OWN = 0.9

_RECODINGS = (Recoding.LOCAL, Recoding.GLOBAL)
_JUDGED = (Role.QUASI, Role.SENSITIVE)


def increment(
    table: pa.Table, plan: Plan, earlier: Release, progress: Progress | None = None, *, source: Any = None
) -> Release:
    """Publish new records as an addition to an earlier release of other people.

    Parameters
    ----------
    table : pyarrow.Table
        Only the new records.
    plan : Plan
    earlier : Release
        Must have its original.
    progress : callable, optional

    Raises
    ------
    IncompatibleError
        If the models do not survive merging, or the algorithm or the earlier release publishes no ranges that could
        cover new records.
    DataError
        If a person of the batch is in the earlier release.
    Infeasible, NotFound
        If the batch is too small to stand on its own.
    VerificationError
        If old and new records together violate a model.
    """
    _check(table, plan, earlier)
    # no model counts people outside the table, so a population is irrelevant
    plan = replace(plan, side_tables=SideTables())
    problem = problem_of(table, plan, progress)
    joined = _class_to_join(problem, earlier)
    judged = tuple(c for c in plan.table.columns if c.role in _JUDGED or c.name == plan.table.entity)
    union = _union(table, [c.name for c in judged], earlier)
    alone = replace(plan.table, columns=judged)
    failure: HushtableError | None = None
    for old in _ever_fewer(joined):
        try:
            partition, recoded = _settled(table, plan, problem, earlier, old)
            batch = finish(table, plan, problem, partition, recoded, source=source)
            _verify_union(union, alone, earlier, batch).raise_if_violated()
            # a repeated run without the earlier release would give a different one
            return replace(batch, repeatable=False)
        except (Infeasible, NotFound, VerificationError) as error:
            failure = error
    assert failure is not None
    if isinstance(failure, VerificationError):
        raise failure
    raise type(failure)(
        f"The {table.num_rows:,} new records cannot be published on their own: {failure.message}",
        code=failure.code,
        hint="Keep them for the next batch.",
    )


def _check(table: pa.Table, plan: Plan, earlier: Release) -> None:
    for one in (plan, earlier.plan):
        one.refuse_treatments("A new batch would be treated separately from the earlier one")
        one.refuse_class_weights("A new batch")
    if plan.guards:
        raise IncompatibleError("Guards do not apply to a new batch.", hint="Remove 'guard' from the policy.")
    if plan.algorithm.samples:
        raise IncompatibleError(
            f"{plan.algorithm.name} spends its epsilon on one release, but a batch that joins its classes is another "
            f"release.",
            hint="Publish the new records on their own, and add up the epsilons and deltas.",
        )
    if plan.algorithm.recoding not in _RECODINGS:
        raise _no_ranges(plan.algorithm.name)
    if earlier.recoded.buckets is not None or any(cells.bounded is None for cells in earlier.recoded.cells):
        raise _no_ranges("The earlier release")
    for form in forms_shown(plan.table, plan.algorithm.recoding):
        # newcomers who join a class are published under its cells, which reveal nothing about them alone
        if form.counts_records:
            raise _no_ranges(f"'cells: {form.name}'")
    for member in plan.model().members:
        if Monotone.MERGE not in member.monotone or member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
            raise IncompatibleError(
                f"{member.name} cannot be guaranteed for old and new records combined: it does not survive merging, or "
                "counts people outside the table.",
                hint="Publish all records again, and check that release with a ledger.",
            )
    check_columns(table.column_names, plan.table)
    mine = (plan.table.named(Role.QUASI), plan.table.named(Role.SENSITIVE))
    theirs = tuple(tuple(c.name for c in part) for part in (earlier.encoded.quasi, earlier.encoded.sensitive))
    if mine != theirs:
        raise DataError(
            "The earlier release and the policy have different quasi-identifiers or sensitive columns.",
            code="other-columns",
            hint="Publish the batch under the policy of the earlier release.",
        )
    _check_people(table, plan, earlier)


def _no_ranges(what: str) -> IncompatibleError:
    return IncompatibleError(
        f"{what} publishes no ranges that could cover new records.",
        hint="Use an algorithm that generalizes, such as mondrian, and 'cells: regions'.",
    )


def _check_people(table: pa.Table, plan: Plan, earlier: Release) -> None:
    """Refuse people who are in the earlier release, if identifiers distinguish people."""
    named = plan.account.person if plan.account is not None else plan.table.entity
    identifiers = [named] if named is not None else list(plan.table.named(Role.IDENTIFIER))
    known = [name for name in identifiers if name in earlier.policy.get("columns", {})]
    for name in known:
        source = earlier.original([name])
        try:
            old, new = (
                set(same_name(_plain(t.column(name)).unique()).to_pylist()) - {None, ""} for t in (source, table)
            )
        except (pa.ArrowException, DataError):
            # bytes or nested values; Arrow's message may quote one
            raise DataError(
                f"Column {name!r} cannot be read as text, so people of the two tables cannot be compared.",
                code="other-type",
                hint="Give it as text in both tables.",
            ) from None
        # an identifier that people share (a note, a clinic) does not distinguish them
        tells = len(known) == 1 or len(new) >= _OWN * table.num_rows
        if tells and old & new:
            raise DataError(
                f"The batch has {counted(len(old & new), 'person', 'people')} from the earlier release, with the same "
                f"{name!r}.",
                code="known-people",
                hint="A batch must contain other people. To publish the same people again, use a ledger and "
                "m-invariance.",
            )


def _union(table: pa.Table, names: list[str], earlier: Release) -> pa.Table:
    """The earlier original and the batch in some columns, in the batch's types or in those of the original."""
    absent = [name for name in names if name not in earlier.policy.get("columns", {})]
    if absent:
        raise DataError(
            f"The earlier original has no column {absent[0]!r}.",
            code="other-columns",
            hint="Publish the batch under the policy of the earlier release.",
        )
    source = earlier.original(names)
    columns = {}
    for name in names:
        new, old = _plain(table.column(name)), _plain(source.column(name))
        both = _of_type(new.type, old, new)
        # an earlier text column cannot have had these numbers
        if both is None and (pa.types.is_null(new.type) or not is_text(old.type)):
            both = _of_type(old.type, old, new)
        if both is None:
            raise DataError(
                f"Column {name!r} has different types in the batch and in the earlier original.",
                code="other-type",
                hint="Give both in the same format.",
            )
        columns[name] = both
    return pa.table(columns)


def _of_type(kind: pa.DataType, *parts: pa.Array) -> pa.ChunkedArray | None:
    """Concatenate parts in one type; None if it cannot represent their values."""
    try:
        return pa.chunked_array(
            [p if p.type == kind else (to_labels(p) if is_text(kind) else p).cast(kind) for p in parts]
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _class_to_join(problem: Problem, earlier: Release) -> IntArray:
    """Return the earlier class that each new record may join; -1 if none covers it, or too few would join it."""
    # a midpoint excludes nobody, but does not represent those outside its range
    view = bounded(View.of(earlier))
    batch = pa.table({c.name: values_of(c, c.codes) for c in problem.table.quasi})
    offsets, classes = candidates(view, People.of_table(view, batch, "The batch"))
    first = np.minimum(offsets[:-1], max(len(classes) - 1, 0))
    label = np.where(np.diff(offsets) > 0, classes[first] if len(classes) else -1, -1)
    stats = problem.table.stats_of(label, view.n_groups, problem.model.histogram_keys())
    filled = np.flatnonzero(stats.units > 0)
    good = np.zeros(view.n_groups + 1, dtype=np.bool_)
    good[filled] = problem.model.part(table_level=False).satisfied(stats.take(filled), problem.reference)
    return np.where(good[label], label, -1)


def _ever_fewer(joined: IntArray) -> Iterator[IntArray]:
    """Yield the classes to join, then without the smallest, dropping twice as many each time, and finally none."""
    used, size = np.unique(joined[joined >= 0], return_counts=True)
    ranked = used[np.lexsort((used, size))]
    without = 0
    while without < len(ranked):
        yield np.where(np.isin(joined, ranked[without:]), joined, -1)
        without = max(2 * without, 1)
    yield np.full(len(joined), -1, dtype=np.int64)


def _settled(
    table: pa.Table, plan: Plan, problem: Problem, earlier: Release, joined: IntArray
) -> tuple[Partition, Recoded]:
    """Make classes of those who join none, and combine both kinds."""
    used, label = np.unique(joined[joined >= 0], return_inverse=True)
    labels = np.full(table.num_rows, -1, dtype=np.int64)
    labels[joined >= 0] = label
    names = [column.take(pa.array(used)) for column in earlier.recoded.published]
    quasi = problem.table.quasi
    covered = covered_values(View.of(earlier), quasi, used)
    rest = np.flatnonzero(joined < 0)
    if len(rest):
        own = problem_of(table.take(pa.array(rest)), replace(plan, account=None), problem.progress)
        _, alone = solve(own, plan)
        shown = View(pa.table({}), plan.document, alone.cells, own.table, alone.labels[: len(rest)], rest, own.model)
        more = covered_values(shown, quasi, np.arange(alone.n_groups))
        covered = [first + second for first, second in zip(covered, more, strict=True)]
        labels[rest] = np.where(alone.labels[: len(rest)] >= 0, alone.labels[: len(rest)] + len(used), -1)
        names = [_both(a, b) for a, b in zip(names, alone.published, strict=True)]
    merged, n = class_numbers(names)
    labels = np.where(labels >= 0, merged[labels], -1)
    first = np.zeros(n, dtype=np.int64)
    first[merged[::-1]] = np.arange(len(merged) - 1, -1, -1)
    kept, labels, n = _filled(labels, n)
    place = np.full(len(first), -1, dtype=np.int64)
    place[kept] = np.arange(n)
    cells = tuple(own.cells(column, labels, place[merged], n) for column, own in zip(quasi, covered, strict=True))
    published = tuple(column.take(pa.array(first[kept])) for column in names)
    notes = {"increment": True, "joined": int(np.count_nonzero(joined >= 0)), "old_classes": len(used)}
    return Partition(labels, n, notes=notes), Recoded(labels, cells, published, derived=False)


def _filled(labels: AnyArray, n: int) -> tuple[IntArray, IntArray, int]:
    """Number the groups that have records."""
    kept = np.unique(labels[labels >= 0]).astype(np.int64)
    place = np.full(n + 1, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return kept, place[labels], len(kept)


def _both(first: pa.Array, second: pa.Array) -> pa.Array:
    """Concatenate cells, as text if one side has numbers and the other ranges."""
    if first.type != second.type:
        first, second = (to_labels(side).cast(pa.string()) for side in (first, second))
    return pa.concat_arrays([first, second])


def _verify_union(source: pa.Table, plan: TablePlan, earlier: Release, batch: Release) -> Verification:
    """Judge old and new records together, from the published cells of both."""
    encoded = encode(source, plan)
    model = batch.problem.model
    reference = encoded.reference(model.histogram_keys())
    real = np.flatnonzero(earlier.source_rows >= 0)
    old = earlier.table.take(pa.array(real))
    shown = {
        name: _both(_plain(old.column(name)), _plain(batch.table.column(name)))
        for role in _JUDGED
        for name in plan.named(role)
    }
    kinds = {c.name: c.coded.kind for c in encoded.sensitive}
    rows = np.concatenate([earlier.source_rows[real], batch.source_rows + earlier.encoded.n_sample])
    return verify(
        Published(
            quasi=tuple(shown[name] for name in plan.named(Role.QUASI)),
            sensitive=sensitive_codes(pa.table(shown), plan, reference, kinds),
            sizes={c.name: c.coded.size for c in encoded.sensitive},
            unit=encoded.unit,
            row_units=encoded.row_units[rows] if len(encoded.row_units) else encoded.row_units,
        ),
        model,
        reference,
        plan.missing,
    )


def _plain(column: pa.ChunkedArray) -> pa.Array:
    one = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return one.dictionary_decode() if pa.types.is_dictionary(one.type) else one


# What classes of an earlier release publish, in the values of a new batch.
#
# Newcomers who join a class are published under its cells, which cover more than the newcomers themselves. Loss is
# measured by the values of the batch that the cells cover; a node keeps its height, and a midpoint counts as its
# range.


@dataclass(frozen=True)
class Covered:
    """The cells of some classes in one column.

    Attributes
    ----------
    groups, codes : int64 arrays
        Which of the classes covers which value of the batch.
    heights : int64 array
        The height of the node that each class publishes; for ranges, 0 or the height of the root.
    middles : float array
        The midpoint of each class; NaN for none.
    """

    groups: IntArray
    codes: IntArray
    heights: IntArray
    middles: FloatArray

    def __add__(self, other: Covered) -> Covered:
        """Append the other's classes to these."""
        return Covered(
            np.append(self.groups, other.groups + len(self.heights)),
            np.append(self.codes, other.codes),
            np.append(self.heights, other.heights),
            np.append(self.middles, other.middles),
        )

    def cells(self, column: QuasiColumn, labels: IntArray, of_group: IntArray, n: int) -> ListedCells:
        """The cells of n classes: all values of the batch that they cover, not only those that they contain.

        Parameters
        ----------
        column : QuasiColumn
        labels : int64 array
            The class of every row of the batch.
        of_group : int64 array
            The new class of each of these; -1 for none.
        n : int
        """
        owner = np.concatenate([labels, of_group[self.groups]])
        code = np.concatenate([column.codes.astype(np.int64), self.codes])
        real = owner >= 0
        owner, code = owner[real], code[real]
        _, first = number_rows([owner, code], [n, column.coded.size])
        offsets = np.searchsorted(owner[first], np.arange(n + 1)).astype(np.int64)
        heights = np.zeros(n, dtype=np.int64)
        used = of_group >= 0
        np.maximum.at(heights, of_group[used], self.heights[used])
        middles = np.full(n, np.nan)
        middles[of_group[used]] = self.middles[used]
        return ListedCells(column, offsets, code[first], heights, middles)


def values_of(column: QuasiColumn, codes: AnyArray) -> pa.Array:
    """The interpreted values of the batch, with any spelling of missing values."""
    place = codes.astype(np.int64) - int(column.coded.missing)
    return column.coded.values.take(pa.array(place, mask=place < 0))


def covered_values(view: View, quasi: Sequence[QuasiColumn], groups: IntArray) -> list[Covered]:
    """Return the cells of these classes for each column, in the values of the batch."""
    spans = [column.coded.size for column in quasi]
    every = {c.name: values_of(c, np.minimum(np.arange(max(spans)), c.coded.size - 1)) for c in quasi}
    people = People.of_table(view, pa.table(every), "The batch")
    middles = [_middles(cells)[groups] for cells in view.cells]
    view = bounded(view)
    found = []
    for j, (column, cells) in enumerate(zip(quasi, view.cells, strict=True)):
        pairs = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        for part, inside in match_chunks(view, people.take(np.arange(column.coded.size)), [j]):
            code, place = np.nonzero(inside[:, groups])
            pairs.append((place, code + part.start))
        own = np.concatenate([p for p, _ in pairs]), np.concatenate([c for _, c in pairs])
        found.append(Covered(*own, _heights(cells, column)[groups], middles[j]))
    return found


def _middles(cells: Cells) -> FloatArray:
    points = cells.points
    if points is None or points.numbers is None:
        return np.full(len(cells), np.nan)
    return np.where(points.hidden, np.nan, points.numbers)


def bounded(view: View) -> View:
    """View a release as if it published bounds instead of representatives."""
    return replace(view, cells=tuple(_bounded(cells) for cells in view.cells))


def _bounded(cells: Cells) -> Cells:
    found = cells.bounded
    return cells if found is None else found


def _heights(cells: Cells, column: QuasiColumn) -> IntArray:
    """The heights of published nodes in the batch's hierarchy, which may have fewer levels; a root is its root."""
    top = column.coded.height
    if cells.at_nodes:
        return np.where(cells.height == cells.column.coded.height, top, np.minimum(cells.height, top))
    # a range with the missing value is published as the root; a set names it
    return np.where(cells.mixed & ~np.asarray(cells.has_holes), top, 0)
