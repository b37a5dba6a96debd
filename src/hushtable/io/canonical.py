"""Data as text in one way only, so that equal data have equal hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["canonical_json", "digest"]


def canonical_json(data: Any) -> str:
    """Return plain data as JSON in which equal numbers are written alike. Order is kept: a policy's order counts.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": (1, 0.5)})
    '{"b":1,"a":[1,0.5]}'
    """
    return json.dumps(_plain_numbers(data), ensure_ascii=False, separators=(",", ":"))


def digest(data: Any) -> str:
    """Return the SHA-256 of the canonical JSON, as hexadecimal digits.

    Examples
    --------
    >>> digest({"k": 5}) == digest({"k": 5.0})
    True
    """
    return hashlib.sha256(canonical_json(data).encode("utf-8", "surrogatepass")).hexdigest()


def _plain_numbers(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _plain_numbers(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain_numbers(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data
