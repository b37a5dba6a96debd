"""Non-interference: every byte of a public folder depends only on the published rows and the policy.

A run's decisions (which records share a group, which are suppressed, which level a column has) are recorded and
replayed on tables that differ in what must not matter: the values of suppressed records, which of a group's originals
belongs to whom, the order of the rows. Publishing, verifying and saving use the code of every release. The files must
be identical, byte for byte.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from hushtable import rng
from hushtable.algorithms.base import Algorithm, Recoding
from hushtable.arrays import IntArray
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound, PolicyError, VerificationError
from hushtable.hierarchy.base import Hierarchy
from hushtable.hierarchy.dates import Dates
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.hierarchy.standard import Standard
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.base import PrivacyModel
from hushtable.release.guard import Guard
from hushtable.release.plan import Plan
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing.cases import Case
from hushtable.testing.features import as_array, far_values, must_have
from hushtable.testing.public_files import Files, local_files
from hushtable.testing.replay import COINS, Decisions, Incomparable
from hushtable.testing.require import require

_FAR = {
    Kind.NUMERIC: ("9999", "-77", "0.125", "31"),
    Kind.DATE: ("1850-02-03", "2090-12-31", "2023-11-06"),
    Kind.NOMINAL: ("zz-canary-{}", "a canary, {} far longer than anything else", " 1{}", "*", "01{}"),
}
"""Values that no published record has; {} is replaced by a number."""

_HIERARCHIES: dict[str, tuple[Hierarchy | None, ...]] = {
    "age": (
        *(None, Intervals(widths=(5, 10)), Intervals(cuts=((25, 30, 40), (30,))), Intervals(quantiles=(4, 2))),
        *(Intervals(quantiles=(4,), low=22, high=40), Frequency(fanout=2), Prefix(), Standard("ages")),
    ),
    "height": (None, Frequency(fanout=2), Intervals(quantiles=(2,))),
    "postcode": (
        *(Prefix(), Frequency(fanout=2), None, Prefix(from_end=False), Prefix(steps=(56, 58), length=60)),
        Standard("us-zip3", others="other"),
    ),
    "country": (Frequency(fanout=2), Prefix(), Standard("countries", others="other")),
    "size": (None, Frequency(fanout=2)),
    "visit": (Dates(), Frequency(fanout=2), None),
}


def with_hierarchies(case: Case, turn: int) -> Case:
    """Return a case with different hierarchies, and with numbers and dates as text, as in files.

    The hierarchies rotate through all kinds; the policy's own taxonomies stay in half of the cases.
    """
    columns, table = [], case.table
    for j, column in enumerate(case.columns.columns):
        if column.role is Role.QUASI:
            choices = _HIERARCHIES.get(column.name, ())
            keep = not choices or (isinstance(column.hierarchy, Taxonomy) and turn % 2 == 0)
            chosen = column.hierarchy if keep else choices[(turn + j) % len(choices)]
            # files need not say what kind a column has
            kind = None if chosen is None and not column.order and turn % 4 == 3 else column.kind
            column = replace(column, hierarchy=chosen, kind=kind)
            at = table.column_names.index(column.name)
            table = table.set_column(at, column.name, table.column(column.name).cast(pa.string()))
        elif column.kind is Kind.NUMERIC and turn % 4 == 3:
            column = replace(column, kind=None)
            table = _as_text(table, [column.name])
        columns.append(column)
    extra = {
        name: _as_text(getattr(case, name), case.columns.named(Role.QUASI)) for name in ("population", "background")
    }
    return replace(case, table=table, columns=replace(case.columns, columns=tuple(columns)), **extra)


def _as_text(table: pa.Table, names: Sequence[str]) -> pa.Table:
    for name in names:
        table = table.set_column(table.column_names.index(name), name, table.column(name).cast(pa.string()))
    return table


Change = Callable[[Case, Decisions, int], tuple[pa.Table, IntArray]]
"""Returns a changed table, and the recorded row behind each of its rows."""


def _other_values(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Suppressed records have different values in every column."""
    return _rewritten(case, decisions, seed, lambda column: True), np.arange(case.table.num_rows)


def _no_values(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Suppressed records have no quasi-identifiers, if that is allowed."""
    table = case.table
    if case.columns.missing is Missing.ERROR:
        return table, np.arange(table.num_rows)
    for name in case.columns.named(Role.QUASI):
        table = _put(table, name, dict.fromkeys(decisions.suppressed.tolist()))
    return table, np.arange(table.num_rows)


def _published_values(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Suppressed records are copies of a published one, but of other people."""
    rows = np.arange(case.table.num_rows)
    kept = np.setdiff1d(rows, decisions.suppressed)
    rows[decisions.suppressed] = kept[seed % len(kept)]
    return _of_same_people(case, case.table.take(pa.array(rows))), np.arange(case.table.num_rows)


def _of_same_people(case: Case, table: pa.Table) -> pa.Table:
    named = [c.name for c in case.columns.columns if c.role is Role.PSEUDONYM or c.name == case.columns.entity]
    for name in named:
        table = table.set_column(table.column_names.index(name), name, case.table.column(name))
    return table


def _of_other_people(case: Case, table: pa.Table, rows: IntArray) -> bool:
    """Whether records belong to different people.

    A person's other records then have different weights, so models may need different groups.
    """
    name = case.columns.entity
    return name is not None and not table.column(name).equals(case.table.column(name).take(pa.array(rows)))


def _other_rest(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Suppressed records have different names, notes and sensitive values; their quasi-identifiers stay the same."""
    return _rewritten(case, decisions, seed, lambda c: c.role is not Role.QUASI), np.arange(case.table.num_rows)


def _other_order(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """The rows are in a different order."""
    order = np.argsort(rng.uniform(seed, "order", case.table.num_rows), kind="stable").astype(np.int64)
    return case.table.take(pa.array(order)), order


def _other_owners(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Within a group, originals of one column are permuted among the records."""
    table, labels = case.table, decisions.labels[: case.table.num_rows]
    if decisions.recoding is Recoding.BUCKET:
        return table, np.arange(len(labels))
    for name in case.columns.named(Role.QUASI):
        source = np.arange(len(labels))
        luck = rng.uniform(seed, f"owners/{name}", len(labels))
        for group in np.unique(labels[labels >= 0]).tolist():
            own = np.flatnonzero(labels == group)
            source[own] = own[np.argsort(luck[own], kind="stable")]
        table = table.set_column(table.column_names.index(name), name, table.column(name).take(pa.array(source)))
    return table, np.arange(len(labels))


def _other_originals(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Some records of a group get a less extreme original of another one; ranges stay the same."""
    table, labels = case.table, decisions.labels[: case.table.num_rows]
    for name, old in zip(case.columns.named(Role.QUASI), decisions.quasi, strict=True):
        source = np.arange(len(labels))
        for group in np.unique(labels[labels >= 0]).tolist():
            own = np.flatnonzero(labels == group)
            own = own[np.argsort(old.codes[own], kind="stable")]
            source[own[1:-1]] = own[min(1 + seed % 2, len(own) - 1)]
        table = table.set_column(table.column_names.index(name), name, table.column(name).take(pa.array(source)))
    return table, np.arange(len(labels))


def _at_once(case: Case, decisions: Decisions, seed: int) -> tuple[pa.Table, IntArray]:
    """Different values in suppressed records, different owners of the originals, and a different order."""
    for change in (_other_owners, _other_values):
        case = replace(case, table=_of_same_people(case, change(case, decisions, seed)[0]))
    return _other_order(case, decisions, seed)


CHANGES: dict[str, Change] = {
    "other values in suppressed records": _other_values,
    "no values in suppressed records": _no_values,
    "suppressed records that are copies of a published one": _published_values,
    "other sensitive values, notes and names of suppressed records": _other_rest,
    "another order of the rows": _other_order,
    "other owners of the originals within a group": _other_owners,
    "other originals behind the same cells": _other_originals,
    "values, owners and order at once": _at_once,
}
"""What must not matter."""

_MAY_SHOW = {"other originals behind the same cells"}
"""Changes that some cells show, such as sets and means; they count only if the published rows stay the same."""


def _rewritten(case: Case, decisions: Decisions, seed: int, chosen: Callable[[ColumnPlan], bool]) -> pa.Table:
    table = case.table
    for column in case.columns.columns:
        if not chosen(column) or column.name not in table.column_names:
            continue
        choices = list(_choices(column, case))
        if choices:
            luck = rng.integers(seed, f"choice/{column.name}", table.num_rows, 0, len(choices)).tolist()
            fresh = {row: _fresh(choices[luck[row]], row) for row in decisions.suppressed.tolist()}
            table = _put(table, column.name, fresh)
    return table


def _fresh(choice: Any, row: int) -> Any:
    return choice.replace("{}", str(row)) if isinstance(choice, str) else choice


def _choices(column: ColumnPlan, case: Case) -> Iterator[Any]:
    """What a suppressed record may have in a column: anything that the policy does not refuse."""
    kind = case.table.schema.field(column.name).type
    if far := far_values(column, case):
        yield from far
        if not must_have(column, case):
            yield None
        return
    values = case.table.column(column.name).drop_null().unique().to_pylist()
    if column.role not in (Role.QUASI, Role.SENSITIVE) and pa.types.is_string(kind):
        yield from ("zz-canary-{}", "*", "0")
    elif isinstance(column.hierarchy, Taxonomy) or column.categories or column.order:
        yield from column.order or values
    elif pa.types.is_string(kind):
        yield from _FAR[column.kind or Kind.NOMINAL]
    elif pa.types.is_integer(kind):
        yield from (424242, -3)
    elif pa.types.is_date(kind):
        yield datetime.date(1850, 2, 3)
    if not must_have(column, case):
        yield None


def _put(table: pa.Table, name: str, cells: Mapping[int, Any]) -> pa.Table:
    """Replace some cells of a column.

    The others stay in Arrow: libraries that import Spark's pandas make Arrow ignore the zones of Python's times.
    """
    rows = sorted(cells)
    kind = table.schema.field(name).type
    fresh = as_array([None if cells[row] == "" else cells[row] for row in rows], kind)
    # the place of every cell in the column with the new cells at its end
    places = np.arange(table.num_rows)
    places[rows] = table.num_rows + np.arange(len(rows))
    column = pa.chunked_array([*table.column(name).chunks, fresh], kind).unify_dictionaries().take(pa.array(places))
    if pa.types.is_dictionary(kind):
        column = as_array(column.to_pylist(), kind)
    return table.set_column(table.column_names.index(name), name, column)


def check_interference(
    models: Sequence[PrivacyModel],
    algorithm: Algorithm,
    case: Case,
    *,
    guards: Sequence[Guard] = (),
    files: Callable[[pa.Table, Plan], Files] = local_files,
    changes: Sequence[str] = tuple(CHANGES),
    seed: int = 0,
    replay: bool = True,
) -> Counter[str]:
    """Check that nothing in the public files depends on what must not matter.

    Parameters
    ----------
    models : sequence of PrivacyModel
    algorithm : Algorithm
    case : Case
    guards : sequence of Guard
    files : callable
        Makes a release of a table under a plan, and returns its public files; there is one function per engine.
    changes : sequence of str
        Some of ``CHANGES``.
    seed : int
        Seed of the replacement values.
    replay : bool
        If false, the algorithm decides on the changed tables too, and the files are compared whenever it publishes the
        same rows.

    Returns
    -------
    Counter
        How often each change was compared; "refused" if there is no release, "incomparable" if a hierarchy built from
        the data divides the published values differently, "other rows" if a change legitimately shows, "undeclared" if
        a release is refused because the kind of a column would reveal something.

    Raises
    ------
    AssertionError
        With the change and the file that shows it.
    """
    case = case.suited(algorithm)
    done: Counter[str] = Counter()
    try:
        plan = replace(_plan(case, models, algorithm), coins=COINS, guards=tuple(guards))
        decisions = Decisions.of(case.table, plan, one_more=replay)
        before = files(case.table, decisions.replayed(np.arange(case.table.num_rows)) if replay else plan)
    except (IncompatibleError, Infeasible, NotFound, VerificationError):
        return Counter(refused=1)
    except Incomparable:
        return Counter(incomparable=1)
    except DataError as error:
        if error.code not in ("all-unknown", "kind-of-suppressed"):
            raise
        return Counter(refused=1)
    for what in changes:
        table, rows = CHANGES[what](case, decisions, seed)
        try:
            after = files(table, decisions.replayed(rows) if replay else plan)
        except Incomparable:
            done["incomparable"] += 1
            continue
        except (Infeasible, NotFound, VerificationError, PolicyError) as error:
            if isinstance(error, VerificationError) and not replay:
                raise
            # a model that compares with the whole table, or names values, may refuse the changed table
            done["refused"] += 1
            continue
        except DataError as error:
            if error.code not in ("all-unknown", "kind-of-suppressed"):
                raise
            done["undeclared"] += 1
            continue
        may_show = not replay or what in _MAY_SHOW or _of_other_people(case, table, rows)
        if may_show and not _same_rows(before, after):
            done["other rows"] += 1
            continue
        require(sorted(before) == sorted(after), f"{algorithm.name}: {what}: different files are written")
        for name, content in before.items():
            require(
                content == after[name],
                f"{algorithm.name}: {what} changes {name}: {_first_difference(content, after[name])}",
            )
        done[what] += 1
        done["suppressed"] += len(decisions.suppressed) > 0
    return done


def _plan(case: Case, models: Sequence[PrivacyModel], algorithm: Algorithm) -> Plan:
    """The plan of a case, with suppression unless the algorithm publishes everybody."""
    try:
        return case.plan(models, algorithm, suppression=0.3, seed=case.seed)
    except IncompatibleError:
        return case.plan(models, algorithm, seed=case.seed)


def _same_rows(before: Files, after: Files) -> bool:
    """Whether the same rows are published, and the same number suppressed."""
    return all(
        _published_part(name, content) == _published_part(name, after.get(name)) for name, content in before.items()
    )


def _published_part(name: str, content: bytes | None) -> Any:
    """The published rows of one of the files, to detect whether others are published."""
    file = name.partition("/")[2]
    if content is not None and file == "release.json":
        return json.loads(content).get("suppressed")
    if content is not None and file == "release.parquet":
        return pq.read_table(pa.BufferReader(content)).to_pylist()
    return content if file.startswith("release") and file.endswith(".csv") else None


def _first_difference(first: bytes, second: bytes) -> str:
    """A few bytes around the first difference, which is safe since the tables are the suite's own."""
    at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    around = slice(max(at - 30, 0), at + 40)
    return f"{first[around]!r} and {second[around]!r}"
