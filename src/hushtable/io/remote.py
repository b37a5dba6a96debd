"""Parquet in stores that fsspec supports: ``s3://``, ``gs://``, ``az://``, ``https://``, ``memory://`` and more.

Users install fsspec and its packages for a store (s3fs, gcsfs, ...) themselves. A file is written under a temporary
name and then renamed, so that nobody finds a partial one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from hushtable.errors import DataError, HushtableError, OutputError, UsageError
from hushtable.io.layout import Rows, write_parquet
from hushtable.io.urls import Url, package_for

_ENDINGS = (".parquet", ".pq")


def _store(address: str) -> tuple[Any, str]:
    """The store of an address, and the path in it."""
    url = Url.of(address)
    if not url.where.lower().endswith(_ENDINGS):
        raise UsageError(
            f"{str(url)!r} cannot be used: in a store, tables must be Parquet.",
            code="unknown-format",
            hint="Choose a name that ends in .parquet, or copy the file here first.",
        )
    fsspec = package_for(f"{url.scheme}://", "fsspec", "remote")
    try:
        store, path = fsspec.core.url_to_fs(address)
    except ImportError:
        reason, hint = "fsspec needs another package for it", f"Install what fsspec uses for {url.scheme}://."
    except ValueError:
        reason, hint = "fsspec does not know it", "Check the address."
    except OSError:
        reason, hint = "it does not answer", "Check the address and your credentials."
    else:
        return store, path
    raise UsageError(f"{str(url)!r} cannot be reached: {reason}.", code="no-store", hint=hint)


@contextmanager
def open_remote(address: str) -> Iterator[IO[bytes]]:
    """Open a Parquet file in a store for reading.

    Raises
    ------
    DataError If it does not exist.
    """
    store, path = _store(address)
    name = str(Url.of(address))
    handle = None
    try:
        handle = store.open(path, "rb")
    except FileNotFoundError:
        pass
    except Exception:  # each store has its own errors
        raise DataError(
            f"{name!r} cannot be read: the store reports an error.",
            code="no-store",
            hint="Check the address and your credentials.",
        ) from None
    if handle is None:
        raise DataError(f"There is no file {name!r}.", code="no-file", hint="Check the address.")
    with handle:
        yield handle


def remote_exists(address: str) -> bool:
    """Whether there is a file at an address.

    Examples
    --------
    >>> remote_exists("memory://nobody/wrote/this.parquet")
    False
    """
    store, path = _store(address)
    try:
        return bool(store.exists(path))
    except Exception:  # each store has its own errors
        raise DataError(
            f"{str(Url.of(address))!r} cannot be reached.", code="no-store", hint="Check your credentials."
        ) from None


@contextmanager
def remote_file(address: str, table: pa.Table | Rows) -> Iterator[None]:
    """Write a table to a store; it appears under its name when the block ends without an error."""
    rows = Rows.of(table) if isinstance(table, pa.Table) else table
    store, path = _store(address)
    # some stores guess the content type from the suffix
    temporary = f"{path}.{secrets.token_hex(6)}.tmp.parquet"
    try:
        folder = store._parent(path)
        if folder:
            store.makedirs(folder, exist_ok=True)
        with store.open(temporary, "wb") as out:
            write_parquet(rows.pieces, rows.schema, out)
    except BaseException as error:
        _remove(store, temporary)
        # errors of the rows are not errors of the store, and each store has its own errors
        if isinstance(error, HushtableError) or not isinstance(error, Exception):
            raise
        raise _unwritten(address) from None
    try:
        yield
    except BaseException:
        _remove(store, temporary)
        raise
    try:
        store.mv(temporary, path)
    except BaseException as error:
        _remove(store, temporary)
        if not isinstance(error, Exception):
            raise
        raise _unwritten(address) from None


def write_remote(table: pa.Table, address: str) -> None:
    """Write a table to a store as Parquet, completely or not at all.

    Examples
    --------
    >>> write_remote(pa.table({"a": [1]}), "memory://docs/t.parquet")
    >>> with open_remote("memory://docs/t.parquet") as file:
    ...     file.read(4)
    b'PAR1'
    """
    with remote_file(address, table):
        pass


def _remove(store: Any, path: str) -> None:
    if store.exists(path):
        store.rm(path)


def _unwritten(address: str) -> OutputError:
    return OutputError(
        f"{str(Url.of(address))!r} cannot be written: the store reports an error.",
        hint="Check the address and your credentials.",
    )
