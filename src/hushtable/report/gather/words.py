"""Names and parameters of registry entries, in words that carry no value of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from hushtable.params import Parametrised


def parameter_words(built: Parametrised, columns: set[str]) -> dict[str, str]:
    """Return the parameters that differ from their defaults, without possible values of the table.

    Numbers, choices from a fixed list and names of columns are written; everything else is counted.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> parameter_words(models.build("k-anonymity", {"k": 5}), set())
    {'k': '5'}
    >>> parameter_words(models.build("value-bounds", {"bounds": {"HIV": 0.1}, "on": "disease"}), {"disease"})
    {'on': 'disease', 'bounds': '1 entries, in the policy'}
    """
    kinds = {p.name: p.type for p in built.params()}
    return {name: _word(value, kinds[name], columns) for name, value in built.values().items()}


def _word(value: Any, kind: Any, columns: set[str]) -> str:
    if value is None or isinstance(value, bool | int | float):
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    if isinstance(value, str):
        return value if value in columns or value in _choices(kind) else "given in the policy"
    if isinstance(value, Mapping):
        if value and all(k in columns and isinstance(v, int | float) for k, v in value.items()):
            return ", ".join(f"{k}: {v}" for k, v in value.items())
        return f"{len(value)} entries, in the policy"
    if isinstance(value, list | tuple):
        if all(isinstance(v, int | float) or v in columns for v in value):
            return ", ".join(map(str, value))
        return f"{len(value)} entries, in the policy"
    return "given in the policy"


def _choices(kind: Any) -> set[Any]:
    if get_origin(kind) is Literal:
        return set(get_args(kind))
    return {choice for part in get_args(kind) for choice in _choices(part)}
