"""Each row's share of a person, if the policy counts people.

The shares are the same as on one machine: a person's rows share equally, and the remainder goes to the person's first
rows in canonical order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, FloatType, NumericType, StringType

from hushtable.engines.spark.jobs import SparkJobs
from hushtable.errors import DataError
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import prepare
from hushtable.table.people import PERSON_UNITS, ambiguous_names, same_name
from hushtable.table.plan import TablePlan

UNITS = "units"
"""The column with a row's weight."""


def with_units(
    jobs: SparkJobs,
    work: DataFrame,
    plan: TablePlan,
    entity: str,
    ranks: Callable[[DataFrame], tuple[DataFrame, list[str]]],
) -> DataFrame:
    """Return the rows with their weights, or unchanged if every person has one row.

    Parameters
    ----------
    jobs, work, plan
    entity : str
        The column that identifies each row's person.
    ranks : callable
        Adds columns that define the canonical order, and names them; called only if there is a remainder.

    Raises
    ------
    DataError
        If a row has no person, or one person has several names.
    """
    _check_missing(jobs, work, plan, entity)
    _check_names(jobs, work, plan, entity)
    sizes = work.groupBy(entity).count()
    shared = F.max(F.lit(PERSON_UNITS) % F.col("count")).alias("rest")
    most = jobs.collect(sizes.agg(F.max("count").alias("most"), shared), "counting people")
    if most.column("most")[0].as_py() == 1:
        return work
    own = Window.partitionBy(entity)
    work = work.withColumn("rows_of", F.count(F.lit(1)).over(own))
    whole = F.lit(PERSON_UNITS) - F.lit(PERSON_UNITS) % F.col("rows_of")
    share = (whole / F.col("rows_of")).cast("long")
    if not most.column("rest")[0].as_py():
        return work.withColumn(UNITS, share).drop("rows_of")
    work, order = ranks(work)
    place = F.row_number().over(own.orderBy(*order))
    extra = (place <= F.lit(PERSON_UNITS) % F.col("rows_of")).cast("long")
    return work.withColumn(UNITS, share + extra).drop("rows_of", *order)


def _check_missing(jobs: SparkJobs, work: DataFrame, plan: TablePlan, entity: str) -> None:
    """Raise if a row has no person; only suspicious values are checked one by one."""
    suspects = work.filter(_suspicious(work, entity, plan.missing_values)).groupBy(entity).count()
    found = jobs.collect(suspects, "counting people").combine_chunks()
    if not found.num_rows:
        return
    name = plan.entity or ""
    read = prepare(found.column(entity), name=name, kind=Kind.NOMINAL, missing_values=plan.missing_values)
    missing = int(found.column("count").to_numpy()[np.flatnonzero(read.codes() < 0)].sum())
    if missing:
        raise DataError(
            f"The entity column {name!r} has {missing} missing values.",
            code="missing-entity",
            hint="Every row needs its person: fill the column, or remove 'entity' from the policy.",
        )


def _check_names(jobs: SparkJobs, work: DataFrame, plan: TablePlan, entity: str) -> None:
    """Raise if two names differ only in ways that do not distinguish people."""
    if isinstance(work.schema[entity].dataType, StringType):
        names = work.select(F.col(entity).alias("name")).distinct().mapInArrow(_same_names, "name string")
        twice = names.groupBy("name").count().filter("count > 1").limit(1)
        if jobs.collect(twice, "counting people").num_rows:
            raise ambiguous_names(plan.entity or "")


def _same_names(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"name": same_name(batch.column(0))})


def _suspicious(work: DataFrame, entity: str, tokens: Sequence[str]) -> Column:
    column, kind = F.col(entity), work.schema[entity].dataType
    if isinstance(kind, StringType):
        listed = [column.contains(token.strip()) for token in tokens]
        return reduce(Column.__or__, listed, column.isNull() | (column == ""))
    gone = column.isNull()
    if isinstance(kind, FloatType | DoubleType):
        gone = gone | F.isnan(column)
    if isinstance(kind, NumericType):
        return reduce(Column.__or__, [column.cast("double") == number for number in _numbers(tokens)], gone)
    return F.lit(True) if tokens else gone


def _numbers(tokens: Sequence[str]) -> list[float]:
    numbers = []
    for token in tokens:
        try:
            numbers.append(float(token))
        except ValueError:
            continue
    return numbers
