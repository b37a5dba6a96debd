"""The keys of linked tables, matched and checked before anything else is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, IntArray, places_among
from hushtable.errors import DataError, HierarchyError, PolicyError
from hushtable.io.dictionaries import encode, to_codes, value_ranks
from hushtable.io.text import to_labels
from hushtable.linked.events import joint_codes
from hushtable.linked.policy import LinkedPolicy
from hushtable.schema.columns import Kind, Role
from hushtable.schema.parse import convert
from hushtable.table.plan import check_columns


@dataclass(frozen=True)
class Links:
    """Linked tables, and where each row belongs.

    Attributes
    ----------
    policy : LinkedPolicy
    tables : mapping of str to pyarrow.Table
        The people, and tables of events in the order of ``policy.events``.
    owner : mapping of str to int64 array
        For each event, its row in the table that it belongs to.
    """

    policy: LinkedPolicy
    tables: Mapping[str, pa.Table]
    owner: Mapping[str, IntArray]

    @property
    def people(self) -> pa.Table:
        """The table of people."""
        return self.tables[self.policy.people]

    @cached_property
    def person(self) -> dict[str, IntArray]:
        """For each event, the row of its person."""
        found: dict[str, IntArray] = {}
        for name in self.policy.events:
            above = self.policy.tables[name].of
            own = self.owner[name]
            found[name] = own if above == self.policy.people else found[str(above)][own]
        return found

    @cached_property
    def offsets(self) -> dict[str, int]:
        """The number of each table's first event, among all events."""
        ends = np.cumsum([0, *(self.tables[name].num_rows for name in self.policy.events)]).tolist()
        return dict(zip([*self.policy.events, ""], ends, strict=True))

    def part(self, name: str) -> slice:
        """Return the places of one table's events among those of all tables."""
        return slice(self.offsets[name], self.offsets[name] + self.tables[name].num_rows)

    @property
    def n_events(self) -> int:
        """Number of events."""
        return self.offsets[""]

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The tables of events that others may know."""
        return tuple(name for name in self.policy.events if self.policy.tables[name].named(Role.QUASI))

    def key_ranks(self, name: str) -> list[IntArray]:
        """Return the rank of each row in each column of its table's key, which does not depend on the order of rows."""
        found = []
        for key in self.policy.tables[name].key:
            column = encode(self.tables[name][key])
            found.append(value_ranks(to_labels(column.dictionary))[to_codes(column)])
        return found

    def depth(self, name: str) -> int:
        """Return the number of joins from a table to the people."""
        above = self.policy.tables[name].of
        return 0 if above is None else 1 + self.depth(above)

    @property
    def nested(self) -> bool:
        """Whether events belong to other events."""
        return any(self.depth(name) > 1 for name in self.policy.events)

    def above(self, name: str) -> list[IntArray]:
        """Return, depth by depth, the event that each event of a table belongs to or is."""
        levels = max(map(self.depth, self.policy.events))
        own = self.offsets[name] + np.arange(self.tables[name].num_rows, dtype=np.int64)
        found = [-1 - own] * levels
        rows, at = np.arange(self.tables[name].num_rows, dtype=np.int64), name
        while at != self.policy.people:
            found[self.depth(at) - 1] = self.offsets[at] + rows
            rows, at = self.owner[at][rows], str(self.policy.tables[at].of)
        return found

    def alive(self, dropped: BoolArray) -> BoolArray:
        """Return which events remain if some are dropped: events that belong to a dropped one are dropped with it."""
        left = ~dropped
        for name in self.policy.events:
            above = str(self.policy.tables[name].of)
            if above != self.policy.people:
                left[self.part(name)] &= left[self.offsets[above] + self.owner[name]]
        return left

    def only(self, events: BoolArray, people: BoolArray | None = None) -> Links:
        """Return the links of some events with all that they belong to, and of some people with all of their events."""
        kept = {self.policy.people: np.ones(self.people.num_rows, dtype=np.bool_) if people is None else people}
        tables = {self.policy.people: self.people if people is None else self.people.filter(pa.array(people))}
        owner = {}
        for name in self.policy.events:
            above = str(self.policy.tables[name].of)
            kept[name] = events[self.part(name)] & kept[above][self.owner[name]]
            tables[name] = self.tables[name].filter(pa.array(kept[name]))
            owner[name] = (np.cumsum(kept[above]) - 1)[self.owner[name][kept[name]]]
        return Links(self.policy, tables, owner)


@contextmanager
def of_table(name: str) -> Iterator[None]:
    """Name the table in errors about its columns: several tables may have a column of the same name."""
    try:
        yield
    except (DataError, HierarchyError, PolicyError) as error:
        raise type(error)(f"Table {name!r}: {error.message}", code=error.code, hint=error.hint) from None


def link(tables: Mapping[str, pa.Table], policy: LinkedPolicy, *, published: bool = False) -> Links:
    """Match the keys of all tables, and replace relative dates by days since the person's date.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table
    policy : LinkedPolicy
    published : bool
        Whether these are tables of a release, which have only published columns.

    Raises
    ------
    DataError
        If a table is absent or not in the policy, or a key is missing, duplicate or refers to no row.
    """
    _check_tables(tables, policy)
    found = {policy.people: tables[policy.people]}
    owner: dict[str, IntArray] = {}
    for name in (policy.people, *policy.events):
        keys = list(dict.fromkeys((*policy.tables[name].key, *policy.by(name))))
        if published:
            keys = [k for k in keys if k in policy.by(name) or name in policy.parents() or name == policy.people]
        absent = [key for key in keys if key not in tables[name].column_names]
        if absent:
            raise DataError(f"Table {name!r} has no column {absent[0]!r}, which is part of its key.", code="no-key",
                            hint="Check the policy's 'key' and 'by', and the file.")  # fmt: skip
        plan = policy.table_plan(name)
        own = [c for c in tables[name].column_names if c not in keys]
        if published:
            _check_published(name, own, [c.name for c in plan.columns if c.published])
        else:
            with of_table(name):
                check_columns(own, plan)
        found[name] = tables[name]
    if not found[policy.people].num_rows:
        raise DataError(
            f"Table {policy.people!r} has no rows.",
            code="empty",
            hint="Check how it was read, or which filter left none.",
        )
    used = policy.parents() | {policy.people}
    for name in used:
        _check_unique(name, [found[name][key] for key in policy.tables[name].key])
    for name in policy.events:
        above = str(policy.tables[name].of)
        keys_above = [found[above][key] for key in policy.tables[above].key]
        owner[name] = _matched(name, above, [found[name][key] for key in policy.by(name)], keys_above)
    links = Links(policy, {name: found[name] for name in (policy.people, *policy.events)}, owner)
    return links if published else _relative_dates(links)


def _relative_dates(links: Links) -> Links:
    """Replace dates that are published relative to a date of the person by days since then."""
    tables = dict(links.tables)
    for name, table in links.policy.tables.items():
        for column, anchor in table.relative.items():
            with of_table(links.policy.people):
                since = _days(links.people[anchor], anchor)[links.person[name]]
            with of_table(name):
                days = pa.array(_days(links.tables[name][column], column) - since, from_pandas=True)
            place = tables[name].column_names.index(column)
            tables[name] = tables[name].set_column(place, column, days.cast(pa.int64()))
    return replace(links, tables=tables)


def _days(column: pa.ChunkedArray, name: str) -> Any:
    one = encode(column)
    days = convert(one.dictionary, Kind.DATE, name).cast(pa.int32()).cast(pa.float64())
    return np.append(days.to_numpy(zero_copy_only=False), np.nan)[to_codes(one)]


def cell_codes(columns: Sequence[pa.ChunkedArray], rows: int) -> IntArray:
    """Return one number per row, equal for rows with equal cells in all columns.

    Examples
    --------
    >>> cell_codes([pa.chunked_array([["a", None, "a"]]), pa.chunked_array([[1, 2, 1]])], 3).tolist()
    [1, 0, 1]
    """
    codes = [to_codes(encode(column)) + 1 for column in columns]
    return joint_codes(codes) if codes else np.zeros(rows, dtype=np.int64)


def _check_tables(tables: Mapping[str, pa.Table], policy: LinkedPolicy) -> None:
    for name in policy.tables:
        if name not in tables:
            given = ", ".join(sorted(map(str, tables))) or "none"
            raise DataError(f"There is no table {name!r}, which the policy names.", code="no-table",
                            hint=f"Given: {given}. A table has the name of its file.")  # fmt: skip
    for name in tables:
        if name not in policy.tables:
            raise DataError(f"The policy does not say what table {name!r} belongs to.", code="not-joined",
                            hint="Name it under 'tables' with 'of', or leave out its file.")  # fmt: skip


def _check_published(name: str, have: list[str], wanted: list[str]) -> None:
    if sorted(have) != sorted(wanted):
        raise DataError(
            f"The published table {name!r} does not have the columns that the policy publishes.",
            code="columns",
            hint="Verify a release with the policy that it was made under.",
        )


def _codes(columns: Sequence[pa.ChunkedArray]) -> tuple[IntArray, int]:
    """Return a number per row, and how many rows lack a part of the key."""
    codes = [to_codes(encode(column)) for column in columns]
    lacking = np.zeros(len(codes[0]), dtype=np.bool_)
    for code in codes:
        lacking |= code < 0
    return joint_codes([code + 1 for code in codes]), int(np.count_nonzero(lacking))


def _rows(n: int, name: str, one: str, many: str) -> str:
    return f"1 row of table {name!r} {one}" if n == 1 else f"{n:,} rows of table {name!r} {many}"


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A key as text, empty cells as null: files and databases may hold keys in different types."""
    one = encode(column)
    labels = pc.cast(to_labels(one.dictionary), pa.large_string())
    labels = pc.if_else(pc.equal(labels, ""), pa.scalar(None, pa.large_string()), labels)
    if labels.null_count:
        return pa.chunked_array([labels.take(one.indices)])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(one.indices, labels)])


def _check_unique(name: str, columns: Sequence[pa.ChunkedArray]) -> None:
    codes, lacking = _codes([_text(column) for column in columns])
    if lacking:
        raise DataError(
            f"{_rows(lacking, name, 'has', 'have')} no key.",
            code="no-key",
            hint="Fill in the key, or remove such rows.",
        )
    twice = len(codes) - len(np.unique(codes))
    if twice:
        raise DataError(f"{_rows(twice, name, 'repeats', 'repeat')} the key of another row.", code="duplicate-key",
                        hint="Remove duplicates, or add the column that distinguishes rows to 'key'.")  # fmt: skip


def _matched(name: str, above: str, columns: Sequence[pa.ChunkedArray], keys: Sequence[pa.ChunkedArray]) -> IntArray:
    """Return the parent row of each row."""
    n = len(keys[0])
    both = []
    for one, other in zip(keys, columns, strict=True):
        chunks = [pc.cast(part, pa.large_string()) for column in (one, other) for part in _text(column).chunks]
        both.append(pa.chunked_array(chunks, pa.large_string()))
    codes, _ = _codes(both)
    found = places_among(codes[:n], int(codes.max(initial=0)) + 1)[codes[n:]]
    orphans = int(np.count_nonzero(found < 0))
    if orphans:
        raise DataError(f"{_rows(orphans, name, 'belongs', 'belong')} to no row of {above!r}.", code="orphans",
                        hint="Remove such rows, or add the rows that they belong to.")  # fmt: skip
    return found
