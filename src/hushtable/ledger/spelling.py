"""One spelling for each person and value, in any notation.

``1``, ``1.0``, ``01`` and ``+1`` are one number; text is compared in Unicode's composed form and without surrounding
white space; ``case: ignore`` ignores case. A column that had another name in earlier releases says so (``same_as``),
with a file that maps its values if they were recoded. Two spellings in one table that are the same here count as one:
that can only make a check stricter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hushtable.errors import DataError

_NUMBER = re.compile(r"([+-]?)0*(\d+?)(?:\.(\d*?)0*)?", re.ASCII)


def plain(text: str, *, ignore_case: bool = False) -> str:
    """Return the normalized spelling of text.

    Examples
    --------
    >>> [plain(t) for t in ("1", "1.0", "01", "+1", " 1 ", "-0", "0.50", "007a")]
    ['1', '1', '1', '1', '1', '0', '0.5', '007a']
    >>> plain("Flu", ignore_case=True)
    'flu'
    """
    text = unicodedata.normalize("NFC", text).strip()
    found = _NUMBER.fullmatch(text)
    if found:
        sign, whole, rest = found[1].replace("+", ""), found[2], found[3] or ""
        number = f"{whole}.{rest}" if rest else whole
        return number if number == "0" else sign + number
    return unicodedata.normalize("NFC", text.casefold()) if ignore_case else text


@dataclass(frozen=True)
class Spelling:
    """Names of a policy's people, columns and values in the ledger.

    Attributes
    ----------
    ignore_case : bool
    called : mapping of str to str
        The names of columns that had other names in earlier releases.
    new : set of str
        Columns that no earlier release has.
    changing : set of str
        Columns whose values change from one release to another.
    recoded : mapping of str to mapping
        The values of a column, and their names in earlier releases.
    """

    ignore_case: bool = False
    called: Mapping[str, str] = field(default_factory=dict)
    new: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    recoded: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Mapping[str, Any], folder: Path | None) -> Spelling:
        """Return a policy's spelling; its files are relative to the folder."""
        called, recoded = {}, {}
        columns = policy.get("columns", {})
        new = frozenset(name for name, column in columns.items() if column.get("same_as") is False)
        changing = frozenset(name for name, column in columns.items() if column.get("changes"))
        ignore = (policy.get("ledger") or {}).get("case") == "ignore"
        for name, column in columns.items():
            same = column.get("same_as")
            if same:
                earlier = {"column": same} if isinstance(same, str) else same
                called[name] = str(earlier["column"])
                if earlier.get("map"):
                    recoded[name] = _mapping((folder or Path()) / earlier["map"], ignore)
        names = [called.get(name, name) for name in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(
                f"Two columns are called {twice!r} in the ledger.",
                code="same-column",
                hint="Correct 'same_as', or remove one of the columns.",
            )
        return cls(ignore, called, new, changing, recoded)

    def person(self, label: str) -> str:
        """Return the name of a person."""
        return plain(label, ignore_case=self.ignore_case)

    def column(self, name: str) -> str:
        """Return the name of a column."""
        return self.called.get(name, name)

    def value(self, column: str, label: str) -> str:
        """Return the name of a value of a column."""
        spelt = plain(label, ignore_case=self.ignore_case)
        if column not in self.recoded or not spelt:
            return spelt
        if spelt not in self.recoded[column]:
            raise DataError(
                f"The file that 'same_as' names does not map every value of column {column!r}.",
                code="bad-mapping",
                hint="Map every value, unchanged ones to themselves.",
            )
        return self.recoded[column][spelt]


def _mapping(path: Path, ignore_case: bool) -> dict[str, str]:
    """Read a file of two columns: a value of this release, and its name in earlier ones."""
    from hushtable.io.files import read_table

    table = read_table(path)
    if table.num_columns != 2:
        raise DataError(
            f"{str(path)!r} has {table.num_columns} columns; a mapping of values has two.",
            code="bad-mapping",
            hint="The first has the values of this release, the second their names in earlier releases.",
        )
    ours, theirs = (["" if v is None else str(v) for v in column.to_pylist()] for column in table.columns)
    found: dict[str, str] = {}
    for one, other in zip(ours, theirs, strict=True):
        one, other = (plain(text, ignore_case=ignore_case) for text in (one, other))
        if found.setdefault(one, other) != other:
            raise DataError(
                f"{str(path)!r} maps a value to two others.", code="bad-mapping", hint="Map each value once."
            )
    return found
