"""A taxonomy given by the user: a CSV file with one row per value (ARX's form), inline rows, or a tree.

The domain is every row, whether its value occurs or not, so losses do not depend on the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import ParameterError
from hushtable.hierarchy.build import Draft, Level, Recipe
from hushtable.hierarchy.parse import parse_leaves
from hushtable.hierarchy.taxonomy_rows import (
    TaxonomyRows,
    read_csv,
    read_tree_file,
    rows_of,
    rows_of_tree,
    write_csv,
)
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    from hushtable.hierarchy.spans import Below

__all__ = ["Taxonomy", "write_csv"]

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Taxonomy(Recipe):
    """Levels as written down. One of ``file``, ``rows`` and ``tree`` is given.

    Parameters
    ----------
    file : str, optional
        A CSV file with one row per value, the value first, then its label at each level; ``;``, tab or ``,``. Or a
        YAML file that holds a tree.
    rows : tuple of tuples of str, optional
        The same rows, inline.
    tree : mapping or list, optional
        Nested labels: ``{Europe: [France, Spain], Asia: [Japan]}``.
    delimiter : str, optional
        What separates the labels of the file, where guessing fails.

    Examples
    --------
    >>> world = Taxonomy(tree={"Europe": ["France", "Spain"], "Asia": ["Japan"]})
    >>> values, counts = pa.array(["Spain"]), np.array([3])
    >>> world.code(values, Kind.NOMINAL, missing=False, column="country", counts=counts).labels
    (('Japan', 'France', 'Spain'), ('Asia', 'Europe'), ('*',))
    """

    file: Annotated[str | None, "CSV file with one row per value, or YAML file with a tree"] = None
    rows: Annotated[tuple[tuple[str, ...], ...] | None, "one row per value, the value first"] = None
    tree: Annotated[Any, "nested mappings and lists of labels"] = None
    delimiter: Annotated[str | None, "what separates the labels of the file"] = None

    name: ClassVar[str] = "taxonomy"
    in_a_policy: ClassVar[str] = "country.csv"
    shorthand: ClassVar[str] = "file"

    @property
    def of_policy(self) -> bool:
        """Return True: the levels are those of the policy."""
        return True

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [way for way in ("file", "rows", "tree") if getattr(self, way) is not None]
        if len(given) != 1:
            raise ParameterError(
                f"Taxonomy needs one of 'file', 'rows' and 'tree'. Got {' and '.join(given) or 'none'}."
            )
        if self.delimiter is not None and (self.file is None or len(self.delimiter) != 1):
            raise ParameterError("The 'delimiter' of Taxonomy must be one character and goes with 'file'.")

    def below(self, labels: Sequence[str], column: str) -> list[Below | None]:
        """Return the values below each label, whether they occur or not.

        Examples
        --------
        >>> Taxonomy(tree={"Europe": ["France", "Spain"], "Asia": ["Japan"]}).below(["Europe", "Japan"], "country")
        [('France', 'Spain'), None]
        """
        found: dict[str, dict[str, None]] = {}
        leaves, *levels = (row.to_pylist() for row in self.read(column).columns)
        for row in levels:
            for leaf, label in zip(leaves, row, strict=True):
                found.setdefault(label, {})[leaf] = None
        return [tuple(found[label]) if label in found else None for label in labels]

    def leaves(self, column: str) -> Sequence[str]:
        """Return the values of all rows."""
        return tuple(dict.fromkeys(self.read(column).columns[0].to_pylist()))

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Read the rows and compare them with the values."""
        rows = self.read(column)
        encoded = parse_leaves(rows.columns[0], values.type, column, rows.places).dictionary_encode()
        leaf = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        order = _order(encoded.dictionary, values, kind)
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        leaves = encoded.dictionary.take(pa.array(order))
        uncovered = np.zeros(len(values), dtype=bool)
        if len(values):
            uncovered = ~pc.is_in(values, value_set=leaves).to_numpy(zero_copy_only=False)
        return Draft(
            leaves,
            (Level(position[leaf], to_labels(leaves)), *(Level.of_labels(labels) for labels in rows.columns[1:])),
            root=False,
            declared=True,
            uncovered_values=int(np.count_nonzero(uncovered)),
            uncovered_records=int(np.asarray(counts)[uncovered].sum()),
        )

    def read(self, column: str) -> TaxonomyRows:
        """Return the rows of the file, the inline rows or the tree."""
        if self.file is not None:
            path = Path(self.file)
            if path.suffix.lower() in _YAML:
                return read_tree_file(path, column)
            return read_csv(path, column, self.delimiter)
        if self.rows is not None:
            return rows_of(self.rows, [f"row {n}" for n in range(1, len(self.rows) + 1)], column)
        return rows_of_tree(self.tree, column)


def _order(leaves: pa.Array, values: pa.Array, kind: Kind) -> IntArray:
    """Return the leaves in code order, as far as the kind fixes one.

    Ordinal leaves that do not occur stand where the file has them: behind the nearest one before them that occurs.
    """
    if kind is Kind.ORDINAL:
        declared = pc.index_in(leaves, value_set=values.cast(leaves.type))
        occurs = pc.is_valid(declared).to_numpy(zero_copy_only=False)
        rank = pc.fill_null(declared, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        anchor = np.maximum.accumulate(np.where(occurs, np.arange(len(leaves)), -1))
        return np.lexsort((np.arange(len(leaves)), np.where(anchor < 0, -1, rank[anchor]))).astype(np.int64)
    if kind.ordered:
        return pc.sort_indices(leaves).to_numpy().astype(np.int64)  # type: ignore[no-any-return]
    return np.arange(len(leaves), dtype=np.int64)
