"""DuckDB, which reads and writes Arrow directly."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError, PrivacyLeakWarning, UsageError
from hushtable.io.dictionaries import decode
from hushtable.io.layout import Rows
from hushtable.io.names import check_names
from hushtable.io.sql_base import (
    FileDatabase,
    TableKeys,
    Written,
    check_file,
    failed_write,
    keys_of,
    new_file,
    select_text,
)
from hushtable.io.sql_place import SqlPlace, quoted
from hushtable.io.temporary import held_temporary
from hushtable.io.urls import package_for

# no query may fetch an extension from the network
_CONFIG = {"autoinstall_known_extensions": "false"}

# it would be drawn on stdout, within other output
_QUIET = "SET enable_progress_bar = false"

_KINDS = {
    "CatalogException": "there is no such table, view or function",
    "BinderException": "there is no such column, or types do not match",
    "ParserException": "the syntax is not DuckDB's",
    "IOException": "the file cannot be used",
    "ConversionException": "a value cannot be converted to the requested type",
    "OutOfMemoryException": "there is not enough memory",
    "PermissionException": "it is not allowed",
    "TransactionException": "another transaction blocks it, or the disk is full",
}


class DuckDatabase(FileDatabase):
    """A DuckDB file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = SqlPlace.of(f"duckdb:///{Path(folder, 'clinic.db')}?table=people")
    ...     with DuckDatabase().writing([(place, Rows.of(pa.table({"a": [1, 2]})))], overwrite=False):
    ...         pass
    ...     [batch.to_pydict() for batch in DuckDatabase().batches(place, None, 10)]
    [{'a': [1, 2]}]
    """

    remedy = "Check the names of table and columns; messages never show values that cannot be converted."

    def errors(self) -> tuple[type[Exception], ...]:
        """Those of Arrow too, which reads the answers."""
        return (package_for("Reading DuckDB", "duckdb", "sql").Error, pa.ArrowException, RuntimeError, OSError)

    def reason(self, error: Exception) -> str:
        """Go by the kind of error."""
        return _KINDS.get(type(error).__name__, "the database reports an error")

    def answer(
        self, session: Any, place: SqlPlace, columns: Sequence[str] | None, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Let DuckDB make the batches."""
        with self.worded(place):
            relation = session.sql(select_text(place, self.names_in(session, place), columns))
            # the older name is that of DuckDB 1
            reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            answer = reader(rows)
        while True:
            with self.worded(place):
                batch = next(answer, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch

    def keys(self, place: SqlPlace) -> dict[str, TableKeys]:
        """Query DuckDB's constraints."""
        schema = "main" if place.schema is None else place.schema
        with self.reading(place) as session, self.worded(place):
            where = "database_name = current_database() AND lower(schema_name) = lower(?)"
            tables = session.execute(f"SELECT table_name FROM duckdb_tables() WHERE {where}", [schema]).fetchall()
            found = session.execute(
                "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
                f"referenced_column_names FROM duckdb_constraints() WHERE {where} "
                "ORDER BY table_name, constraint_index",
                [schema],
            ).fetchall()
        return keys_of((name for (name,) in tables), found)

    def names_in(self, session: Any, place: SqlPlace) -> list[str]:
        """Describe a query: as a subquery, it would silently rename a column that occurs twice."""
        if place.query is None:
            return list(session.sql(f"SELECT * FROM {place.relation()} LIMIT 0").columns)
        described = session.execute(f"DESCRIBE {place.query}").fetchall()
        return check_names([row[0] for row in described], "The query's answer")

    def asked(self, session: Any, text: str) -> pa.Table:
        """Return DuckDB's own table."""
        return session.sql(text).to_arrow_table()

    def same_name(self, text: str, spaces: str) -> str:
        """Trim and compose with DuckDB's functions."""
        return f"nfc_normalize(trim({text}, '{spaces}'))"

    def exists_in(self, session: Any, place: SqlPlace, kind: str = "%") -> bool:
        """Query the catalog."""
        schema = "current_schema()" if place.schema is None else "?"
        names = [place.table, kind] if place.schema is None else [place.table, kind, place.schema]
        # fetched to its end, or DuckDB 2 holds the session busy
        found = session.execute(
            "SELECT count(*) FROM information_schema.tables WHERE lower(table_name) = lower(?) "
            "AND table_type LIKE ? "
            f"AND table_catalog = current_database() AND lower(table_schema) = lower({schema})",
            names,
        ).fetchall()
        return bool(found[0][0])

    @contextmanager
    def writing(self, tables: Written, *, overwrite: bool) -> Iterator[None]:
        """Create the tables inside one transaction."""
        duckdb = package_for("Writing to DuckDB", "duckdb", "sql")
        with new_file(tables[0][0].path) as path:
            try:
                with closing(duckdb.connect(str(path), config=_CONFIG)) as session:
                    session.execute(_QUIET)
                    session.begin()
                    replaced = [self._create(session, place, rows, overwrite) for place, rows in tables]
                    yield
                    session.commit()
            except duckdb.Error as error:
                raise failed_write(tables[0][0], self.reason(error)) from None
            if any(replaced):
                _rewrite(path)

    def _create(self, session: Any, place: SqlPlace, rows: Rows, overwrite: bool) -> bool:
        """Create a table and fill it; return whether it replaces another."""
        replaced = self.replaces(session, place, overwrite=overwrite)
        if replaced and self.exists_in(session, place, "VIEW"):
            raise failed_write(place, "it is a view, which is not replaced")
        names = ", ".join(quoted(name) for name in rows.schema.names)
        command = f"CREATE OR REPLACE TABLE {place.relation()} AS"
        for piece in chain([rows.schema.empty_table()], rows.pieces):
            session.register(
                "hushtable_written", pa.table([decode(c) for c in piece.columns], names=piece.column_names)
            )
            session.execute(f"{command} SELECT {names} FROM hushtable_written").fetchall()
            session.unregister("hushtable_written")
            command = f"INSERT INTO {place.relation()}"
        return replaced

    @contextmanager
    def reading(self, place: SqlPlace) -> Iterator[Any]:
        """Open the file so that nothing can write to it."""
        duckdb = package_for("Reading DuckDB", "duckdb", "sql")
        check_file(place)
        if place.query is not None:
            _check_one_select(place.query)
        try:
            session = duckdb.connect(str(place.path), read_only=True, config=_CONFIG)
        except duckdb.Error as error:
            raise DataError(
                f"{str(place)!r} cannot be opened: {self.reason(error)}.",
                code="no-database",
                hint="It may be open for writing elsewhere, of a newer version of DuckDB, or not a DuckDB file.",
            ) from None
        with closing(session):
            # the time zone of timestamps must not depend on the machine
            session.execute("SET TimeZone = 'UTC'")
            session.execute(_QUIET)
            yield session


def _check_one_select(query: str) -> None:
    duckdb = package_for("Reading DuckDB", "duckdb", "sql")
    try:
        kinds = [statement.type for statement in duckdb.extract_statements(query)]
    except duckdb.Error:
        kinds = []
    if kinds != [duckdb.StatementType.SELECT]:
        raise UsageError("The query is not a single SELECT.", code="not-a-select", hint="Check its syntax.")


def _rewrite(path: Path) -> None:
    """Copy a database into a new file: DuckDB leaves the rows of replaced tables in the old one."""
    duckdb = package_for("Writing to DuckDB", "duckdb", "sql")
    target = path.resolve()
    try:
        with held_temporary(target, lambda folder: folder.mkdir(mode=0o700)) as folder:
            copy = folder / target.name
            with closing(duckdb.connect(config=_CONFIG)) as session:
                session.execute(_QUIET)
                for name, file, options in (("old_file", target, "(READ_ONLY)"), ("new_file", copy, "")):
                    text = str(file).replace("'", "''")
                    session.execute(f"ATTACH '{text}' AS {name} {options}").fetchall()
                session.execute("COPY FROM DATABASE old_file TO new_file").fetchall()
            shutil.copymode(target, copy)
            os.replace(copy, target)
    except (duckdb.Error, OSError):
        warnings.warn(
            f"The table was replaced, but {str(path)!r} may still contain its earlier rows, which SQL does not show. "
            "Copy the table into a new file before you hand it over.",
            PrivacyLeakWarning,
            stacklevel=2,
        )
