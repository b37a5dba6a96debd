"""Finish a group in a Spark task: the common algorithm, on the combinations of one group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.engines.spark.packing import Packing
from hushtable.models.compose import AllOf
from hushtable.release.recode import Recoded, recode
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn, smallest
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.reference import Reference

_Column = TypeVar("_Column", QuasiColumn, SensitiveColumn)


@dataclass(frozen=True)
class Finish:
    """Everything that a task needs to finish a group, except its rows."""

    quasi: tuple[QuasiColumn, ...]
    sensitive: tuple[SensitiveColumn, ...]
    unit: int
    model: AllOf
    reference: Reference
    algorithm: Algorithm
    seed: int
    values: Packing
    keys: tuple[str, ...]
    coins: Coins | None = None
    run: Callable[[Problem, BoolArray], Partition] | None = None

    def cells(self, rows: pa.Table) -> pa.Table:
        """Return the published cells of each combination of quasi-identifiers."""
        table = self.encoded(rows)
        recoded = self._recoded(table, rows)
        first = _once([rows.column(name).to_numpy() for name in self.keys])
        shown = {f"k{j}": recoded.column(j, first).dictionary_decode() for j in range(len(self.quasi))}
        return pa.table({**{name: rows.column(name).take(pa.array(first)) for name in self.keys}, **shown})

    def divided_cells(self, rows: pa.Table) -> pa.Table:
        """Return the published cells of each combination's records, which may be in several classes.

        Combinations have ``n`` records each, beginning at ``at``; so does the result. ``tie`` ranks them among those
        with the same codes.
        """
        order = np.lexsort([rows.column(name).to_numpy() for name in ("at", *reversed(self.keys))])
        rows = rows.take(pa.array(order))
        n, at = (rows.column(name).to_numpy().astype(np.int64) for name in ("n", "at"))
        of_row = np.repeat(np.arange(len(n)), n)
        spread = rows.take(pa.array(of_row))
        units = rows.column("w").to_numpy().astype(np.int64) // n
        table = replace(self.encoded(spread), row_units=units[of_row] if self.unit > 1 else np.empty(0, np.int64))
        ties = rows.column("tie").combine_chunks().flatten().to_numpy().reshape(len(n), -1)
        if ties.shape[1]:
            table = replace(table, tie_rank=np.unique(ties, axis=0, return_inverse=True)[1].reshape(-1)[of_row])
        recoded = self._recoded(table, rows)
        labels = np.asarray(recoded.labels, dtype=np.int64)
        # a run of records of one combination in one class
        new = np.ones(len(labels), dtype=np.bool_)
        new[1:] = (labels[1:] != labels[:-1]) | (of_row[1:] != of_row[:-1])
        first = np.flatnonzero(new)
        owner = of_row[first]
        begin = np.cumsum(n) - n
        shown = {f"k{j}": recoded.column(j, first).dictionary_decode() for j in range(len(self.quasi))}
        return pa.table(
            {
                **{name: rows.column(name).take(pa.array(owner)) for name in self.keys},
                "at": at[owner] + first - begin[owner],
                "n": np.diff(np.append(first, len(labels))),
                **shown,
            }
        )

    def _recoded(self, table: EncodedTable, rows: pa.Table) -> Recoded:
        """Divide a group; the bits of ``shut`` say which columns are closed."""
        assert self.run is not None
        problem = Problem(table, self.model, self.reference, seed=self.seed, tossed=self.coins)
        shut = int(rows.column("shut")[0].as_py())
        closed = np.array([shut >> j & 1 for j in range(len(self.quasi))], dtype=np.bool_)
        return recode(table, self.run(problem, closed), self.algorithm.recoding)

    def encoded(self, rows: pa.Table) -> EncodedTable:
        """Return combinations, with their weights, as the input table of an algorithm."""
        codes = [rows.column(f"o{j}").to_numpy() for j in range(len(self.quasi))]
        values = self.values.unpack([rows.column(f"v{i}").to_numpy() for i in range(len(self.values))])
        return EncodedTable(
            quasi=tuple(with_codes(c, own) for c, own in zip(self.quasi, codes, strict=True)),
            sensitive=tuple(with_codes(c, own) for c, own in zip(self.sensitive, values, strict=True)),
            n_sample=rows.num_rows,
            n_rows=rows.num_rows,
            unit=self.unit,
            row_units=rows.column("w").to_numpy().astype(np.int64),
        )


def _once(keys: Sequence[IntArray]) -> IntArray:
    """Return one row for each combination of keys."""
    order = np.lexsort(keys)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    return order[new]


def with_codes(column: _Column, codes: AnyArray) -> _Column:
    """Return a column with new codes, as small as possible."""
    return replace(column, codes=codes.astype(smallest(column.coded.size)))
