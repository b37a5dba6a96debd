"""Profile of a table before a policy is written: counts, likely roles with reasons, and uniqueness.

A profile contains column names, counts, missing-value tokens and likely hierarchies, and no other cell of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import DataError, counted
from hushtable.io.figures import html_grid, text_grid
from hushtable.io.plots import bars
from hushtable.io.text import to_labels
from hushtable.schema.columns import Format, Kind, Role
from hushtable.schema.formats import MIXED_DATES, fitting_formats, format_question, has_times, mixed_dates
from hushtable.schema.hierarchies import DATES, suggest_hierarchy
from hushtable.schema.hints import DIRECT, is_person_key, name_hint
from hushtable.schema.infer import ColumnFacts, shortlisted, suggest_role
from hushtable.schema.parse import MARKERS
from hushtable.schema.prepare import Prepared, prepare
from hushtable.schema.subsets import count_duplicates, unique_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SAMPLE = 250_000


@dataclass(frozen=True)
class ColumnProfile:
    """Facts about one column.

    Attributes
    ----------
    name : str
    kind : Kind or None
        None if the column cannot be used; ``problem`` says why.
    kind_reason : str
    distinct, unique, missing : int
        Distinct values, values that occur once, and rows without a value. Texts that most likely represent missing
        values count as missing; times of day count as part of a date.
    unique_share : float
        Share of all rows whose value occurs once.
    role : Role
        The likely role.
    role_reason : str
    tokens : tuple of Token
        Texts that may represent a missing value but were not listed as such.
    problem : str
    most, least : float
        Shares of the most and the least frequent value among the present values.
    formats : tuple of Format
        Notations of ambiguous dates or numbers. Several if the values do not decide.
    times : bool
        Whether it contains times of day.
    hierarchy : Any
        The likely hierarchy, as written in a policy.
    hierarchy_reason : str
        The reason, if it is more than the kind and the number of values.
    """

    name: str
    kind: Kind | None
    kind_reason: str
    distinct: int
    unique: int
    missing: int
    unique_share: float
    role: Role
    role_reason: str
    tokens: tuple[Token, ...] = ()
    problem: str = ""
    most: float = 0.0
    least: float = 0.0
    formats: tuple[Format, ...] = ()
    times: bool = False
    hierarchy: Any = "flat"
    hierarchy_reason: str = ""


@dataclass(frozen=True)
class SubsetProfile:
    """The share of records that are unique on some columns."""

    columns: tuple[str, ...]
    unique_share: float


@dataclass(frozen=True, repr=False)
class Profile:
    """Facts about a table.

    Attributes
    ----------
    rows : int
    duplicates : int
        Rows that repeat an earlier row on all usable columns.
    columns : tuple of ColumnProfile
    subsets : tuple of SubsetProfile
        For subsets of one to three likely quasi-identifiers, the most revealing first within each size.
    subset_rows : int
        Number of rows on which the subsets were counted. Fewer than ``rows`` means evenly spaced rows of a large table,
        in which more records look unique than in the whole.
    all_subsets : bool
        Whether every subset of up to three columns was counted, rather than the most revealing ones.
    entity : str
        The identifier that seems to identify each row's person, if people have several rows; otherwise ``""``.
    """

    rows: int
    duplicates: int
    columns: tuple[ColumnProfile, ...]
    subsets: tuple[SubsetProfile, ...]
    subset_rows: int
    all_subsets: bool
    entity: str = ""

    def __repr__(self) -> str:
        heads, rows = self._heads_and_rows()
        return f"{self._heading()}\n{text_grid(heads, rows)}"

    def _repr_html_(self) -> str:
        heads, rows = self._heads_and_rows()
        return f"<p>{self._heading()}</p>{html_grid(heads, rows)}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which columns make people unique: the shares of rows with a unique value and with a missing one.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Defaults to the axes of a new figure.

        Returns
        -------
        matplotlib axes
        """
        rows = max(self.rows, 1)
        series = {
            "unique": [c.unique / rows for c in self.columns],
            "missing": [c.missing / rows for c in self.columns],
        }
        names = [f"{c.name} ({c.role})" for c in self.columns]
        return bars(names, series, ax=ax, xlabel="share of rows")

    def _heading(self) -> str:
        entity = f"; {self.entity!r} seems to identify the person of each row" if self.entity else ""
        return f"{self.sizes()}{entity}"

    def sizes(self) -> str:
        """Return the numbers of rows, columns and repeated rows, in words."""
        rows, columns = counted(self.rows, "row", "rows"), counted(len(self.columns), "column", "columns")
        return f"{rows}, {columns}, {counted(self.duplicates, 'repeated row', 'repeated rows')}"

    def _heads_and_rows(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [c.name, str(c.kind or "?"), f"{c.distinct:,}", f"{c.unique:,}", f"{c.missing:,}",
             f"{c.role}: {c.role_reason}"]
            for c in self.columns
        ]  # fmt: skip
        return ["column", "kind", "distinct", "unique", "missing", "likely role"], rows

    def as_dict(self) -> dict[str, Any]:
        """The profile as JSON-ready data."""
        found = asdict(self)
        found["columns"] = [{**c, "tokens": list(c["tokens"])} for c in found["columns"]]
        found["subsets"] = [{**s, "columns": list(s["columns"])} for s in found["subsets"]]
        return found

    @property
    def like_values(self) -> tuple[str, ...]:
        """Names of numeric and date columns that are numbers or dates: the first line may be a record, not a header.

        Examples
        --------
        >>> profile(pa.table({"31": ["32", "33"], "flu": ["flu", "gout"]})).like_values
        ('31',)
        """
        able = [c for c in self.columns if c.kind in (Kind.NUMERIC, Kind.DATE)]
        return tuple(c.name for c in able if _column("", pa.chunked_array([[c.name]]), (), 1)[0].kind is c.kind)

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the columns that are likely to have this role."""
        return tuple(c.name for c in self.columns if c.role is role)


def profile(
    table: pa.Table,
    missing_values: Sequence[str] = (),
    *,
    max_subsets: int = 300,
    sample_rows: int = _SAMPLE,
) -> Profile:
    """Profile a table.

    Parameters
    ----------
    table : pyarrow.Table
    missing_values : sequence of str
        Tokens already known to represent missing values.
    max_subsets : int
        Maximum number of subsets of columns to count (single columns are always counted).
    sample_rows : int
        Above this number of rows, the subsets are counted on evenly spaced rows; the profile says so.

    Returns
    -------
    Profile

    Examples
    --------
    >>> p = profile(pa.table({"age": ["31", "?", "31"], "disease": ["flu", "flu", "cough"]}))
    >>> p.columns[0].kind.value, p.columns[0].kind_reason
    ('numeric', "every value is a plain number, once '?' counts as missing")
    >>> suggest_missing(p)
    ('?',)
    >>> [(c.name, c.role.value, c.missing) for c in p.columns]
    [('age', 'quasi', 1), ('disease', 'sensitive', 0)]
    """
    columns: list[ColumnProfile] = []
    codes: dict[str, IntArray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        found, ready = _column(name, column, tuple(missing_values), table.num_rows)
        columns.append(found)
        if ready is not None:
            codes[name] = ready.codes() + 1
    tokens = _likely_missing(columns)
    for place, found in enumerate(columns):
        # what the starter policy lists as missing is counted as missing everywhere
        if any(token.text in tokens for token in found.tokens):
            again, ready = _column(found.name, table.column(place), (*missing_values, *tokens), table.num_rows)
            columns[place] = replace(again, kind_reason=found.kind_reason, tokens=found.tokens)
            if ready is not None:
                codes[found.name] = ready.codes() + 1
    columns = shortlisted(columns, codes)
    quasi = [c.name for c in columns if c.role is Role.QUASI and c.name in codes]
    duplicates = count_duplicates(list(codes.values())) if codes else 0
    step = np.arange(min(table.num_rows, sample_rows)) * table.num_rows // max(min(table.num_rows, sample_rows), 1)
    sample = [codes[name] if len(step) == table.num_rows else codes[name][step] for name in quasi]
    shares = unique_shares(sample, limit=max_subsets)
    subsets = [SubsetProfile(tuple(quasi[i] for i in subset), share) for subset, share in shares]
    subsets.sort(key=lambda s: (len(s.columns), -s.unique_share))
    n = len(quasi)
    every = n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6
    entity = _entity(columns, table.num_rows, duplicates)
    return Profile(table.num_rows, duplicates, tuple(columns), tuple(subsets), len(step), len(subsets) == every, entity)


def _entity(columns: Sequence[ColumnProfile], rows: int, duplicates: int) -> str:
    """Return the key of a person, or otherwise an official number, that several distinct rows share."""
    for wanted in (is_person_key, lambda name: name_hint(name, DIRECT) == "an official number"):
        for column in columns:
            repeated = 1 < column.distinct < rows - duplicates
            if column.role is Role.IDENTIFIER and wanted(column.name) and repeated and not column.missing:
                return column.name
    return ""


def _column(
    name: str, column: pa.ChunkedArray, missing_values: tuple[str, ...], rows: int
) -> tuple[ColumnProfile, Prepared | None]:
    problem = ""
    try:
        ready = prepare(column, name=name, missing_values=missing_values)
    except DataError as error:
        problem = str(error)
        try:
            ready = prepare(column, name=name, kind=Kind.NOMINAL, missing_values=missing_values)
        except DataError:
            unusable = ColumnProfile(name, None, "", 0, 0, 0, 0.0, Role.IDENTIFIER, "it cannot be used")
            return replace(unusable, problem=problem), None
    tokens = find_tokens(ready)
    found = ready
    formats: tuple[Format, ...] = ()
    if ready.kind in (Kind.NOMINAL, Kind.NUMERIC) and not problem:
        ready, formats = _formatted(column, ready, missing_values, tokens)
        found = ready
    if ready.kind is Kind.NOMINAL and tokens and not problem:
        found = _without(column, name, missing_values, tokens, ready)
    # other tokens stay values of a column of text
    likely = suggest_hierarchy(found, tuple(t.text for t in tokens if t.text.lower() in _CERTAIN))
    if formats:
        likely = replace(likely, kind=formats[0].kind, kind_reason=format_question(formats))
    elif likely.kind is Kind.NOMINAL and not problem and mixed_dates(found.values):
        likely = replace(likely, kind_reason=MIXED_DATES)
    if len(formats) > 1:
        likely = replace(likely, hierarchy=DATES, reason="")
    kind, reason = likely.kind, likely.kind_reason
    times = kind is Kind.DATE and found.spellings and has_times(column)
    if times:
        ready = prepare(column, name=name, kind=Kind.NOMINAL, missing_values=missing_values)
    counts = ready.counts()
    unique = int((counts == 1).sum())
    facts = ColumnFacts(
        name=name,
        kind=kind,
        rows=rows,
        distinct=len(counts),
        unique=unique,
        missing=ready.missing,
        fractions=pa.types.is_floating(ready.values.type),
        length=_length(ready.values),
    )
    role, why = suggest_role(facts)
    made = ColumnProfile(
        name, kind, reason, len(counts), unique, ready.missing, unique / rows if rows else 0.0, role, why, tokens,
        most=float(counts.max(initial=0) / max(counts.sum(), 1)),
        least=float(counts.min() / counts.sum()) if len(counts) else 0.0,
        formats=formats,
        times=times,
        hierarchy=likely.hierarchy,
        hierarchy_reason=likely.reason,
    )  # fmt: skip
    return (replace(made, kind=None, kind_reason="", problem=problem) if problem else made), ready


def _formatted(
    column: pa.ChunkedArray, ready: Prepared, missing_values: tuple[str, ...], tokens: tuple[Token, ...]
) -> tuple[Prepared, tuple[Format, ...]]:
    """Return a column of text read in the one format that fits all of it, and the formats that fit."""
    listed = pa.array([token.text for token in tokens], pa.string())
    labels = pc.utf8_trim_whitespace(to_labels(ready.values))
    values = labels.filter(pc.invert(pc.is_in(labels, listed)))
    formats = fitting_formats(values)
    if len(formats) == 1:
        words = (*missing_values, *(token.text for token in tokens))
        ready = prepare(column, name=ready.name, missing_values=words, format=formats[0])
    return ready, formats


def _without(
    column: pa.ChunkedArray, name: str, missing_values: tuple[str, ...], tokens: tuple[Token, ...], otherwise: Prepared
) -> Prepared:
    """Return the column as if its suspicious tokens were listed as missing, if that changes its kind."""
    words = tuple(t.text for t in tokens)
    try:
        again = prepare(column, name=name, missing_values=(*missing_values, *words))
    except DataError:
        return otherwise
    if again.kind is Kind.NOMINAL:
        return otherwise
    listed = " and ".join(repr(w) for w in words)
    return replace(again, reason=f"{again.reason}, once {listed} {'counts' if len(words) == 1 else 'count'} as missing")


def _length(values: pa.Array) -> float:
    if not pa.types.is_string(values.type) or not len(values):
        return 0.0
    return float(pc.mean(pc.utf8_length(values)).as_py())


_CERTAIN = {"?", "n/a", "#n/a", "<na>", "nan", "null", "#null!", "(null)", "#value!"}


def suggest_missing(found: Profile) -> tuple[str, ...]:
    """Return the tokens that most likely represent missing values, for a starter policy.

    These are the ones without another meaning (``?``, ``N/A``, ``null``) and those that alone prevent a column from
    being numeric or a date. ``NA``, ``-`` or ``unknown`` in a column of text may be values; they only appear in the
    profile.

    Examples
    --------
    >>> suggest_missing(profile(pa.table({"country": ["NA", "DE"], "age": ["31", "-"]})))
    ('-',)
    """
    return _likely_missing(found.columns)


def _likely_missing(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    listed = set()
    for column in columns:
        decisive = column.kind in (Kind.NUMERIC, Kind.DATE)
        for token in column.tokens:
            if token.text.lower() in _CERTAIN or (decisive and not token.number):
                listed.add(token.text)
    return tuple(sorted(listed))


# Texts and numbers that look like missing values, but are values until they are listed as missing.


_SENTINELS = (-1, -8, -9, -88, -99, -888, -999, -9999, -99999, 999, 9999, 99999, 999999)


@dataclass(frozen=True)
class Token:
    """A suspicious text, trimmed, and the number of rows with it.

    Attributes
    ----------
    text : str
    rows : int
    number : bool
        Whether it is a number far from all others, such as -999.
    """

    text: str
    rows: int
    number: bool = False


def find_tokens(column: Prepared) -> tuple[Token, ...]:
    """Return the suspicious tokens of a column, the most frequent first.

    Examples
    --------
    >>> from hushtable.schema.prepare import prepare
    >>> find_tokens(prepare(pa.array(["a", "N/A", " N/A"]), name="x"))
    (Token(text='N/A', rows=2, number=False),)
    >>> find_tokens(prepare(pa.array([31, 45, -999, 28]), name="age"))
    (Token(text='-999', rows=1, number=True),)
    """
    values = column.values
    if pa.types.is_string(values.type):
        found = _markers(column)
    elif pa.types.is_integer(values.type) and len(values) > 2:
        found = _sentinels(column)
    else:
        found = {}
    numeric = not pa.types.is_string(values.type)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Token(text, rows, numeric) for text, rows in ranked)


def _markers(column: Prepared) -> dict[str, int]:
    trimmed = pc.utf8_trim_whitespace(column.values)
    places = np.flatnonzero(pc.is_in(pc.utf8_lower(trimmed), pa.array(MARKERS)))
    counts = column.counts()
    found: dict[str, int] = {}
    for place in places.tolist():
        text = trimmed[place].as_py()
        found[text] = found.get(text, 0) + int(counts[place])
    return found


def _sentinels(column: Prepared) -> dict[str, int]:
    """Return codes such as -999 at an end of the range whose distance from the other numbers exceeds their range."""
    numbers = column.values.to_numpy()
    counts = column.counts()
    found: dict[str, int] = {}
    for end, rest in ((0, numbers[1:]), (len(numbers) - 1, numbers[:-1])):
        value = int(numbers[end])
        low, high = int(rest[0]), int(rest[-1])
        gap = low - value if end == 0 else value - high
        if value in _SENTINELS and gap > high - low:
            found[str(value)] = int(counts[end])
    return found
