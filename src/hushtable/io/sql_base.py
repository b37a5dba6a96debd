"""The interface to databases: read a table in batches, and write a table in one transaction."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from hushtable.errors import DataError, HushtableError, OutputError
from hushtable.io.atomic import check_access
from hushtable.io.dictionaries import value_type
from hushtable.io.layout import Rows
from hushtable.io.names import check_names, select_names
from hushtable.io.sql_place import SqlPlace, quoted
from hushtable.io.text import is_text, type_words

_WRITTEN = 10_000
"""Number of rows to convert to Python values at a time."""

PRIMARY, FOREIGN = "PRIMARY KEY", "FOREIGN KEY"
"""Kinds of keys, as databases call them."""

Ask = Callable[[str], pa.Table]
"""Takes a SELECT and returns its result."""

Written = Sequence[tuple[SqlPlace, Rows]]
"""Tables of one database and their rows."""


@dataclass(frozen=True)
class TableKeys:
    """The keys of a database table.

    Attributes
    ----------
    key : tuple of str
        The columns of the primary key.
    references : mapping of tuple of str to tuple of str
        For the columns of each foreign key, the table that it refers to and the columns there.
    """

    key: tuple[str, ...]
    references: Mapping[tuple[str, ...], tuple[str, tuple[str, ...]]]


class Database(ABC):
    """One kind of database. Its errors never contain a password or a value of a table."""

    remedy: ClassVar[str]
    """what to do if a query fails"""

    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the driver's exceptions, whose messages may quote rows."""

    @abstractmethod
    def reason(self, error: Exception) -> str:
        """Say in our own words what the driver reports."""

    @contextmanager
    def worded(self, place: SqlPlace) -> Iterator[None]:
        """Report the driver's errors in our own words."""
        try:
            yield
        except HushtableError:
            raise
        except self.errors() as error:
            raise DataError(
                f"{str(place)!r} cannot be read: {self.reason(error)}.", code="query-failed", hint=self.remedy
            ) from None

    def batches(self, place: SqlPlace, columns: Sequence[str] | None, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield a table, or the result of a query, in batches of limited size; types are kept."""
        with self.reading(place) as session:
            yield from self.rows(session, place, columns, rows)

    @abstractmethod
    def reading(self, place: SqlPlace) -> AbstractContextManager[Any]:
        """Open a read-only session in which all tables are from one snapshot."""

    def rows(self, session: Any, place: SqlPlace, columns: Sequence[str] | None, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches of a table in an open session; an empty table is an error."""
        batch = None
        for batch in self.answer(session, place, columns, max(rows, 1)):
            yield as_text_dictionaries(batch)
        if batch is None:
            raise no_rows(place)

    @abstractmethod
    def answer(
        self, session: Any, place: SqlPlace, columns: Sequence[str] | None, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches that have rows."""

    def fetched(self, place: SqlPlace, cursor: Any, rows: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a cursor, some at a time."""
        while True:
            with self.worded(place):
                some = cursor.fetchmany(rows)
            if not some:
                return
            yield some

    @abstractmethod
    def keys(self, place: SqlPlace) -> dict[str, TableKeys]:
        """Return the tables of a schema with their primary and foreign keys."""

    def names(self, place: SqlPlace) -> list[str]:
        """Return the names of its columns, without reading rows."""
        with self.reading(place) as session, self.worded(place):
            return self.names_in(session, place)

    @abstractmethod
    def names_in(self, session: Any, place: SqlPlace) -> list[str]:
        """Return the names of its columns in an open session."""

    def count(self, place: SqlPlace, most: int) -> int:
        """Return the number of rows, or ``most`` if there are more."""
        text = f"SELECT count(*) FROM (SELECT 1 FROM {place.relation()} LIMIT {most}) AS {quoted('some')}"
        with self.reading(place) as session, self.worded(place):
            return int(session.execute(text).fetchall()[0][0])

    @contextmanager
    def answering(self, place: SqlPlace) -> Iterator[Ask]:
        """Yield a function that runs several SELECTs on one snapshot, so that the database does the counting."""
        with self.reading(place) as session:

            def ask(text: str) -> pa.Table:
                with self.worded(place):
                    return self.asked(session, text)

            yield ask

    def asked(self, session: Any, text: str) -> pa.Table:
        """Return the result of a SELECT in an open session."""
        raise NotImplementedError

    def same_name(self, text: str, spaces: str) -> str:
        """Return SQL for text without surrounding spaces, with composed letters (NFC)."""
        raise NotImplementedError

    def exists(self, place: SqlPlace) -> bool:
        """Whether there is already a table (or view) of that name."""
        with self.reading(place) as session, self.worded(place):
            return self.exists_in(session, place)

    @abstractmethod
    def exists_in(self, session: Any, place: SqlPlace) -> bool:
        """Whether an open session finds a table of that name."""

    def replaces(self, session: Any, place: SqlPlace, *, overwrite: bool) -> bool:
        """Return whether a table of that name will be replaced; raise if it must not be."""
        found = self.exists_in(session, place)
        if found and not overwrite:
            raise exists_error(place)
        return found

    @abstractmethod
    def check_writable(self, place: SqlPlace) -> None:
        """Raise ``OutputError`` if the table cannot be created, as far as that is known in advance."""

    @abstractmethod
    def writing(self, tables: Written, *, overwrite: bool) -> AbstractContextManager[None]:
        """Fill new tables, which appear when the block ends without an error, and otherwise not at all.

        All of them are in the same database. An existing table is an error, unless it may be replaced.
        """


def keys_of(
    tables: Iterable[str], found: Iterable[tuple[str, str, Sequence[str], str | None, Sequence[str]]]
) -> dict[str, TableKeys]:
    """Return the keys of tables, given rows of (table, kind, columns, referenced table, referenced columns).

    Examples
    --------
    >>> rows = [("people", PRIMARY, ["id"], None, []), ("stays", FOREIGN, ["who"], "people", [])]
    >>> keys_of(["people", "stays"], rows)["stays"].references
    {('who',): ('people', ('id',))}
    """
    listed = list(found)
    own = {table: tuple(columns) for table, kind, columns, *_ in listed if kind == PRIMARY}
    return {
        name: TableKeys(
            own.get(name, ()),
            {
                tuple(columns): (above, tuple(to) or own.get(above, ()))
                for table, kind, columns, above, to in listed
                if table == name and kind == FOREIGN and above is not None
            },
        )
        for name in sorted(tables)
    }


def select_text(place: SqlPlace, names: Sequence[str], columns: Sequence[str] | None) -> str:
    """Return the SELECT for some columns of a place with known columns."""
    where = f"{str(place)!r}"
    wanted = select_names(check_names(names, where), columns, where)
    return f"SELECT {', '.join(quoted(name) for name in wanted)} FROM {place.relation()}"


def no_rows(place: SqlPlace) -> DataError:
    """The error of an empty table."""
    return DataError(f"{str(place)!r} has no rows.", code="no-rows", hint="Check the table, or the query.")


def exists_error(place: SqlPlace) -> OutputError:
    """The error of a table that must not be replaced."""
    return OutputError(
        f"The table {place.table!r} exists in {str(place.url)!r}.",
        code="exists",
        hint="Choose another name, or allow overwriting (--overwrite, overwrite=True).",
    )


def as_text_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with text columns dictionary-encoded: a column of few values then takes little memory."""
    columns: list[Any] = [c.dictionary_encode() if is_text(c.type) else c for c in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def moments(name: str, column: pa.Array) -> list[dt.datetime | None]:
    """Return times as Python objects for databases; those with a zone in UTC.

    Raises
    ------
    OutputError
        If some are finer than a microsecond, or out of the range of years.
    """
    try:
        zone = None if column.type.tz is None else "UTC"
        found: list[dt.datetime | None] = column.cast(pa.timestamp("us", zone)).to_pylist()
        return found
    except (pa.ArrowException, ValueError, OverflowError):
        pass
    raise OutputError(
        f"Column {name!r} has times finer than a microsecond, or before year 1 or after 9999.",
        code="unsupported-type",
        hint="Round them first.",
    )


# Databases in files: reading does not create a missing one, and a failed write does not leave an empty one.


class FileDatabase(Database):
    """A kind of database that is one file."""

    def exists(self, place: SqlPlace) -> bool:
        """Look up the name; a missing file has no tables."""
        return place.path.exists() and super().exists(place)

    def check_writable(self, place: SqlPlace) -> None:
        """Check the file and its folder."""
        check_writable_file(place.path)


def check_file(place: SqlPlace) -> None:
    """Refuse a missing database, which would be created empty."""
    path = place.path
    if path.is_file():
        return
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder, not a database.", code="no-database")
    rooted = Path("/", path)
    absolute = not path.is_absolute() and rooted.exists()
    hint = f"A path from the root has four slashes: {place.url.scheme}:///{rooted}." if absolute else "Check the path."
    raise DataError(f"There is no database {str(path)!r}.", code="no-database", hint=hint)


def check_writable_file(path: Path) -> None:
    """Refuse a database that cannot be written: its folder does not exist, or is read-only.

    Raises
    ------
    OutputError
    """
    check_parent(path)
    if path.exists() and not path.is_file():
        raise OutputError(f"{str(path)!r} cannot be written: it is a folder.", hint="Choose a file name.")
    check_access(path if path.exists() else path.parent, path)


def check_parent(path: Path) -> None:
    """Refuse the path of an address whose folder does not exist.

    Raises
    ------
    OutputError
    """
    if path.parent.is_dir():
        return
    rooted = not path.is_absolute() and Path("/", path).parent.is_dir()
    raise OutputError(
        f"{str(path)!r} cannot be written: its folder does not exist.",
        hint="In an address, a path from the root has four slashes." if rooted else "Create the folder first.",
    )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield the path to write to; a new database is removed if the block fails."""
    check_writable_file(path)
    fresh = not path.exists()
    try:
        yield path
    except BaseException:
        if fresh:
            for name in (path.name, f"{path.name}.wal", f"{path.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
        raise


def failed_write(place: SqlPlace, reason: str) -> OutputError:
    """The error of a write that was rolled back."""
    return OutputError(
        f"{str(place)!r} cannot be written: {reason}.",
        code="database",
        hint="Nothing was changed. Check the address, the disk, and whether another program uses the database.",
    )


def declared_type(field: pa.Field, types: Iterable[tuple[Callable[[pa.DataType], Any], str]], database: str) -> str:
    """Return the first of a database's types whose test accepts the values of a column."""
    kind = value_type(field.type)
    for test, name in types:
        if test(kind):
            return name
    raise OutputError(
        f"Column {field.name!r} of type {type_words(kind)} has no type in {database}.",
        code="unsupported-type",
        hint="Convert it to numbers, dates or text first.",
    )


def batches_of(rows: Rows) -> Iterator[pa.RecordBatch]:
    """Yield rows in batches that are converted to Python values at once."""
    return (batch for piece in rows.pieces for batch in piece.to_batches(_WRITTEN))
