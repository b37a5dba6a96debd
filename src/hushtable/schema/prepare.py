"""A column as the rest of hushtable needs it: a kind, and distinct typed values with one code per row.

Rules:

* Null, NaN and ``''`` are missing. Other tokens (``?``, ``NA``, ``-999``) are values unless they are listed as
  ``missing_values``; surrounding blanks do not matter when a token is compared, and a listed number also matches other
  spellings of the same number.
* Surrounding blanks belong to nominal and ordinal values; they are ignored when numbers and dates are read, where a
  blank cell is missing.
* Without a given kind: number columns are numeric, dates and timestamps are dates, Booleans are nominal. Text is
numeric if every value is a number and none has a leading zero (``01234`` is a code), a date if every value is an
unambiguous one (see ``numbers`` and ``dates``), otherwise nominal. With an ``order``, the column is ordinal.
* Numbers are int64 if all of them are whole (exact to 64 bits), otherwise float64. Dates are calendar dates in their
  own time zone; the time of day is dropped.
* Values are parsed once per distinct value, never per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import DataError, PolicyError
from hushtable.io.dictionaries import encode, from_codes, look_up, smallest_index, to_codes, value_type
from hushtable.io.text import is_text, to_labels, type_words
from hushtable.schema.columns import Format, Kind
from hushtable.schema.parse import convert, infer_kind, standard


@dataclass(frozen=True)
class Prepared:
    """One column, ready to be coded.

    Attributes
    ----------
    name : str
    kind : Kind
    data : pyarrow.DictionaryArray
        One entry per row; a missing value is a null index. The dictionary holds exactly the values that occur, each
        once: int64 or float64 in numeric order, date32 in calendar order, strings in sorted UTF-8, or (ordinal) in
        the declared order. It never holds null.
    reason : str
        Why the column has this kind.
    spellings : bool
        Whether different cells have the same value: ``1`` and ``1.0``, times of one day, several missing-value markers.

    Examples
    --------
    >>> p = prepare(pa.chunked_array([["3", "?", "10", "3"]]), name="age", kind=None, missing_values=("?",))
    >>> p.kind.value, p.values.to_pylist(), p.codes().tolist(), p.missing
    ('numeric', [3, 10], [0, -1, 1, 0], 1)
    """

    name: str
    kind: Kind
    data: pa.DictionaryArray
    reason: str
    spellings: bool = False

    def __len__(self) -> int:
        return len(self.data)

    @property
    def values(self) -> pa.Array:
        """The distinct values, in code order."""
        return self.data.dictionary

    @property
    def missing(self) -> int:
        """Number of rows without a value."""
        return int(self.data.null_count)

    def codes(self) -> IntArray:
        """Return each row's position in ``values``, -1 if missing."""
        return to_codes(self.data)

    def counts(self) -> IntArray:
        """Return how often each of ``values`` occurs."""
        return np.bincount(self.codes() + 1, minlength=len(self.values) + 1)[1:].astype(np.int64)


def prepare(
    column: pa.ChunkedArray | pa.Array,
    *,
    name: str,
    kind: Kind | None = None,
    missing_values: Sequence[str] = (),
    order: Sequence[str] = (),
    format: Format | None = None,
) -> Prepared:
    """Give a column its kind and its typed distinct values.

    Parameters
    ----------
    column : pyarrow.ChunkedArray or pyarrow.Array
    name : str
        For error messages.
    kind : Kind, optional
        Defaults to the inferred kind; see the rules at the top of this module.
    missing_values : sequence of str
        Tokens that represent a missing value, in addition to null, NaN and ``''``.
    order : sequence of str
        The values of an ordinal column from low to high. Required for it, refused for others.
    format : Format, optional
        Notation of its dates or numbers, if it is ambiguous. Implies the kind.

    Raises
    ------
    DataError
        If values cannot be read as the kind. The message counts them by kind and shows none.
    PolicyError
        If ``kind`` and ``order`` contradict each other.

    Examples
    --------
    >>> prepare(pa.array(["1,000", "12"]), name="income", kind=Kind.NUMERIC)
    Traceback (most recent call last):
    hushtable.errors.DataError: Column 'income' cannot be read as numeric: 1 of 2 distinct values is not a plain
    number (1 number with thousands separators). Write numbers with digits and a decimal point only, ...
    >>> prepare(pa.array(["low", "high"]), name="risk", order=["low", "high"]).values.to_pylist()
    ['low', 'high']
    >>> prepare(pa.array(["1,000", "12"]), name="income", format=Format.THOUSANDS).values.to_pylist()
    [12, 1000]
    """
    kind = _check_order(name, kind, order)
    check_type(name, column.type)
    raw = encode(column)
    values = _without_missing(raw.dictionary, missing_values)
    if format is not None:
        values, kind = standard(values, format), kind or format.kind
    if kind is None:
        kind, reason = infer_kind(values)
    else:
        reason = "declared with its order" if kind is Kind.ORDINAL else "declared"
    typed = convert(values, kind, name)
    if format is not None or (missing_values and typed.type != values.type):
        # a token may be written in another way: -999 as -999.0, a day with its time
        typed = _without_missing(typed, missing_values)
    place = _order_of_labels(typed, order, name) if kind is Kind.ORDINAL else _sorted_places(typed)
    codes, dictionary = place
    smallest = smallest_index(len(dictionary))
    places = np.append(codes, -1).astype(smallest.to_pandas_dtype())
    data = from_codes(look_up(places, raw), dictionary, smallest)
    gone = int(np.count_nonzero(codes < 0)) + int(raw.indices.null_count > 0)
    return Prepared(name, kind, data, reason, gone > 1 or int(np.count_nonzero(codes >= 0)) > len(dictionary))


def _check_order(name: str, kind: Kind | None, order: Sequence[str]) -> Kind | None:
    if not order:
        if kind is Kind.ORDINAL:
            raise PolicyError(
                f"Column {name!r} is ordinal but its order is not given.",
                code="no-order",
                hint="List its values from low to high under 'order', or set kind: nominal.",
            )
        return kind
    if kind not in (None, Kind.ORDINAL):
        raise PolicyError(
            f"Column {name!r} is {kind} but has an order.",
            code="order",
            hint="Set kind: ordinal, or remove 'order'.",
        )
    if len(set(order)) < len(order):
        raise PolicyError(
            f"The order of column {name!r} lists a value more than once.", code="order", hint="List each value once."
        )
    return Kind.ORDINAL


def check_type(name: str, type_: pa.DataType) -> None:
    """Raise if a column's storage type fits no kind: nested values, bytes, times of day, durations.

    Examples
    --------
    >>> check_type("visits", pa.list_(pa.int8()))
    Traceback (most recent call last):
    hushtable.errors.DataError: Column 'visits' contains values of type list or struct, which cannot be used. Convert
    ...
    """
    values = value_type(type_)
    usable = (
        is_text(values)
        or pa.types.is_integer(values)
        or pa.types.is_floating(values)
        or pa.types.is_decimal(values)
        or pa.types.is_boolean(values)
        or pa.types.is_date(values)
        or pa.types.is_timestamp(values)
        or pa.types.is_null(values)
    )
    if not usable:
        raise _unsupported(name, type_, "used")
    _check_zone(name, values)


def _unsupported(name: str, type_: pa.DataType, verb: str) -> DataError:
    return DataError(
        f"Column {name!r} contains values of type {type_words(type_)}, which cannot be {verb}.",
        code="unsupported-type",
        hint="Convert it to numbers, dates or text, or remove it from the table.",
    )


def _check_zone(name: str, type_: pa.DataType) -> None:
    if not pa.types.is_timestamp(type_) or type_.tz is None:
        return
    try:
        pc.local_timestamp(pa.array([0], type_))
    except pa.ArrowInvalid:
        raise DataError(
            f"Column {name!r} contains times in a time zone that this system does not know.",
            code="unknown-zone",
            hint="Install the package tzdata, or convert the times to UTC.",
        ) from None


def check_publishable(name: str, type_: pa.DataType) -> None:
    """Raise if a column cannot be published unchanged: its values could not be sorted, or written to CSV.

    Examples
    --------
    >>> check_publishable("visits", pa.list_(pa.int8()))
    Traceback (most recent call last):
    hushtable.errors.DataError: Column 'visits' contains values of type list or struct, which cannot be published. ...
    """
    values = value_type(type_)
    odd = (pa.types.is_nested, pa.types.is_interval, pa.types.is_dictionary)
    if any(is_odd(values) for is_odd in odd) or isinstance(values, pa.BaseExtensionType):
        raise _unsupported(name, type_, "published")
    _check_zone(name, values)


def _without_missing(values: pa.Array, tokens: Sequence[str]) -> pa.Array:
    """Replace distinct values that mean missing with null."""
    if not (tokens or is_text(values.type) or pa.types.is_floating(values.type)):
        return values
    labels = to_labels(values)
    gone = pc.fill_null(pc.equal(labels, ""), True)
    if tokens:
        listed = list(dict.fromkeys([*tokens, *(t.strip() for t in tokens), *_canonical(tokens, values.type)]))
        gone = pc.or_(gone, pc.is_in(pc.utf8_trim_whitespace(labels), pa.array(listed, pa.string())))
    return pc.if_else(gone, pa.scalar(None, values.type), values)


def _canonical(tokens: Sequence[str], type_: pa.DataType) -> list[str]:
    """Return the listed numbers in normalized form, so that ``-999.0`` also matches -999."""
    if not (pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)):
        return []
    numbers = []
    for token in tokens:
        try:
            numbers.append(float(token))
        except ValueError:
            continue
    return [label for label in to_labels(pa.array(numbers, pa.float64())).to_pylist() if label is not None]


def _sorted_places(typed: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Return each typed value's rank among the distinct ones (-1 for null), and these in order."""
    coded = typed.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    rank[-1] = -1
    return rank[to_codes(coded)], coded.dictionary.take(order)


def _order_of_labels(labels: pa.Array, order: Sequence[str], name: str) -> tuple[npt.NDArray[np.int64], pa.Array]:
    declared = pa.array(order, pa.string())
    found = pc.index_in(labels, declared)
    outside = int(pc.sum(pc.and_(pc.is_null(found), pc.is_valid(labels))).as_py() or 0)
    if outside:
        raise DataError(
            f"Column {name!r} has {outside:,} distinct values that its order does not list.",
            code="not-in-order",
            hint="Add them to 'order', or list them as missing_values. Blanks and case matter.",
        )
    places = pc.fill_null(pc.cast(found, pa.int64()), -1).to_numpy(zero_copy_only=False)
    used = np.unique(places[places >= 0])
    rank = np.full(len(declared) + 1, -1, dtype=np.int64)
    rank[used] = np.arange(len(used))
    return rank[places], declared.take(pa.array(used))
