"""What random tables have besides a few quasi-identifiers, so that none of it is forgotten when something is checked.

Columns of every type that can be published, in any role, with or without a declared kind, a treatment or a form of
their own; survey weights and households; pseudonyms; dates shifted person by person; texts that mean missing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.registry import treatments
from hushtable.schema.columns import Format, Kind, Missing, Role
from hushtable.table.plan import ColumnPlan
from hushtable.testing.cases import Case, chosen_forms
from hushtable.treatments.base import Treatment


@dataclass(frozen=True)
class _Feature:
    """A column: its type, values, values that only a suppressed record has, and its kind and format if it has any."""

    type: pa.DataType
    values: tuple[Any, ...]
    far: tuple[Any, ...]
    kind: Kind | None = None
    quasi: bool = True
    format: Format | None = None


def _days(*days: tuple[int, ...]) -> tuple[dt.datetime, ...]:
    return tuple(dt.datetime(*day) for day in days)  # type: ignore[arg-type]


_NEAR = _days((2020, 1, 1), (2020, 7, 2), (2021, 5, 5))
_COLUMNS = {
    "score": _Feature(pa.float64(), (1.0, 2.0, 3.0, 12.0), (0.125, 1e300, -0.0, 7.5), Kind.NUMERIC),
    "visits": _Feature(pa.int64(), (1, 2, 3), (10**12, -5), Kind.NUMERIC),
    "seen": _Feature(pa.timestamp("us"), _NEAR, _days((1850, 1, 1, 1, 1, 1), (2100, 1, 1, 12, 30)), Kind.DATE),
    "zoned": _Feature(pa.timestamp("ms", "Europe/Berlin"), _NEAR, _days((1950, 1, 1, 1, 1, 1)), quasi=False),
    "paid": _Feature(pa.decimal128(12, 3), (Decimal("1.000"), Decimal("2.500")), (Decimal("123456.789"),), quasi=False),
    "yes": _Feature(pa.bool_(), (True, False), (True, False)),
    "color": _Feature(
        pa.dictionary(pa.int32(), pa.string()), ("red", "green", "blue"), ("zz-canary-{}", "*"), Kind.NOMINAL
    ),
    "code": _Feature(pa.string(), ("1", "2", "30"), ("1.5", "01", "x", "1,5", "2020-01-01"), Kind.NOMINAL),
    "day": _Feature(
        pa.string(), ("2020-01-01", "2020-01-02"), ("31.12.1999", "1999/12/31", "2020-01-01 10:00"), Kind.DATE
    ),
    "money": _Feature(pa.string(), ("1.5", "2", "30.25"), ("1234", "7e5", "123456789.01234567890"), Kind.NUMERIC),
    "small": _Feature(pa.int8(), (1, 2, 3), (127,), Kind.NUMERIC),
    "big": _Feature(pa.uint64(), (1, 2, 3), (2**62 + 5,), quasi=False),
    "formula": _Feature(pa.string(), ("=1+1", "-a", "b"), ("@zz", "+1"), quasi=False),
    "spelled": _Feature(
        pa.string(), ("HIV", "hiv ", " Hiv", "flu"), ("FLU", "zz  Canary"), Kind.NOMINAL, format=Format.ANY_SPELLING
    ),
    "thousands": _Feature(
        pa.string(), ("1,234", "12", "999"), ("1,234.5", "0.5", "1000"), Kind.NUMERIC, format=Format.THOUSANDS
    ),
    "european": _Feature(
        pa.string(), ("31/12/2019", "01/02/2020"), ("1/1/1850", "2020-05-05"), Kind.DATE, format=Format.DAY_FIRST
    ),
    "compact": _Feature(pa.int64(), (20191231, 20200201), (18500101, 20990101), Kind.DATE, format=Format.COMPACT),
    "long": _Feature(pa.large_string(), ("a", "=b"), ("zz",), quasi=False),
}
_ROLES = (Role.INSENSITIVE, Role.INSENSITIVE, Role.SENSITIVE, Role.QUASI, Role.DROP)
_FAR: dict[str, tuple[Any, ...]] = {
    **{name: column.far for name, column in _COLUMNS.items()},
    "house": ("zz-canary-{}",),
    "when": (dt.date(1850, 2, 3), dt.date(2090, 1, 1)),
}
_WEIGHTS = (0.25, 7.0, 1e3)


def far_values(column: ColumnPlan, case: Case) -> Sequence[Any]:
    """Return values for a suppressed record in a column that ``with_features`` added; none for other columns."""
    if column.name == "w":
        text = pa.types.is_string(case.table.schema.field("w").type)
        return tuple(map(str, _WEIGHTS)) if text else _WEIGHTS
    if column.role is Role.PSEUDONYM:
        return ("zz-canary-{}",)
    return _FAR.get(column.name, ())


def must_have(column: ColumnPlan, case: Case) -> bool:
    """Whether every record needs a value in a column."""
    if column.role is Role.QUASI:
        return case.columns.missing is Missing.ERROR
    shifted = {name for c in case.columns.columns for t in c.treatments for name in t.reads(case.columns.entity)}
    return (
        column.role.of_survey
        or column.role is Role.PSEUDONYM
        or column.name == case.columns.entity
        or column.name in shifted
    )


def with_features(case: Case, turn: int) -> Case:
    """Return a case with some of the features, which take turns at random; the same turn gives the same case.

    Examples
    --------
    >>> from hushtable.testing.cases import random_case
    >>> before = random_case(3, 6)
    >>> set(before.table.column_names) < set(with_features(before, 1).table.column_names)
    True
    """
    draw = _Choices(turn, case.table.num_rows)
    table, columns = case.table, list(case.columns.columns)
    for number in range(2 + draw("columns", 4)):
        name = list(_COLUMNS)[draw(f"column/{number}", len(_COLUMNS))]
        if name not in table.column_names:
            column = _draw_column(draw, name)
            gaps = draw(f"gaps/{name}", 3) == 0 and not (
                column.role is Role.QUASI and case.columns.missing is Missing.ERROR
            )
            table = table.append_column(name, draw.cells(name, gaps=gaps))
            columns.append(column)
    shown = case.columns.entity is None and case.columns.missing is not Missing.WILDCARD
    table, more = _of_survey(draw, table, shown=shown)
    columns += more
    if case.columns.entity is None and draw("shift", 4) == 0:
        days = [dt.date(2020, 1, 1) + dt.timedelta(days=n) for n in draw.numbers("when", 30)]
        table = table.append_column("when", pa.array(days))
        shift = treatments.build("date-shift", {"days": 50, "by": "person"})
        columns.append(ColumnPlan("when", Role.INSENSITIVE, Kind.DATE, treatments=(shift,)))
    if case.columns.entity is None and draw("pseudonym", 4) == 0:
        named = (treatments.build("pseudonym", {}),)
        columns = [replace(c, role=Role.PSEUDONYM, treatments=named) if c.name == "name" else c for c in columns]
    columns = [_varied(draw, column) for column in columns]
    tokens = ("?", "-9", "cold") if draw("missing", 4) == 0 else ()
    plan = replace(case.columns, columns=tuple(columns), missing_values=tokens)
    return _with_others(replace(case, table=table, columns=plan))


@dataclass(frozen=True)
class _Choices:
    """Random choices of one turn."""

    turn: int
    rows: int

    def __call__(self, what: str, n: int) -> int:
        """A number below n."""
        return int(rng.integers(self.turn, f"features/{what}", 1, 0, n)[0])

    def numbers(self, what: str, n: int) -> list[int]:
        """A number below n for each row."""
        found: list[int] = rng.integers(self.turn, f"features/{what}", self.rows, 0, n).tolist()
        return found

    def cells(self, name: str, *, gaps: bool) -> pa.Array:
        """The cells of a column."""
        column = _COLUMNS[name]
        holes = rng.uniform(self.turn, f"features/holes/{name}", self.rows) < (0.2 if gaps else 0.0)
        drawn = zip(self.numbers(f"cells/{name}", len(column.values)), holes.tolist(), strict=True)
        return as_array([None if hole else column.values[i] for i, hole in drawn], column.type)


def as_array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return cells as an array, also of a dictionary type."""
    if pa.types.is_dictionary(kind):
        return pa.array(cells, kind.value_type).dictionary_encode()
    return pa.array(cells, kind)


def _draw_column(draw: _Choices, name: str) -> ColumnPlan:
    """The plan of a column: its role, whether its kind is declared, and how it is treated."""
    known, role = _COLUMNS[name], _ROLES[draw(f"role/{name}", len(_ROLES))]
    role = Role.INSENSITIVE if role is Role.QUASI and not known.quasi else role
    kind = known.kind if draw(f"kind/{name}", 4) else None
    treated: tuple[Treatment, ...] = ()
    if role.published and known.kind is Kind.NUMERIC and draw(f"treated/{name}", 3):
        # text is read as numbers only if all of it is numeric
        kind, treated = known.kind, (_treatment(draw, name, (1, 2, 10, 0.5), (2, 10, 2.5)),)
    return ColumnPlan(name, role, kind, treatments=treated, format=known.format)


def _treatment(draw: _Choices, name: str, bases: Sequence[float], tops: Sequence[float]) -> Treatment:
    """A treatment without draws: those depend on the whole table."""
    if draw(f"rounded/{name}", 2):
        built: Treatment = treatments.build("rounding", {"base": bases[draw(f"base/{name}", len(bases))]})
    else:
        built = treatments.build("top-bottom-coding", {"top": tops[draw(f"top/{name}", len(tops))]})
    return built


def _of_survey(draw: _Choices, table: pa.Table, *, shown: bool) -> tuple[pa.Table, Iterator[ColumnPlan]]:
    """Add weights, published if that is allowed, and households."""
    plans = []
    if draw("weights", 3) == 0:
        weights = [(1.5, 2.0, 10.0, 33.3)[i] for i in draw.numbers("w", 4)]
        text = bool(draw("weights are text", 2))
        table = table.append_column("w", pa.array(list(map(str, weights)) if text else weights))
        plans.append(ColumnPlan("w", Role.WEIGHT, publish=shown and draw("published weights", 3) > 0))
    if draw("households", 3) == 0:
        table = table.append_column("house", pa.array([f"h{i}" for i in draw.numbers("house", max(draw.rows // 2, 1))]))
        plans.append(ColumnPlan("house", Role.CLUSTER))
    return table, iter(plans)


def _varied(draw: _Choices, column: ColumnPlan) -> ColumnPlan:
    """A column with its own form, a treatment, or fewer declarations."""
    if column.name == "disease" and draw("plain disease", 3) == 0:
        return replace(column, hierarchy=None, categories={}, kind=None)
    if column.role is not Role.QUASI:
        return column
    if column.kind is Kind.NUMERIC and column.name in ("age", "height") and draw(f"treated/{column.name}", 4) == 0:
        base, top = (5, 30) if column.name == "age" else (0.1, 1.7)
        column = replace(column, treatments=(_treatment(draw, column.name, (base,), (top,)),))
    if draw(f"own form/{column.name}", 4) == 0:
        forms = chosen_forms()
        column = replace(column, cells=forms[draw(f"form/{column.name}", len(forms))])
    return column


def _with_others(case: Case) -> Case:
    """A case whose population and background have the quasi-identifiers that were added."""
    added = [name for name in case.columns.named(Role.QUASI) if name in _COLUMNS]

    def completed(other: pa.Table) -> pa.Table:
        rows = pa.array(np.arange(other.num_rows) % case.table.num_rows)
        for name in added:
            other = other.append_column(name, case.table.column(name).take(rows))
        return other

    return replace(case, population=completed(case.population), background=completed(case.background))
