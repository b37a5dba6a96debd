"""The tables that a policy names: the population, and an adversary's beliefs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, PolicyError
from hushtable.io.files import read_table
from hushtable.io.urls import Url, is_url, shown, source_of
from hushtable.policy.objects import IN_MEMORY
from hushtable.schema.columns import Role
from hushtable.table.plan import Extra

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy

__all__ = ["extra_tables"]


def extra_tables(policy: Policy, folder: Path | None, *, read: bool = True) -> Extra:
    """Read the necessary columns of the population and background tables, or leave them empty."""
    quasi = list(policy.named(Role.QUASI))
    population = background = None
    if not read:
        return Extra(None if policy.population is None else pa.table({}))
    if policy.population is not None:
        population = _read(policy, "population", folder, policy.population, quasi)
    if policy.background is None:
        return Extra(population)
    file, on, probability = policy.background.file, policy.background.on, policy.background.probability
    background = _read(policy, "background", folder, file, [*quasi, on, probability])
    place = background.schema.get_field_index(probability)
    background = background.set_column(place, probability, _numbers(background.column(probability), probability))
    return Extra(population, background, on, probability)


def _read(policy: Policy, what: str, folder: Path | None, file: str, columns: list[str]) -> pa.Table:
    """Return the columns of a table that the policy holds, or of the file that it names."""
    held = policy.tables.get(what)
    if held is None and file == IN_MEMORY:
        raise PolicyError(
            f"The {what} table was given in Python, and a policy file does not contain it.",
            code="table-in-memory",
            hint=f"Give it again: policy.changed({what}=...), or open_release(folder, original, {what}=...).",
        )
    if held is None:
        return read_table(_inside(folder, file), columns)
    absent = [name for name in columns if name not in held.column_names]
    if absent:
        raise DataError(
            f"The {what} table has no column {absent[0]!r}.",
            code="absent-columns",
            hint="It needs every quasi-identifier of the policy.",
        )
    return held.select(columns)


def _inside(folder: Path | None, file: str) -> str | Path:
    """Return the location of a table that the policy names: a file next to the policy, or an address."""
    if is_url(file) and Url.of(file).has_password:
        raise PolicyError(
            f"The policy contains a password, in {shown(file)!r}.",
            code="password",
            hint="Policies are published; keep it in ~/.pgpass or PGPASSWORD instead.",
        )
    return source_of(file, folder)


def _numbers(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Convert text, since CSV files contain text."""
    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
        return column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"The column {name!r} of the background table contains values that are not numbers.",
            code="background-probabilities",
            hint="Write probabilities like 0.25.",
        ) from None
