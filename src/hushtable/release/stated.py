"""What ``release.json`` states of the whole table, held against what the published rows and the policy tell.

Models that compare with the whole table have to believe its counts, but no more than the rows leave open: every
published value is in the whole table too, what is more there was suppressed, and the policy says how much may be. Which
number, place in an order or category a value has is told by the value and the policy alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray
from hushtable.errors import DataError
from hushtable.hierarchy.categories import code_categories
from hushtable.release.reread import sensitive_labels
from hushtable.release.verify import Published, joint_codes
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference

__all__ = ["check_counts", "check_described"]


def check_counts(published: Published, reference: Reference, fakes: int, suppression: float | None) -> None:
    """Refuse counts of the whole table that the published rows contradict.

    Parameters
    ----------
    published : Published
    reference : Reference
        As stated.
    fakes : int
        How many published rows are counterfeits, whose values the whole table need not have.
    suppression : float, optional
        The share of the people that the policy allows to be left out; any where it is not known.

    Examples
    --------
    >>> published = Published((pa.array(["a", "a"]),), {"pay": np.array([0, 1])}, {"pay": 2})
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [1, 1])), 0, 0.0)
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [2, 0])), 0, 0.0)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json counts fewer values of 'pay' in the whole table than are published. ...
    """
    if published.unit != reference.unit:
        raise _mismatch("release.json counts people in two units.")
    rows = len(published.quasi[0])
    people = rows - fakes if published.class_units is None else int(published.class_units.sum())
    if people > reference.units:
        raise _mismatch("release.json claims more people in the classes than in the whole table.")
    if suppression is not None and reference.units - people > int(np.floor(suppression * reference.units + 1e-9)):
        raise _mismatch("release.json speaks of more suppressed people than the policy allows.")
    if published.class_population is not None and int(published.class_population.sum()) > (reference.population or 0):
        raise _mismatch("release.json claims more of the population in the classes than there is.")
    for key, attribute in reference.attributes.items():
        if not attribute.whole:
            continue
        name = "+".join(key)
        if int(attribute.units.sum()) != reference.units:
            raise _mismatch(f"release.json counts {name!r} over another number of people than the whole table has.")
        if reference.unit == 1 and _beyond(published, key, attribute) > fakes:
            raise _mismatch(f"release.json counts fewer values of {name!r} in the whole table than are published.")


def _beyond(published: Published, key: tuple[str, ...], attribute: Attribute) -> int:
    """How many published values are more than the whole table is said to have."""
    codes, size = joint_codes([published.sensitive[n] for n in key], [published.sizes[n] for n in key])
    shown, count = np.unique(codes, return_counts=True)
    assert size == len(attribute.units)
    return int(np.maximum(count - attribute.units[shown], 0).sum())


def check_described(table: pa.Table, plan: TablePlan, reference: Reference, kinds: Mapping[str, Kind]) -> None:
    """Refuse numbers, orders and categories of sensitive values that are not those of the published values."""
    for column in plan.columns:
        if column.role is not Role.SENSITIVE:
            continue
        stated = reference.attribute((column.name,))
        named = [label for label in stated.labels if not label.startswith("\0")]
        kind = kinds.get(column.name)
        declared = kind is not None and column.kind in (None, kind)
        if not declared or len(set(named)) < len(named) or not _agrees(table, plan, column, stated, kind):
            raise _mismatch(f"release.json describes the values of {column.name!r} otherwise than they are.")


def _agrees(table: pa.Table, plan: TablePlan, column: ColumnPlan, stated: Attribute, kind: Kind | None) -> bool:
    # the last of the labels is the missing value's, whether or not there is one
    labels = sensitive_labels(table.column(column.name), column, kind, plan.missing_values).dictionary.to_pylist()[:-1]
    place = {label: code for code, label in enumerate(stated.labels)}
    codes = np.array([place[label] for label in labels], dtype=np.int64)
    if kind is not None and stated.ordered != kind.ordered:
        return False
    if stated.ordered and (np.any(np.diff(codes) <= 0) or place.get("", 0) != 0):
        return False
    if (stated.numbers is None) == (kind in (Kind.NUMERIC, Kind.DATE)):
        return False
    if stated.numbers is not None and not np.array_equal(stated.numbers[codes], _numbers(labels, kind)):
        return False
    if not column.categories:
        return stated.categories is None
    categories, n_categories = code_categories(labels, column.categories, column.name)
    return (
        stated.categories is not None
        and stated.n_categories == n_categories
        and np.array_equal(stated.categories[codes], categories)
    )


def _numbers(labels: list[str], kind: Kind | None) -> AnyArray:
    if kind is Kind.DATE:
        return np.array(labels, dtype="datetime64[D]").astype(np.float64)
    return np.array([float(label) for label in labels])


def _mismatch(message: str) -> DataError:
    return DataError(message, code="mismatch", hint="Take the release.json that was written with this release.")
