"""Columns of a sample: those drawn from cells, and those that stay with their published row.

Rows are sorted by class here, so that a class is a run of rows.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, joined_ranges
from hushtable.errors import DataError, UsageError
from hushtable.kernels.deal import draw_parts, draw_uniform, shuffle_runs
from hushtable.release.forms.reading import Reading
from hushtable.schema.columns import Kind
from hushtable.schema.parse import convert
from hushtable.schema.prepare import Prepared

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


@dataclass
class Fixed:
    """A column whose values stay with their rows."""

    prepared: Prepared

    def holds(self, condition: ColumnCondition, rule: Rule, rows: IntArray) -> BoolArray:
        """Return whether a condition holds in these rows."""
        data, codes = self.prepared, self._codes
        if data.kind in (Kind.NUMERIC, Kind.DATE):
            values = data.values.cast(pa.int32()) if data.kind is Kind.DATE else data.values
            table = _compared(np.asarray(values.to_numpy(zero_copy_only=False)), condition, rule, data.kind)
        else:
            table = _compared_labels(data.values.cast(pa.string()), condition, rule, data.kind)
        return np.append(table, _of_missing(condition))[codes[rows]]

    @cached_property
    def _codes(self) -> IntArray:
        return self.prepared.codes()


@dataclass
class Drawn:
    """A column that is drawn.

    Attributes
    ----------
    reading : Reading
        What its distinct cells stand for.
    cells : integer array
        Which of these each row has.
    atoms : int32 array
        The drawn atom of each row.
    numbers : array, optional
        For numbers and dates, the value inside the atom.
    """

    reading: Reading
    cells: AnyArray
    atoms: AnyArray
    numbers: AnyArray | None = None

    def holds(self, condition: ColumnCondition, rule: Rule, rows: IntArray) -> BoolArray:
        """Return whether a condition holds in these rows."""
        reading, atoms = self.reading, self.atoms[rows]
        missing = _of_missing(condition)
        if self.numbers is None:
            table = _compared_labels(reading.labels[1:], condition, rule, reading.kind)
            return np.concatenate([[missing], table])[atoms]
        return np.where(atoms == 0, missing, _compared(self.numbers[rows], condition, rule, reading.kind))

    def swap(self, one: IntArray, other: IntArray) -> None:
        """Swap the values of rows."""
        for values in (self.atoms, self.numbers):
            if values is not None:
                values[one], values[other] = values[other], values[one]

    def values(self, rows: IntArray) -> tuple[AnyArray, AnyArray | None]:
        """Return the drawn values of rows."""
        return self.atoms[rows], None if self.numbers is None else self.numbers[rows]

    def put(self, rows: IntArray, values: tuple[AnyArray, AnyArray | None]) -> None:
        """Give rows different values."""
        self.atoms[rows] = values[0]
        if self.numbers is not None:
            self.numbers[rows] = values[1]

    def drawn_again(self, rows: IntArray, luck: FloatArray, inner: FloatArray) -> tuple[AnyArray, AnyArray | None]:
        """Return values from the cells of these rows."""
        part = draw_parts(self.cells[rows], self.reading.offsets, _upto(self.reading), luck)
        atoms = self.reading.atoms[part].astype(np.int32)
        return atoms, None if self.numbers is None else _inside(self.reading, atoms, inner)

    def moved(self, rows: IntArray, inner: FloatArray) -> tuple[AnyArray, AnyArray | None]:
        """Return different values inside the atoms that rows have."""
        atoms = self.atoms[rows]
        return atoms, None if self.numbers is None else _inside(self.reading, atoms, inner)

    def column(self, place: IntArray | None) -> pa.Array:
        """Return the values as a column of the original's type, put into the given order if there is one."""
        atoms = self.atoms if place is None else self.atoms[place]
        gaps = atoms == 0 if self.reading.has_missing else None
        if self.numbers is None:
            return pa.DictionaryArray.from_arrays(pa.array(atoms - 1, pa.int32(), mask=gaps), self.reading.labels[1:])
        numbers = self.numbers if place is None else self.numbers[place]
        if self.reading.kind is Kind.DATE:
            return pa.array(numbers.astype(np.int32), mask=gaps).cast(pa.date32())
        return pa.array(numbers, mask=gaps)


def deal(reading: Reading, cells: AnyArray, offsets: IntArray, seed: int, stream: str) -> Drawn:
    """Draw a column.

    Parameters
    ----------
    reading : Reading
    cells : integer array
        The cell of each row, class by class.
    offsets : int64 array
        Where each class begins.
    seed : int
    stream : str
        What the random numbers are for.
    """
    if reading.counted:
        of_class = cells[offsets[:-1]]
        part = joined_ranges(reading.offsets[:-1][of_class], np.diff(reading.offsets)[of_class])
        # the counts of a class sum to its rows: this was checked
        atoms = np.repeat(reading.atoms[part].astype(np.int32), np.rint(reading.weights[part]).astype(np.int64))
        atoms = shuffle_runs(atoms, offsets, seed, f"{stream}/deal")
    else:
        single = np.diff(reading.offsets) == 1
        if single.all():
            atoms = reading.atoms.astype(np.int32)[cells]
        else:
            luck = draw_uniform(len(cells), seed, f"{stream}/part")
            atoms = reading.atoms.astype(np.int32)[draw_parts(cells, reading.offsets, _upto(reading), luck)]
    found = Drawn(reading, cells, atoms)
    if reading.numbers:
        wide = bool(np.any(_sizes(reading) > 1)) or not reading.whole
        inner = draw_uniform(len(cells), seed, f"{stream}/inside") if wide else None
        found.numbers = reading.low[atoms] if inner is None else _inside(reading, atoms, inner)
    return found


def _upto(reading: Reading) -> FloatArray:
    """Cumulative weights of the parts of each cell."""
    total = np.cumsum(reading.weights)
    before = np.concatenate([[0.0], total])[reading.offsets[:-1]]
    return np.asarray(total - np.repeat(before, np.diff(reading.offsets)))


def _sizes(reading: Reading) -> FloatArray:
    """Number of possible values of each atom: whole numbers, or steps of at most a thousandth of it."""
    if reading.whole:
        return np.maximum(reading.high.astype(np.float64) - reading.low + reading.closed, 1.0)
    return np.maximum(np.floor(_halves(reading) * (2.0 * _scales(reading))), 1.0)


def _halves(reading: Reading) -> FloatArray:
    """Half the width of each atom, since the whole width may overflow a float."""
    return np.asarray(reading.high / 2 - reading.low / 2)


def _scales(reading: Reading) -> FloatArray:
    """For each atom, a power of ten that divides it into 1,000 to 10,000 steps."""
    # decimal text is exact, and the same on every machine
    widths = np.minimum(_halves(reading), sys.float_info.max / 2) * 2.0
    exponents = [int(f"{width:e}".partition("e")[2]) for width in widths.tolist()]
    return np.array([10.0 ** min(3 - e, 300) for e in exponents])


def _inside(reading: Reading, atoms: AnyArray, luck: FloatArray) -> AnyArray:
    """A value of each atom, drawn uniformly."""
    low, high = reading.low[atoms], reading.high[atoms]
    steps = np.floor(luck * _sizes(reading)[atoms])
    if reading.whole:
        # differences may exceed 2**63: the overflow there is undone here
        reached: IntArray = (low.astype(np.uint64) + steps.astype(np.uint64)).astype(np.int64)
        return np.clip(reached, low, np.maximum(high - ~reading.closed[atoms], low))
    scale = _scales(reading)[atoms]
    with np.errstate(over="ignore", invalid="ignore"):
        value = (np.rint(low * scale) + steps) / scale
    value = np.where(np.isfinite(value), value, low)
    top = np.where(reading.closed[atoms], high, np.nextafter(high, low))
    return np.where(low == high, low, np.clip(value, low, top))


def _of_missing(condition: ColumnCondition) -> bool:
    if condition.sign == "!=":
        return None not in condition.values
    return condition.sign in ("=", "in") and None in condition.values


def _compared(numbers: AnyArray, condition: ColumnCondition, rule: Rule, kind: Kind) -> BoolArray:
    known = [v for v in condition.values if v is not None]
    try:
        found = convert(pa.array(known, pa.string()), kind, condition.column)
    except DataError:
        what = "a number" if kind is Kind.NUMERIC else "a date"
        raise bad_rule(rule.text, f"{condition.column!r} is compared with something that is not {what}") from None
    values = (found.cast(pa.int32()) if kind is Kind.DATE else found).to_numpy(zero_copy_only=False)
    if condition.sign == "in":
        return np.isin(numbers, values)
    if not len(values):
        return np.full(len(numbers), condition.sign == "!=")
    return np.asarray(_SIGNS[condition.sign](numbers, values[0]))


def _compared_labels(labels: pa.Array, condition: ColumnCondition, rule: Rule, kind: Kind) -> BoolArray:
    """Compare distinct labels, in their order if they have one."""
    known = [v for v in condition.values if v is not None]
    if condition.sign in ("=", "!=", "in"):
        equal = np.asarray(pc.is_in(labels, pa.array(known, pa.string())).to_numpy(zero_copy_only=False))
        return ~equal if condition.sign == "!=" else equal
    if kind is not Kind.ORDINAL:
        raise bad_rule(rule.text, f"the values of {condition.column!r} have no order")
    at = pc.index(labels, pa.scalar(known[0] if known else None, pa.string())).as_py()
    if at < 0:
        raise bad_rule(rule.text, f"{condition.column!r} is compared with a value that it does not have")
    return np.asarray(_SIGNS[condition.sign](np.arange(len(labels)), at))


# Rules that an analyst knows to hold: ``age < 15 -> marital_status = N``.
#
# A rule has conditions on both sides of the arrow, joined by ``and``: if all on the left hold, all on the right must
# hold. Without an arrow, all conditions must hold for every row. A condition compares a column with a value (``<``,
# ``<=``, ``>``, ``>=``, ``=``, ``!=``) or lists values (``in {a, b}``). Put names and values with special characters
# or words into quotes, names alternatively into backticks; ``null`` is the missing value, which allows only ``=``,
# ``!=`` and ``in``.


_TOKEN = re.compile(
    r"""\s*(?:(?P<arrow>->)|(?P<sign><=|>=|!=|==|<|>|=)|(?P<mark>[{},])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|`(?P<name>[^`]*)`|(?P<word>(?:[^\s<>=!{},"'`-]|-(?!>))+))"""
)


class ColumnCondition(NamedTuple):
    """A comparison of a column with one value, or with several for ``in``; None is the missing value."""

    column: str
    sign: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class Rule:
    """A rule: if all of ``given`` hold, all of ``then`` must hold.

    Attributes
    ----------
    text : str
        The rule as written.
    given, then : tuple of ColumnCondition
    """

    text: str
    given: tuple[ColumnCondition, ...]
    then: tuple[ColumnCondition, ...]

    @property
    def conditions(self) -> tuple[ColumnCondition, ...]:
        """All conditions."""
        return (*self.given, *self.then)


def parse_rule(text: str) -> Rule:
    """Read a rule.

    Examples
    --------
    >>> rule = parse_rule('age < 15 and sex = f -> "marital status" in {N, null}')
    >>> rule.given[0], rule.then[0]
    (ColumnCondition(column='age', sign='<', values=('15',)), ColumnCondition(column='marital status', sign='in', ...))
    >>> parse_rule("age 15")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The rule 'age 15' cannot be read: a comparison is missing. Write it like ...
    """
    tokens = list(_tokens(text))
    arrows = [i for i, (kind, _) in enumerate(tokens) if kind == "arrow"]
    if len(arrows) > 1:
        raise bad_rule(text, "it has more than one arrow")
    if not arrows:
        return Rule(text, (), _conditions(tokens, text))
    return Rule(text, _conditions(tokens[: arrows[0]], text), _conditions(tokens[arrows[0] + 1 :], text))


def bad_rule(text: str, why: str) -> UsageError:
    """The error of a rule that cannot be used."""
    return UsageError(
        f"The rule {text!r} cannot be read: {why}.",
        code="rule",
        hint="Write it like 'age < 15 -> marital_status = N', with < <= > >= = != or in {a, b}, and 'and' between.",
    )


_Token = tuple[str, str]


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise bad_rule(text, "it has an unknown sign, or a quote that does not end")
        kind = str(found.lastgroup)
        yield kind, found[kind]
        at = found.end()


def _conditions(tokens: Sequence[_Token], text: str) -> tuple[ColumnCondition, ...]:
    groups: list[list[_Token]] = [[]]
    for token in tokens:
        if token == ("word", "and"):
            groups.append([])
        else:
            groups[-1].append(token)
    return tuple(_condition(group, text) for group in groups)


def _condition(tokens: Sequence[_Token], text: str) -> ColumnCondition:
    signs = [i for i, (kind, word) in enumerate(tokens) if kind == "sign" or (kind, word) == ("word", "in")]
    if not signs:
        raise bad_rule(text, "a comparison is missing")
    name, sign, rest = tokens[: signs[0]], tokens[signs[0]][1], tokens[signs[0] + 1 :]
    if not name or any(kind == "mark" for kind, _ in name):
        raise bad_rule(text, "a column is missing before a comparison")
    column = " ".join(word for _, word in name)
    if sign != "in":
        if not rest or any(kind in ("mark", "sign") for kind, _ in rest):
            raise bad_rule(text, "a comparison needs one value")
        return ColumnCondition(column, "=" if sign == "==" else sign, (_value(rest),))
    if len(rest) < 3 or rest[0] != ("mark", "{") or rest[-1] != ("mark", "}"):
        raise bad_rule(text, "'in' needs values in braces")
    values: list[list[_Token]] = [[]]
    for token in rest[1:-1]:
        if token == ("mark", ","):
            values.append([])
        else:
            values[-1].append(token)
    if not all(values) or any(kind in ("mark", "sign") for value in values for kind, _ in value):
        raise bad_rule(text, "'in' needs values in braces")
    return ColumnCondition(column, "in", tuple(map(_value, values)))


def _value(tokens: Sequence[_Token]) -> str | None:
    """One value; adjacent words form one value."""
    return None if list(tokens) == [("word", "null")] else " ".join(word for _, word in tokens)
