"""A store of tuples in plain Python: lists, dictionaries and one record after the other.

It answers every question of a ``TupleStore`` as slowly and obviously as possible, and pretends that its records are
remote. Other stores are compared with it, question by question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.algorithms.base import Partition, Problem
from hushtable.algorithms.kinds import Kinds
from hushtable.algorithms.partition.children import Trees
from hushtable.algorithms.store import BranchCounts, Brought, Division, LevelCounts
from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.errors import IncompatibleError
from hushtable.hierarchy.base import Coded
from hushtable.table.coins import Coins, table_digest
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Key

_Row = tuple[tuple[int, ...], tuple[int, ...]]


def _ints(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _some(table: EncodedTable, rows: IntArray, units: IntArray | None = None, *, ranked: bool = False) -> EncodedTable:
    """Return some rows of a table, with different weights or, among equal ones, in this order."""
    own = table.row_units[rows] if len(table.row_units) else table.row_units
    return replace(
        table,
        quasi=tuple(replace(c, codes=c.codes[rows]) for c in table.quasi),
        sensitive=tuple(replace(c, codes=c.codes[rows]) for c in table.sensitive),
        n_sample=len(rows),
        n_rows=len(rows),
        row_units=own if units is None else units,
        tie_rank=np.arange(len(rows)) if ranked else None,
    )


class PlainStore:
    """A table with remote records.

    Parameters
    ----------
    problem : Problem
        A problem with local records.
    driver : int
        Most combinations on the driver.
    most : int
        Maximum number of records or combinations of a group in one task.

    Attributes
    ----------
    asked : Counter
        How often each question was asked.
    """

    def __init__(self, problem: Problem, driver: int, most: int) -> None:
        self._problem, self._driver, self._most = problem, driver, most
        self._table = table = problem.table
        self.asked: Counter[str] = Counter()
        self._labels: Callable[[Partition], IntArray] | None = None
        columns = [*(c.codes for c in table.quasi), *(c.codes for c in table.sensitive)]
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for row in table.canonical_order.tolist():
            found[tuple(int(codes[row]) for codes in columns)].append(row)
        self._combinations = list(found.values())
        self._weights = table.row_units if len(table.row_units) else np.ones(table.n_rows, dtype=np.int64)

    @property
    def outline(self) -> EncodedTable:
        """The columns; rows are only the combinations of sensitive values."""
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for row in range(self._table.n_rows):
            found[tuple(int(c.codes[row]) for c in self._table.sensitive)].append(row)
        first = _ints([rows[0] for rows in found.values()])
        units = _ints([int(self._weights[rows].sum()) for rows in found.values()])
        table = _some(self._table, first, units)
        return replace(table, quasi=tuple(replace(c, codes=np.zeros_like(c.codes)) for c in table.quasi))

    @property
    def sample_units(self) -> int:
        """Size of the sample."""
        return int(self._weights.sum())

    @property
    def digest(self) -> bytes:
        """The digest of the records."""
        return table_digest(self._table)

    @property
    def fits(self) -> bool:
        """Whether the combinations fit on the driver."""
        return len(self._combinations) <= self._driver

    @property
    def given(self) -> EncodedTable:
        """The combinations."""
        return self.combinations("labels are looked at")

    @property
    def far(self) -> PlainStore:
        """The questions that are answered remotely."""
        return self

    def records(self) -> EncodedTable:
        """Refuse: the records are remote."""
        self.asked["records"] += 1
        raise IncompatibleError("Every record is needed, but the records are remote.", code="too-far")

    def combinations(self, why: str) -> EncodedTable:
        """Return each combination once, with its weight."""
        self.asked["combinations"] += 1
        if not self.fits:
            raise IncompatibleError(f"There are too many combinations, and {why}.", code="too-far")
        of_row = np.empty(self._table.n_rows, dtype=np.int64)
        for number, rows in enumerate(self._combinations):
            of_row[rows] = number
        self._labels = lambda partition: np.asarray(partition.labels, dtype=np.int64)[of_row]
        units = _ints([int(self._weights[rows].sum()) for rows in self._combinations])
        return _some(self._table, _ints([rows[0] for rows in self._combinations]), units)

    def tuples(self, keys: Sequence[Key]) -> PlainTuples:
        """Return the combinations of quasi-identifiers and some sensitive columns."""
        values = [self._table.code_column(key)[0] for key in keys]
        rows: Counter[_Row] = Counter()
        for i in range(self._table.n_rows):
            leaf = tuple(int(c.codes[i]) for c in self._table.quasi)
            rows[leaf, tuple(int(v[i]) for v in values)] += int(self._weights[i])
        coded = tuple(c.coded for c in self._table.quasi)
        return PlainTuples(coded, tuple(keys), dict(rows), np.zeros(len(coded), np.int64), self._driver, self.asked)

    def recode(self, levels: IntArray, left_out: AnyArray) -> None:
        """Recode every column to its level."""
        nodes = [c.coded.levels[int(h)] for c, h in zip(self._table.quasi, levels, strict=True)]
        lost = {tuple(int(n[c]) for n, c in zip(nodes, leaf, strict=True)) for leaf in left_out.T.tolist()}
        of_row = list(zip(*(n[c.codes].tolist() for n, c in zip(nodes, self._table.quasi, strict=True)), strict=True))
        number = {node: i for i, node in enumerate(sorted(set(of_row) - lost))}
        self._labels = lambda partition: _ints([number.get(node, -1) for node in of_row])

    def groups(self, coins: Coins | None = None) -> PlainGroups:
        """Return all records as one group."""
        found = PlainGroups(self._problem, self._most, len(self._combinations), coins, self.asked)
        self._labels = lambda partition: np.asarray(partition.labels, dtype=np.int64)
        return found

    def labels(self, partition: Partition) -> IntArray:
        """Return the group of every record, given the algorithm's result."""
        assert self._labels is not None
        return self._labels(partition)


@dataclass(frozen=True)
class PlainTuples:
    """Combinations as a dictionary: (leaf codes of the first record, sensitive codes) to units."""

    coded: tuple[Coded, ...]
    keys: tuple[Key, ...]
    rows: dict[_Row, int]
    levels: IntArray
    limit: int
    asked: Counter[str]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def fits(self) -> bool:
        """Whether they may be collected temporarily."""
        return len(self) <= self.limit

    @property
    def stays(self) -> bool:
        """Whether they are too many to keep on the driver."""
        return len(self) > self.limit // 2

    def _above(self, leaf: Sequence[int], levels: IntArray) -> tuple[int, ...]:
        return tuple(int(c.levels[int(h)][code]) for c, h, code in zip(self.coded, levels, leaf, strict=True))

    def roll_up(self, node: IntArray) -> PlainTuples:
        """Group by the nodes above, and keep the first record of every group."""
        self.asked["rolled up"] += 1
        first: dict[tuple[int, ...], tuple[int, ...]] = {}
        groups: Counter[_Row] = Counter()
        for (leaf, values), units in self.rows.items():
            above = self._above(leaf, node)
            first[above] = min(first.get(above, leaf), leaf)
            groups[above, values] += units
        rows = {(first[g], v): u for (g, v), u in groups.items()}
        return replace(self, rows=rows, levels=np.asarray(node, dtype=np.int64).copy())

    def bring(self, *, keep: bool = False) -> Brought:
        """Collect them all."""
        self.asked["brought"] += 1
        assert self.fits
        assert not (keep and self.stays)
        return self._brought(self.rows)

    def pieces(self) -> Iterator[Brought]:
        """Collect them in pieces of whole groups."""
        self.asked["pieces"] += 1
        number = -(-len(self) // self.limit)
        for piece in range(number):
            some = {row: units for row, units in self.rows.items() if hash(row[0]) % number == piece}
            if some:
                yield self._brought(some)

    def _brought(self, rows: dict[_Row, int]) -> Brought:
        ordered = sorted(rows.items())
        leaves = np.array([leaf for (leaf, _), _ in ordered], dtype=np.int64).T.reshape(len(self.coded), -1)
        values = {key: _ints([v[i] for (_, v), _ in ordered]) for i, key in enumerate(self.keys)}
        return Brought(leaves, _ints([units for _, units in ordered]), values)

    def group_sizes(self) -> tuple[IntArray, IntArray]:
        """Count the groups of each size."""
        self.asked["sizes"] += 1
        units: Counter[tuple[int, ...]] = Counter()
        for (leaf, _), u in self.rows.items():
            units[leaf] += u
        times = Counter(units.values())
        return _ints(sorted(times)), _ints([times[size] for size in sorted(times)])

    def cube(self, columns: Sequence[int], nodes: Sequence[int]) -> IntArray:
        """Count the nodes of some columns together."""
        self.asked["cubes"] += 1
        out = np.zeros([*nodes, 1, 1][:3], dtype=np.int64)
        for (leaf, _), units in self.rows.items():
            above = self._above(leaf, self.levels)
            out[tuple([*(above[j] for j in columns), 0, 0][:3])] += units
        return out

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
        self.asked["closed"] += 1


class PlainGroups:
    """Records with the number of their group."""

    def __init__(self, problem: Problem, most: int, n: int, coins: Coins | None, asked: Counter[str]) -> None:
        self._problem, self._table, self.most, self._n = problem, problem.table, most, n
        self._coins, self._asked = coins, asked
        self._of_row = np.zeros(self._table.n_rows, dtype=np.int64)
        self._trees = Trees(self._table.quasi)
        ranks = [rank[c.codes] for rank, c in zip(self._trees.ranks, self._table.quasi, strict=True)]
        self._ranks = np.column_stack(ranks).astype(np.int64)
        self._weights = self._table.row_units if len(self._table.row_units) else np.ones(self._table.n_rows, np.int64)

    def __len__(self) -> int:
        return self._n

    def _rows(self, group: int) -> list[int]:
        order: list[int] = self._table.canonical_order.tolist()
        return [row for row in order if self._of_row[row] == group]

    def counts(self, groups: IntArray, keys: Sequence[Key]) -> tuple[LevelCounts, IntArray]:
        """Count every value of every column, record by record."""
        self._asked["counted"] += 1
        values = [self._table.code_column(key)[0] for key in keys]
        units: Counter[tuple[int, ...]] = Counter()
        behind: dict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
        everything = [*(c.codes for c in self._table.quasi), *(c.codes for c in self._table.sensitive)]
        for g, group in enumerate(groups.tolist()):
            for row in self._rows(group):
                for j, column in enumerate(self._table.quasi):
                    entry = (g, j, int(column.codes[row]), *(int(v[row]) for v in values))
                    units[entry] += int(self._weights[row])
                    behind[entry].add(tuple(int(codes[row]) for codes in everything))
        entries = np.array(list(units), dtype=np.int64).reshape(-1, 3 + len(keys)).T
        sizes = {key: self._table.attribute_size(key) for key in keys}
        held = {key: entries[3 + i] for i, key in enumerate(keys)}
        weights = _ints(list(units.values()))
        counts = LevelCounts(entries[0], entries[1], entries[2], weights, held, sizes, len(groups))
        return counts, _ints([len(combinations) for combinations in behind.values()])

    def cut(self, groups: IntArray, columns: IntArray, cuts: IntArray, children: IntArray) -> None:
        """Send records to the children of their group."""
        rows = [self._rows(group) for group in groups.tolist()]
        for i, own in enumerate(rows):
            codes = self._table.quasi[int(columns[i])].codes
            for row in own:
                self._of_row[row] = children[2 * i + int(codes[row] > cuts[i])]

    def kinds(self) -> Kinds:
        """Return the kinds of records."""
        self._kinds = Kinds.of(self._problem)
        return self._kinds

    def extents(self, groups: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Count records and units, and find the range of the ranks."""
        rows = [self._rows(group) for group in groups.tolist()]
        low, high = (np.array([end(self._ranks[own], axis=0) for own in rows]) for end in (np.min, np.max))
        return _ints([len(own) for own in rows]), _ints([int(self._weights[own].sum()) for own in rows]), low, high

    def _node(self, row: int, column: int, height: int) -> int:
        return int(self._trees.nodes[column][height - 1, self._ranks[row, column]])

    def branches(self, groups: IntArray, heights: IntArray, able: BoolArray) -> BranchCounts:
        """Count the kinds of records among the children of groups."""
        self._asked["branches"] += 1
        held: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for g, group in enumerate(groups.tolist()):
            for row in self._rows(group):
                for j in np.flatnonzero(able[g]).tolist():
                    held[g, j, self._node(row, j, int(heights[g, j])), int(self._kinds.of_row[row])].append(row)
        entries = np.array(list(held), dtype=np.int64).reshape(-1, 4).T
        d = len(self._table.quasi)
        low, high = (
            np.array([end(self._ranks[rows], axis=0) for rows in held.values()], dtype=np.int64).reshape(-1, d)
            for end in (np.min, np.max)
        )
        group, column, node, kind = entries
        return BranchCounts(group, column, node, kind, _ints([len(rows) for rows in held.values()]), low, high)

    def divide(self, groups: IntArray, heights: IntArray, division: Division, first: int) -> None:
        """Send records to the parts of their group; the first ones of a kind in secret order may go back."""
        own_part = zip(division.group, division.node, division.part, strict=True)
        of_child = {(int(g), int(n)): int(p) for g, n, p in own_part}
        taken = {(int(g), int(n), int(k)): (int(c), int(p)) for g, n, k, c, p in zip(*division.taken, strict=True)}
        lots = np.zeros(self._table.n_rows, dtype=np.int64)
        if self._coins is not None:
            lots = self._coins.lots_of_combinations([c.codes for c in self._table.quasi])
        rows = [self._rows(group) for group in groups.tolist()]
        for g, own in enumerate(rows):
            j = int(division.chosen[g])
            if j < 0:
                continue
            gone: Counter[tuple[int, int, int]] = Counter()
            for row in sorted(own, key=lambda r: int(lots[r])):
                node = self._node(row, j, int(heights[g, j]))
                kind = g, node, int(self._kinds.of_row[row])
                count, back = taken.get(kind, (0, -1))
                gone[kind] += 1
                self._asked["gone back"] += int(gone[kind] <= count)
                self._of_row[row] = first + (back if gone[kind] <= count else of_child[g, node])

    def finish(
        self, leaves: IntArray, closed: tuple[IntArray, BoolArray] | None, run: Callable[..., Partition]
    ) -> Partition:
        """Divide the groups that are not leaves, one by one, and number all groups."""
        labels, n = np.full(self._table.n_rows, -1, dtype=np.int64), 0
        for group in leaves.tolist():
            labels[self._rows(group)], n = n, n + 1
        if closed is None:
            rest = np.setdiff1d(self._of_row, leaves)
            closed = rest, np.zeros((len(rest), len(self._table.quasi)), dtype=np.bool_)
        for group, shut in zip(closed[0].tolist(), closed[1], strict=True):
            rows = _ints(self._rows(group))
            self._asked["finished where it is"] += 1
            table = _some(self._table, rows, ranked=True)
            found = run(replace(self._problem, store=table, suppression=0.0, tossed=self._coins), shut)
            labels[rows] = n + np.asarray(found.labels)
            n += found.n_groups
        return Partition(labels, n)
