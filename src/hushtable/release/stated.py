"""What ``release.json`` states of the whole table, held against what the published rows and the policy tell.

Models that compare with the whole table have to believe its counts, but no more than the rows leave open: every
published value is in the whole table too, what is more there was suppressed, and the policy says how much may be. Which
number, place in an order, category or node a value has is told by the value and the policy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import DataError
from hushtable.io.dictionaries import counts
from hushtable.release.recode import class_numbers
from hushtable.release.reread import prepare_as, sensitive_labels
from hushtable.release.saved_reference import readable, stated_counts
from hushtable.release.verify import Published, joint_codes
from hushtable.schema.columns import Kind, Role
from hushtable.table.encode import sensitive_column
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

__all__ = ["check_counts", "check_sizes", "class_counts", "described"]


def check_sizes(told: Mapping[str, Any], rows: int, suppression: float | None, *, numbered: bool) -> None:
    """Refuse a ``release.json`` of another number of rows, or of more suppressed records than the policy allows.

    Examples
    --------
    >>> check_sizes({"rows": 3, "records": 4, "suppressed": 1}, 3, 0.0, numbered=False)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json speaks of more suppressed people than the policy allows. ...
    """
    if told["rows"] != rows:
        raise _mismatch(f"The published file has {rows} rows, release.json speaks of another number.")
    if numbered:
        return
    records, suppressed = stated_counts([told["records"], told["suppressed"]]).tolist()
    if records != rows + suppressed:
        raise _mismatch("release.json counts other records than the published and the suppressed ones.")
    if suppression is not None and suppressed > int(np.floor(suppression * records + 1e-9)):
        raise _mismatch("release.json speaks of more suppressed people than the policy allows.")


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


def _beyond(published: Published, key: Key, attribute: Attribute) -> int:
    """How many published values are more than the whole table is said to have."""
    codes, size = joint_codes([published.sensitive[n] for n in key], [published.sizes[n] for n in key])
    shown, count = np.unique(codes, return_counts=True)
    assert size == len(attribute.units)
    return int(np.maximum(count - attribute.units[shown], 0).sum())


def class_counts(
    quasi: tuple[pa.ChunkedArray, ...], classes: Mapping[str, Any], fakes: Any, *, shared: bool
) -> tuple[IntArray, IntArray | None]:
    """Bring the stated counts, given in the order of first rows, into the verifier's order of classes.

    They are believed as far as the rows allow: a row that is no counterfeit is somebody's, and a person unless people
    may have several (``shared``).

    Examples
    --------
    >>> class_counts((pa.chunked_array([["b", "b", "a"]]),), {"unit": 1, "units": [2, 1]}, None, shared=False)
    (array([2, 1]), None)
    """
    labels, n = class_numbers(quasi)
    rows = np.bincount(labels, minlength=n)
    _, first = np.unique(labels, return_index=True)
    shown = np.argsort(first, kind="stable")
    stated = stated_counts(classes["units"])
    if len(stated) != n:
        raise DataError(
            f"The published file has {n} classes, release.json speaks of {len(stated)}.",
            code="mismatch",
            hint="They do not belong together.",
        )
    units = np.empty(n, dtype=np.int64)
    units[shown] = stated
    if fakes is not None:
        rows[shown] -= stated_counts(fakes)
    unit = int(classes["unit"])
    if np.any(units > rows * unit):
        raise DataError("release.json claims more people than a class has rows.", code="mismatch")
    if np.any(units < 1) or (not shared and np.any(units < rows * unit)):
        # a class without people would not be judged at all, and none is made of counterfeits alone
        raise DataError("release.json claims fewer people than a class has rows for.", code="mismatch")
    if classes.get("population") is None:
        return units, None
    population = np.empty(n, dtype=np.int64)
    population[shown] = stated_counts(classes["population"])
    return units, population


def described(table: pa.Table, plan: TablePlan, reference: Reference, kinds: Mapping[str, Kind]) -> Reference:
    """Refuse kinds, numbers, orders and categories of sensitive values that are not those of the published values.

    A hierarchy is the policy's. One that depends on all records (on the longest code, on frequencies) may be another
    than the published ones give where some were suppressed. Theirs is taken then, and the reference that is returned is
    another one. Where the policy's hierarchy is in a file that is not there, a model that looks at it raises.
    """
    remade: dict[Key, Attribute] = {}
    for column in plan.columns:
        if column.role is not Role.SENSITIVE:
            continue
        stated = reference.attribute((column.name,))
        kind = kinds.get(column.name)
        if kind is None or column.kind not in (None, kind) or len(set(stated.labels)) < len(stated.labels):
            raise _otherwise(column)
        if column.kind is None and table.num_rows == reference.units:
            # nobody was left out, so the values tell their kind; only what reads as a label may have had a type
            told = prepare_as(table.column(column.name), column, None, plan.missing_values).kind
            if told not in (kind, Kind.NOMINAL):
                raise _otherwise(column)
        column = replace(column, kind=kind)
        own, unread = readable(column, lambda c: _of_published(table, plan, c))
        place = {label: code for code, label in enumerate(stated.labels)}
        codes = np.array([place.get(label, -1) for label in own.labels], dtype=np.int64)
        shown = np.flatnonzero(own.units)
        if not _agrees(stated, codes[shown], own, shown):
            raise _otherwise(column)
        if unread is not None:
            remade[stated.key] = replace(stated, levels=unread, level_labels=unread)
        elif not _same_hierarchy(stated, codes[shown], own, shown):
            remade[stated.key] = _with_hierarchy(stated, codes, own)
    return replace(reference, attributes={**reference.attributes, **remade}) if remade else reference


def _of_published(table: pa.Table, plan: TablePlan, column: ColumnPlan) -> Attribute:
    """Describe the published values as the policy does, with how often each is published."""
    labels = sensitive_labels(table.column(column.name), column, column.kind, plan.missing_values)
    times = counts(labels)
    occurring = np.flatnonzero(times)
    # the last of the labels is the missing value's
    values = pa.array([*labels.dictionary.to_pylist()[:-1], None], pa.string()).take(pa.array(occurring))
    own = sensitive_column(column, pa.table({column.name: values}), plan, len(values), times[occurring])
    units = np.zeros(own.coded.size, dtype=np.int64)
    np.add.at(units, own.codes.astype(np.int64), times[occurring])
    return own.attribute(units, 1)


def _agrees(stated: Attribute, codes: IntArray, own: Attribute, shown: IntArray) -> bool:
    """Whether both say the same of the published values, which have these codes there and those here."""
    if stated.ordered != own.ordered or stated.n_categories != own.n_categories:
        return False
    if stated.ordered and np.any(np.diff(codes) <= 0):
        return False
    if stated.categories is not None and np.any(stated.categories >= stated.n_categories):
        return False
    for one, other in ((stated.numbers, own.numbers), (stated.categories, own.categories)):
        if (one is None) != (other is None):
            return False
        if one is not None and other is not None and not np.array_equal(one[codes], other[shown], equal_nan=True):
            return False
    return True


def _same_hierarchy(stated: Attribute, codes: IntArray, own: Attribute, shown: IntArray) -> bool:
    """Whether the published values are under the same nodes, level by level."""
    if len(stated.levels) != len(own.levels):
        return False
    for h, (one, other) in enumerate(zip(stated.levels, own.levels, strict=True)):
        theirs, ours = one[codes], other[shown]
        names, our_names = stated.level_labels[h], own.level_labels[h]
        pairs = np.unique(theirs * len(our_names) + ours)
        if not len(pairs) == len(np.unique(theirs)) == len(np.unique(ours)):
            return False
        nodes = zip(*(side.tolist() for side in np.divmod(pairs, len(our_names))), strict=True)
        if any(names[a] != our_names[b] for a, b in nodes):
            return False
    return True


def _with_hierarchy(stated: Attribute, codes: IntArray, own: Attribute) -> Attribute:
    """Give the stated values the hierarchy of the published ones; what is not among these has the root alone above."""
    known = np.flatnonzero(codes >= 0)
    levels, names = [], []
    for level, row in zip(own.levels[:-1], own.level_labels[:-1], strict=True):
        nodes = len(row) + np.arange(stated.n_values)
        nodes[codes[known]] = level[known]
        levels.append(nodes)
        names.append((*row, *("",) * stated.n_values))
    levels.append(np.zeros(stated.n_values, dtype=np.int64))
    return replace(stated, levels=tuple(levels), level_labels=(*names, own.level_labels[-1]))


def _otherwise(column: ColumnPlan) -> DataError:
    return _mismatch(f"release.json describes the values of {column.name!r} otherwise than they are.")


def _mismatch(message: str) -> DataError:
    return DataError(message, code="mismatch", hint="Take the release.json that was written with this release.")
