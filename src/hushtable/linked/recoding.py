"""Generalization of events: level by level along the hierarchies of their columns, class by class.

Within a class, all events with the same value publish it at the same level: the lowest one, not below a floor, at which
enough events of the class show the same node. So a known event leads to one published item in each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.errors import PolicyError
from hushtable.hierarchy.base import ROOT
from hushtable.io.dictionaries import from_codes
from hushtable.linked.events import joint_codes
from hushtable.linked.links import Links, of_table
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.coins import Coins
from hushtable.table.encode import encode
from hushtable.table.losses import lost_precision, ncp
from hushtable.table.plan import TablePlan


@dataclass(frozen=True)
class EventColumn:
    """One quasi-identifier of a table of events."""

    column: QuasiColumn

    @property
    def height(self) -> int:
        """Number of steps from a value to the root."""
        return self.column.coded.height

    @cached_property
    def labels_by_level(self) -> tuple[tuple[IntArray, ...], tuple[str | None, ...]]:
        """For each level, the number of each value's published label; and the distinct labels."""
        coded = self.column.coded
        known: dict[str | None, int] = {}
        named = [coded.labels[0], *map(self._labels, coded.labels[1:])]
        rows = [[known.setdefault(label, len(known)) for label in row] for row in named]
        numbers = [np.array(row, dtype=np.int64) for row in rows]
        return tuple(n[level] for n, level in zip(numbers, coded.levels, strict=True)), tuple(known)

    def _labels(self, labels: Sequence[str | None]) -> Sequence[str | None]:
        """Return labels that depend on their values alone: a mask is as long as the longest value of the column."""
        naming = self.column.coded.naming
        if naming is None or naming.ranged or labels == (ROOT,):
            return labels
        kept = naming.sort_keys(pa.array(labels, pa.string())).to_pylist()
        return [text if text is None else f"{text}{ROOT}" for text in kept]

    def of_data(self) -> bool:
        """Whether labels show the smallest and largest value of the data, which dropped events might have."""
        coded = self.column.coded
        return bool(
            coded.naming and coded.naming.ranged and any(coded.naming.made(row).any() for row in coded.labels[1:-1])
        )

    def of_length(self) -> bool:
        """Whether masked values differ in length: masks are counted from the longest value."""
        naming, labels = self.column.coded.naming, self.column.coded.labels[0]
        return bool(naming and not naming.ranged and len({len(text) for text in labels if text is not None}) > 1)

    @cached_property
    def generality(self) -> tuple[FloatArray, ...]:
        """For each level and value, how general it is: 0 to 1.

        The mean of two shares: of the column's other values that the published cell also covers, and of the steps up to
        the root. With the first alone, a chapter of many codes would count as nearly exact.
        """
        coded = self.column.coded
        return tuple(
            (ncp(coded, coded.leaves(h)[level]) + lost_precision(coded, np.full(coded.size, h))) / 2
            for h, level in enumerate(coded.levels)
        )

    def cells(self, levels: AnyArray) -> IntArray:
        """Return the number of each row's published label."""
        found: IntArray = _at(self.labels_by_level[0], self.column.codes, levels)
        return found

    def only(self, rows: BoolArray) -> EventColumn:
        """Return the selected rows."""
        c = self.column
        return EventColumn(QuasiColumn(c.name, c.codes[rows], c.coded, c.weight, c.form, c.spellings))

    def published(self, levels: AnyArray) -> pa.Array:
        """Return the published cells."""
        labels = [label for label in self.labels_by_level[1] if label is not None]
        # a missing value is an empty cell
        number = {label: i for i, label in enumerate(labels)}
        place = np.array([-1 if label is None else number[label] for label in self.labels_by_level[1]], dtype=np.int64)
        return from_codes(place[self.cells(levels)], pa.array(labels, pa.string()), pa.int32())


@dataclass(frozen=True)
class LinkedProblem:
    """People in classes, and their events, which are to be generalized.

    Attributes
    ----------
    links : Links
    columns : mapping of str to list of EventColumn
        The quasi-identifiers of each table of events.
    classes : int64 array
        The class of each person.
    coins : Coins
        Break ties: with models of sensitive values, nobody may be able to predict what is dropped.
    """

    links: Links
    columns: Mapping[str, list[EventColumn]]
    classes: IntArray
    coins: Coins


@dataclass(frozen=True)
class Levels:
    """A choice of the search: the lowest level of each column, and how many events must show a node.

    Attributes
    ----------
    floors : mapping of (table, column) to int
    enough : int
    """

    floors: Mapping[tuple[str, str], int]
    enough: int


@dataclass(frozen=True)
class RecodedEvents:
    """The level of every event in every column, and which events are dropped: at first those that would show nothing.

    Attributes
    ----------
    levels : mapping of str to list of int8 arrays
    cells : mapping of str to int64 array
        What each event shows, as a number.
    loss : float array
        One entry per event of all tables: 0 is none, 1 is everything.
    dropped : bool array
        One entry per event of all tables.
    """

    levels: Mapping[str, list[AnyArray]]
    cells: Mapping[str, IntArray]
    loss: FloatArray
    dropped: BoolArray

    @classmethod
    def of(cls, problem: LinkedProblem, chosen: Levels) -> RecodedEvents:
        """Choose the level of every event."""
        levels: dict[str, list[AnyArray]] = {}
        for name in problem.links.quasi:
            label = problem.classes[problem.links.person[name]]
            floors = [(c, chosen.floors.get((name, c.column.name), 0)) for c in problem.columns[name]]
            levels[name] = [_levels(c, label, floor, chosen.enough) for c, floor in floors]
        return cls.at(problem, levels)

    @classmethod
    def at(cls, problem: LinkedProblem, levels: Mapping[str, list[AnyArray]]) -> RecodedEvents:
        """Return what events show, and their loss, at given levels."""
        links, columns = problem.links, problem.columns
        loss = np.zeros(links.n_events)
        dropped = np.zeros(links.n_events, dtype=np.bool_)
        cells: dict[str, IntArray] = {}
        for name in links.quasi:
            if not columns[name]:  # a table without rows
                cells[name] = np.empty(0, dtype=np.int64)
                continue
            pairs = list(zip(columns[name], levels[name], strict=True))
            cells[name] = joint_codes([c.cells(level) for c, level in pairs])
            weights = [c.column.weight for c in columns[name]]
            parts = [_at(c.generality, c.column.codes, level) * w for (c, level), w in zip(pairs, weights, strict=True)]
            loss[links.part(name)] = sum(parts) / sum(weights)
            dropped[links.part(name)] = np.logical_and.reduce([level == c.height for c, level in pairs])
        return cls(levels, cells, loss, dropped)

    @property
    def suppressed(self) -> float:
        """The share of dropped events."""
        return float(self.dropped.mean()) if len(self.dropped) else 0.0

    def mean_loss(self, links: Links) -> float:
        """Return the mean loss of each table's events, averaged by the weights of the tables: 1 is everything."""
        loss, total, weights = np.where(self.dropped, 1.0, self.loss), 0.0, 0.0
        for name in links.quasi:
            if links.tables[name].num_rows:
                weight = links.policy.tables[name].weight
                total += weight * float(loss[links.part(name)].mean())
                weights += weight
        return total / weights if weights else 0.0


def event_columns(links: Links) -> dict[str, list[EventColumn]]:
    """Encode the quasi-identifiers of all tables of events.

    Raises
    ------
    PolicyError
        If a hierarchy is built from the data: its labels would reveal something about suppressed events.
    """
    found: dict[str, list[EventColumn]] = {}
    for name in links.quasi:
        plan = links.policy.table_plan(name)
        quasi = tuple(c for c in plan.columns if c.role is Role.QUASI)
        table = links.tables[name].select([c.name for c in quasi])
        if not table.num_rows:
            found[name] = []
            continue
        with of_table(name):
            encoded = encode(table, TablePlan(quasi, plan.missing, plan.missing_values, plan.cells))
        found[name] = [EventColumn(column) for column in encoded.quasi]
        for own, planned in zip(found[name], quasi, strict=True):
            if own.of_length() and getattr(planned.hierarchy, "length", None) is None:
                raise PolicyError(
                    f"The values of {name}.{own.column.name} differ in length, so what its masks keep would reveal "
                    "something about suppressed events.",
                    code="hierarchy",
                    hint="Write the length of the longest value there may be: {prefix: {length: 7}}.",
                )
            if own.of_data():
                raise PolicyError(
                    f"The hierarchy of {name}.{own.column.name} is built from the data, so its labels would reveal "
                    "something about suppressed events.",
                    code="hierarchy",
                    hint="Choose one that the policy defines: a file, a tree, prefix, intervals or dates.",
                )
    return found


def _at(tables: Sequence[AnyArray], codes: AnyArray, levels: AnyArray) -> Any:
    """Return the entry of each row's code in the table of its level."""
    return np.stack(tables)[levels, codes]


def _levels(column: EventColumn, label: IntArray, floor: int, enough: int) -> AnyArray:
    """Return the lowest level, not below the floor, at which enough events of the class show the same node."""
    codes, height = column.column.codes, column.height
    found = np.full(len(codes), height, dtype=np.int8)
    for h in range(height - 1, min(floor, height) - 1, -1):
        node = column.column.coded.levels[h][codes]
        size = int(node.max(initial=0)) + 1
        key = label * size + node
        if (int(label.max(initial=0)) + 1) * size > 8 * len(key) + 1_000_000:
            key = joint_codes([label, node])
        found[np.bincount(key)[key] >= enough] = h
    return found
