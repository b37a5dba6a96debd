"""A release in a database or a store: the locations of its tables, and reading them back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pyarrow as pa

from hushtable.errors import OutputError, UsageError
from hushtable.io.dictionary_reader import read_coded
from hushtable.io.layout import Rows
from hushtable.io.remote import remote_exists, remote_file
from hushtable.io.sources import is_address
from hushtable.io.sql import check_sql_target, writing_sql
from hushtable.io.sql_place import SqlPlace
from hushtable.io.urls import DATABASES, DELTA, Source, Url, is_url, redacted
from hushtable.release.bucket import join_tables
from hushtable.release.publish import published_order
from hushtable.table.plan import TablePlan

if TYPE_CHECKING:
    from hushtable.release.released import Released

_APART = "sensitive"


def sensitive_address(address: str) -> str:
    """Return the address of the sensitive values of a published table, if they are separate.

    Examples
    --------
    >>> sensitive_address("sqlite:///out.db?table=people"), sensitive_address("s3://out/people.parquet")
    ('sqlite:///out.db?table=people_sensitive', 's3://out/people-sensitive.parquet')
    """
    url = Url.of(address)
    if url.scheme in DATABASES:
        return url.with_options(table=SqlPlace.of(address).named(f"_{_APART}").table).secret()
    path = PurePosixPath(url.where)
    stem = f"{path.stem}-{_APART}{path.suffix}"
    return address.replace(url.where, url.where[: len(url.where) - len(path.name)] + stem, 1)


def check_address(address: str, *, overwrite: bool, inputs: Sequence[Source] = (), apart: bool = False) -> None:
    """Refuse an address that the release cannot be written to, before any work is done.

    Parameters
    ----------
    address : str
    overwrite : bool
    inputs : sequence of path or address
        Inputs, which a release never replaces.
    apart : bool
        Whether sensitive values get a separate table.

    Raises
    ------
    OutputError
        If it is one of the inputs, or exists and must not be replaced.
    """
    if not is_url(address):
        raise UsageError(
            f"{address!r} is not an address.",
            code="address",
            hint="Write it like duckdb:///out.db?table=people or s3://bucket/people.parquet.",
        )
    if Url.of(address).scheme == "file":
        raise UsageError(
            "A release in files needs a folder, with its policy and its evidence.",
            code="address",
            hint="Give the folder with --output.",
        )
    for one in (address, sensitive_address(address)) if apart else (address,):
        if any(_same(one, given) for given in inputs):
            raise OutputError(
                f"{redacted(one)!r} is an input, which a release must not replace.",
                code="is-input",
                hint="Choose another table.",
            )
        if Url.of(one).scheme in DATABASES:
            check_sql_target(SqlPlace.of(one), overwrite=overwrite)
        elif Url.of(one).scheme == DELTA:
            from hushtable.io.lake import check_delta_target

            check_delta_target(one, overwrite=overwrite)
        elif remote_exists(one) and not overwrite:
            raise OutputError(
                f"{redacted(one)!r} exists.", code="exists", hint="Choose another name, or add --overwrite."
            )


def _same(address: str, given: Source) -> bool:
    if Url.of(address).scheme == DELTA and not is_address(given):
        place = Url.of(str(given)).path if is_url(given) else Path(given)
        return os.path.realpath(place) == os.path.realpath(Url.of(address).path)
    if not is_url(given):
        return False
    if Url.of(address).scheme in DATABASES and Url.of(str(given)).scheme in DATABASES:
        return SqlPlace.of(address).may_be_read_by(SqlPlace.of(str(given)))
    return str(given) == address


@contextmanager
def writing_release(release: Released, address: str, *, overwrite: bool = False) -> Iterator[None]:
    """Write a release's published table to an address; it appears when the block ends without an error.

    If sensitive values are separate from people, they are in a second table, ``..._sensitive``.
    """
    check_address(address, overwrite=overwrite, apart=release.apart)
    tables = [(address, release.table)]
    if release.apart:
        people, values = release.halves()
        tables = [(address, people), (sensitive_address(address), values)]
    with writing_rows([(one, Rows.of(table)) for one, table in tables], overwrite=overwrite):
        yield


@contextmanager
def writing_rows(tables: Sequence[tuple[str, Rows]], *, overwrite: bool = False) -> Iterator[None]:
    """Write tables to addresses of one database or store; they appear when the block ends without an error.

    Examples
    --------
    >>> with writing_rows([("memory://docs/open.parquet", Rows.of(pa.table({"a": [1]})))]):
    ...     remote_exists("memory://docs/open.parquet")
    False
    >>> remote_exists("memory://docs/open.parquet")
    True
    """
    if Url.of(tables[0][0]).scheme in DATABASES:
        with writing_sql([(SqlPlace.of(one), rows) for one, rows in tables], overwrite=overwrite):
            yield
        return
    if Url.of(tables[0][0]).scheme == DELTA:
        from hushtable.io.lake import writing_delta

        with writing_delta(tables, overwrite=overwrite):
            yield
        return
    with ExitStack() as held:
        for one, rows in tables:
            held.enter_context(remote_file(one, rows))
        yield


def read_address(address: str, linked: TablePlan | None = None) -> pa.Table:
    """Read a published table from an address.

    Parameters
    ----------
    address : str
    linked : TablePlan, optional
        Given if the sensitive values are in a separate table, which is read too.
    """
    table = read_coded(address)
    if linked is None:
        # release.json speaks of classes in the order of the published file, and databases keep none
        return table.take(pa.array(published_order(table)))
    return join_tables(table, read_coded(sensitive_address(address)), linked)
