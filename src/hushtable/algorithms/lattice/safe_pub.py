"""SafePub: draws records at random, recodes them independently of the data and publishes frequent combinations.

The only algorithm for ``dp``, differential privacy. Every random choice comes from the operating system
(``secrets``), never from a seed, so a release cannot be reproduced. It has three steps.

1. **Choose a recoding**, a level for each quasi-identifier, by an exponential mechanism over all nodes of the lattice:
   node g is chosen with probability proportional to exp(e u(g)), where e is the model's budget for the search and

       u(g) = detail(g) * sum over combinations of max(0, records - (k - 1) / beta).

   detail(g) in [0, 1] is the mean share of levels above the chosen ones, weighted as in the policy: it depends on the
   policy only. An additional record raises a single term by at most 1, so 0 <= u' - u <= 1 for neighboring tables.
   Since all scores move in the same direction, the choice is e-differentially private with exp(e u) itself, not its
   square root.
2. **Draw records**, each with probability beta.
3. **Publish** the combinations that at least k drawn records have, as often as they were drawn.

By a theorem of Li, Qardaji and Su, steps 2 and 3 are differentially private after a fixed recoding; budgets add up.
The levels of hierarchies, their labels and the kinds of columns must not depend on the records. So they must be
declared, and anything derived from the data (``frequency``, ``quantiles``, ``prefix``, inferred kinds) is refused.
Numbers are published only as intervals, since the format of a number depends on the others. All published columns are
quasi-identifiers: otherwise a sensitive value would not be covered by k equal records.

The private companion file shows which records were drawn. The guarantee does not hold against anyone who has it.

When to use
-----------
With the model ``dp``, on large tables.

When not
--------
Without ``dp``: other algorithms lose less.

Cost
----
Evaluates every node of the lattice once.

References
----------
R. Bild, K. A. Kuhn, F. Prasser, "SafePub: A truthful data anonymization algorithm with strong privacy guarantees",
2018; N. Li, W. Qardaji, D. Su, "On sampling, anonymization, and differential privacy", 2012; F. McSherry, K. Talwar,
"Mechanism design via differential privacy", 2007.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.arrays import AnyArray, BoolArray, FloatArray, IntArray
from hushtable.errors import IncompatibleError, UsageError
from hushtable.hierarchy.base import ROOT, Coded, Hierarchy
from hushtable.hierarchy.flat import Flat
from hushtable.hierarchy.spans import Below
from hushtable.kernels.grouping import count_rows, number_rows
from hushtable.models.base import Monotone, Stat
from hushtable.models.compose import AllOf
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.plan import ColumnPlan, TablePlan

MOST_NODES = 100_000


@dataclass(frozen=True)
class Rooted(Hierarchy):
    """A hierarchy that always ends in ``*``: the number of levels does not depend on which values occur.

    Attributes
    ----------
    inner : Hierarchy
    """

    inner: Hierarchy

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Do nothing: the inner hierarchy has been validated already."""

    def code(self, values: pa.Array, kind: Kind, *, missing: bool, column: str, counts: IntArray) -> Coded:
        """Apply the inner hierarchy and add a root above it."""
        coded = self.inner.code(values, kind, missing=missing, column=column, counts=counts)
        if coded.labels[-1] == (ROOT,):
            return coded
        top = np.zeros(coded.size, dtype=np.int64)
        return replace(coded, levels=(*coded.levels, top), labels=(*coded.labels, (ROOT,)))

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return what labels represent."""
        return self.inner.below(labels, column)


@dataclass(frozen=True)
class SafePub(Algorithm):
    """Truthful differential privacy by random sampling, a privately chosen recoding, and classes of k.

    Examples
    --------
    >>> SafePub().values()
    {}
    """

    name: ClassVar[str] = "safe-pub"
    recoding: ClassVar[Recoding] = Recoding.GLOBAL
    samples: ClassVar[bool] = True

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse anything that cannot be combined with differential privacy."""
        own = [m for m in model.members if m.drawing() is not None]
        if len(own) != 1:
            raise IncompatibleError(
                f"{self.name} needs exactly one differential privacy model, and the policy has {len(own)}.",
                hint="Give the model 'dp: {epsilon: 1, delta: 1.0e-6}' once, or choose another algorithm.",
            )
        for member in model.members:
            if member.stats_needed() != {Stat.SIZE} or member.table_level or Monotone.ADD not in member.monotone:
                raise IncompatibleError(
                    f"{self.name} publishes a combination if enough records share it, and {member.name} requires more.",
                    hint="Remove it: differential privacy already bounds what anyone can learn about a person.",
                )
        if suppression != 1:
            raise IncompatibleError(
                f"{self.name} suppresses all records that are not drawn, and must not stop if there are many.",
                hint="Write 'suppression: 1'.",
            )

    def check_table(self, table: TablePlan) -> None:
        """Refuse columns whose recoding would depend on the records."""
        for column in table.columns:
            if column.published and column.role is not Role.QUASI:
                raise IncompatibleError(
                    f"{self.name} publishes combinations that many records share, and {column.name!r} would be "
                    "published next to them unchanged.",
                    hint="Give the column the role 'quasi' or 'drop'.",
                )
            if column.role is Role.QUASI:
                self._check_column(column)
        if table.entity is not None:
            raise IncompatibleError(
                f"{self.name} protects records, and people with several records ('entity') would be protected less.",
                hint="Reduce the table to one record per person, and remove 'entity'.",
            )
        if table.missing is Missing.WILDCARD:
            raise IncompatibleError(
                f"'missing: wildcard' compares classes with each other, and {self.name} publishes each by itself.",
                hint="Choose 'missing: own_category'.",
            )

    def _check_column(self, column: ColumnPlan) -> None:
        if column.kind is None:
            raise IncompatibleError(
                f"The kind of {column.name!r} would be inferred from the records, which differential privacy forbids.",
                hint="Write 'kind: nominal', numeric, ordinal or date.",
            )
        hierarchy = column.hierarchy or Flat()
        if isinstance(hierarchy, Rooted):
            hierarchy = hierarchy.inner
        if not hierarchy.of_policy:
            raise IncompatibleError(
                f"The hierarchy of {column.name!r} is made from the records, which differential privacy forbids.",
                hint="Give a file, a tree, a standard, dates, or intervals with widths or cuts.",
            )
        if column.kind is Kind.NUMERIC and isinstance(hierarchy, Flat):
            raise IncompatibleError(
                f"{self.name} publishes numbers as intervals, and {column.name!r} has none.",
                hint="Give it a hierarchy such as {intervals: [5, 10, 20]}.",
            )
        if column.treatments:
            raise IncompatibleError(
                f"{self.name} treats each record by itself, and a treatment of {column.name!r} uses other records.",
                hint="Remove 'treatment'.",
            )
        if column.cells is not None:
            raise IncompatibleError(
                f"{self.name} publishes nodes of hierarchies, and {column.name!r} requests other cells.",
                hint="Remove 'cells'.",
            )

    def planned(self, table: TablePlan) -> TablePlan:
        """Give every hierarchy its own root."""
        columns = [
            replace(c, hierarchy=Rooted(c.hierarchy or Flat()))
            if c.role is Role.QUASI and not isinstance(c.hierarchy, Rooted)
            else c
            for c in table.columns
        ]
        return replace(table, columns=tuple(columns))

    def run(self, problem: Problem) -> Partition:
        """Choose a recoding, draw records, publish what enough of them share."""
        table = problem.table
        own = next(drawing for m in problem.model.members if (drawing := m.drawing()) is not None)
        k = problem.model.min_group_size()
        nodes = _nodes(table.quasi)
        known = [c.coded.size for c in table.quasi]
        codes, records = count_rows([c.codes[: table.n_sample] for c in table.quasi], known)
        scores = np.empty(len(nodes))
        for i, node in enumerate(nodes):
            if i % 64 == 0:
                problem.progress(i / len(nodes), "counting nodes")
            sizes = _sizes(table.quasi, codes, records, node)
            scores[i] = _detail(table.quasi, node) * shared(sizes, (k - 1) / own.rate)
        node = nodes[choose(scores, own.search)]
        kept = np.flatnonzero(draw(table.n_sample, own.rate))
        labels = np.full(table.n_rows, -1, dtype=np.int64)
        n_groups = 0
        if len(kept):
            found, first = number_rows(
                [c.coded.levels[h][c.codes[kept]] for c, h in zip(table.quasi, node, strict=True)],
                [len(c.coded.labels[h]) for c, h in zip(table.quasi, node, strict=True)],
            )
            enough = np.bincount(found, minlength=len(first)) >= k
            n_groups = int(enough.sum())
            labels[kept] = np.where(enough[found], (np.cumsum(enough) - 1)[found], -1)
        if not n_groups:
            raise self.not_found(problem)
        levels = dict(zip((c.name for c in table.quasi), node, strict=True))
        return Partition(labels, n_groups, levels=node, notes={"levels": levels, "k": k, "nodes": len(nodes)})


def choose(scores: FloatArray, epsilon: float) -> int:
    """Return the index of a score, drawn with probability proportional to exp(epsilon * score).

    Uses 96-bit integers, so that the actual probabilities match the stated ones. The choice is epsilon-differentially
    private if an additional record raises each score by at most 1 and lowers none.

    Examples
    --------
    >>> choose(np.array([0.0, 1e9, 5.0]), 1.0)
    1
    """
    best = float(scores.max())
    weights = [int(math.ldexp(math.exp(max(epsilon * (score - best), -700.0)), 96)) + 1 for score in scores.tolist()]
    drawn = secrets.randbelow(sum(weights))
    for place, weight in enumerate(weights):
        drawn -= weight
        if drawn < 0:
            return place
    raise AssertionError("unreachable")


def draw(n: int, rate: float) -> BoolArray:
    """Return for each of n records whether it is drawn with probability ``rate``, a multiple of 2^-64.

    Examples
    --------
    >>> int(draw(10, 1.0).sum()), int(draw(10, 0.0).sum())
    (10, 0)
    """
    if rate >= 1:
        return np.ones(n, dtype=np.bool_)
    words = np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
    return np.asarray(words < np.uint64(int(math.ldexp(rate, 64))))


def shared(sizes: IntArray, spare: float) -> float:
    """Return the sum of max(0, size - spare); an additional record raises it by at most 1.

    Examples
    --------
    >>> shared(np.array([3, 10]), 4.0)
    6.0
    """
    large = sizes[sizes > spare]
    return float(int(large.sum()) - spare * len(large))


def _nodes(quasi: Sequence[QuasiColumn]) -> list[tuple[int, ...]]:
    """All nodes; numbers are never published unchanged."""
    ranges = [range(int(c.coded.kind is Kind.NUMERIC), c.coded.height + 1) for c in quasi]
    n = math.prod(map(len, ranges))
    if n > MOST_NODES:
        raise UsageError(
            f"The lattice has {n} nodes; safe-pub evaluates at most {MOST_NODES}.",
            code="lattice-too-large",
            hint="Use hierarchies with fewer levels, or fewer quasi-identifiers.",
        )
    return list(product(*ranges))


def _sizes(
    quasi: Sequence[QuasiColumn], codes: Sequence[AnyArray], records: IntArray, node: tuple[int, ...]
) -> IntArray:
    """Number of records with each combination of a node."""
    shown = [c.coded.levels[h][own] for c, h, own in zip(quasi, node, codes, strict=True)]
    labels, first = number_rows(shown, [len(c.coded.labels[h]) for c, h in zip(quasi, node, strict=True)])
    return np.asarray(np.bincount(labels, records, minlength=len(first))).astype(np.int64)


def _detail(quasi: Sequence[QuasiColumn], node: tuple[int, ...]) -> float:
    """The weighted mean share of levels above the node's, from 0 to 1."""
    kept = [c.weight * (1 - h / c.coded.height) for c, h in zip(quasi, node, strict=True)]
    return sum(kept) / sum(c.weight for c in quasi)
