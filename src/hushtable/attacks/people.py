"""People that an adversary knows from outside: their quasi-identifiers, in the codes of the release's columns.

Values that do not occur in the original have no code. Published cells still cover them (``142**`` covers a zip code,
``[25, 28]`` an age), so they are kept with their labels in the column's hierarchy, built with the policy's own recipe.
A value that the recipe does not cover is covered only by the root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.attacks.view import View
from hushtable.errors import DataError, HierarchyError, UsageError
from hushtable.hierarchy.base import Coded
from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.io.frames import to_arrow
from hushtable.io.text import is_text
from hushtable.schema.parse import convert

_NOBODY = -1


@dataclass(frozen=True)
class Unseen:
    """Values of one column that do not occur in the original.

    Attributes
    ----------
    values : pyarrow.Array
    paths : tuple of tuples
        The labels of each value, level by level; empty if the hierarchy does not cover it.
    """

    values: pa.Array
    paths: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class People:
    """Some people, by column.

    Attributes
    ----------
    codes : tuple of int64 arrays
        One per quasi-identifier of the release. Codes from ``coded.size`` on number ``unseen``; -1 is a missing value
        if the original has none.
    unseen : tuple of Unseen
    sensitive : mapping of str to int64 array
        Known values for scoring; -1 for values that do not occur in the original.

    Examples
    --------
    >>> import hushtable as ht
    >>> original = pa.table({"zip": ["14248", "14249"], "disease": ["flu", "HIV"]})
    >>> policy = ht.Policy(quasi={"zip": {"hierarchy": {"prefix": "*"}, "cells": "nodes"}}, sensitive=["disease"],
    ...                    models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(original, policy))
    >>> rick = People.of_table(view, pa.table({"zip": ["14246"]}))
    >>> rick.codes[0].tolist(), rick.unseen[0].paths[0][:2]
    ([2], ('14246', '1424*'))
    """

    codes: tuple[IntArray, ...]
    unseen: tuple[Unseen, ...]
    sensitive: Mapping[str, IntArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.codes[0])

    @classmethod
    def of_rows(cls, view: View, rows: IntArray) -> People:
        """Return people of the original, with their true values."""
        if view.untreated is not None and len(rows) and int(rows.max()) < view.untreated.num_rows:
            return cls.of_table(view, view.untreated.take(pa.array(rows)))
        return cls(
            tuple(c.codes[rows].astype(np.int64) for c in view.table.quasi),
            tuple(_none() for _ in view.table.quasi),
            {c.name: c.codes[rows].astype(np.int64) for c in view.table.sensitive},
        )

    @classmethod
    def of_table(cls, view: View, frame: Any, what: str = "The external table") -> People:
        """Read people from a table with at least the release's quasi-identifiers.

        Raises
        ------
        DataError
            If it has no rows or lacks a column.
        """
        table = to_arrow(frame)
        names = [c.name for c in view.table.quasi]
        absent = [name for name in names if name not in table.column_names]
        if absent:
            raise DataError(
                f"{what} lacks the quasi-identifiers {', '.join(map(repr, absent))}.",
                code="absent-columns",
                hint=f"It needs: {', '.join(map(repr, names))}.",
            )
        if not table.num_rows:
            raise DataError(f"{what} has no rows.", code="empty", hint="Give the people to attack.")
        documents = view.policy.get("columns", {})
        read = [
            _read(table.column(c.name), c.coded, c.name, documents.get(c.name, {}).get("hierarchy"))
            for c in view.table.quasi
        ]
        known = {
            c.name: _codes_of_values(_distinct(table.column(c.name)), c.coded, c.name)
            for c in view.table.sensitive
            if c.name in table.column_names
        }
        return cls(tuple(codes for codes, _ in read), tuple(unseen for _, unseen in read), known)

    def take(self, index: IntArray) -> People:
        """Return some of these people."""
        return People(
            tuple(codes[index] for codes in self.codes),
            self.unseen,
            {name: codes[index] for name, codes in self.sensitive.items()},
        )


def outsiders(view: View, control: Any) -> People | None:
    """Return people who are not in the release: those of a given table, otherwise the suppressed records, if any."""
    if control is not None:
        return People.of_table(view, control, "The control table")
    return People.of_rows(view, view.suppressed) if len(view.suppressed) else None


def scored(people: People, column: str, what: str = "The control table") -> IntArray:
    """Return the sensitive codes for scoring, or raise if the table does not have the column."""
    if column not in people.sensitive:
        raise UsageError(
            f"{what} lacks the sensitive column {column!r}, so guesses cannot be scored.",
            code="absent-columns",
            hint=f"Add {column!r}.",
        )
    return people.sensitive[column]


def _none() -> Unseen:
    return Unseen(pa.array([], pa.string()), ())


def _distinct(column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    one = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    one = one.dictionary_decode() if pa.types.is_dictionary(one.type) else one
    encoded = one.dictionary_encode(null_encoding="encode")
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _typed(distinct: pa.Array, coded: Coded, name: str) -> pa.Array:
    typed = convert(distinct, coded.kind, name)
    if typed.type != coded.values.type and pa.types.is_floating(coded.values.type):
        typed = typed.cast(pa.float64())
    return typed


def _index(typed: pa.Array, coded: Coded) -> IntArray:
    """Return the code of each value; -1 if there is none."""
    domain = coded.values if coded.values.type == typed.type else coded.values.cast(typed.type)
    place = pc.index_in(typed, value_set=domain).fill_null(_NOBODY).to_numpy(zero_copy_only=False).astype(np.int64)
    codes = np.where(place >= 0, place + int(coded.missing), _NOBODY)
    empty = typed.is_null().to_numpy(zero_copy_only=False)
    return np.where(empty, 0 if coded.missing else _NOBODY, codes)


def _codes_of_values(distinct: tuple[pa.Array, IntArray], coded: Coded, name: str) -> IntArray:
    return _index(_typed(distinct[0], coded, name), coded)[distinct[1]]


def _read(column: pa.ChunkedArray, coded: Coded, name: str, recipe: Any) -> tuple[IntArray, Unseen]:
    distinct, indices = _distinct(column)
    typed = _typed(distinct, coded, name)
    codes = _index(typed, coded)
    new = np.flatnonzero((codes < 0) & typed.is_valid().to_numpy(zero_copy_only=False))
    if not len(new):
        return codes[indices], _none()
    values = typed.take(pa.array(new))
    codes[new] = coded.size + np.arange(len(new))
    return codes[indices], Unseen(values, _paths(values, coded, name, recipe))


def _paths(values: pa.Array, coded: Coded, name: str, recipe: Any) -> tuple[tuple[str | None, ...], ...]:
    domain = coded.values if coded.values.type == values.type else coded.values.cast(values.type)
    if not is_text(values.type):
        return _joint_paths(values, domain, coded, name, recipe)
    # masks are as long as the longest code: another person's longer one must not change what covers the others
    longest = pc.max(pc.utf8_length(domain)).as_py() or 0
    longer = pc.greater(pc.utf8_length(values), longest)
    own = iter(_joint_paths(values.filter(pc.invert(longer)), domain, coded, name, recipe))
    more = iter(_joint_paths(values.filter(longer), domain, coded, name, recipe))
    return tuple(next(more if long else own) for long in longer.to_pylist())


def _joint_paths(
    values: pa.Array, domain: pa.Array, coded: Coded, name: str, recipe: Any
) -> tuple[tuple[str | None, ...], ...]:
    if not len(values):
        return ()
    everything = pa.concat_arrays([domain, values]).unique()
    counts = np.ones(len(everything), dtype=np.int64)
    try:
        hierarchy = parse_hierarchy(recipe, name)
        wider = hierarchy.code(everything, coded.kind, missing=False, column=name, counts=counts)
    except HierarchyError:
        # the policy's hierarchy says nothing about these values, so nothing but the root covers them
        return ((),) * len(values)
    place = pc.index_in(values, value_set=wider.values).to_numpy(zero_copy_only=False)
    return tuple(
        tuple(labels[int(level[p])] for level, labels in zip(wider.levels, wider.labels, strict=True)) for p in place
    )
