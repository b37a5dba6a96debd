"""Counting inside a database: it groups and counts its own rows, and only totals leave it.

No cell of a quasi-identifier leaves it. Only the distinct values of each sensitive column and the compositions of
classes leave it, each with its frequency. Classes of equal composition are counted together and have no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import DataError
from hushtable.io.dictionaries import value_type
from hushtable.io.sql import database_at
from hushtable.io.sql_base import Ask, Database, no_rows
from hushtable.io.sql_place import SqlPlace, quoted
from hushtable.io.text import is_text, type_words

_ROWS = quoted("hushtable rows")
"""No user's table has this name."""

_SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Every white space of Unicode."""


@dataclass(frozen=True)
class SensitiveTally:
    """One sensitive column.

    Attributes
    ----------
    values : pyarrow.Array
        Its distinct values.
    times : int64 array
        How often each occurs, in units.
    classes, codes, units : int64 arrays
        How often each class has each of the values.
    """

    values: pa.Array
    times: IntArray
    classes: IntArray
    codes: IntArray
    units: IntArray


@dataclass(frozen=True)
class Tally:
    """The classes of a table that stayed in its database.

    Attributes
    ----------
    units : int64 array
        The size of each class, in units; classes have no order.
    sensitive : dict of str to SensitiveTally
    unit : int
        Units per person.
    nobody : int
        Number of rows without a person.
    ambiguous : bool
        Whether names of people differ only in surrounding spaces or in the encoding of letters.
    """

    units: IntArray
    sensitive: dict[str, SensitiveTally]
    unit: int = 1
    nobody: int = 0
    ambiguous: bool = False


class _People(NamedTuple):
    unit: int = 1
    nobody: int = 0
    ambiguous: bool = False


def tally(address: str, quasi: Sequence[str], sensitive: Sequence[str], entity: str | None, person_units: int) -> Tally:
    """Let a database group its rows by the quasi-identifiers and count the sensitive values of each class.

    Parameters
    ----------
    address : str
        With a table or a query.
    quasi, sensitive : sequence of str
    entity : str, optional
        Column that identifies each row's person. A person's rows then sum to one person.
    person_units : int
        Units of a person with several rows.

    Raises
    ------
    DataError
        If the table is empty, a column's type cannot be counted, or a query does not give the same rows each time.

    Examples
    --------
    >>> import tempfile
    >>> from hushtable.io.sql import write_sql
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     address = f"duckdb:///{folder}/clinic.db?table=people"
    ...     write_sql(pa.table({"age": [30, 30, 41], "illness": ["flu", "flu", None]}), address)
    ...     found = tally(address, ["age"], ["illness"], None, 1)
    >>> sorted(found.units.tolist()), found.sensitive["illness"].times.tolist()
    ([1, 2], [2, 1])
    """
    place = SqlPlace.of(address)
    base, database = place.relation(), database_at(place)
    with database.answering(place) as ask:
        wanted = [*quasi, *sensitive, *([] if entity is None else [entity])]
        empty = ask(f"SELECT {', '.join(map(quoted, wanted))} FROM {base} LIMIT 0")
        keys = [key for name in quasi for key in _keys(empty.schema.field(name))]
        values = [_keys(empty.schema.field(name))[0] for name in sensitive]
        source = f"(SELECT * FROM {base}) AS {quoted('t')}"
        people, weight = _People(), "1"
        if entity is not None:
            people, weight = _people(ask, database, source, empty.schema.field(entity), values, person_units)
        named = [f"{text} AS {quoted(f'k{i}')}" for i, text in enumerate(keys)]
        named += [f"{text} AS {quoted(f'v{j}')}" for j, text in enumerate(values)]
        rows = f"WITH {_ROWS} AS (SELECT {', '.join([*named, f'{weight} AS w'])} FROM {source})"
        total = "count(*)" if weight == "1" else "CAST(sum(w) AS bigint)"
        cells = ", ".join(quoted(f"k{i}") for i in range(len(keys)))
        if not sensitive:
            sizes = f"SELECT {total} AS n FROM {_ROWS} GROUP BY {cells}"
            found = ask(f"{rows} SELECT n, count(*) AS c FROM ({sizes}) AS g GROUP BY n")
            if not found.num_rows:
                raise no_rows(place)
            return Tally(np.repeat(_ints(found["n"]), _ints(found["c"])), {}, *people)
        distinct = [
            ask(f"{rows} SELECT v{j}, dense_rank() OVER (ORDER BY v{j}) AS r, {total} AS n FROM {_ROWS} GROUP BY v{j}")
            for j in range(len(values))
        ]
        if not distinct[0].num_rows:
            raise no_rows(place)
        # every value of every column has a unique number: rank * columns + column
        some = " UNION ALL ".join(
            f"SELECT {cells}, dense_rank() OVER (ORDER BY v{j}) * {len(values)} + {j} AS r, {total} AS n "
            f"FROM {_ROWS} GROUP BY {cells}, v{j}"
            for j in range(len(values))
        )
        classes = (
            f"SELECT array_agg(r ORDER BY r) AS rs, array_agg(n ORDER BY r) AS ns FROM ({some}) AS g GROUP BY {cells}"
        )
        alike = ask(f"{rows} SELECT rs, ns, count(*) AS c FROM ({classes}) AS h GROUP BY rs, ns")
    return _unfolded(place, sensitive, distinct, alike, people)


def _unfolded(
    place: SqlPlace, sensitive: Sequence[str], distinct: Sequence[pa.Table], alike: pa.Table, people: _People
) -> Tally:
    """Expand counts of equal classes to one entry per class."""
    many = _ints(alike["c"])
    lengths = _ints(pc.list_value_length(alike["rs"]))
    ranks, counts = (_ints(pc.list_flatten(alike[name])) for name in ("rs", "ns"))
    starts = np.repeat(np.cumsum(lengths) - lengths, many)
    each = np.repeat(lengths, many)
    at = np.repeat(starts - np.cumsum(each) + each, each) + np.arange(each.sum())
    owner, ranks, counts = np.repeat(np.arange(len(each)), each), ranks[at], counts[at]
    found = {}
    for j, (name, values) in enumerate(zip(sensitive, distinct, strict=True)):
        own = ranks % len(sensitive) == j
        place_of = np.empty(values.num_rows + 1, dtype=np.int64)
        place_of[_ints(values["r"])] = np.arange(values.num_rows)
        codes = ranks[own] // len(sensitive)
        if codes.max(initial=0) > values.num_rows or not np.array_equal(
            np.bincount(place_of[codes], counts[own], values.num_rows), _ints(values["n"])
        ):
            raise DataError(
                f"{str(place)!r} does not return the same rows each time.",
                code="unstable-query",
                hint="Remove random choices and samples from the query, or store its result in a table.",
            )
        column = values.column(0)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        found[name] = SensitiveTally(array, _ints(values["n"]), owner[own], place_of[codes], counts[own])
    first = found[sensitive[0]]
    units = np.zeros(len(each), dtype=np.int64)
    np.add.at(units, first.classes, first.units)
    return Tally(units, found, *people)


def _ints(column: pa.ChunkedArray) -> IntArray:
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)


def _keys(field: pa.Field) -> list[str]:
    """Expressions to group by so that cells compare as in hushtable: text byte by byte, and -0.0 unlike 0.0."""
    name, kind = f"{quoted('t')}.{quoted(field.name)}", value_type(field.type)
    if is_text(kind):
        # a column may be declared to compare regardless of case or accents
        return [f'CAST({name} AS varchar) COLLATE "C"']
    if pa.types.is_nested(kind) or pa.types.is_interval(kind) or pa.types.is_duration(kind):
        raise DataError(
            f"Column {field.name!r} holds values of type {type_words(kind)}, which cannot be counted.",
            code="unsupported-type",
            hint="Convert it in a query, for example with CAST(... AS varchar).",
        )
    if pa.types.is_floating(kind):
        return [name, f"(CASE WHEN {name} = 0 THEN CAST({name} AS varchar) LIKE '-%' END)"]
    return [name]


def _people(
    ask: Ask, database: Database, source: str, field: pa.Field, values: Sequence[str], person_units: int
) -> tuple[_People, str]:
    """Information about the people, and the units of each row."""
    if pa.types.is_floating(field.type):
        raise DataError(
            f"The entity column {field.name!r} holds numbers with a fraction.",
            code="unsupported-type",
            hint="Convert it in a query, for example with CAST(... AS varchar).",
        )
    (name,) = _keys(field)
    text = f"CAST({name} AS varchar)"
    known = f"{text} <> ''"
    found = ask(
        f"SELECT max(n) AS most, CAST(sum(CASE WHEN known THEN 0 ELSE n END) AS bigint) AS nobody, "
        f"count(DISTINCT e) AS cells, count(DISTINCT spelt) AS names FROM (SELECT {name} AS e, {known} AS known, "
        f"{database.same_name(text, _SPACES)} AS spelt, count(*) AS n FROM {source} GROUP BY 1, 2, 3) AS g"
    ).to_pylist()[0]
    most = found["most"] or 0
    people = _People(1 if most <= 1 else person_units, found["nobody"] or 0, found["names"] < found["cells"])
    if most <= 1:
        return people, "1"
    rows = f"CAST(count(*) OVER (PARTITION BY {name}) AS bigint)"
    weight = f"CAST(({person_units} - {person_units} % {rows}) / {rows} AS bigint)"
    if any(person_units % n for n in range(1, min(most, 1000) + 1)):
        # what does not divide evenly goes to a person's first rows
        order = f"ORDER BY {', '.join(values)}" if values else ""
        place = f"row_number() OVER (PARTITION BY {name} {order})"
        weight += f" + CASE WHEN {place} <= {person_units} % {rows} THEN 1 ELSE 0 END"
    return people, weight
