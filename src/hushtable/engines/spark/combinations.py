"""The distinct combinations of a table as codes, with Spark: for tables whose rows do not fit on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from hushtable.engines import local
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.dictionaries import with_numbers
from hushtable.engines.spark.finish import Finish, with_codes
from hushtable.engines.spark.jobs import changed_input
from hushtable.engines.spark.packing import Packing
from hushtable.engines.spark.people import UNITS
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.coins import columns_digest
from hushtable.table.people import PERSON_UNITS
from hushtable.table.reference import Reference


class Combinations:
    """The combinations of a table.

    Parameters
    ----------
    content : Content

    Attributes
    ----------
    frame : DataFrame
        One row for each: the columns that rows are joined by, codes o0, o1, ... of the quasi-identifiers, packed codes
        v0, v1, ... of the sensitive columns, rows n and weight w.
    values : Packing
        How sensitive codes share numbers.
    codes : tuple of int64 arrays
        For each quasi-identifier and sensitive column, the code of each value of its dictionary.
    finish : Finish
        Columns without codes, the models and the algorithm.
    problem : Problem
        The models and what they compare groups with; its rows are the combinations of sensitive values, weighted.
    held : int
        Number of combinations.
    """

    def __init__(self, content: Content) -> None:
        self.content, self.jobs, plan = content, content.jobs, content.plan
        quasi, sensitive = content.coded_columns(content.dictionaries)
        nothing = np.empty(0, dtype=np.int64)
        unit = PERSON_UNITS if content.weighted else 1
        self.values = Packing(tuple(c.coded.size for c in sensitive))
        columns: list[QuasiColumn | SensitiveColumn] = [*quasi, *sensitive]
        found = zip(columns, content.dictionaries, strict=False)
        self.codes = tuple(column.codes[: len(dictionary)].astype(np.int64) for column, dictionary in found)
        self.frame = self._counted(quasi, sensitive)
        counted = self.jobs.collect(
            self.frame.groupBy(*self.value_keys).agg(F.sum("w").alias("w"), F.sum("n").alias("n")),
            "counting sensitive values",
        )
        if int(np.sum(counted.column("n").to_numpy())) != content.records:
            raise changed_input()
        bare = tuple(with_codes(c, nothing) for c in quasi), tuple(with_codes(c, nothing) for c in sensitive)
        finish = Finish(
            *bare, unit, plan.model(), Reference(0, unit, {}), plan.algorithm, plan.seed, self.values,
            tuple(content.keys),
        )  # fmt: skip
        zeros = {f"o{j}": np.zeros(counted.num_rows, dtype=np.int64) for j in range(len(quasi))}
        table = finish.encoded(pa.table({**zeros, **{n: counted.column(n) for n in (*self.value_keys, "w")}}))
        self.problem = local.problem_from(table, plan, self.jobs.progress)
        self.finish = replace(finish, reference=self.problem.reference)
        self.held = self.frame.count()

    @cached_property
    def digest(self) -> bytes:
        """The digest of the table, the same as on one machine."""
        packed = self.values.unpack_columns([F.col(name) for name in self.value_keys])
        codes = [*(F.col(f"o{j}") for j in range(len(self.finish.quasi))), *packed]
        low = F.lit(0xFFFFFFFF)
        sums = []
        for turn in (0, 1):
            word = F.xxhash64(F.lit(turn).cast("long"), *(code.cast("long") for code in codes))
            for half in (F.shiftright(word, 32), word.bitwiseAND(low)):
                # a sum of longs may overflow
                sums.append(F.sum(F.col("w").cast("decimal(20,0)") * half.cast("decimal(11,0)")))
        found = self.jobs.collect(self.frame.agg(*(s.alias(f"s{i}") for i, s in enumerate(sums))), "counting")
        high, rest, high_too, rest_too = (int(found.column(f"s{i}")[0].as_py()) for i in range(4))
        totals = [(high << 32) + rest, (high_too << 32) + rest_too]
        return columns_digest(self.problem.table, totals)

    @property
    def value_keys(self) -> list[str]:
        """The columns of ``frame`` that hold sensitive codes."""
        return [f"v{i}" for i in range(len(self.values))]

    def _counted(self, quasi: Sequence[QuasiColumn], sensitive: Sequence[SensitiveColumn]) -> DataFrame:
        content, jobs = self.content, self.jobs
        by = [*content.keys, *content.rest_keys, *content.units]
        frame = content.rows.groupBy(*by).agg(F.count(F.lit(1)).alias("n"))
        rest = content.rest_packing.unpack_columns([F.col(name) for name in content.rest_keys])
        places = [*content.quasi_places, *rest[: len(sensitive)]]
        frame = with_numbers(jobs, frame, places, [{f"o{j}": codes} for j, codes in enumerate(self.codes)])
        n = len(quasi)
        packed = self.values.pack_columns([F.col(f"o{n + i}") for i in range(len(sensitive))])
        weight = F.col("n") * F.col(UNITS) if content.weighted else F.col("n")
        chosen = frame.select(
            *by,
            *(F.col(f"o{j}") for j in range(n)),
            *(value.alias(f"v{i}") for i, value in enumerate(packed)),
            "n",
            weight.alias("w"),
        )
        return jobs.hold(chosen)
