"""Values as JSON-ready data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Return a value as JSON-ready data.

    Examples
    --------
    >>> from pathlib import Path
    >>> plain({"loss": float("nan"), "file": Path("a.csv"), "columns": ("age",)})
    {'loss': None, 'file': 'a.csv', 'columns': ['age']}
    """
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)
