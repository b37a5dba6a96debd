"""Column names: checks for every reader, and selecting some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from hushtable.errors import DataError, did_you_mean


def check_names(names: Iterable[Any], where: str) -> list[str]:
    """Return the names, or raise if one is not text, is empty or occurs twice.

    Parameters
    ----------
    names : iterable
    where : str
        The subject of the error sentence: ``"The table"``.

    Examples
    --------
    >>> check_names(["age", "sex", "age"], "The table")
    Traceback (most recent call last):
    hushtable.errors.DataError: The table has more than one column named 'age'. Rename the columns so that ...
    """
    found = list(names)
    for place, name in enumerate(found, start=1):
        if not isinstance(name, str):
            kind = "several header levels" if isinstance(name, tuple) else f"a name of type {type(name).__name__}"
            raise DataError(
                f"{where} has a column (number {place}) with {kind} instead of a text name.",
                code="column-name",
                hint="Give every column a text name, for example with df.columns = df.columns.map(str).",
            )
        if not name.strip():
            raise DataError(
                f"{where} has a column (number {place}) without a name.",
                code="column-name",
                hint="Name it or remove it.",
            )
    if len(set(found)) < len(found):
        twice = [name for name, times in Counter(found).items() if times > 1]
        raise DataError(
            f"{where} has more than one column named {', '.join(map(repr, twice))}.",
            code="duplicate-column",
            hint="Rename the columns so that each name occurs once.",
        )
    return found


def name_rows(header: Sequence[Any]) -> list[Any]:
    """Return a file's header; if only the first column has no name, call it ``row``.

    R and pandas write the names or numbers of the rows into such a column.

    Examples
    --------
    >>> name_rows(["", "age"]), name_rows(["", "age", "row"]), name_rows(["age", ""])
    (['row', 'age'], ['row_', 'age', 'row'], ['age', ''])
    """
    rest = list(header[1:])
    if not rest or any(name in (None, "") for name in rest) or header[0] not in (None, ""):
        return list(header)
    name = "row"
    while name in rest:
        name += "_"
    return [name, *rest]


def select_names(names: Sequence[str], columns: Sequence[str] | None, where: str) -> list[str]:
    """Return ``columns`` (all names if None), or raise with a hint if one does not exist.

    Examples
    --------
    >>> select_names(["age", "sex"], ["agee"], "The table")
    Traceback (most recent call last):
    hushtable.errors.DataError: The table has no column 'agee'. Did you mean 'age'?
    """
    if columns is None:
        return list(names)
    for column in columns:
        if column not in names:
            raise DataError(
                f"{where} has no column {column!r}.", code="unknown-column", hint=did_you_mean(column, names)
            )
    return check_names(columns, "The selection")
