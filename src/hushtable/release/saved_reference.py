"""What models compare classes with, when all that is there is the published table and perhaps ``release.json``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.models.compose import AllOf
from hushtable.schema.columns import Role
from hushtable.table.encode import sensitive_column
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Attribute, Reference

__all__ = ["saved_reference"]


def saved_reference(table: pa.Table, plan: TablePlan, evidence: Mapping[str, Any] | None, model: AllOf) -> Reference:
    """Return what models compare classes with: from ``release.json``, or as far as the published table tells."""
    attributes: dict[tuple[str, ...], Attribute] = {}
    if evidence is not None:
        data = evidence["reference"]
        for entry in data["attributes"]:
            attributes[(entry["column"],)] = _attribute(entry, int(data["unit"]))
        people, unit, population = int(data["units"]), int(data["unit"]), data["population"]
        for entry in data.get("joint", ()):
            key = tuple(entry["columns"])
            size = math.prod(attributes[(name,)].n_values for name in key)
            units = np.zeros(size, dtype=np.int64)
            units[entry["codes"]] = entry["units"]
            if rest := entry.get("withheld"):
                # which combinations these are is not told: any that is not published will do
                units[np.flatnonzero(units == 0)[-len(rest) :]] = rest
            attributes[key] = Attribute(key, (), units, unit)
    else:
        people, unit, population = table.num_rows, 1, None
        for column in (c for c in plan.columns if c.role is Role.SENSITIVE):
            coded = sensitive_column(column, table, plan, table.num_rows)
            attributes[(column.name,)] = coded.attribute(np.zeros(coded.coded.size, dtype=np.int64), 1, whole=False)
    for key in model.histogram_keys():
        if len(key) > 1 and key not in attributes:
            size = math.prod(attributes[(name,)].n_values for name in key)
            attributes[key] = Attribute(key, (), np.zeros(size, dtype=np.int64), whole=False)
    return Reference(people, unit, attributes, population)


def _attribute(entry: Mapping[str, Any], unit: int) -> Attribute:
    # a hidden value keeps a label that no cell can have
    labels = [f"\0{i}" if label is None else label for i, label in enumerate(entry["labels"])]
    numbers, units = entry["numbers"], entry["units"]
    of_values = [units, numbers, entry["categories"], *entry["levels"]]
    if any(part is not None and len(part) != len(labels) for part in of_values):
        raise ValueError("lengths differ")
    if min(units or (), default=0) < 0 or unit < 1:
        raise ValueError("negative counts")
    return Attribute(
        key=(entry["column"],),
        labels=labels,
        units=np.zeros(len(labels), dtype=np.int64) if units is None else np.asarray(units, dtype=np.int64),
        unit=unit,
        ordered=bool(entry["ordered"]),
        numbers=None if numbers is None else np.array([np.nan if x is None else x for x in numbers], dtype=np.float64),
        categories=None if entry["categories"] is None else np.asarray(entry["categories"], dtype=np.int64),
        n_categories=int(entry["n_categories"]),
        levels=tuple(np.asarray(level, dtype=np.int64) for level in entry["levels"]),
        level_labels=tuple(tuple(x or "" for x in row) for row in entry["level_labels"]),
        whole=units is not None,
        withheld=None in entry["labels"],
    )
