"""Columns -> codes. Strings are processed once per distinct value, never once per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, IntArray, summed
from hushtable.errors import DataError, PolicyError, counted
from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.flat import Flat
from hushtable.io.dictionaries import counts, look_up, null_last, to_codes, value_type
from hushtable.io.inferred import readable
from hushtable.io.names import check_names
from hushtable.io.text import is_text, to_labels, type_words
from hushtable.kernels.grouping import number_rows
from hushtable.parallel import each
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.schema.parse import convert, infer_kind
from hushtable.schema.prepare import Prepared, prepare
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn, smallest
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan, check_columns
from hushtable.table.ranks import rest_rank, with_spellings

_MANY = 1 << 18
"""Number of rows at which columns are encoded on all cores."""


def no_rows() -> DataError:
    """The error of a table without rows."""
    return DataError("The table has no rows.", code="empty", hint="Check how it was read, or which filter left none.")


def encode(
    table: pa.Table,
    plan: TablePlan,
    side_tables: SideTables | None = None,
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
    side_tables : SideTables, optional
        Population and background tables; they share the quasi-identifiers' codes.
    tie_rank : callable, optional
        Returns the rank of each row's other published cells, if those are not columns of ``table``.
    exact : bool
        Whether quasi-identifiers are published unchanged, so that spelling distinguishes rows.
    times : int64 array, optional
        Number of records that each row represents, in a table without people, population and background.

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
    side_tables = side_tables or SideTables()
    if side_tables.bandwidths and side_tables.background is None:
        from hushtable.table.kernel_estimate import with_estimate

        side_tables = with_estimate(
            encode(table, plan, SideTables(background_on=side_tables.background_on)), table, side_tables
        )
    followers = [t for t in (side_tables.population, side_tables.background) if t is not None]
    chosen = [c for c in plan.columns if c.role is Role.QUASI]
    quasi = tuple(each(lambda c: _quasi(c, [table, *followers], plan, times), chosen, many=table.num_rows >= _MANY))
    if not quasi:
        raise PolicyError(
            "The policy has no quasi-identifier.",
            code="no-quasi",
            hint="Give at least one column the role 'quasi'.",
        )
    encoded = encode_rest(table, plan, quasi, side_tables, tie_rank, exact=exact, times=times)
    return encoded if survey is None else replace(encoded, survey=survey)


def encode_rest(
    table: pa.Table,
    plan: TablePlan,
    quasi: tuple[QuasiColumn, ...],
    side_tables: SideTables | None = None,
    tie_rank: Callable[[], IntArray] | None = None,
    *,
    exact: bool = False,
    times: IntArray | None = None,
) -> EncodedTable:
    """Encode everything except the quasi-identifiers, which are given."""
    side_tables = side_tables or SideTables()
    n_population = side_tables.population.num_rows if side_tables.population is not None else 0
    n_background = side_tables.background.num_rows if side_tables.background is not None else 0
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
    if side_tables.background is not None:
        mass, mass_unit, mass_codes = background_mass(side_tables.background, side_tables, sensitive, plan)
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
        background_on=side_tables.background_on,
        bandwidths=side_tables.bandwidths,
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
    joined = readable(tables[0].column(column.name), tables[0].schema.field(column.name))
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
    """Cells of a side table in the type of the main table; NaN is missing, not the text "nan"."""
    return (to_labels(cells) if is_text(kind) else cells).cast(kind)


def _code(column: ColumnPlan, prepared: Prepared, times: IntArray | None = None) -> tuple[AnyArray, Coded]:
    """Return the code of each row; if rows are distinct values, ``times`` says how often each occurs."""
    data = prepared.data
    occurring = counts(data)
    if times is not None:
        codes = to_codes(data)
        occurring = summed(times, codes, len(data.dictionary) + 1)
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
    place: AnyArray = np.arange(len(data.dictionary))
    if not coded.values.equals(data.dictionary):
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
    plan: TablePlan,
    values: Mapping[str, pa.Array],
    times: Mapping[str, IntArray],
    side_tables: SideTables | None = None,
) -> tuple[tuple[QuasiColumn, ...], tuple[SensitiveColumn, ...]]:
    """Encode columns of a table that is not in memory: codes depend only on the values and their frequencies.

    Parameters
    ----------
    plan : TablePlan
    values : mapping of str to pyarrow.Array
        The distinct values of each quasi-identifier and sensitive column, with null if some are missing.
    times : mapping of str to int64 array
        How often each of them occurs.
    side_tables : SideTables, optional

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
    side_tables = side_tables or SideTables()
    followers = [t for t in (side_tables.population, side_tables.background) if t is not None]
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


def background_mass(
    table: pa.Table, side_tables: SideTables, sensitive: tuple[SensitiveColumn, ...], plan: TablePlan
) -> tuple[IntArray, int, IntArray]:
    """Return the prior mass of each background row, the units of the total mass, and what each row is about."""
    unit = 2**52
    if side_tables.mass is not None and side_tables.codes is not None:
        # whatever is believed possible stays possible
        return np.maximum(np.rint(side_tables.mass * unit), 1).astype(np.int64), unit, side_tables.codes
    column = next((c for c in sensitive if c.name == side_tables.background_on), None)
    names = table.column_names
    if column is None or side_tables.background_on not in names or side_tables.probability not in names:
        raise DataError(
            f"The background table needs the sensitive column and a column {side_tables.probability!r}.",
            code="background-columns",
        )
    try:
        raw = np.asarray(table.column(side_tables.probability).cast(pa.float64()).to_numpy())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            "The background table's probabilities must be numbers.", code="background-probabilities"
        ) from None
    if not np.all(np.isfinite(raw)) or raw.min(initial=0.0) < 0 or abs(raw.sum() - 1) > 1e-6:
        raise DataError(
            "The background table's probabilities must be finite, not negative, and sum to 1.",
            code="background-probabilities",
            hint=f"They sum to {raw.sum():.6g}.",
        )
    labels = pa.array([label or "" for label in column.coded.labels[0]])
    text = table.column(side_tables.background_on).cast(pa.string()).fill_null("")
    place = pc.index_in(text, value_set=labels)
    if place.null_count:
        raise DataError(
            f"The background table has {counted(place.null_count, 'row', 'rows')} whose {side_tables.background_on!r} "
            "does not occur in the table.",
            code="background-values",
        )
    codes = place.to_numpy().astype(np.int64)
    q = _tuple_numbers(table, plan)
    return np.rint(raw * unit).astype(np.int64), unit, q * column.coded.size + codes


def _tuple_numbers(table: pa.Table, plan: TablePlan) -> IntArray:
    codes, sizes = [], []
    for name in plan.named(Role.QUASI):
        encoded = table.column(name).combine_chunks().dictionary_encode()
        codes.append(null_last(encoded).to_numpy(zero_copy_only=False))
        sizes.append(len(encoded.dictionary) + 1)
    return number_rows(codes, sizes)[0]


def check_inferred_kinds(table: EncodedTable, plan: TablePlan, rows: IntArray) -> None:
    """Refuse a release in which the kind of a column reveals something about suppressed records.

    A column of text without a declared kind is numeric if every value is a number. One odd value of a suppressed record
    makes it nominal, which would change the published cells or what a model achieves.

    Parameters
    ----------
    table : EncodedTable
    plan : TablePlan
    rows : int64 array
        The published rows of the sample.

    Raises
    ------
    DataError If the published values alone have a different kind. The remedy is to declare it.
    """
    if len(rows) == table.n_sample:
        return
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    for column in columns:
        if is_inferred(column, plan):
            check_inferred_kind(column, column.codes[rows])


def is_inferred(column: QuasiColumn | SensitiveColumn, plan: TablePlan) -> bool:
    """Whether a kind may depend on a few values: numbers and dates remain so if some of them are removed."""
    declared = next(c for c in plan.columns if c.name == column.name)
    implied = declared.kind or declared.format or declared.order
    return not implied and column.coded.kind is Kind.NOMINAL


def check_inferred_kind(column: QuasiColumn | SensitiveColumn, codes: AnyArray) -> None:
    """Refuse a nominal column whose published codes have a different kind; see ``check_inferred_kinds``."""
    used = np.unique(codes).astype(np.int64) - int(column.coded.missing)
    kind, _ = infer_kind(column.coded.values.take(pa.array(used[used >= 0])))
    if kind is not Kind.NOMINAL:
        raise DataError(
            f"Column {column.name!r} is read as text only because of suppressed records: all its published values are "
            f"of kind {kind}. The release would show that.",
            code="kind-of-suppressed",
            hint=f"Declare 'kind: nominal' or 'kind: {kind}' for it in the policy, and list texts that are not values "
            "under 'missing_values'.",
        )
