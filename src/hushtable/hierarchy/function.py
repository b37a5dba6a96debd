"""A hierarchy computed by a Python function from a value to the labels above it.

The function is known only to the process in which it was given. A policy contains its name; a policy
file with such a name can be read, but not run until the function is given again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa

from hushtable.arrays import IntArray
from hushtable.errors import HierarchyError
from hushtable.hierarchy.build import Draft, Level, Recipe, sorted_leaves
from hushtable.io.text import label_text
from hushtable.schema.columns import Kind

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {}


def named_function(function: Callable[[Any], Any]) -> str:
    """Keep a function for this process, and return its name in a policy.

    Examples
    --------
    >>> def decade(age):
    ...     return f"{age // 10}0s"
    >>> named_function(decade) == named_function(decade)
    True
    """
    own = f"{function.__module__}.{getattr(function, '__qualname__', type(function).__name__)}"
    for number in range(1, len(_FUNCTIONS) + 2):
        name = own if number == 1 else f"{own}#{number}"
        if _FUNCTIONS.setdefault(name, function) is function:
            return name
    raise AssertionError("one of the names is free")


@dataclass(frozen=True)
class Function(Recipe):
    """Levels computed by a Python function, which takes a value and returns its label, or a list of coarser labels.

    Parameters
    ----------
    calls : str
        The name from ``named_function``. In Python, pass the function itself.

    Examples
    --------
    >>> tens = Function(calls=named_function(lambda age: [f"{age // 10}0s", "old" if age >= 60 else "young"]))
    >>> import numpy as np
    >>> values, counts = pa.array([35, 61, 68]), np.array([1, 1, 1])
    >>> tens.code(values, Kind.NUMERIC, missing=False, column="age", counts=counts).labels
    (('35', '61', '68'), ('30s', '60s'), ('young', 'old'), ('*',))
    """

    calls: Annotated[str, "name of a Python function that this process knows"]

    name: ClassVar[str] = "function"
    shorthand: ClassVar[str] = "calls"
    in_a_policy: ClassVar[str] = "the function itself, given in Python"

    def draft(self, values: pa.Array, kind: Kind, *, column: str, counts: IntArray) -> Draft:
        """Call the function for every value that occurs."""
        leaves, _ = sorted_leaves(values, kind, counts, column)
        rows = [self._labels(value, column) for value in leaves.to_pylist()]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise HierarchyError(
                f"The function of column {column!r} returns {min(lengths)} labels for some values and {max(lengths)} "
                "for others.",
                code="uneven-levels",
                hint="Return the same number of labels for each value.",
            )
        height = lengths.pop() if lengths else 0
        levels = [Level.of_labels(pa.array([row[h] for row in rows], pa.string())) for h in range(height)]
        return Draft.over(leaves, levels)

    def _labels(self, value: Any, column: str) -> Sequence[str]:
        function = _FUNCTIONS.get(self.calls)
        if function is None:
            raise HierarchyError(
                f"The hierarchy of column {column!r} is a Python function that this process does not know.",
                code="unknown-function",
                hint="Pass it again: policy.with_column(name, hierarchy=function), or write the levels to a file.",
            )
        try:
            found = function(value)
        except Exception as error:
            # its message may quote the value
            raise HierarchyError(
                f"The function of column {column!r} failed for a value ({type(error).__name__}).",
                code="function-failed",
                hint="Make it return a label for every value.",
            ) from None
        labels = [found] if isinstance(found, str | int | float) else found
        if not isinstance(labels, list | tuple) or not all(isinstance(label, str | int | float) for label in labels):
            raise HierarchyError(
                f"The function of column {column!r} returns {type(found).__name__}.",
                code="function-failed",
                hint="Make it return text, or a list of coarser and coarser texts.",
            )
        return [label_text(label) for label in labels]
