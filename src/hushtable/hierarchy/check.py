"""Pre-flight check of hierarchies: finds all problems at once, before any work is done."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError, counted
from hushtable.hierarchy.base import Hierarchy
from hushtable.hierarchy.build import Draft, Recipe, assemble, broken_nodes
from hushtable.schema.columns import Kind


@dataclass(frozen=True)
class HierarchyReport:
    """Findings about one column.

    Attributes
    ----------
    column : str
    height : int
        Generalization steps from a value to the root; 0 if the hierarchy could not be read.
    nodes : tuple of int
        Nodes per level, starting with the leaves (including the missing value).
    uncovered_values, uncovered_records : int
        Numbers of values and records in the column that have no row in the hierarchy.
    not_nested : tuple of int
        The levels with a node that has two parents.
    problems : tuple of str
        One sentence per problem.
    """

    column: str
    height: int
    nodes: tuple[int, ...]
    uncovered_values: int = 0
    uncovered_records: int = 0
    not_nested: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the hierarchy can be used for the column."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(self).items()}
        return {**plain, "ok": self.ok}


def check_column(
    hierarchy: Hierarchy, values: pa.Array, kind: Kind, *, missing: bool, column: str, counts: IntArray
) -> HierarchyReport:
    """Try a hierarchy on a column and report all problems instead of raising on the first.

    Takes the parameters of ``Hierarchy.code``.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.hierarchy.taxonomy import Taxonomy
    >>> sexes = Taxonomy(rows=(("m", "*"),))
    >>> report = check_column(sexes, pa.array(["m", "f"]), Kind.NOMINAL, missing=False, column="sex",
    ...                       counts=np.array([4, 3]))
    >>> report.ok, report.uncovered_values, report.uncovered_records
    (False, 1, 3)
    """
    try:
        if isinstance(hierarchy, Recipe):
            draft = hierarchy.draft(values, kind, column=column, counts=counts)
            return _of_draft(draft, kind, missing, column)
        coded = hierarchy.code(values, kind, missing=missing, column=column, counts=counts)
    except HierarchyError as error:
        return HierarchyReport(column, 0, (), problems=(str(error),))
    return HierarchyReport(column, coded.height, tuple(len(labels) for labels in coded.labels))


def lattice_size(heights: Iterable[int]) -> int:
    """Return the number of combinations of levels: the nodes of the generalization lattice.

    Examples
    --------
    >>> lattice_size([4, 1, 2])
    30
    """
    return math.prod(h + 1 for h in heights)


def _of_draft(draft: Draft, kind: Kind, missing: bool, column: str) -> HierarchyReport:
    problems = []
    if draft.uncovered_values:
        problems.append(
            f"The hierarchy does not cover {counted(draft.uncovered_values, 'value', 'values')} "
            f"({counted(draft.uncovered_records, 'record', 'records')})."
        )
    broken = broken_nodes(draft.levels)
    problems += [
        f"Level {height} does not nest: {nodes} of its labels are below several labels of level {height + 1}."
        for height, nodes in broken.items()
    ]
    if broken:
        # without a tree there is no coded form; the levels as written are still worth showing
        nodes = [len(level.labels) + missing for level in draft.levels]
        nodes += [1] if draft.root or len(nodes) == 1 or nodes[-1] > 1 + missing else []
        nodes[-1] = 1
    else:
        nodes = [len(labels) for labels in assemble(draft, kind, missing=missing, column=column).labels]
    return HierarchyReport(
        column,
        len(nodes) - 1,
        tuple(nodes),
        draft.uncovered_values,
        draft.uncovered_records,
        tuple(broken),
        tuple(problems),
    )
