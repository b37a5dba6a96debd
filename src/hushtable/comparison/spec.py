"""Comparison files, and the short forms of the command line.

::

    policy: policy.yaml                  # the base, relative to this file
    algorithms: [mondrian, datafly, {lattice-sweep: {refine: [false, true]}}]
    models:
    - k-anonymity: {k: [2, 5, 10]}
    suppression: [0, 0.02]
    measures: [query-error, accuracy]    # in addition to those of every summary
    risks: [marketer]                    # in addition to the prosecutor's
    privacy: prosecutor                  # quantities of the frontier
    utility: ncp
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hushtable import registry
from hushtable.comparison.evaluate import Wanted
from hushtable.errors import HushtableError, IncompatibleError, ParameterError, PolicyError, UsageError, did_you_mean
from hushtable.params import Param
from hushtable.policy.files import load_policy
from hushtable.policy.policy import Policy
from hushtable.policy.text import read_yaml
from hushtable.registry import Registry, algorithms, models

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


_GRID = ("algorithms", "models", "suppression", "cells")
_LISTS = ("algorithms", "models", "measures", "risks")
_KEYS = ("policy", *_GRID, "measures", "risks", "privacy", "utility")


@dataclass(frozen=True)
class Spec:
    """The contents of a comparison file, with the short forms of the command line applied.

    Attributes
    ----------
    policy : Policy
        The base.
    data : mapping
        The file's other settings, as written.
    """

    policy: Policy
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def grid(self) -> Grid:
        """The settings to try."""
        chosen = {key: self.data[key] for key in _GRID if key in self.data}
        empty = next((key for key, value in chosen.items() if value in ([], None)), None)
        if empty is not None:
            raise UsageError(f"The list {empty!r} of the comparison is empty.", code="grid", hint="Remove it.")
        return Grid.of(**chosen)

    @property
    def wanted(self) -> Wanted:
        """What to measure."""
        return Wanted.of(self.data.get("measures", ()), self.data.get("risks", ()))

    @property
    def privacy(self) -> str:
        """The privacy quantity of the frontier."""
        return str(self.data.get("privacy", "prosecutor"))

    @property
    def utility(self) -> str:
        """The utility quantity of the frontier."""
        return str(self.data.get("utility", "ncp"))

    def with_lists(self, **lists: Sequence[Any] | None) -> Spec:
        """Return the same with some settings replaced; those that are None stay unchanged."""
        return replace(self, data={**self.data, **{k: list(v) for k, v in lists.items() if v is not None}})

    def adding(self, key: str, names: Sequence[str]) -> Spec:
        """Return the same with more measures or risks."""
        return self.with_lists(**{key: [*self.data.get(key, ()), *names]})

    def varying(self, text: str) -> Spec:
        """Return the same with one parameter varied, as ``k-anonymity.k=2,5,10`` says.

        A model that no alternative has yet is added to each.

        Raises
        ------
        UsageError
            If it does not have that form, or names nothing that is compared.

        Examples
        --------
        >>> base = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 3}}])
        >>> Spec(base).varying("k-anonymity.k=2,5").data["models"]
        [[{'k-anonymity': {'k': [2, 5]}}]]
        """
        target, sign, listed = text.partition("=")
        name, dot, parameter = target.strip().rpartition(".")
        if not sign or not dot or not listed.strip():
            raise UsageError(
                f"The parameter to vary must be NAME.PARAMETER=VALUE,... Got {text!r} instead.",
                code="vary",
                hint="For example k-anonymity.k=2,5,10 or mondrian.refine=false,true.",
            )
        values = _values(listed, text)
        if name in models:
            return self.with_lists(models=[_with(part, name, parameter, values) for part in self._alternatives()])
        if name not in algorithms:
            raise UsageError(
                f"There is no model or algorithm {name!r}.",
                code="vary",
                hint=did_you_mean(name, [*models, *algorithms]),
            )
        chosen = [_parts(entry) for entry in self.data.get("algorithms", [self.policy.document()["algorithm"]])]
        if not any(name in choice for choice, *_ in chosen):
            raise UsageError(
                f"{name!r} is not among the algorithms that are compared.", code="vary", hint="Name it in --algorithms."
            )
        return self.with_lists(
            algorithms=[_with(c, name, parameter, values)[0] if name in c[0] else c[0] for c in chosen]
        )

    def _alternatives(self) -> list[list[dict[str, Any]]]:
        return [_parts(entry) for entry in self.data.get("models", [self.policy.document()["models"]])]


def _values(listed: str, text: str) -> list[Any]:
    try:
        values: list[Any] = read_yaml(f"values: [{listed}]").data["values"]
    except PolicyError:
        raise UsageError(
            f"The values of {text!r} cannot be read.", code="vary", hint="Separate them with commas."
        ) from None
    return values


def _parts(entry: Any) -> list[dict[str, Any]]:
    """Return an alternative as a list of one-key mappings."""
    if isinstance(entry, str):
        return [{entry: {}}]
    if isinstance(entry, dict):
        return [{name: values or {}} for name, values in entry.items()]
    if not isinstance(entry, list | tuple):
        raise UsageError("A comparison must list names, or names with parameters.", code="grid")
    return [part for inner in entry for part in _parts(inner)]


def _with(parts: list[dict[str, Any]], name: str, parameter: str, values: list[Any]) -> list[dict[str, Any]]:
    if not any(name in part for part in parts):
        parts = [*parts, {name: {}}]
    return [{name: {**part[name], parameter: values}} if name in part else part for part in parts]


def load_spec(path: str | os.PathLike[str]) -> Spec:
    """Read a comparison file, or a policy, which is a comparison's base without anything varied.

    Raises
    ------
    PolicyError
        If the file or the policy that it names cannot be read, or a setting is unknown.
    """
    file = Path(path)
    try:
        read = read_yaml(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return Spec(load_policy(file))  # says why it cannot be read
    if read.data.keys() & {"columns", "tables"}:  # a policy of linked tables is refused
        return Spec(load_policy(file))
    for key in read.data:
        if key not in _KEYS:
            raise PolicyError(
                f"{file.name}: line {read.lines[(key,)]}: There is no setting {key!r} in a comparison.",
                code="unknown-key",
                hint=did_you_mean(key, _KEYS),
            )
    for key in _LISTS:
        if key in read.data and not isinstance(read.data[key], list):
            raise PolicyError(
                f"{file.name}: line {read.lines[(key,)]}: {key!r} must be a list.",
                code="comparison",
                hint="Put '[...]' around it.",
            )
    base = read.data.pop("policy", None)
    if not isinstance(base, str):
        raise PolicyError(
            f"{file.name}: The comparison names no policy.", code="comparison", hint="Add 'policy: policy.yaml'."
        )
    return Spec(load_policy(file.parent / base), read.data)
