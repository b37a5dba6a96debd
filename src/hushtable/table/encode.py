"""Columns -> codes. Strings are processed once per distinct value, never once per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import DataError, PolicyError
from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.flat import Flat
from hushtable.io.dictionaries import counts, look_up, to_codes, value_type
from hushtable.io.names import check_names
from hushtable.io.text import is_text, to_labels, type_words
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.schema.parse import convert
from hushtable.schema.prepare import Prepared, prepare
from hushtable.table.encoded import EncodedTable, QuasiColumn, SensitiveColumn, smallest
from hushtable.table.plan import ColumnPlan, Extra, TablePlan, check_columns
from hushtable.table.ranks import rest_rank, with_spellings

__all__ = [
    "Extra",
    "check_columns",
    "encode",
    "encode_rest",
    "encode_values",
    "no_rows",
    "sensitive_column",
]


_MANY = 1 << 18
"""Number of rows from which columns are encoded on all cores."""


def no_rows() -> DataError:
    """The error of a table without rows."""
    return DataError("The table has no rows.", code="empty", hint="Check the file and its delimiter.")


def encode(
    table: pa.Table,
    plan: TablePlan,
    extra: Extra | None = None,
    tie_rank: Callable[[], IntArray] | None = None,
    *,
    exact: bool = False,
    times: IntArray | None = None,
) -> EncodedTable:
    """Encode a table under a plan.

    Parameters
    ----------
    table : pyarrow.Table
    plan : TablePlan
    extra : Extra, optional
        Population and background tables; they share the quasi-identifiers' codes.
    tie_rank : callable, optional
        Returns the rank of each row's other published cells, if those are not columns of ``table``.
    exact : bool
        Whether quasi-identifiers are published unchanged, so that spelling distinguishes rows.
    times : int64 array, optional
        How many records each row stands for, in a table without people, population and background.

    Raises
    ------
    PolicyError, DataError, HierarchyError
        With the column, the kind of value and the remedy; never a value.
    """
    check_names(table.column_names, "The table")
    check_columns(table.column_names, plan)
    if table.num_rows == 0:
        raise no_rows()
    survey = None
    if any(column.role.of_survey for column in plan.columns):
        from hushtable.table.survey import read_survey

        survey = read_survey(table, plan)
    extra = extra or Extra()
    if extra.bandwidths and extra.background is None:
        from hushtable.table.kernel_estimate import with_estimate

        extra = with_estimate(encode(table, plan, Extra(background_on=extra.background_on)), table, extra)
    followers = [t for t in (extra.population, extra.background) if t is not None]
    chosen = [c for c in plan.columns if c.role is Role.QUASI]
    quasi = tuple(_each(lambda c: _quasi(c, [table, *followers], plan, times), chosen, table.num_rows))
    if not quasi:
        raise PolicyError(
            "The policy has no quasi-identifier.",
            code="no-quasi",
            hint="Give at least one column the role 'quasi'.",
        )
    encoded = encode_rest(table, plan, quasi, extra, tie_rank, exact=exact, times=times)
    return encoded if survey is None else replace(encoded, survey=survey)


def _each(work: Callable[[ColumnPlan], QuasiColumn], columns: list[ColumnPlan], rows: int) -> Iterable[QuasiColumn]:
    """Apply to each column; on all cores if there are many rows."""
    if rows < _MANY:
        return map(work, columns)
    from hushtable.parallel import each  # small tables need no threads

    return each(work, columns)


def encode_rest(
    table: pa.Table,
    plan: TablePlan,
    quasi: tuple[QuasiColumn, ...],
    extra: Extra | None = None,
    tie_rank: Callable[[], IntArray] | None = None,
    *,
    exact: bool = False,
    times: IntArray | None = None,
) -> EncodedTable:
    """Encode everything except the quasi-identifiers, which are given."""
    extra = extra or Extra()
    n_population = extra.population.num_rows if extra.population is not None else 0
    n_background = extra.background.num_rows if extra.background is not None else 0
    n = table.num_rows
    n_rows = n + n_population + n_background
    sensitive = tuple(sensitive_column(c, table, plan, n_rows, times) for c in plan.columns if c.role is Role.SENSITIVE)
    nothing = np.empty(0, dtype=np.int64)
    unit, weights, person = 1, nothing if times is None else times, nothing
    if plan.entity is not None:
        from hushtable.table.people import person_units

        unit, weights, person = person_units(table, plan.entity, plan.missing_values, n_rows)
    if n_rows > n and not len(weights):
        weights = np.zeros(n_rows, dtype=np.int64)
        weights[:n] = 1
    mass, mass_unit, mass_codes = nothing, 1, nothing
    if extra.background is not None:
        from hushtable.table.background import background_mass

        mass, mass_unit, mass_codes = background_mass(extra.background, extra, sensitive, plan)
    spelt = [c.name for c in sensitive if c.spellings] + [c.name for c in quasi if exact and c.spellings]
    if plan.shown_weight is not None:
        # records that are otherwise equal must not be distinguished by their position in the table
        spelt.append(plan.shown_weight)
    ties = with_spellings(tie_rank or rest_rank(table, plan), table, spelt)
    encoded = EncodedTable(
        quasi=quasi,
        sensitive=sensitive,
        n_sample=n,
        n_rows=n_rows,
        unit=unit,
        row_units=weights,
        population_rows=range(n, n + n_population),
        background_rows=range(n + n_population, n_rows),
        background_mass=mass,
        background_unit=mass_unit,
        background_codes=mass_codes,
        background_on=extra.background_on,
        bandwidths=extra.bandwidths,
        tie_rank=ties,
        ranked=(*plan.named(Role.INSENSITIVE), *spelt),
    )
    if not len(person):
        return encoded
    from hushtable.table.people import share_rest

    return share_rest(encoded, person)


def _prepared(column: ColumnPlan, tables: list[pa.Table], plan: TablePlan) -> Prepared:
    chunks: list[pa.Array] = []
    for table in tables:
        if column.name not in table.column_names:
            raise DataError(
                f"The population or background table has no column {column.name!r}.",
                code="absent-columns",
                hint="It needs every quasi-identifier of the policy.",
            )
        chunks += table.column(column.name).chunks
    joined = tables[0].column(column.name)
    if len(tables) > 1:
        kind = value_type(joined.type)
        try:
            joined = pa.chunked_array([_like(c, kind) for c in chunks])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            # Arrow's message quotes a cell
            raise DataError(
                f"Column {column.name!r} of the population or background table cannot be read as {type_words(kind)}.",
                code="other-type",
                hint="Give it the type that it has in the table.",
            ) from None
    return prepare(
        joined,
        name=column.name,
        kind=column.kind,
        missing_values=plan.missing_values,
        order=column.order,
        format=column.format,
    )


def _like(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cells of an extra table in the type of the main table; NaN is missing, not the text "nan"."""
    return (to_labels(cells) if is_text(kind) else cells).cast(kind)


def _code(column: ColumnPlan, prepared: Prepared, times: IntArray | None = None) -> tuple[AnyArray, Coded]:
    """Return the code of each row; if rows are distinct values, ``times`` says how often each occurs."""
    data = prepared.data
    occurring = counts(data)
    if times is not None:
        codes = to_codes(data)
        occurring = np.zeros(len(data.dictionary) + 1, dtype=np.int64)
        np.add.at(occurring, codes, times)
        occurring = occurring[:-1]  # the last is null's
    hierarchy, missing = column.hierarchy or Flat(), data.indices.null_count > 0
    coded = hierarchy.code(data.dictionary, prepared.kind, missing=missing, column=column.name, counts=occurring)
    if prepared.kind is Kind.ORDINAL and len(coded.values) > len(data.dictionary):
        # leaves that do not occur keep their place in the declared order
        declared = pa.array(column.order, coded.values.type)
        ranked = declared.filter(pc.is_in(declared, value_set=coded.values))
        at = pc.index_in(ranked, value_set=data.dictionary).fill_null(-1).to_numpy(zero_copy_only=False)
        times_of = np.append(occurring, 0)[at]
        coded = hierarchy.code(ranked, prepared.kind, missing=missing, column=column.name, counts=times_of)
    place = pc.index_in(data.dictionary, value_set=coded.values).to_numpy(zero_copy_only=False)
    # the last entry is for null: the missing value, code 0
    lookup = np.append(place + int(coded.missing), 0).astype(smallest(coded.size))
    return look_up(lookup, data), coded


def _quasi(column: ColumnPlan, tables: list[pa.Table], plan: TablePlan, times: IntArray | None = None) -> QuasiColumn:
    prepared = _prepared(column, tables, plan)
    if plan.missing is Missing.ERROR and prepared.missing:
        missing = prepared.missing if times is None else int(times[prepared.codes() < 0].sum())
        raise DataError(
            f"Column {column.name!r} has {missing} missing values and the policy says 'missing: error'.",
            code="missing-values",
            hint="Fill them, or choose 'missing: own_category' or 'wildcard'.",
        )
    codes, coded = _code(column, prepared, times)
    return QuasiColumn(column.name, codes, coded, column.weight, plan.form(column), prepared.spellings)


def encode_values(
    plan: TablePlan, values: Mapping[str, pa.Array], times: Mapping[str, IntArray], extra: Extra | None = None
) -> tuple[tuple[QuasiColumn, ...], tuple[SensitiveColumn, ...]]:
    """Encode columns of a table that is not in memory: codes depend only on the values and their frequencies.

    Parameters
    ----------
    plan : TablePlan
    values : mapping of str to pyarrow.Array
        The distinct values of each quasi-identifier and sensitive column, with null if some are missing.
    times : mapping of str to int64 array
        How often each of them occurs.
    extra : Extra, optional

    Returns
    -------
    quasi, sensitive
        With one code for each of the values; codes of population and background rows follow.

    Examples
    --------
    >>> plan = TablePlan((ColumnPlan("age", Role.QUASI),))
    >>> (age,), _ = encode_values(plan, {"age": pa.array([52, None, 30])}, {"age": np.array([1, 2, 9])})
    >>> age.codes.tolist(), age.coded.missing
    ([2, 0, 1], True)
    """
    extra = extra or Extra()
    followers = [t for t in (extra.population, extra.background) if t is not None]
    quasi, sensitive = [], []
    for column in plan.columns:
        if column.role is Role.QUASI:
            table = pa.table({column.name: values[column.name]})
            own = [times[column.name], *(np.ones(t.num_rows, dtype=np.int64) for t in followers)]
            quasi.append(_quasi(column, [table, *followers], plan, np.concatenate(own)))
        elif column.role is Role.SENSITIVE:
            table = pa.table({column.name: values[column.name]})
            sensitive.append(sensitive_column(column, table, plan, table.num_rows, times[column.name]))
    return tuple(quasi), tuple(sensitive)


def sensitive_column(
    column: ColumnPlan, table: pa.Table, plan: TablePlan, n_rows: int, times: IntArray | None = None
) -> SensitiveColumn:
    """Encode one sensitive column; rows beyond the table's get code 0. ``times``: how often each row's value occurs."""
    prepared = _with_values(column, _prepared(column, [table], plan))
    codes, coded = _code(column, prepared, times)
    if n_rows > len(codes):
        codes = np.concatenate([codes, np.zeros(n_rows - len(codes), dtype=codes.dtype)])
    categories, n_categories = None, 0
    if column.categories:
        from hushtable.hierarchy.categories import code_categories

        labels = [label or "" for label in coded.labels[0]]
        categories, n_categories = code_categories(labels, column.categories, column.name)
    return SensitiveColumn(column.name, codes, coded, categories, n_categories, prepared.spellings)


def _with_values(column: ColumnPlan, prepared: Prepared) -> Prepared:
    """Add declared values that no record has; an ordinal column keeps its declared order."""
    if not column.values:
        return prepared
    data = prepared.data
    more = convert(pa.array(column.values, pa.string()), prepared.kind, column.name).cast(data.dictionary.type)
    both = pa.concat_arrays([data.dictionary, more.filter(pc.invert(pc.is_in(more, value_set=data.dictionary)))])
    order = pc.sort_indices(both)
    if prepared.kind is Kind.ORDINAL:
        order = pc.sort_indices(pc.index_in(both, value_set=pa.array(column.order, both.type)))
    values = both.take(order)
    place = pc.index_in(data.dictionary, value_set=values)
    return replace(prepared, data=pa.DictionaryArray.from_arrays(place.take(data.indices), values))
