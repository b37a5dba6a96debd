"""Models with parameters drawn from the declarations of their classes.

There is no list of models here: a parameter's type and constraints say which values to try, and combinations that the
class or the table refuses with a ``UsageError`` are skipped. Required text is treated as a column, and a mapping or a
list of texts as values of the model's column. To check a plug-in whose parameters cannot be drawn this way, pass
instances.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from hushtable import rng
from hushtable.errors import UsageError
from hushtable.models.base import PrivacyModel
from hushtable.params import AtLeast, Between, Param, Positive
from hushtable.testing.cases import Case

ModelOrClass = type[PrivacyModel] | PrivacyModel

_DRAWS = 80
_STEPS = (0, 1, 2, 3)
_NUMBERS = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 1.5, 2.0, 3.0)


def model_examples(
    model: ModelOrClass, case: Case, limit: int = 4, *, feasible: bool | None = None
) -> list[PrivacyModel]:
    """Return instances of a model that make sense on a case's table.

    Parameters
    ----------
    model : class or instance
        If an instance is given, it is the only example.
    case : Case
    limit : int
        Maximum number of examples.
    feasible : bool, optional
        Whether the whole table as one class must satisfy them. Defaults to both, satisfied ones first.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> from hushtable.testing.cases import random_case
    >>> len(model_examples(KAnonymity, random_case(1)))
    4
    """
    if isinstance(model, PrivacyModel):
        verdict = _verdict(model, case)
        return [model] if verdict is not None and feasible in (None, verdict) else []
    found: list[tuple[PrivacyModel, bool]] = []
    seen: set[str] = set()
    for draw in range(_DRAWS):
        if (model, draw) not in case.drawn:
            case.drawn[model, draw] = _draw(model, case, draw)
        drawn = case.drawn[model, draw]
        name = repr(drawn)
        if drawn is None or name in seen:
            continue
        seen.add(name)
        if (model, name) not in case.verdicts:
            case.verdicts[model, name] = _verdict(drawn, case)
        verdict = case.verdicts[model, name]
        if verdict is not None and feasible in (None, verdict):
            found.append((drawn, verdict))
        if sum(feasible is False or good for _, good in found) >= limit:
            break
    ranked = sorted(found, key=lambda pair: not pair[1])
    return [example for example, _ in ranked[:limit]]


def _draw(model: type[PrivacyModel], case: Case, draw: int) -> PrivacyModel | None:
    """One random choice of every parameter, or None if the class refuses it."""
    stream = f"examples/{model.name}/{draw}"
    turn = iter(rng.integers(case.seed, stream, 64, 0, 1 << 31).tolist())
    column = case.sensitive[next(turn) % len(case.sensitive)]
    values: dict[str, Any] = {}
    for param in model.params():
        choices = _on(case, column) if param.name == "on" else _choices(param, case, column)
        if not choices:
            raise UsageError(
                f"No values can be drawn for the parameter {param.name!r} of {model.__name__} ({param.expected()}).",
                code="no-examples",
                hint="Give the contract suite an instance instead of the class.",
            )
        values[param.name] = choices[next(turn) % len(choices)]
    try:
        return model.build(values)
    except UsageError:
        return None


def _verdict(model: PrivacyModel, case: Case) -> bool | None:
    """Whether the whole table satisfies the model; None if the model does not suit the table's columns."""
    try:
        bound = case.bound([model])
        encoded = case.encoded([model])
        reference = encoded.reference(bound.histogram_keys())
        whole = encoded.stats_of(np.zeros(encoded.n_rows, dtype=np.int64), 1, bound.histogram_keys())
        bound.feasible(reference)
        return bool(bound.table_satisfied(whole, reference)[0])
    except UsageError:
        return None


def _on(case: Case, column: str) -> list[Any]:
    others = [name for name in case.sensitive if name != column]
    return [column, column, column, None, (column, others[0])]


def _choices(param: Param, case: Case, column: str) -> list[Any]:
    drawn = _of_type(param.type, param, case, column)
    fitting = [value for value in drawn if value is None or all(c.holds(value) for c in param.constraints)]
    return fitting if fitting or param.required else [param.default]


def _of_type(wanted: Any, param: Param, case: Case, column: str) -> list[Any]:
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return list(args)
    if origin in (Union, types.UnionType):
        found = [value for arg in args for value in _of_type(arg, param, case, column)]
        # optional parameters are omitted half of the time
        return [*found, *([None] * (len(found) - 2) if None in found else [])]
    if origin is tuple:
        return [tuple(_labels(case, column)[:n]) for n in (1, 2)] if args[0] is str else []
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mappings(_labels(case, column), required=param.required) if args[0] is str else []
    if wanted is type(None):
        return [None]
    if wanted is bool:
        return [False, True]
    if wanted is str:
        return list(case.sensitive)
    if wanted in (int, float):
        return _numbers(param, wanted)
    return []


def _numbers(param: Param, wanted: type) -> list[Any]:
    low = next((c.low for c in param.constraints if isinstance(c, AtLeast | Between)), None)
    if wanted is int:
        first = int(low) if low is not None else 1
        return [first + step for step in _STEPS]
    if low is None and not any(isinstance(c, Positive) for c in param.constraints):
        low = 0.0
    return [(low or 0.0) + number for number in (0.0, *_NUMBERS)]


def _labels(case: Case, column: str) -> Sequence[str]:
    """The first values of a column, as text."""
    values = {str(v) for v in case.table.column(column).to_pylist() if v is not None}
    return sorted(values)[:3]


def _mappings(labels: Sequence[str], *, required: bool) -> list[dict[str, float]]:
    found = [dict.fromkeys(labels[:n], bound) for n in (1, 2) for bound in (0.2, 0.5, 0.8)]
    return found if required else [{}, *found]
