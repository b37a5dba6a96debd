"""Addresses of tables that are not plain files: databases, and Parquet in a store.

``duckdb:///clinic.db?table=people`` and ``sqlite:///clinic.db?table=people`` (three slashes and a path from here, four
and a path from the root), ``postgresql://user@host/clinic?table=people``, ``s3://bucket/people.parquet``,
``file:///tmp/people.parquet``, ``delta:///people`` (a folder, with slashes as for databases). Values after ``=`` may be
percent-encoded, which is only required for ``&`` and ``%``. An address is shown without passwords, and that of a store
without what follows ``?``: anyone with its signatures and tokens could read the file.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from hushtable.errors import UsageError

Source: TypeAlias = "str | os.PathLike[str]"
"""A file's path, or an address."""

DATABASES = ("duckdb", "sqlite", "postgresql")
"""The schemes that are databases."""

DELTA = "delta"
"""The scheme of a folder that is, or becomes, a Delta table."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://", re.ASCII)
_SECRETS = frozenset({"password", "sslpassword", "passfile", "sslkey"})
_SAFE = "/:@,.*()'=<>! "


class SheetFile(type(Path())):  # type: ignore[misc]
    """A workbook with the name of a sheet."""

    sheet: str | None = None


@dataclass(frozen=True)
class Url:
    """The parts of an address.

    Attributes
    ----------
    scheme : str
        In lowercase; ``postgres`` is ``postgresql``.
    where : str
        The part between ``://`` and ``?``, as written.
    options : mapping of str to str
        The options after ``?``, decoded.

    Examples
    --------
    >>> url = Url.of("postgresql://ann:secret@db.example/clinic?table=my people")
    >>> url.scheme, url.options["table"]
    ('postgresql', 'my people')
    >>> print(url)
    postgresql://ann@db.example/clinic?table=my people
    """

    scheme: str
    where: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, text: str) -> Url:
        """Read an address.

        Raises
        ------
        UsageError
            If an option has no value or is given twice.
        """
        found = _SCHEME.match(text)
        if found is None:
            raise UsageError("The address has no scheme.", code="address", hint="Write it like sqlite:///clinic.db.")
        scheme = found[1].lower()
        where, _, given = text[found.end() :].partition("?")
        options: dict[str, str] = {}
        for part in given.split("&") if given else ():
            name, equals, value = part.partition("=")
            name = unquote(name)
            if not equals or not name:
                raise UsageError(
                    "The address has a part after '?' that is not name=value.",
                    code="address",
                    hint="Write it like ?table=people; in a value, & is %26 and % is %25.",
                )
            if name in options:
                raise UsageError(f"The address gives {name!r} twice.", code="address", hint="Keep one of them.")
            options[name] = unquote(value)
        return cls("postgresql" if scheme == "postgres" else scheme, where, options)

    def __str__(self) -> str:
        options = {k: v for k, v in self.options.items() if k not in self._hidden}
        return replace(self, where=self._public_where(), options=options).secret()

    def secret(self) -> str:
        """The whole address with passwords, for connecting, never for a message."""
        options = "&".join(f"{quote(k, safe='')}={quote(v, safe=_SAFE)}" for k, v in self.options.items())
        return f"{self.scheme}://{self.where}{'?' if options else ''}{options}"

    def _public_where(self) -> str:
        login, at, host = self.where.rpartition("@")
        return f"{login.partition(':')[0]}{at}{host}"

    @property
    def _hidden(self) -> frozenset[str]:
        """The options that are, or may be, secrets."""
        return _SECRETS if self.scheme in DATABASES else frozenset(self.options)

    @property
    def has_password(self) -> bool:
        """Whether the address has a password or a possible signature."""
        return ":" in self.where.rpartition("@")[0] or bool(self._hidden & self.options.keys())

    def with_options(self, **options: str | None) -> Url:
        """Return the address with these options, if given, in addition to its own.

        Examples
        --------
        >>> print(Url.of("sqlite:///clinic.db").with_options(table="people", query=None))
        sqlite:///clinic.db?table=people
        """
        return replace(self, options={**self.options, **{k: v for k, v in options.items() if v is not None}})

    @property
    def path(self) -> Path:
        """The local path of a database, a Delta table or a ``file://`` address."""
        where = unquote(self.where)
        if self.scheme == "file":
            return Path(where.removeprefix("localhost"))
        return Path(where.removeprefix("/"))


def is_url(source: Source) -> bool:
    """Whether a source is an address, not a path.

    Examples
    --------
    >>> is_url("sqlite:///clinic.db"), is_url("clinic.csv"), is_url(Path("sqlite:/clinic.db"))
    (True, False, False)
    """
    return isinstance(source, str) and _SCHEME.match(source) is not None


def can_count(source: Source) -> bool:
    """Whether a source is a database that can count rows itself.

    Examples
    --------
    >>> can_count("duckdb:///clinic.db?table=people"), can_count("clinic.csv"), can_count("sqlite:///clinic.db")
    (True, False, False)
    """
    return is_url(source) and Url.of(str(source)).scheme in ("duckdb", "postgresql")


def redacted(source: Source) -> str:
    """Return a source as it may be printed: without passwords.

    Examples
    --------
    >>> redacted("postgresql://ann:secret@db/clinic?password=secret&table=people")
    'postgresql://ann@db/clinic?table=people'
    >>> redacted("https://store.example/people.parquet?signature=secret")
    'https://store.example/people.parquet'
    >>> redacted("clinic.csv")
    'clinic.csv'
    """
    return str(Url.of(str(source))) if is_url(source) else os.fspath(source)


def source_of(
    text: str, folder: Path | None = None, *, table: str | None = None, query: str | None = None
) -> str | Path:
    """Return an address unchanged, and anything else as a path, relative to a folder if one is given.

    Parameters
    ----------
    text : str
    folder : Path, optional
    table, query : str, optional
        The table of a database, the sheet of a workbook, or a query for a database; refused for other files.

    Examples
    --------
    >>> source_of("sqlite:///clinic.db", table="people")
    'sqlite:///clinic.db?table=people'
    >>> source_of("clinic.csv", Path("data")).as_posix()
    'data/clinic.csv'
    """
    if not text.strip():
        raise UsageError(
            "The path of a table is empty.", code="no-file", hint="Name the file; in a script, set the variable."
        )
    if is_url(text):
        url = Url.of(text)
        if (table or query) and url.scheme not in DATABASES:
            raise _no_tables(redacted(text))
        if table or query:
            url = replace(url, options={k: v for k, v in url.options.items() if k not in ("table", "query")})
        return url.with_options(table=table, query=query).secret() if table or query else text
    path = Path(text) if folder is None else folder / text
    if table and not query and path.suffix.lower() == ".xlsx":
        found = SheetFile(path)
        found.sheet = table
        return found
    if table or query:
        raise _no_tables(text)
    return path


def _no_tables(name: str) -> UsageError:
    return UsageError(
        f"{name!r} is not a database, so no table or query can be chosen.",
        code="not-a-database",
        hint=f"Databases begin with {', '.join(f'{d}://' for d in DATABASES)}. An Excel file's table is its sheet.",
    )


def package_for(what: str, module: str, extra: str) -> Any:
    """Import an optional package that an address needs.

    Raises
    ------
    UsageError
        With instructions for installing it.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(
            f"{what} needs the package {module.partition('.')[0]}, which is not installed.",
            code="not-installed",
            hint=f'Install it with: pip install "hushtable[{extra}]".',
        ) from None
