"""The base of risk measures: aggregations over class sizes that say how exposed people are.

A measure sees an ``Exposure``: the classes of a table, original or published. It depends on no algorithm or model,
and its findings contain no cell of the table.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.params import Parametrised
from hushtable.release.exposure import Exposure

__all__ = ["Exposure", "Finding", "Risk"]


@dataclass(frozen=True)
class Finding:
    """Base of findings: numbers and column names only.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Found(Finding):
    ...     share: float
    ...     columns: tuple[str, ...]
    >>> Found(float("nan"), ("age",)).as_dict()
    {'share': None, 'columns': ['age']}
    """

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data; an undefined number is None."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}


@dataclass(frozen=True)
class Risk(Parametrised, ABC):
    """Base of all risk measures: parameters as fields, one formula.

    Class attributes
    ----------------
    name : str
    default : bool
        Whether it is part of every summary.
    """

    default: ClassVar[bool] = True

    def applies(self, exposure: Exposure) -> bool:
        """Whether a summary of this table includes it: whether its inputs exist."""
        return True

    @abstractmethod
    def compute(self, exposure: Exposure) -> Finding:
        """Assess one table. A number that is not defined for it is NaN."""


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return value.as_dict()
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
