"""Python objects in place of files in a policy: tables, and hierarchies as frames, mappings and functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.errors import DataError, PolicyError, did_you_mean
from hushtable.io.files import read_table
from hushtable.io.text import label_text, to_labels
from hushtable.io.urls import Url, is_url, redacted, source_of
from hushtable.schema.columns import Role
from hushtable.table.plan import SideTables

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy

IN_MEMORY = "(a table given in Python)"
"""Placeholder for a file in a policy: the table itself is not saved with it."""


def is_frame(given: Any) -> bool:
    """Whether something looks like a table of any library."""
    return hasattr(given, "columns") or isinstance(given, pa.Table | pa.RecordBatch) or hasattr(given, "collect_schema")


def taken_out(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Return the settings with a placeholder for each table, and the tables: population and background.

    Examples
    --------
    >>> settings, tables = taken_out({"population": pa.table({"age": [1]}), "seed": 3})
    >>> settings, list(tables)
    ({'population': '(a table given in Python)', 'seed': 3}, ['population'])
    """
    from hushtable.io.frames import to_arrow

    plain, tables = dict(settings), {}
    if is_frame(plain.get("population")):
        tables["population"] = to_arrow(plain["population"])
        plain["population"] = IN_MEMORY
    background = plain.get("background")
    if isinstance(background, Mapping) and is_frame(background.get("file")):
        tables["background"] = to_arrow(background["file"])
        plain["background"] = {**background, "file": IN_MEMORY}
    return plain, tables


def hierarchy_of(given: Any, column: str) -> Any:
    """Return a hierarchy that was given as an object as policy data; anything else unchanged.

    - A function of the value that returns its label, or a list of coarser and coarser labels.
    - A DataFrame with a row per value: the value first, then its label at each level.
    - A mapping of values to labels (``{"flu": "lung"}``), or of labels to the values below them
      (``{"lung": ["flu", "cold"]}``).

    Examples
    --------
    >>> hierarchy_of({"flu": "lung", "gout": "joint"}, "disease")
    {'taxonomy': {'rows': [['flu', 'lung'], ['gout', 'joint']]}}
    >>> hierarchy_of({"lung": ["flu", "cold"], "joint": ["gout"]}, "disease")
    {'tree': {'lung': ['flu', 'cold'], 'joint': ['gout']}}
    >>> hierarchy_of({"intervals": [5, 10]}, "age")
    {'intervals': [5, 10]}
    """
    if is_frame(given) and not isinstance(given, Mapping):
        return {"taxonomy": {"rows": _rows(given, column)}}
    if callable(given) and not isinstance(given, type):
        from hushtable.hierarchy.function import named_function

        return {"function": named_function(given)}
    if not isinstance(given, Mapping) or not given or is_recipe(given):
        return given
    if all(isinstance(label, str) for label in given.values()):
        return {"taxonomy": {"rows": [[label_text(value), label] for value, label in given.items()]}}
    return {"tree": dict(given)}


def is_recipe(given: Mapping[Any, Any]) -> bool:
    """Whether this has the form of a policy file: one recipe with its parameters."""
    from hushtable.registry import hierarchies

    if len(given) != 1:
        return False
    (name,) = given
    # a misspelled recipe is reported, not taken for a label
    return name == "tree" or name in hierarchies or did_you_mean(str(name), hierarchies).startswith("Did")


def _rows(frame: Any, column: str) -> list[list[str]]:
    from hushtable.io.frames import to_arrow

    table = to_arrow(frame)
    if table.num_columns < 2:
        raise PolicyError(
            f"The hierarchy of column {column!r} is a table without levels.",
            code="bad-hierarchy",
            hint="Give it a column with values, and one with labels for each level.",
        )
    labels = [to_labels(one.combine_chunks()).cast(pa.string()).to_pylist() for one in table.columns]
    return [[label or "" for label in row] for row in zip(*labels, strict=True)]


def read_side_tables(policy: Policy, folder: Path | None, *, read: bool = True) -> SideTables:
    """Read the necessary columns of the population and background tables, or leave them empty."""
    quasi = list(policy.named(Role.QUASI))
    population = background = None
    if not read:
        return SideTables(None if policy.population is None else pa.table({}))
    if policy.population is not None:
        population = _read(policy, "population", folder, policy.population, quasi)
    if policy.background is None:
        return SideTables(population)
    file, on, probability = policy.background.file, policy.background.on, policy.background.probability
    background = _read(policy, "background", folder, file, [*quasi, on, probability])
    place = background.schema.get_field_index(probability)
    background = background.set_column(place, probability, _numbers(background.column(probability), probability))
    return SideTables(population, background, on, probability)


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
            f"The policy contains a password, in {redacted(file)!r}.",
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
