"""The reference for later verification, from the companion or from published rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import HierarchyError
from hushtable.models.compose import AllOf
from hushtable.release.verify import joint_codes
from hushtable.schema.columns import Role
from hushtable.table.encode import sensitive_column
from hushtable.table.encoded import check_combinations
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

_T = TypeVar("_T")


def stated_counts(values: Sequence[Any]) -> IntArray:
    """Return the counts in a file: non-negative integers whose sum fits into 64 bits.

    Raises
    ------
    ValueError
        If they are anything else.

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


def saved_reference(evidence: Mapping[str, Any], model: AllOf) -> Reference:
    """Return the reference of the models from the private companion."""
    data = evidence["reference"]
    attributes: dict[Key, Attribute] = {}
    for entry in data["attributes"]:
        own = {name: value for name, value in entry.items() if name != "column"}
        own |= {"key": (entry["column"],), "unit": data["unit"]}
        attributes[own["key"]] = Attribute.from_lists(own)
    joint = {tuple(entry["columns"]): entry for entry in data["joint"]}
    for key in (key for key in model.histogram_keys() if len(key) > 1):
        size = _combinations(key, attributes)
        # another policy's model may use joint columns that were not counted
        units = _joint_units(joint[key], size) if key in joint else np.zeros(size, dtype=np.int64)
        attributes[key] = Attribute(key, (), units, data["unit"], whole=key in joint)
    return Reference(data["units"], data["unit"], attributes, data["population"])


def row_references(table: pa.Table, plan: TablePlan, model: AllOf, evidence: Mapping[str, Any]) -> Iterator[Reference]:
    """Yield possible references, as far as the published rows and ``release.json`` determine them.

    If nothing was suppressed, the rows are the whole table. If the policy publishes the reference, counts of published
    values are those of the whole table, and unpublished values may be anywhere: three examples.
    """
    rows = _of_rows(table, plan, model, whole=evidence.get("suppressed") == 0)
    if "whole_table" not in evidence:
        yield rows
        return
    stated = {tuple(entry["columns"]): entry for entry in evidence["whole_table"]["columns"]}
    (people,) = stated_counts([evidence["whole_table"]["people"]]).tolist()
    hidden = sum(stated_counts([entry["withheld"] for entry in stated.values()]).tolist())
    for place in ("first", "last", "middle") if hidden else ("first",):
        attributes: dict[Key, Attribute] = {}
        for key, own in rows.attributes.items():  # joint columns come last
            alone = len(key) == 1
            attributes[key] = (
                _with_withheld(own, stated, place) if alone else _joint_with_withheld(key, attributes, stated, place)
            )
        yield Reference(people, 1, attributes)


def _of_rows(table: pa.Table, plan: TablePlan, model: AllOf, *, whole: bool) -> Reference:
    codes: dict[str, AnyArray] = {}
    attributes: dict[Key, Attribute] = {}
    for column in (c for c in plan.columns if c.role is Role.SENSITIVE):
        own, unread = readable(column, lambda c: sensitive_column(c, table, plan, table.num_rows))
        codes[column.name] = own.codes
        units = np.bincount(own.codes, minlength=own.coded.size).astype(np.int64)
        attribute = own.attribute(units, 1, whole=whole)
        if unread is not None:
            attribute = replace(attribute, levels=unread, level_labels=unread)
        attributes[attribute.key] = attribute
    for key in (key for key in model.histogram_keys() if len(key) > 1):
        size = _combinations(key, attributes)
        both, _ = joint_codes([codes[n] for n in key], [attributes[(n,)].n_values for n in key])
        units = np.bincount(both, minlength=size).astype(np.int64)
        attributes[key] = Attribute(key, (), units, whole=whole)
    return Reference(table.num_rows, 1, attributes)


_WITHHELD = ("\0withheld", "\0others")
"""Labels that cannot occur in a cell."""


def _with_withheld(own: Attribute, stated: Mapping[Key, Mapping[str, Any]], place: str) -> Attribute:
    """Return the published values with their counts in the whole table, and two more for all unpublished ones."""
    entry = stated.get(own.key)
    more = _WITHHELD if any(own.name in key and other["withheld"] for key, other in stated.items()) else ()
    n = own.n_values
    at = {"first": 0, "last": n, "middle": n // 2}[place]
    near = min(at, n - 1)

    def put(values: AnyArray, hidden: Any) -> AnyArray:
        return np.insert(values, at, np.full(len(more), hidden))

    units, rest = np.zeros(n, dtype=np.int64), np.zeros(len(more), dtype=np.int64)
    if entry is not None:
        code = {label: i for i, label in enumerate(own.labels)}
        units[[code[label] for label, _ in entry["values"]]] = stated_counts([count for _, count in entry["values"]])
        if more:
            one = 0 if place == "first" else min(1, entry["withheld"])
            rest[:] = stated_counts([entry["withheld"] - one, one])
    levels, names = [], []
    for h, (level, row) in enumerate(zip(own.levels, own.level_labels, strict=True)):
        # in a separate branch, or in that of a neighbor; all share one root
        node = 0 if h == len(own.levels) - 1 else len(row) if place == "first" else level[near]
        levels.append(put(level, node) if h else np.arange(n + len(more)))
        names.append((*row, "") if h else (*row, *more))
    return replace(
        own,
        labels=[*own.labels[:at], *more, *own.labels[at:]],
        units=np.insert(units, at, rest),
        numbers=None if own.numbers is None else put(own.numbers, own.numbers[near]),
        categories=None
        if own.categories is None
        else put(own.categories, own.n_categories - 1 if place == "last" else 0),
        levels=tuple(levels),
        level_labels=tuple(names),
        whole=entry is not None,
        withheld=bool(more),
    )


def _joint_with_withheld(
    key: Key, single: Mapping[Key, Attribute], stated: Mapping[Key, Mapping[str, Any]], place: str
) -> Attribute:
    sizes = [single[(name,)].n_values for name in key]
    units = np.zeros(_combinations(key, single), dtype=np.int64)
    entry = stated.get(key)
    if entry is None:
        return Attribute(key, (), units, whole=False)
    code = [{label: i for i, label in enumerate(single[(name,)].labels)} for name in key]
    for *labels, count in entry["values"]:
        where = np.ravel_multi_index([own[label] for own, label in zip(code, labels, strict=True)], sizes)
        units[where] = stated_counts([count])[0]
    if entry["withheld"]:
        free = np.flatnonzero(units == 0)
        units[free[{"first": 0, "last": -1, "middle": len(free) // 2}[place]]] = stated_counts([entry["withheld"]])[0]
    return Attribute(key, (), units)


def readable(column: ColumnPlan, describe: Callable[[ColumnPlan], _T]) -> tuple[_T, tuple[Any, ...] | None]:
    """Describe a column; if the file of its hierarchy is missing, using the hierarchy raises an error."""
    try:
        return describe(column), None
    except HierarchyError as error:
        if error.code != "unreadable":
            raise
        return describe(replace(column, hierarchy=None)), _Unread(error)


class _Unread(tuple[Any, ...]):
    """The levels of a hierarchy with a missing file: using them raises an error."""

    def __new__(cls, why: HierarchyError) -> _Unread:
        unread = super().__new__(cls)
        unread.why = why
        return unread

    why: HierarchyError

    def __len__(self) -> NoReturn:
        raise self.why

    def __iter__(self) -> NoReturn:
        raise self.why

    def __getitem__(self, index: Any) -> NoReturn:
        raise self.why


def _combinations(key: Key, attributes: Mapping[Key, Attribute]) -> int:
    size = math.prod(attributes[(name,)].n_values for name in key)
    check_combinations(key, size)
    return size


def _joint_units(entry: Mapping[str, Any], size: int) -> IntArray:
    units = np.zeros(size, dtype=np.int64)
    units[entry["codes"]] = entry["units"]
    return units
