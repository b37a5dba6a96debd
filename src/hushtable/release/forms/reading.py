"""What published cells stand for, read from their text and the policy: no original and no companion.

A cell is split into parts (the members of a set, the bins of counts; most cells have one), and every part stands for
values or ranges. The forms define how, in ``Form.split`` and ``Form.meaning``; this module has what they share, and
turns the pieces into arrays. It processes distinct cells and distinct parts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray, joined_ranges
from hushtable.errors import DataError
from hushtable.hierarchy.base import ROOT
from hushtable.hierarchy.spans import Span, parse_span, unescape
from hushtable.schema.columns import Kind
from hushtable.schema.parse import convert, infer_kind
from hushtable.table.plan import ColumnPlan

if TYPE_CHECKING:
    from hushtable.release.forms.base import Form

Meaning: TypeAlias = tuple[str | Span | None, ...]
"""What a part stands for: values, ranges, and None for the missing value."""

EVERYTHING: Meaning = (ROOT, ROOT)
"""The meaning of ``*``: any value of the column."""

INSIDE = "{"
"""Prefix of a part from inside braces, where different characters are escaped than in a cell on its own."""

_PIECE = 1 << 16
_COMMA, _COLON, _BACKSLASH = (ord(sign) for sign in ",:\\")
_WHOLE = re.compile(r"[+-]?\d+")
_LARGEST = 2**63 - 1
"""Largest integer that is not read as a float."""


class Parts(NamedTuple):
    """The parts of distinct cells, in compressed rows.

    Attributes
    ----------
    offsets : int64 array
    codes : int64 array
        Which of ``names`` each part is; -1 for the missing value.
    names : list of str
        Distinct, as written.
    weights : float64 array
    """

    offsets: IntArray
    codes: IntArray
    names: list[str]
    weights: FloatArray


@dataclass(frozen=True)
class Reading:
    """What the distinct cells of one column stand for.

    Attributes
    ----------
    kind : Kind
        As declared, or inferred from the published values.
    offsets : int64 array
        The parts of cell i are ``offsets[i] : offsets[i + 1]``.
    atoms : int64 array
        Which atom each part is. Atom 0 is the missing value.
    weights : float64 array
        For each part: the number of records it stands for if ``counted``, otherwise its share of the cell.
    labels : pyarrow.Array
        The value of each atom as text; null for the missing value, and for a range of numbers or dates.
    low, high : int64 or float64 arrays
        For columns of numbers and dates (as days), the bounds of each atom, the lower one inclusive. For a value, both
        are equal to it.
    closed : bool array
        Whether the upper bound belongs to the atom.
    everything : bool array
        Which cells are ``*``.
    counted : bool
    """

    kind: Kind
    offsets: IntArray
    atoms: IntArray
    weights: FloatArray
    labels: pa.Array
    low: AnyArray
    high: AnyArray
    closed: BoolArray
    everything: BoolArray
    counted: bool = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def numbers(self) -> bool:
        """Whether atoms have bounds."""
        return self.kind in (Kind.NUMERIC, Kind.DATE)

    @property
    def whole(self) -> bool:
        """Whether all values in the cells are whole numbers."""
        return self.low.dtype.kind == "i"

    @property
    def has_missing(self) -> bool:
        """Whether a cell stands for the missing value, alone or with others."""
        return bool(np.any(self.atoms == 0))

    @property
    def owner(self) -> IntArray:
        """The cell of each part."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def totals(self) -> FloatArray:
        """The weight of each cell."""
        return np.bincount(self.owner, weights=self.weights, minlength=len(self)).astype(np.float64)


# from text to parts


def whole_cells(cells: pa.Array) -> Parts:
    """Treat every cell as one part.

    Examples
    --------
    >>> whole_cells(pa.array(["a", None, "b"])).codes.tolist()
    [0, -1, 1]
    """
    coded = cells.cast(pa.large_string()).dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Parts(np.arange(len(cells) + 1), codes, coded.dictionary.to_pylist(), np.ones(len(cells)))


def split_sets(cells: pa.Array) -> Parts:
    r"""Split sets into their members; other cells are one part.

    Examples
    --------
    >>> parts = split_sets(pa.array([r"{a\, b, c}", "c"]))
    >>> parts.offsets.tolist(), parts.names
    ([0, 2, 3], ['c', '{a\\, b', '{c'])
    """
    return _split(cells, counted=False)


def split_counts(cells: pa.Array, column: str) -> Parts:
    """Split counts into their bins and how often each occurs.

    Raises
    ------
    DataError
        If a cell is not a list of counts.

    Examples
    --------
    >>> parts = split_counts(pa.array(["{[20, 30): 3, null: 1}"]), "age")
    >>> parts.names, parts.weights.tolist()
    (['{[20, 30)', '{null'], [3.0, 1.0])
    """
    braced = pc.and_(pc.starts_with(cells, "{"), pc.ends_with(cells, "}"))
    if cells.null_count or not pc.all(braced, min_count=0).as_py():
        raise not_counts(column)
    parts = _split(cells, counted=True)
    if np.any(np.diff(parts.offsets) == 0) or np.any(parts.weights < 1):
        raise not_counts(column)
    return parts


def not_counts(column: str) -> DataError:
    """The error of a cell that should be counts and is not."""
    return DataError(
        f"Column {column!r} is published as counts, but some of its cells are not counts.",
        code="bad-cells",
        hint="The file was changed after it was published: ask for the original release.",
    )


def _split(cells: pa.Array, *, counted: bool) -> Parts:
    inside = pc.fill_null(pc.starts_with(cells, "{"), False).to_numpy(zero_copy_only=False)
    text = cells.cast(pa.large_string())
    names, owner, weights = [], [], []
    plain = np.flatnonzero(~inside)
    if len(plain):
        names.append(text.take(pa.array(plain)).dictionary_encode())
        owner.append(plain)
        weights.append(np.ones(len(plain)))
    braced = np.flatnonzero(inside)
    for begin in range(0, len(braced), _PIECE):
        some = braced[begin : begin + _PIECE]
        of, found, count = _split_piece(text.take(pa.array(some)), counted)
        names.append(found.dictionary_encode())
        owner.append(some[of])
        weights.append(count)
    if not names:
        return Parts(np.zeros(len(cells) + 1, np.int64), np.empty(0, np.int64), [], np.empty(0))
    whole = pa.chunked_array(names).unify_dictionaries()
    codes = np.concatenate([c.indices.fill_null(-1).to_numpy(zero_copy_only=False) for c in whole.chunks])
    cell, weight = np.concatenate(owner), np.concatenate(weights)
    order = np.argsort(cell, kind="stable")
    offsets = np.searchsorted(cell[order], np.arange(len(cells) + 1))
    dictionary = next(c for c in whole.chunks).dictionary.to_pylist()
    return Parts(offsets.astype(np.int64), codes[order].astype(np.int64), dictionary, weight[order])


def _split_piece(cells: pa.Array, counted: bool) -> tuple[IntArray, pa.Array, FloatArray]:
    """The cell of each part, its name with a brace before it, and its count."""
    _, places, content = cells.buffers()
    ends = np.frombuffer(places, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    data = np.frombuffer(content, dtype=np.uint8)
    free = ~_escaped(data)
    # the closing brace is not a part
    last = ends[1:] - 1
    commas = np.flatnonzero((data == _COMMA) & free)
    if counted:
        stops = np.flatnonzero((data == _COLON) & free)
        cell = np.searchsorted(ends, stops, side="right") - 1
        after = np.append(commas, len(data))[np.searchsorted(commas, stops)]
        finish = np.minimum(after, last[cell])
        weights = _digits(data, stops + 2, finish)
    else:
        # a part ends where the next begins, and at the end of its cell
        stops = finish = np.sort(np.concatenate([commas, last]))
        cell = np.searchsorted(ends, stops, side="right") - 1
        weights = np.ones(len(stops))
    first = np.diff(cell, prepend=-1) != 0
    starts = np.where(first, ends[cell] + 1, np.concatenate([[0], finish[:-1] + 2]))
    return cell.astype(np.int64), _slices(data, starts, stops), weights


def _escaped(data: AnyArray) -> BoolArray:
    """Which bytes have an odd number of backslashes before them."""
    slash = data == _BACKSLASH
    out = np.zeros(len(data), dtype=np.bool_)
    if slash.any():
        at = np.arange(len(data))
        other = np.maximum.accumulate(np.where(slash, -1, at))
        out[1:] = ((at - other)[:-1] % 2) == 1
    return out


def _digits(data: AnyArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Whole numbers as written; 0 for anything else."""
    length = ends - starts
    value = np.zeros(len(starts))
    good = (length > 0) & (length < 16)
    for i in range(int(length[good].max(initial=0))):
        here = np.flatnonzero(good & (length > i))
        digit = data[starts[here] + i].astype(np.int64) - ord("0")
        good[here[(digit < 0) | (digit > 9)]] = False
        value[here] = value[here] * 10 + digit
    return np.where(good, value, 0.0)


def _slices(data: AnyArray, starts: IntArray, ends: IntArray) -> pa.Array:
    """The texts ``data[starts[i] : ends[i]]``, each with ``INSIDE`` before it."""
    # the byte before a text becomes the brace
    lengths = np.maximum(ends - starts, 0) + 1
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    taken = data[joined_ranges(starts - 1, lengths)]
    taken[offsets[:-1]] = ord(INSIDE)
    return pa.Array.from_buffers(
        pa.large_string(), len(starts), [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(taken.tobytes())]
    )


# from parts to what they stand for


def meaning_of_value(name: str) -> Meaning:
    r"""Return the value of a cell that publishes one; ``*`` is everything.

    Examples
    --------
    >>> meaning_of_value(r"\*"), meaning_of_value("*") is EVERYTHING
    (('*',), True)
    """
    if name == ROOT:
        return EVERYTHING
    return (name[1:] if name.startswith("\\") else name,)


def meaning_of_member(name: str, *, ranges: bool = True) -> Meaning:
    r"""Return what a member of a set or of counts stands for, or a cell of one part.

    Examples
    --------
    >>> meaning_of_member(r"{a\, b"), meaning_of_member("{null"), meaning_of_member("[30, 31]")[0].high
    (('a, b',), (None,), '31')
    """
    if name.startswith(INSIDE):
        text = name[1:]
        if text == "null":
            return (None,)
        span = parse_span(text) if text.startswith("[") and ranges else None
        return (unescape(text),) if span is None else (span,)
    span = parse_span(name) if ranges else None
    return meaning_of_value(name) if span is None else (span,)


# from meanings to arrays


def read_cells(form: Form, cells: pa.Array, column: ColumnPlan) -> Reading:
    """Return what distinct cells of a column stand for.

    A cell that covers several values stands for each of them equally. An open range (``< 20``) gets an end: as far away
    as the widest range that ends there, otherwise as far as all published bounds are apart, otherwise as far as zero
    (for dates, a year); not below zero unless some bound is. ``*`` stands for everything that the other cells of the
    column do, and for all values that the policy lists.

    Parameters
    ----------
    form : Form
    cells : pyarrow.Array
        Distinct, as text; null for cells without a value.
    column : ColumnPlan
        The policy's settings of the column.

    Examples
    --------
    >>> from hushtable.release.forms.regions import Regions
    >>> from hushtable.schema.columns import Role
    >>> found = read_cells(Regions(), pa.array(["< 20", "[20, 50)", ">= 50"]), ColumnPlan("age", Role.QUASI))
    >>> found.low[found.atoms].tolist(), found.high[found.atoms].tolist()
    ([0, 20, 50], [20, 50, 80])
    """
    parts = form.split(cells, column)
    meanings = form.meanings(parts.names, column)
    kind = column.kind or (Kind.ORDINAL if column.order else _kind_of(meanings))
    listed = _listed(meanings, kind, column)
    place = {label: i for i, label in enumerate(listed)}
    meanings = [_resolved(m, kind, column, listed, place, form.ranges_of_labels) for m in meanings]
    everything = np.array([m is EVERYTHING for m in meanings], dtype=np.bool_)
    ordered = kind in (Kind.NUMERIC, Kind.DATE)
    meant, labels, *bounds = _numbers(meanings, kind, column) if ordered else _labels(meanings, listed)
    return _assembled(parts, kind, meant, everything, labels, bounds, form.counts_records)


def _kind_of(meanings: Sequence[Meaning]) -> Kind:
    """The kind of a column without a declared one."""
    shown: list[str] = []
    for meaning in meanings:
        if meaning is not EVERYTHING:
            for atom in meaning:
                shown += [b for b in atom[:2] if b is not None] if isinstance(atom, Span) else [atom] if atom else []
    return infer_kind(pa.array(shown, pa.string()))[0]


def _listed(meanings: Sequence[Meaning], kind: Kind, column: ColumnPlan) -> list[str]:
    """All values of a column of labels that cells show or the policy lists, in order."""
    if kind in (Kind.NUMERIC, Kind.DATE):
        return []
    shown = {a for m in meanings if m is not EVERYTHING for a in m if isinstance(a, str)}
    for span in (a for m in meanings if m is not EVERYTHING for a in m if isinstance(a, Span)):
        shown |= {end for end in span[:2] if end is not None and span.closed}
    if column.order:
        return list(column.order)
    if any(m is EVERYTHING for m in meanings) and column.hierarchy is not None:
        shown |= set(column.hierarchy.leaves(column.name))
    return sorted(shown, key=str.encode)


def _resolved(
    meaning: Meaning, kind: Kind, column: ColumnPlan, listed: list[str], place: dict[str, int], ranges: bool
) -> Meaning:
    """Replace ranges of labels by the labels between their ends, or by labels that look like ranges."""
    if meaning is EVERYTHING or kind in (Kind.NUMERIC, Kind.DATE):
        return meaning
    out: list[str | Span | None] = []
    for atom in meaning:
        if not isinstance(atom, Span):
            out.append(atom)
        elif (kind is Kind.ORDINAL or ranges) and atom.closed:
            if atom.low not in place or atom.high not in place:
                raise _unreadable(column.name)
            out += listed[place[atom.low] : place[atom.high] + 1]
        else:
            out.append(unescape(atom.text))
    return tuple(out)


_Atoms = tuple[list[list[int]], pa.Array, Any, Any, Any]


def _labels(meanings: Sequence[Meaning], listed: list[str]) -> _Atoms:
    place: dict[str | Span | None, int] = {None: 0}
    place |= {label: i + 1 for i, label in enumerate(listed)}
    extra = {a for m in meanings if m is not EVERYTHING for a in m if a not in place}
    for label in sorted((str(a) for a in extra), key=str.encode):
        place[label] = len(place)
    every = list(range(1, len(listed) + 1))
    meant = [every if m is EVERYTHING else [place[a] for a in m] for m in meanings]
    none = np.zeros(len(place))
    return meant, pa.array(list(place), pa.string()), none, none, np.ones(len(place), dtype=np.bool_)


def _numbers(meanings: Sequence[Meaning], kind: Kind, column: ColumnPlan) -> _Atoms:
    atoms = list(dict.fromkeys(a for m in meanings if m is not EVERYTHING for a in m if a is not None))
    texts = [a if isinstance(a, str) else None for a in atoms]
    point = _values(texts, kind, column.name)
    lows, highs = (_values([_end(a, i) for a in atoms], kind, column.name) for i in (0, 1))
    whole = all(found.dtype.kind == "i" for found in (point, lows, highs))
    single = np.array([isinstance(a, str) for a in atoms], dtype=np.bool_)
    opened = np.array([[isinstance(a, Span) and a[i] is None for a in atoms] for i in (0, 1)], dtype=np.bool_)
    # both of one type: a computed end may be a fraction
    number = np.int64 if whole else np.float64
    low, high = (np.where(single, point, ends).astype(number) for ends in (lows, highs))
    closed = single | np.array([isinstance(a, Span) and a.closed for a in atoms], dtype=np.bool_)
    low, high = _with_ends(low, high, opened.reshape(2, -1), kind)
    if np.any(high < low):
        raise _unreadable(column.name)
    every: list[int] = []
    if any(m is EVERYTHING for m in meanings) and len(atoms):
        every = [len(atoms) + 1]
        top = int(np.argmax(high))
        low, high, closed = np.append(low, low.min()), np.append(high, high[top]), np.append(closed, closed[top])
        texts.append(None)
    order = np.lexsort((closed, high, low))
    rank = np.concatenate([[0], np.argsort(order) + 1]).tolist()
    place: dict[str | Span | None, int] = {None: 0}
    place |= {atom: rank[i + 1] for i, atom in enumerate(atoms)}
    meant = [[rank[i] for i in every] if m is EVERYTHING else [place[a] for a in m] for m in meanings]
    low, high = (np.concatenate([[0], end[order]]).astype(number) for end in (low, high))
    labels = pa.array([None, *(texts[i] for i in order.tolist())], pa.string())
    return meant, labels, low, high, np.concatenate([[True], closed[order]])


def _end(atom: str | Span, upper: int) -> str | None:
    return (atom.high if upper else atom.low) if isinstance(atom, Span) else None


def _values(texts: Sequence[str | None], kind: Kind, column: str) -> AnyArray:
    """Numbers and days as written; without any, the type that fits the others."""
    if kind is Kind.NUMERIC and all(t is None or _WHOLE.fullmatch(t) for t in texts) and any(texts):
        numbers = [0 if t is None else int(t) for t in texts]
        if max(numbers) > _LARGEST or min(numbers) < -_LARGEST - 1:
            return np.array(numbers, dtype=np.float64)
        return np.array(numbers, dtype=np.int64)
    if not any(texts):
        return np.zeros(len(texts), dtype=np.int64)
    try:
        found = convert(pa.array(list(texts), pa.string()), kind, column)
    except DataError:
        raise _unreadable(column) from None
    if kind is Kind.DATE:
        found = found.cast(pa.int32()).cast(pa.int64())
    elif not pa.types.is_integer(found.type):
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.asarray(found.fill_null(0).to_numpy(), dtype=np.int64)


@np.errstate(over="ignore")
def _with_ends(low: AnyArray, high: AnyArray, opened: AnyArray, kind: Kind) -> tuple[AnyArray, AnyArray]:
    """Give open ranges an end."""
    if not opened.any():
        return low, high
    below, above = opened
    bounds = np.concatenate([low[~below], high[~above]])
    whole = bounds.dtype.kind == "i"
    limit = _LARGEST if whole else np.finfo(np.float64).max
    # differences of integers may overflow
    width = high.astype(np.float64) - low
    spread = float(bounds.max()) - float(bounds.min())
    shut = ~(below | above)

    def reach(at: Any, neighbours: BoolArray) -> Any:
        widest = width[neighbours & shut].max(initial=0)
        if not widest > 0:
            widest = spread or (365 if kind is Kind.DATE else abs(at) or 1)
        return int(widest) if whole else widest

    low, high = low.copy(), high.copy()
    for i in np.flatnonzero(below).tolist():
        at = high[i].item()
        end = max(at - reach(at, low == at), -limit)
        low[i] = max(end, 0) if kind is Kind.NUMERIC and at > 0 and bounds.min() >= 0 else end
    for i in np.flatnonzero(above).tolist():
        at = low[i].item()
        high[i] = min(at + reach(at, high == at), limit)
    return low, high


def _assembled(
    parts: Parts,
    kind: Kind,
    meant: list[list[int]],
    everything: BoolArray,
    labels: pa.Array,
    bounds: Sequence[Any],
    counted: bool,
) -> Reading:
    """Replace every part by its atoms, which share its weight."""
    lengths = np.array([len(m) for m in meant] + [1], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.array([a for m in meant for a in m] + [0], dtype=np.int64)
    n_cells = len(parts.offsets) - 1
    cell = np.repeat(np.arange(n_cells), np.diff(parts.offsets))
    # the last entry is for the missing value, at index -1
    many = lengths[parts.codes]
    total = np.concatenate([[0], np.cumsum(many)])
    atoms = flat[joined_ranges(starts[:-1][parts.codes], many)]
    weights = np.repeat(parts.weights / np.maximum(many, 1), many)
    offsets = total[parts.offsets].astype(np.int64)
    rooted = np.zeros(n_cells, dtype=np.bool_)
    rooted[cell[np.append(everything, False)[parts.codes]]] = True
    if not counted:
        size = np.bincount(np.repeat(cell, many), weights=weights, minlength=n_cells)
        weights = weights / np.maximum(size, math.ulp(0.0))[np.repeat(cell, many)]
    low, high, closed = bounds
    return Reading(kind, offsets, atoms, weights, labels, low, high, closed, rooted, counted)


def _unreadable(column: str) -> DataError:
    return DataError(
        f"Column {column!r} has cells that do not fit its policy.",
        code="bad-cells",
        hint="The file was changed after it was published, or the policy is a different one.",
    )
