"""The interface between algorithms and tables, wherever the records are stored.

A ``TupleStore`` holds a table as distinct combinations of quasi-identifiers and sensitive values, with their weights.
The encoded table is one, with arrays in memory; the Spark engine has another, with aggregations. An algorithm
requests the coarsest view that it can work with:

- every record as a row (``records``), if it compares records or separates equal ones;
- every combination as a row with a weight (``combinations``), if it keeps equal records together;
- counts at the levels of a node (``tuples``), if it searches the lattice;
- counts of groups, level by level (``groups``), if it divides from the top.

A store that cannot provide a view raises an error with the reason and a remedy. So no algorithm names an engine, and
no engine needs to know how an algorithm works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Key

if TYPE_CHECKING:
    from hushtable.algorithms.base import Partition
    from hushtable.algorithms.kinds import Kinds
    from hushtable.table.coins import Coins


class TupleStore(Protocol):
    """A table as combinations of values with weights."""

    @property
    def outline(self) -> EncodedTable:
        """The columns, codes and units of the table; a row may represent all rows with the same sensitive values."""

    @property
    def sample_units(self) -> int:
        """Size of the sample, in units."""

    @property
    def digest(self) -> bytes:
        """A digest of the records' quasi-identifiers and sensitive values; their order does not matter."""

    @property
    def fits(self) -> bool:
        """Whether there are few enough ``combinations`` to return."""

    def records(self) -> EncodedTable:
        """Return every record as a row.

        Raises
        ------
        IncompatibleError
            If there are too many.
        """

    def combinations(self, why: str) -> EncodedTable:
        """Return the records, with equal ones as one row or several; the total weight is the same.

        Parameters
        ----------
        why : str
            Why the combinations are needed, for the error.

        Raises
        ------
        IncompatibleError
            If there are too many.
        """

    @property
    def given(self) -> EncodedTable:
        """The records or combinations that the algorithm requested, to which the labels of its partition refer."""

    @property
    def far(self) -> FarStore | None:
        """The remote store if the records are not here, otherwise None."""


class FarStore(Protocol):
    """Remote combinations that are counted where they are."""

    def tuples(self, keys: Sequence[Key]) -> Rolled:
        """Return the combinations of quasi-identifiers and these sensitive columns, at the leaves.

        Raises
        ------
        IncompatibleError
            If a model or form needs all of them in one place.
        """

    def groups(self, coins: Coins | None = None) -> Groups:
        """Return all combinations as one group, number 0, to be divided.

        Parameters
        ----------
        coins : Coins, optional
            Decide which of several equal records of a kind go first, if that matters.

        Raises
        ------
        IncompatibleError
            If a model or form needs all of them in one place.
        """

    def recode(self, levels: IntArray, left_out: AnyArray) -> None:
        """Recode every column to its level.

        Parameters
        ----------
        levels : int64 array
        left_out : (d, n) integer array
            The leaf codes of one record of every suppressed group.
        """


@dataclass(frozen=True)
class Brought:
    """Combinations brought here, in canonical order.

    Attributes
    ----------
    columns : (d, n) integer array
        Leaf codes; for rolled-up combinations, those of the first one in each.
    units : int64 array
    sensitive : mapping of Key to int64 array
    """

    columns: AnyArray
    units: IntArray
    sensitive: dict[Key, IntArray]


class Rolled(Protocol):
    """Combinations at the levels of a node."""

    def __len__(self) -> int:
        """Number of combinations."""

    @property
    def levels(self) -> IntArray:
        """The levels to which they were rolled up."""

    @property
    def fits(self) -> bool:
        """Whether they may be brought here for a single pass."""

    @property
    def stays(self) -> bool:
        """Whether they should stay where they are, even for repeated use."""

    def roll_up(self, node: IntArray) -> Rolled:
        """Return them rolled up to the levels of a node; they are kept until ``close``."""

    def bring(self, *, keep: bool = False) -> Brought:
        """Bring them all here; ``keep`` means permanently."""

    def pieces(self) -> Iterator[Brought]:
        """Bring them here piece by piece; combinations that differ only in sensitive values come together."""

    def group_sizes(self) -> tuple[IntArray, IntArray]:
        """Return the sizes of the combinations of quasi-identifiers, ascending, and how many have each size."""

    def cube(self, columns: Sequence[int], nodes: Sequence[int]) -> IntArray:
        """Count the nodes of ``levels`` of up to three columns together, as ``leaf_cube`` does.

        ``nodes`` is the number of nodes of each column.
        """

    def close(self) -> None:
        """Release them."""


@dataclass(frozen=True)
class LevelCounts:
    """Counts of values in the groups of a level.

    Attributes
    ----------
    group, column, code : int64 arrays
        One entry per group, quasi-identifier, code and combination of sensitive values.
    units : int64 array
        The weight of the rows that it represents.
    values : mapping of Key to int64 array
        The sensitive (or joint) code of every entry, for each histogram that the model needs.
    sizes : mapping of Key to int
        Number of codes of each.
    n_groups : int
    """

    group: IntArray
    column: IntArray
    code: IntArray
    units: IntArray
    values: Mapping[Key, IntArray]
    sizes: Mapping[Key, int]
    n_groups: int


@dataclass(frozen=True)
class BranchCounts:
    """Counts of kinds of records among the children of a level's groups.

    Attributes
    ----------
    group, column, node, kind : int64 arrays
        One entry per group, quasi-identifier, child (its node, one level below the group's) and kind.
    count : int64 array
        Records of each.
    low, high : (entries, d) int64 arrays
        Their lowest and highest ranks.
    """

    group: IntArray
    column: IntArray
    node: IntArray
    kind: IntArray
    count: IntArray
    low: IntArray
    high: IntArray


@dataclass(frozen=True)
class Division:
    """How groups are divided into parts.

    Attributes
    ----------
    chosen : int64 array
        The column along which each group is specialized; -1 for groups that are finished.
    group, node, part : int64 arrays
        Where the children of the divided groups go.
    taken : (group, node, kind, count, part), int64 arrays
        The first records of a kind that are separated from their child.
    closed : (parts, d) bool array
    """

    chosen: IntArray
    group: IntArray
    node: IntArray
    part: IntArray
    taken: tuple[IntArray, IntArray, IntArray, IntArray, IntArray]
    closed: BoolArray


class Groups(Protocol):
    """Combinations in numbered groups, divided level by level where they are.

    A group of at most ``most`` combinations (records, after a call of ``kinds``) need not be divided from here:
    ``finish`` runs the algorithm on it where it is.
    """

    def __len__(self) -> int:
        """Number of combinations."""

    @property
    def most(self) -> int:
        """Maximum number per task."""

    def counts(self, groups: IntArray, keys: Sequence[Key]) -> tuple[LevelCounts, IntArray]:
        """Count every value of every column in these groups; also return the number of combinations in each entry."""

    def cut(self, groups: IntArray, columns: IntArray, cuts: IntArray, children: IntArray) -> None:
        """Cut groups in two: codes up to ``cuts`` go to ``children[0::2]``, others to ``children[1::2]``."""

    def kinds(self) -> Kinds:
        """Return the kinds of records; from then on, records of one combination may be separated."""

    def extents(self, groups: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the records and units of groups, and the lowest and highest rank (``Trees``) in every column."""

    def branches(self, groups: IntArray, heights: IntArray, able: BoolArray) -> BranchCounts:
        """Count the kinds of records among the children of groups, along every column that is ``able``.

        The children of a column lie one level below the group's height there.
        """

    def divide(self, groups: IntArray, heights: IntArray, division: Division, first: int) -> None:
        """Send the records of divided groups to their parts, which are numbered from ``first`` on."""

    def finish(
        self, leaves: IntArray, closed: tuple[IntArray, BoolArray] | None, run: Callable[..., Partition]
    ) -> Partition:
        """End the division.

        Parameters
        ----------
        leaves : int64 array
            Groups that are not divided further.
        closed : (int64 array, (groups, d) bool array), optional
            Groups to divide where they are, and their closed columns. Defaults to all others, with none closed.
        run : callable
            Called with the problem of one such group and its closed columns; returns a partition.
        """
