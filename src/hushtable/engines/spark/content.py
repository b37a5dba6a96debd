"""The content of a table: its distinct combinations of values, their frequencies, and the combination of each row.

Algorithms depend only on content, so they need nothing else. Columns that are published unchanged and only break ties
(insensitive ones) stay with Spark, unless rows also differ in weight: then the order of a tie decides about weights,
and they belong to the content.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DoubleType, FloatType, NullType, StringType, StructType

from hushtable.algorithms.base import Problem
from hushtable.arrays import AnyArray, IntArray
from hushtable.engines import local
from hushtable.engines.spark.alike import AlikeRows, FramePieces, alike_rows, file_pieces, tasks_can_count
from hushtable.engines.spark.dictionaries import Dictionary, coded, dictionaries
from hushtable.engines.spark.jobs import SparkJobs, changed_input
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS, with_units
from hushtable.errors import PolicyError
from hushtable.io.names import check_names
from hushtable.kernels.grouping import number_rows
from hushtable.release.plan import Plan
from hushtable.schema.columns import Role
from hushtable.schema.prepare import check_publishable, check_type
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encode import encode, encode_values, no_rows
from hushtable.table.encoded import EncodedTable
from hushtable.table.people import PERSON_UNITS
from hushtable.table.plan import ColumnPlan, TablePlan, check_columns
from hushtable.table.ranks import dense_ranks


@dataclass(frozen=True)
class SparkRows:
    """The distinct combinations of a table.

    Attributes
    ----------
    places : tuple of int64 arrays
        For each dictionary, the place of each combination's value.
    counts : int64 array
        Rows of each combination.
    units : int64 array
        Weight of one such row; empty if every row weighs 1.
    keys : tuple of int64 arrays
        The packed quasi-identifiers, then the packed rest, then the weight: what rows are joined by.
    """

    places: tuple[IntArray, ...]
    counts: IntArray
    units: IntArray
    keys: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the rows of each combination begin after expansion."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @cached_property
    def of_row(self) -> IntArray:
        """The combination of every expanded row."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts)


class Content:
    """A Spark table under a plan.

    Parameters
    ----------
    jobs : SparkJobs
    frame : pyspark.sql.DataFrame
    plan : Plan
    most : int
        Maximum number of rows on the driver.
    files : sequence of str
        The Parquet files that the frame reads, if it reads nothing else.

    Attributes
    ----------
    kept : list of str
        The columns that are published unchanged: c0, c1, ... by their place.
    place : dict of str to int
        The place of each column of the policy.
    """

    def __init__(self, jobs: SparkJobs, frame: DataFrame, plan: Plan, most: int, files: Sequence[str] = ()) -> None:
        self.jobs, self.plan = jobs, plan
        names = check_names(frame.columns, "The table")
        check_columns(names, plan.table)
        types = _check_types(frame, plan.table)
        self.place = {name: at for at, name in enumerate(names)}
        work = _plain(frame.toDF(*[f"c{at}" for at in range(len(names))]))
        self.quasi, self.sensitive = self._named(Role.QUASI), self._named(Role.SENSITIVE)
        self.tie = self._named(Role.INSENSITIVE) if plan.table.entity is not None else ()
        self._coded_columns = (*self.quasi, *self.sensitive, *self.tie)
        coded_places = [self.place[c.name] for c in (*self.quasi, *self.sensitive)]
        counted = plan.table.entity is None and bool(coded_places) and tasks_can_count(jobs.spark)
        self._alike = None
        if counted:
            own = file_pieces(jobs, files, [types.field(at) for at in coded_places])
            pieces = own or FramePieces(jobs, work.select(*(f"c{at}" for at in coded_places)))
            self._alike = alike_rows(pieces, coded_places, most)
        found = self._alike.dictionaries if self._alike is not None else dictionaries(jobs, work, coded_places)
        self.records = int(found[0].counts.sum()) if found else 0
        if not self.quasi:
            raise PolicyError(
                "The policy has no quasi-identifier.",
                code="no-quasi",
                hint="Give at least one column the role 'quasi'.",
            )
        if not self.records:
            raise no_rows()
        self.weighted = False
        if plan.table.entity is not None:
            entity = f"c{self.place[plan.table.entity]}"
            work = with_units(jobs, work, plan.table, entity, lambda w: self._canonical(w, found))
            self.weighted = UNITS in work.columns
        if self.weighted and self.tie:
            found += dictionaries(jobs, work, [self.place[c.name] for c in self.tie])
        elif self.tie:
            self.tie, self._coded_columns = (), (*self.quasi, *self.sensitive)
        self.dictionaries = tuple(found)
        n = len(self.quasi)
        self.quasi_packing = Packing(tuple(map(len, found[:n])))
        self.rest_packing = Packing(tuple(map(len, found[n:])))
        self.keys = [f"q{i}" for i in range(len(self.quasi_packing))]
        self.rest_keys = [f"s{i}" for i in range(len(self.rest_packing))]
        self.units = [UNITS] if self.weighted else []
        published = (Role.SENSITIVE, Role.INSENSITIVE)
        self.kept = [f"c{self.place[c.name]}" for c in plan.table.columns if c.role in published]
        self._work = work

    @cached_property
    def rows(self) -> DataFrame:
        """The table as numbers, with columns q0, q1, ..., s0, s1, ..., weights if people are counted, and ``kept``.

        It is not made if only the distinct rows are needed.
        """
        found, n = self.dictionaries, len(self.quasi)
        rows = coded(self.jobs, self._work, found, places=self._place_of_values(found))
        places = [F.col(f"p{j}") for j in range(len(found))]
        packed = zip(
            [*self.keys, *self.rest_keys],
            [*self.quasi_packing.pack_columns(places[:n]), *self.rest_packing.pack_columns(places[n:])],
            strict=True,
        )
        return rows.select(*(number.alias(name) for name, number in packed), *self.units, *self.kept)

    def hold(self) -> None:
        """Cache the rows until the run ends: looking up their values costs more than working with the numbers."""
        if all(frame is not self.rows for frame in self.jobs.held):
            self.jobs.hold(self.rows)

    @property
    def quasi_places(self) -> list[Column]:
        """The place of each quasi-identifier's value, in ``rows`` and in all tables with their keys."""
        return self.quasi_packing.unpack_columns([F.col(name) for name in self.keys])

    def _named(self, role: Role) -> tuple[ColumnPlan, ...]:
        return tuple(c for c in self.plan.table.columns if c.role is role)

    def _canonical(self, work: DataFrame, found: Sequence[Dictionary]) -> tuple[DataFrame, list[str]]:
        """Add columns that define the canonical order of rows."""
        tie = dictionaries(self.jobs, work, [self.place[c.name] for c in self.tie])
        quasi, sensitive = self.coded_columns(found)
        codes: list[AnyArray] = [*(c.codes for c in quasi), *(c.codes for c in sensitive)]
        orders = [own[: len(dictionary)] for own, dictionary in zip(codes, found, strict=True)]
        orders += [dense_ranks(dictionary.values)[0] for dictionary in tie]
        names = [f"o{j}" for j in range(len(orders))]
        more = [{name: order} for name, order in zip(names, orders, strict=True)]
        for at in (len(quasi) + i for i, column in enumerate(sensitive) if column.spellings):
            names.append(f"x{at}")
            more[at][names[-1]] = dense_ranks(found[at].values)[0]
        everything = [*found, *tie]
        ranked = coded(self.jobs, work, everything, more).drop(*(f"p{j}" for j in range(len(everything))))
        return ranked, names

    def _place_of_values(self, found: Sequence[Dictionary]) -> list[IntArray]:
        """Return the place of each value; all spellings of one value (such as a missing one) share the first place.

        Algorithms treat them as equal, so the order of records within a combination must not depend on spelling. If
        rows differ in weight, the spelling of a sensitive value is content: it decides which weight comes first.
        """
        quasi, sensitive = self.coded_columns(found)
        codes: list[AnyArray] = [c.codes for c in quasi]
        if not self.weighted:
            codes += [c.codes for c in sensitive]
        places = [np.arange(len(dictionary), dtype=np.int64) for dictionary in found]
        for j, own in enumerate(codes):
            code = own[: len(places[j])]
            first = np.full(int(code.max(initial=0)) + 1, len(code), dtype=np.int64)
            np.minimum.at(first, code, places[j])
            places[j] = first[code]
        return places

    def apart(self) -> list[Column]:
        """Return the sort keys within one combination: the unchanged columns, then other spellings."""
        kept = [c.name for c in self.plan.table.columns if c.role is Role.INSENSITIVE]
        columns = self.coded_columns(self.dictionaries)[1]
        spelt = [c.name for c in columns if c.spellings or self._has_zeros(c.name)]
        return [key for name in (*kept, *spelt) for key in self.in_order(name)]

    def in_order(self, name: str) -> list[Column]:
        """Return the sort key of an unchanged column: -0.0, which equals 0.0 for Spark, comes before it."""
        cells = F.col(f"c{self.place[name]}")
        return [cells.asc_nulls_first(), *([cells.cast("string").asc()] if self._has_zeros(name) else [])]

    def _has_zeros(self, name: str) -> bool:
        return isinstance(self.types[f"c{self.place[name]}"].dataType, FloatType | DoubleType)

    @property
    def types(self) -> StructType:
        """The types of the table's columns c0, c1, ..."""
        return self._work.schema

    def coded_columns(self, found: Sequence[Dictionary]) -> tuple[tuple[QuasiColumn, ...], tuple[SensitiveColumn, ...]]:
        """Return the columns of distinct values, each with its code."""
        named = list(zip((*self.quasi, *self.sensitive), found, strict=False))
        values = {column.name: dictionary.values for column, dictionary in named}
        times = {column.name: dictionary.counts for column, dictionary in named}
        return encode_values(self.plan.table, values, times, self.plan.side_tables)

    def _encoded(self, columns: Sequence[pa.Array]) -> EncodedTable:
        """Encode rows of the coded columns."""
        plans = self._coded_columns
        table = pa.table(list(columns), names=[c.name for c in plans])
        return encode(table, self.table_plan, self.plan.side_tables)

    @property
    def table_plan(self) -> TablePlan:
        """The plan of the coded columns alone."""
        return replace(self.plan.table, columns=self._coded_columns, entity=None)

    def tuples(self, counted: DataFrame | None = None) -> SparkRows:
        """Collect the distinct combinations on the driver; ``counted`` has them with their rows n, if known."""
        by = [*self.keys, *self.rest_keys, *self.units]
        if counted is None and self._alike is not None:
            return self._tuples_here(self._alike)
        if counted is None:
            counted = self.rows.groupBy(*by).agg(F.count(F.lit(1)).alias("n"))
        counted = counted.select(*by, "n")
        found = self.jobs.collect_large(counted, "counting combinations", self.records)
        if any(found.column(name).null_count for name in by):
            raise changed_input()
        tuples = self.tuples_of([found.column(name).to_numpy() for name in by], found.column("n").to_numpy())
        if int(tuples.counts.sum()) != self.records:
            raise changed_input()
        return tuples

    def _tuples_here(self, alike: AlikeRows) -> SparkRows:
        """Number the combinations that the driver has; different spellings of a value count as one."""
        n, chosen, counts = len(self.quasi), alike.places, alike.counts
        own = self._place_of_values(self.dictionaries)
        if any((shared != np.arange(len(shared))).any() for shared in own):
            places = [shared[place] for shared, place in zip(own, alike.places, strict=True)]
            of_row, first = number_rows(places, [len(dictionary) for dictionary in self.dictionaries])
            counts = np.bincount(of_row, weights=alike.counts, minlength=len(first)).astype(np.int64)
            chosen = [place[first] for place in places]
        numbers = [*self.quasi_packing.pack(chosen[:n]), *self.rest_packing.pack(chosen[n:])]
        # algorithms are faster if similar combinations are close together
        order = np.argsort(numbers[0], kind="stable")
        return self.tuples_of([number[order] for number in numbers], counts[order])

    def tuples_of(self, numbers: Sequence[IntArray], counts: IntArray) -> SparkRows:
        """Read combinations from the columns that rows are joined by."""
        cut = len(self.keys)
        places = self.quasi_packing.unpack(numbers[:cut])
        places += self.rest_packing.unpack(numbers[cut : cut + len(self.rest_keys)])
        units = numbers[-1] if self.weighted else np.empty(0, dtype=np.int64)
        return SparkRows(tuple(places), counts.astype(np.int64), units, tuple(numbers))

    def problem(self, tuples: SparkRows) -> Problem:
        """Return the input of the algorithm: the combinations, expanded to rows of codes."""
        rows = tuples.of_row
        columns = [d.rows(p[rows]) for d, p in zip(self.dictionaries, tuples.places, strict=True)]
        table = self._encoded(columns)
        if self.weighted:
            units = np.zeros(table.n_rows, dtype=np.int64)
            units[: table.n_sample] = tuples.units[rows]
            table = replace(table, unit=PERSON_UNITS, row_units=units)
        return local.problem_from(table, self.plan, self.jobs.progress)


def _plain(frame: DataFrame) -> DataFrame:
    """Return the table with only its values.

    Texts are compared by bytes, regardless of a column's collation. A column of type void becomes missing text.
    Metadata are dropped: Spark would write them into every Parquet file, and those of a string index, for example, list
    the values of all records.
    """
    for column in frame.schema.fields:
        if column.metadata:
            frame = frame.withMetadata(column.name, {})
    changed = {}
    for column in frame.schema.fields:
        if isinstance(column.dataType, StringType) and not column.dataType.isUTF8BinaryCollation():
            changed[column.name] = F.collate(column.name, "UTF8_BINARY")
        elif isinstance(column.dataType, NullType):
            changed[column.name] = F.col(column.name).cast("string")
    return frame.withColumns(changed) if changed else frame


# newer versions of pyspark have no default
_ASKS_FOR_ZONE = "timezone" in inspect.signature(to_arrow_schema).parameters


def _check_types(frame: DataFrame, plan: TablePlan) -> pa.Schema:
    """Refuse columns of types that cannot be used; return the types of all."""
    # as toArrow would, without a job
    zone: dict[str, Any] = {"timezone": "UTC"} if _ASKS_FOR_ZONE else {}
    schema = to_arrow_schema(frame.schema, **zone)
    types = {field.name: field.type for field in schema}
    for column in plan.columns:
        if column.role in (Role.QUASI, Role.SENSITIVE):
            check_type(column.name, types[column.name])
        elif column.role is Role.INSENSITIVE:
            check_publishable(column.name, types[column.name])
    return schema
