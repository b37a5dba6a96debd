"""The contract of every treatment: one value per row, independent of row order, random only by secret coins.

If it declares that it treats records one by one, no record's value affects another's.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.errors import IncompatibleError
from hushtable.io.secret import LENGTH, SECRET
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing.require import require
from hushtable.treatments.base import Given, Treatment
from hushtable.treatments.treating import prepared, treated

COLUMN = "treated"
_ROWS = 60
_ORDER = ("low", "middle", "high", "top")
_UNUSUAL = {
    Kind.NUMERIC: 1_000_000, Kind.DATE: datetime.date(1850, 2, 3), Kind.NOMINAL: "v999999", Kind.ORDINAL: "top",
}  # fmt: skip
"""A value that changes statistics of the whole column."""


def check_treatment(treatment: Treatment | type[Treatment], *, seed: int = 0) -> int:
    """Check the contract of a treatment, on every kind of column that it supports.

    Parameters
    ----------
    treatment : class or instance
        A class is built with its default parameters. Other columns that it names are ``amount``, ``size`` and ``town``;
        the treated one is ``treated``, and ``person`` identifies the person of a row.
    seed : int
        Seed of the tables.

    Returns
    -------
    int
        Number of kinds of columns that were tested.

    Raises
    ------
    AssertionError
        With a sentence about the broken promise.

    Examples
    --------
    >>> from hushtable.treatments.noise import Noise
    >>> check_treatment(Noise)
    2
    """
    built = treatment if isinstance(treatment, Treatment) else treatment.build({})
    name = built.name
    require(built.promise.strip(), f"{name} does not state its promise")
    for kind in Kind:
        if kind in built.kinds:
            for missing in (False, True):
                _check_kind(built, kind, seed + missing, missing)
            if built.record_by_record:
                _check_alone(built, kind, seed)
        else:
            _check_refused(built, kind, seed)
    return len(built.kinds)


def treatable(kind: Kind, seed: int, treatment: Treatment, *, missing: bool = False) -> tuple[pa.Table, TablePlan]:
    """Return a random table with a column of this kind, and the plan that treats it."""
    n, name = _ROWS, "treatments"
    drawn = rng.integers(seed, name, n, 0, 40)
    if Role.PSEUDONYM in treatment.roles:
        drawn = np.argsort(rng.uniform(seed, f"{name}/each", n)) + 100_000
    values: list[object] = [f"v{i}" for i in drawn]
    if kind is Kind.NUMERIC:
        values = drawn.tolist()
    elif kind is Kind.DATE:
        values = pa.array(drawn + 19_000, pa.int32()).cast(pa.date32()).to_pylist()
    elif kind is Kind.ORDINAL:
        values = [_ORDER[i % 4] for i in drawn]
    if missing and not treatment.per_person:
        values = [None if i % 7 == 3 else value for i, value in enumerate(values)]
    table = pa.table({
        "person": [f"p{i // 2}" for i in range(n)],
        COLUMN: values,
        "amount": rng.normal(seed, f"{name}/amount", n),
        "size": rng.integers(seed, f"{name}/size", n, 0, 9),
        "town": [f"t{i}" for i in rng.integers(seed, f"{name}/town", n, 0, 3)],
    })  # fmt: skip
    order = _ORDER if kind is Kind.ORDINAL else ()
    columns = (
        ColumnPlan("person", Role.IDENTIFIER),
        ColumnPlan(COLUMN, Role.INSENSITIVE, kind=kind, order=order, treatments=(treatment,)),
        ColumnPlan("amount", Role.QUASI),
        ColumnPlan("size", Role.QUASI),
        ColumnPlan("town", Role.SENSITIVE),
    )
    return table, TablePlan(columns, entity="person" if treatment.per_person else None)


def _check_kind(treatment: Treatment, kind: Kind, seed: int, missing: bool) -> None:
    name = f"{treatment.name} of a {kind} column"
    table, plan = treatable(kind, seed, treatment, missing=missing)
    with _secret(1):
        found = treated(table, plan, {})
        again = treated(table, plan, {})
        order = np.argsort(rng.uniform(seed, "treatments/shuffled", table.num_rows))
        shuffled = treated(table.take(pa.array(order)), plan, {})
        elsewhere = treated(table, _with_few_columns(plan, treatment), {"elsewhere": True})
    with _secret(2):
        other = treated(table, plan, {})
    require(found.column_names == table.column_names, f"{name} changes the set of columns")
    require(found.drop_columns([COLUMN]).equals(table.drop_columns([COLUMN])), f"{name} changes another column")
    require(found.num_rows == table.num_rows, f"{name} changes the number of rows")
    before, after = table.column(COLUMN).combine_chunks(), found.column(COLUMN).combine_chunks()
    require(before.null_count == after.null_count, f"{name} makes or fills missing values")
    require(found.equals(again), f"{name} gives a different result the second time")
    rows = [sorted(map(str, t.drop_columns(["person"]).to_pylist())) for t in (found, shuffled)]
    require(rows[0] == rows[1], f"{name} depends on the order of the rows")
    require(
        treatment.per_release != found.equals(elsewhere),
        f"{name} {'is not fresh for each release' if treatment.per_release else 'draws anew under another policy'}",
    )
    require(treatment.draws != found.equals(other), f"{name} declares wrongly whether it draws secret coins")
    require(prepared(found, plan.columns[1], plan).kind is kind, f"{name} makes a different kind of column")
    if not treatment.draws:
        pairs = set(zip(before.to_pylist(), after.to_pylist(), strict=True))
        require(len(pairs) == len(set(before.to_pylist())), f"{name} publishes equal values differently")


def _with_few_columns(plan: TablePlan, treatment: Treatment) -> TablePlan:
    """The plan of a policy that publishes only the columns that the treatment reads."""
    read = {COLUMN, *treatment.reads(plan.entity)}
    columns = (c if c.name in read else replace(c, role=Role.DROP) for c in plan.columns)
    return replace(plan, columns=tuple(columns))


def _check_alone(treatment: Treatment, kind: Kind, seed: int) -> None:
    table, plan = treatable(kind, seed, treatment)
    values = table.column(COLUMN)
    found = []
    for first in (values[0].as_py(), _UNUSUAL[kind]):
        changed = pa.array([first, *values.to_pylist()[1:]], values.type)
        now = table.set_column(table.column_names.index(COLUMN), COLUMN, changed)
        read = {column.name: prepared(now, column, plan) for column in plan.columns}
        others = {name: read[name] for name in treatment.reads(plan.entity)}
        given = Given(read[COLUMN], others, np.arange(table.num_rows), Coins(b"contract"), plan.entity)
        found.append(treatment.treat(given).to_pylist()[1:])
    require(found[0] == found[1], f"{treatment.name} of a {kind} column lets one record's value affect the others")


def _check_refused(treatment: Treatment, kind: Kind, seed: int) -> None:
    table, plan = treatable(kind, seed, treatment)
    try:
        treated(table, plan, {})
    except IncompatibleError:
        return
    require(False, f"{treatment.name} accepts a {kind} column, which it does not declare")


@contextmanager
def _secret(number: int) -> Iterator[None]:
    """Use a known secret inside the block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "secret")
        path.write_bytes(bytes([number]) * LENGTH)
        path.chmod(0o600)
        with mock.patch.dict(os.environ, {SECRET: str(path)}):
            yield
