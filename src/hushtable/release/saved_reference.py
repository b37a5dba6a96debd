"""What models compare classes with, when all that is there is the published table and perhaps ``release.json``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.models.compose import AllOf
from hushtable.schema.columns import Role
from hushtable.table.encode import sensitive_column
from hushtable.table.encoded import check_combinations
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

__all__ = ["saved_reference", "stated_counts"]


def stated_counts(values: Sequence[Any]) -> IntArray:
    """Return counts that a file states: whole numbers, none of them negative, whose sum is one of 64 bits.

    Raises
    ------
    ValueError
        If they are something else.

    Examples
    --------
    >>> stated_counts([2, 0]).tolist()
    [2, 0]
    >>> stated_counts([2**63 - 1, 2**63 - 1])
    Traceback (most recent call last):
    ValueError: no counts
    """
    if not all(type(value) is int and value >= 0 for value in values) or sum(values) >= 2**63:
        raise ValueError("no counts")
    return np.array(values, dtype=np.int64)


def saved_reference(table: pa.Table, plan: TablePlan, evidence: Mapping[str, Any] | None, model: AllOf) -> Reference:
    """Return what models compare classes with: from ``release.json``, or as far as the published table tells."""
    attributes: dict[Key, Attribute] = {}
    keys = {key for key in model.histogram_keys() if len(key) > 1}
    if evidence is not None:
        data = evidence["reference"]
        if int(data["unit"]) < 1:
            raise ValueError("no unit")
        for entry in data["attributes"]:
            attributes[(entry["column"],)] = _attribute(entry, int(data["unit"]))
        people, unit = int(data["units"]), int(data["unit"])
        population = None if data["population"] is None else int(data["population"])
        for entry in data.get("joint", ()):
            key = tuple(entry["columns"])
            if key in keys:
                attributes[key] = Attribute(key, (), _joint_units(entry, _combinations(key, attributes)), unit)
    else:
        people, unit, population = table.num_rows, 1, None
        for column in (c for c in plan.columns if c.role is Role.SENSITIVE):
            coded = sensitive_column(column, table, plan, table.num_rows)
            attributes[(column.name,)] = coded.attribute(np.zeros(coded.coded.size, dtype=np.int64), 1, whole=False)
    for key in keys - set(attributes):
        units = np.zeros(_combinations(key, attributes), dtype=np.int64)
        attributes[key] = Attribute(key, (), units, whole=False)
    return Reference(people, unit, attributes, population)


def _combinations(key: Key, attributes: Mapping[Key, Attribute]) -> int:
    size = math.prod(attributes[(name,)].n_values for name in key)
    check_combinations(key, size)
    return size


def _joint_units(entry: Mapping[str, Any], size: int) -> IntArray:
    units = np.zeros(size, dtype=np.int64)
    units[stated_counts(entry["codes"])] = stated_counts(entry["units"])
    if rest := entry.get("withheld"):
        # which combinations these are is not told: any that is not published will do
        units[np.flatnonzero(units == 0)[-len(rest) :]] = stated_counts(rest)
    return units


def _attribute(entry: Mapping[str, Any], unit: int) -> Attribute:
    # a hidden value keeps a label that no cell can have
    labels = [f"\0{i}" if label is None else label for i, label in enumerate(entry["labels"])]
    numbers, units, categories = entry["numbers"], entry["units"], entry["categories"]
    levels = tuple(stated_counts(level) for level in entry["levels"])
    names = tuple(tuple(x or "" for x in row) for row in entry["level_labels"])
    if any(part is not None and len(part) != len(labels) for part in (units, numbers, categories, *levels)):
        raise ValueError("lengths differ")
    if any(np.any(level >= len(row)) for level, row in zip(levels, names, strict=True)):
        raise ValueError("nodes without a name")
    if levels and not np.array_equal(levels[0], np.arange(len(labels))):
        raise ValueError("leaves that are no values")
    return Attribute(
        key=(entry["column"],),
        labels=labels,
        units=np.zeros(len(labels), dtype=np.int64) if units is None else stated_counts(units),
        unit=unit,
        ordered=bool(entry["ordered"]),
        numbers=None if numbers is None else np.array([np.nan if x is None else x for x in numbers], dtype=np.float64),
        categories=None if categories is None else stated_counts(categories),
        n_categories=int(entry["n_categories"]),
        levels=levels,
        level_labels=names,
        whole=units is not None,
        withheld=None in entry["labels"],
    )
