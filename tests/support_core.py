"""Builders and slow, obvious twins for the tests of the core: plain Python on lists and dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Partition, Problem
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.base import PrivacyModel
from hushtable.policy.policy import Policy
from hushtable.release.forms.base import Form
from hushtable.release.plan import Plan
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan

PLACES = {"Asia": ("China", "Japan"), "Europe": ("France", "Italy", "Spain"), "Oceania": ("Fiji",)}
WORLD = Taxonomy(tree={continent: list(countries) for continent, countries in PLACES.items()})
COUNTRIES = [country for countries in PLACES.values() for country in countries]
ILLNESSES = ["HIV", "cold", "flu"]


def quasi(name: str, kind: Kind | None = None, **more: Any) -> ColumnPlan:
    return ColumnPlan(name, Role.QUASI, kind, **more)


def sensitive(name: str, kind: Kind | None = Kind.NOMINAL, **more: Any) -> ColumnPlan:
    return ColumnPlan(name, Role.SENSITIVE, kind, **more)


WHO = ColumnPlan("who", Role.IDENTIFIER)
PEOPLE = (
    quasi("age", Kind.NUMERIC),
    quasi("country", Kind.NOMINAL, hierarchy=WORLD),
    sensitive("illness"),
)


def plan_of(
    models: Iterable[PrivacyModel],
    columns: Sequence[ColumnPlan] = PEOPLE,
    algorithm: Algorithm | None = None,
    *,
    cells: Form | None = None,
    suppression: float = 0.0,
    document: dict[str, Any] | None = None,
    side_tables: SideTables | None = None,
    coins: Coins | None = None,
    **table: Any,
) -> Plan:
    return Plan(
        TablePlan(tuple(columns), cells=cells, **table),
        tuple(models),
        algorithm or Mondrian(),
        suppression=suppression,
        document=document or {},
        coins=coins,
        side_tables=side_tables or SideTables(),
    )


def people_table(rows: Sequence[Sequence[Any]], names: Sequence[str] = ("age", "country", "illness")) -> pa.Table:
    types = {"age": pa.int64(), "country": pa.string(), "illness": pa.string()}
    return pa.table(
        {name: pa.array([row[j] for row in rows], types.get(name)) for j, name in enumerate(names)},
    )


def random_people(n: int, seed: int, missing: float = 0.0) -> pa.Table:
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        age = None if generator.random() < missing else int(generator.integers(18, 90))
        country = None if generator.random() < missing else str(generator.choice(COUNTRIES))
        rows.append((age, country, str(generator.choice(ILLNESSES, p=[0.2, 0.5, 0.3]))))
    return people_table(rows)


def classes(table: pa.Table, names: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Rows by their exact published cells."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    columns = [table.column(name).to_pylist() for name in names]
    for i, key in enumerate(zip(*columns, strict=True)):
        found[key].append(i)
    return dict(found)


def groups_of(labels: Sequence[int]) -> set[frozenset[int]]:
    """Labels as a set of sets of rows; suppressed rows are left out."""
    found: dict[int, set[int]] = defaultdict(set)
    for row, label in enumerate(labels):
        if label >= 0:
            found[int(label)].add(row)
    return {frozenset(rows) for rows in found.values()}


class MondrianTwin:
    """Mondrian from its description, one group at a time.

    Parameters
    ----------
    columns : list of lists
        Values per row, None where missing, in the policy's order.
    paths : list of dict or None
        For each column the path from the root to every value, where it is divided into children.
    """

    def __init__(
        self,
        columns: list[list[Any]],
        order: list[list[Any]],
        accept: Callable[[list[int]], bool],
        *,
        minimum: int = 1,
        weights: list[int] | None = None,
        importance: list[float] | None = None,
        paths: list[dict[Any, tuple[str, ...]] | None] | None = None,
        relaxed_rank: list[int] | None = None,
    ) -> None:
        self.columns, self.order, self.accept, self.minimum = columns, order, accept, minimum
        self.weights = weights or [1] * len(columns[0])
        self.importance = importance or [1.0] * len(columns)
        self.paths = paths or [None] * len(columns)
        self.rank = relaxed_rank

    def run(self) -> list[list[int]]:
        return self._divide(list(range(len(self.columns[0]))))

    def _weight(self, rows: list[int]) -> int:
        return sum(self.weights[r] for r in rows)

    def _place(self, j: int, value: Any) -> int:
        """Missing first, then the values in order."""
        return -1 if value is None else self.order[j].index(value)

    def _position(self, j: int, value: Any) -> int:
        domain = self.order[j]
        if value is None or len(domain) == 1:
            return 0
        if isinstance(domain[0], str):
            offset, last = domain.index(value), len(domain) - 1
        else:
            offset, last = value - domain[0], domain[-1] - domain[0]
        return round(offset / last * (2**30 * self.importance[j]))

    def _candidates(self, rows: list[int]) -> list[tuple[int, bool]]:
        """(column, tell missing apart?), the widest first."""
        found = []
        for j in range(len(self.columns)):
            values = {self.columns[j][r] for r in rows}
            if None in values and len(values) > 1:
                found.append((-round(2**30 * self.importance[j]), 0, j))
        for j in range(len(self.columns)):
            values = {self.columns[j][r] for r in rows}
            if len(values) > 1:
                at = [self._position(j, v) for v in values]
                found.append((-(max(at) - min(at)), 1, j))
        return [(j, kind == 0) for _, kind, j in sorted(found)]

    def _children(self, rows: list[int], j: int, gap: bool) -> list[list[int]]:
        paths = None if gap else self.paths[j]
        if paths is not None:
            known = [("missing",) if self.columns[j][r] is None else paths[self.columns[j][r]] for r in rows]
            depth = 0
            while len({p[: depth + 1] for p in known}) == 1:
                depth += 1
            by_child: dict[str, list[int]] = defaultdict(list)
            for r, path in zip(rows, known, strict=True):
                by_child[path[depth]].append(r)
            return list(by_child.values())
        key = [int(self.columns[j][r] is not None) if gap else self._place(j, self.columns[j][r]) for r in rows]
        if self.rank is not None:
            ordered = [r for _, _, r in sorted((k, self.rank[r], r) for k, r in zip(key, rows, strict=True))]
            cuts = [(ordered[:m], ordered[m:]) for m in range(1, len(rows))]
        else:
            cuts = [
                (
                    [r for r, k in zip(rows, key, strict=True) if k <= cut],
                    [r for r, k in zip(rows, key, strict=True) if k > cut],
                )
                for cut in sorted(set(key))[:-1]
            ]
        return list(max(cuts, key=lambda c: min(self._weight(c[0]), self._weight(c[1]))))

    def _divide(self, rows: list[int]) -> list[list[int]]:
        if self._weight(rows) < 2 * self.minimum:
            return [rows]
        for j, gap in self._candidates(rows):
            parts = self._children(rows, j, gap)
            if all(self._weight(p) >= self.minimum and self.accept(p) for p in parts):
                return [group for part in parts for group in self._divide(part)]
        return [rows]


@dataclass(frozen=True)
class Given(Algorithm):
    """The partition that the test wants."""

    labels: tuple[int, ...] = ()
    name: ClassVar[str] = "toy-given"

    def run(self, problem: Problem) -> Partition:
        return Partition(np.array(self.labels), max(self.labels) + 1)


def distinct_at_least(values: Sequence[Any], least: int) -> Callable[[list[int]], bool]:
    return lambda rows: len({values[r] for r in rows}) >= least


def share_at_most(values: Sequence[Any], most: float) -> Callable[[list[int]], bool]:
    return lambda rows: max(Counter(values[r] for r in rows).values()) <= most * len(rows) + 1e-9


def first_of(policy: Policy) -> Policy:
    """A policy whose ledger is not there yet."""
    assert policy.ledger is not None
    return policy.changed(ledger={**policy.ledger.settings(), "new": True})
