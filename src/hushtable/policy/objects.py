"""Python objects in place of files in a policy: tables, and hierarchies as frames, mappings and functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hushtable.errors import PolicyError
from hushtable.io.text import label_text

__all__ = ["IN_MEMORY", "hierarchy_of", "is_frame", "is_recipe", "taken_out"]

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
    from hushtable.errors import did_you_mean
    from hushtable.registry import hierarchies

    if len(given) != 1:
        return False
    (name,) = given
    # a misspelt recipe is told, not taken for a label
    return name == "tree" or name in hierarchies or did_you_mean(str(name), hierarchies).startswith("Did")


def _rows(frame: Any, column: str) -> list[list[str]]:
    from hushtable.io.frames import to_arrow
    from hushtable.io.text import to_labels

    table = to_arrow(frame)
    if table.num_columns < 2:
        raise PolicyError(
            f"The hierarchy of column {column!r} is a table without levels.",
            code="bad-hierarchy",
            hint="Give it a column with values, and one with labels for each level.",
        )
    labels = [to_labels(one.combine_chunks()).cast(pa.string()).to_pylist() for one in table.columns]
    return [[label or "" for label in row] for row in zip(*labels, strict=True)]
