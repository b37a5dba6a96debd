"""The grid: the algorithms, models and settings to try, as a product of lists.

::

    algorithms: [mondrian, {lattice-sweep: {refine: [false, true]}}]
    models:                                      # alternatives; the models of one alternative hold together
    - k-anonymity: {k: [2, 5, 10]}
    - {k-anonymity: {k: 5}, t-closeness: {t: [0.1, 0.2]}}
    suppression: [0, 0.02]

A list of values means each of them in turn. If a parameter itself takes a list (``on: [a, b]``), a list is one value
and a list of lists means each of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable import registry
from hushtable.errors import HushtableError, IncompatibleError, ParameterError, UsageError
from hushtable.params import Param
from hushtable.policy.policy import Policy
from hushtable.registry import Registry

Choice = dict[str, dict[str, Any]]
"""One algorithm or model with its parameters: ``{name: {parameter: value}}``."""


@dataclass(frozen=True)
class Setting:
    """One combination to try.

    Attributes
    ----------
    changes : mapping
        Differences from the base policy: ``algorithm``, ``models``, ``suppression``, ``cells``.
    policy : Policy, optional
        None if models and algorithm cannot be combined.
    refusal : HushtableError, optional
        The reason.
    """

    changes: Mapping[str, Any]
    policy: Policy | None
    refusal: HushtableError | None = None

    @property
    def algorithm(self) -> str:
        """The algorithm and its parameters, in one line."""
        return label([self.changes["algorithm"]])

    @property
    def models(self) -> str:
        """The models and their parameters, in one line."""
        return label(self.changes["models"])


@dataclass(frozen=True)
class Grid:
    """The settings to try: every algorithm with every alternative of models, every suppression limit and cell style.

    Attributes
    ----------
    algorithms : tuple of Choice
        Defaults to the base policy's.
    models : tuple of tuple of Choice
        Defaults to the base policy's.
    suppression : tuple of float
    cells : tuple of str

    Examples
    --------
    >>> grid = Grid.of(algorithms=["mondrian", "datafly"], models=[{"k-anonymity": {"k": [2, 5]}}])
    >>> base = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 3}}])
    >>> [f"{s.algorithm}, {s.models}" for s in grid.settings(base)]
    ['mondrian, k-anonymity k=2', 'mondrian, k-anonymity k=5', 'datafly, k-anonymity k=2', 'datafly, k-anonymity k=5']
    """

    algorithms: tuple[Choice, ...] = ()
    models: tuple[tuple[Choice, ...], ...] = ()
    suppression: tuple[float, ...] = ()
    cells: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        algorithms: Sequence[Any] = (),
        models: Sequence[Any] = (),
        suppression: float | Sequence[float] = (),
        cells: str | Sequence[str] = (),
    ) -> Grid:
        """Build a grid from the contents of a comparison file; lists of values are multiplied out.

        Raises
        ------
        UsageError
            If a name is unknown.
        ParameterError
            If a parameter is unknown, missing or not acceptable.
        """
        return cls(
            tuple(choice for entry in algorithms for choice in _choices(entry, registry.algorithms)),
            tuple(found for entry in models for found in _together(entry)),
            tuple(_listed(suppression)),
            tuple(_listed(cells)),
        )

    def settings(self, base: Policy) -> list[Setting]:
        """Return every combination once, in the grid's order.

        Raises
        ------
        PolicyError
            If a combination is not a valid policy, except for models and algorithms that cannot be combined.
        """
        document = base.document()
        lists = (
            self.algorithms or (document["algorithm"],),
            self.models or (tuple(document["models"]),),
            self.suppression or (document["suppression"],),
            self.cells or (document["cells"],),
        )
        found: dict[str, Setting] = {}
        for algorithm, together, suppression, cells in itertools.product(*lists):
            changes = {
                "algorithm": algorithm,
                "models": [dict(m) for m in together],
                "suppression": suppression,
                "cells": cells,
            }
            setting = _setting(base, changes)
            key = repr(changes) if setting.policy is None else setting.policy.digest()
            found.setdefault(key, setting)
        return list(found.values())


def _setting(base: Policy, changes: Mapping[str, Any]) -> Setting:
    try:
        return Setting(changes, base.changed(**changes))
    except IncompatibleError as refusal:
        return Setting(changes, None, refusal)


def expand(names: Registry[Any], name: str, values: Mapping[str, Any] | None) -> Iterator[Choice]:
    """Yield the named class with every combination of the listed parameter values, each checked.

    Examples
    --------
    >>> list(expand(registry.models, "t-closeness", {"t": [0.1, 0.2], "on": ["pay", "disease"]}))
    [{'t-closeness': {'t': 0.1, 'on': ['pay', 'disease']}}, {'t-closeness': {'t': 0.2, 'on': ['pay', 'disease']}}]
    >>> list(expand(registry.models, "k-anonymity", {"k": [5, 1]}))
    Traceback (most recent call last):
    hushtable.errors.ParameterError: The 'k' parameter of KAnonymity must be an int >= 2. Got 1 instead.
    """
    known = names[name]
    declared = {p.name: p for p in known.params()}
    lists = [_alternatives(declared.get(key), key, value, known.__name__) for key, value in (values or {}).items()]
    for combination in itertools.product(*lists):
        chosen = dict(zip(values or {}, combination, strict=True))
        known.build(chosen)
        yield {name: chosen}


def _alternatives(param: Param | None, name: str, value: Any, owner: str) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    if not value:
        raise ParameterError(f"The list of values for {name!r} of {owner} is empty.", hint="Give at least one value.")
    if param is None:
        return value  # 'build' says that there is no such parameter
    try:
        param.coerce(value, owner)
    except ParameterError:
        return value
    return [value]


def _choices(entry: Any, names: Registry[Any]) -> Iterator[Choice]:
    """Read one algorithm or model: a name, or a name with parameters."""
    if isinstance(entry, str):
        yield from expand(names, entry, None)
    elif isinstance(entry, Mapping) and len(entry) == 1:
        ((name, values),) = entry.items()
        if values is not None and not isinstance(values, Mapping):
            raise UsageError(
                f"The parameters of {name!r} must be a mapping.",
                code="grid",
                hint=f"Write {name}: {{parameter: value}}.",
            )
        yield from expand(names, str(name), values)
    else:
        raise UsageError(
            f"Each {names.kind} of a comparison must be a name, or a name with parameters.",
            code="grid",
            hint="For example 'mondrian', or 'k-anonymity: {k: [2, 5, 10]}'.",
        )


def _together(entry: Any) -> Iterator[tuple[Choice, ...]]:
    """Read one alternative: a name, a mapping of models that hold together, or a list of such models."""
    if isinstance(entry, Mapping):
        parts = [{name: values} for name, values in entry.items()]
    else:
        parts = list(entry) if isinstance(entry, list | tuple) else [entry]
    if not parts:
        raise UsageError("An alternative of 'models' names no model.", code="grid", hint="Name at least one.")
    yield from itertools.product(*(list(_choices(part, registry.models)) for part in parts))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def label(choices: Sequence[Choice]) -> str:
    """Format choices in human-readable form: ``k-anonymity k=5 + t-closeness t=0.2``."""
    return " + ".join(
        " ".join([name, *(f"{key}={_word(value)}" for key, value in values.items())])
        for choice in choices
        for name, values in choice.items()
    )


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "+".join(_word(v) for v in value)
    return "{...}" if isinstance(value, Mapping) else str(value)
