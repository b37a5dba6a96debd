"""The checked address of a database table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from hushtable.errors import UsageError
from hushtable.io.urls import DATABASES, Url

_OWN = ("table", "schema", "query")


@dataclass(frozen=True)
class SqlPlace:
    """A table, or a query, of a database.

    Attributes
    ----------
    url : Url
        Address of the database alone.
    table, schema, query : str, optional
        A table, optionally in a schema, or a query.

    Examples
    --------
    >>> place = SqlPlace.of("duckdb:///clinic.db?table=my people")
    >>> place.path.name, place.relation()
    ('clinic.db', '"my people"')
    >>> SqlPlace.of("sqlite:///clinic.db?query=DROP TABLE people")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The query is not a SELECT. Only queries that begin with SELECT, WITH, VALUES or ...
    """

    url: Url
    table: str | None = None
    schema: str | None = None
    query: str | None = None

    @classmethod
    def of(cls, address: str) -> SqlPlace:
        """Read an address.

        Raises
        ------
        UsageError
            If it is not that of a database, names both a table and a query, or does more than a SELECT.
        """
        url = Url.of(address)
        if url.scheme not in DATABASES:
            raise UsageError(
                f"{url.scheme}:// is not a database that hushtable supports.",
                code="not-a-database",
                hint=f"Known: {', '.join(f'{d}://' for d in DATABASES)}.",
            )
        table, schema, query = (url.options.get(name) for name in _OWN)
        if query is not None:
            if table is not None or schema is not None:
                raise UsageError(
                    "The address names both a table or schema and a query.", code="address", hint="Keep one of them."
                )
            query = one_select(query)
        for what, name in (("table", table), ("schema", schema)):
            if name is not None and (not name or "\0" in name):
                raise UsageError(f"The address has an empty or broken {what} name.", code="address")
        rest = replace(url, options={k: v for k, v in url.options.items() if k not in _OWN})
        if url.scheme != "postgresql":
            if rest.options:
                raise UsageError(
                    f"A {url.scheme} address has no option {next(iter(rest.options))!r}.",
                    code="address",
                    hint=f"Known: {', '.join(_OWN)}.",
                )
            if not str(rest.path) or rest.where in ("", "/"):
                raise UsageError(
                    f"The {url.scheme} address names no file.",
                    code="address",
                    hint=f"Write it like {url.scheme}:///clinic.db?table=people.",
                )
        if url.scheme == "sqlite" and schema is not None:
            raise UsageError("SQLite has no schemas.", code="address", hint="Remove 'schema'.")
        return cls(rest, table, schema, query)

    def __str__(self) -> str:
        return str(self.url.with_options(schema=self.schema, table=self.table, query=self.query))

    @property
    def path(self) -> Path:
        """The database's file."""
        return self.url.path

    def named(self, suffix: str = "") -> SqlPlace:
        """Return the place, which must name a table; its name may get a suffix.

        Raises
        ------
        UsageError
        """
        if self.table is None:
            what = "holds a query" if self.query is not None else "names no table"
            raise UsageError(
                f"{str(self)!r} {what}; a table is needed to write to.", code="address", hint="Add ?table=NAME."
            )
        return replace(self, table=self.table + suffix)

    def relation(self) -> str:
        """What to put after FROM, names quoted.

        Raises
        ------
        UsageError
            If neither a table nor a query is named.
        """
        if self.query is not None:
            # on lines of its own, since a query may hold a comment at its end
            return f"(\n{self.query}\n) AS {quoted('asked')}"
        if self.table is None:
            raise UsageError(
                f"{str(self)!r} names neither a table nor a query.",
                code="address",
                hint="Add ?table=NAME or ?query=SELECT..., or give --table or --query.",
            )
        return quoted(self.table) if self.schema is None else f"{quoted(self.schema)}.{quoted(self.table)}"

    def may_be_read_by(self, other: SqlPlace) -> bool:
        """Whether the other place is this table, or a query that names it, as far as their addresses show."""
        if self.url.scheme != other.url.scheme:
            return False
        if self.url.scheme == "postgresql":
            same = str(self.url) == str(other.url)
        else:
            same = self.path.resolve() == other.path.resolve()
        if other.query is not None:
            return same and (self.table or "").casefold() in other.query.casefold()
        return same and self._full_name() == other._full_name()

    def _full_name(self) -> tuple[str | None, str | None]:
        """Schema and table as the database compares them: with its default schema, and in files ignoring case."""
        if self.url.scheme == "postgresql":
            return self.schema or "public", self.table
        return (self.schema or "main").casefold(), self.table and self.table.casefold()


# SQL as text: safely quoted names, and a check that queries only read.


_READS = ("select", "with", "values", "from")

# tokens without syntax: comments, texts, quoted names and PostgreSQL's dollar quotes
_SKIPPED = re.compile(
    r"""--[^\n]*
    | /\*.*?\*/
    | (?<![A-Za-z0-9_])[eE]'(?:[^'\\]|''|\\.)*'
    | '(?:[^']|'')*'
    | "(?:[^"]|"")*"
    | (\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$).*?\1""",
    re.VERBOSE | re.DOTALL,
)


def quoted(name: str) -> str:
    """Return a name quoted for SQL, whatever its characters.

    Examples
    --------
    >>> print(quoted('the "old" people'))
    "the ""old"" people"
    """
    return '"' + name.replace('"', '""') + '"'


def one_select(query: str) -> str:
    """Return the query without its terminator; refuse everything but a single query that reads.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> one_select("SELECT ';' AS a; -- no more;")
    "SELECT ';' AS a"
    >>> one_select("SELECT 1; DROP TABLE people")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The query is more than one statement. Give one SELECT.
    """
    if "\0" in query:
        raise _refused("contains a zero byte", "Remove it.")
    bare = _SKIPPED.sub(lambda found: (" " if found[0][0] in "-/" else "x") * len(found[0]), query)
    if re.search(r"['\"]|/\*|\*/", bare):
        raise _refused("has a quote or comment that does not end", "Close it.")
    end = len(bare.rstrip().rstrip(";").rstrip())
    bare = bare[:end]
    if ";" in bare:
        raise _refused("is more than one statement", "Give one SELECT.")
    depth = 0
    for bracket in re.findall(r"[()]", bare):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            break
    if depth:
        raise _refused("has parentheses that do not match", "Close every one that is opened.")
    word = re.match(r"[\s(]*([A-Za-z]*)", bare)
    if word is None or word[1].lower() not in _READS:
        raise _refused("is not a SELECT", "Only queries that begin with SELECT, WITH, VALUES or FROM are run.")
    return query[:end]


def _refused(what: str, hint: str) -> UsageError:
    return UsageError(f"The query {what}.", code="not-a-select", hint=hint)
