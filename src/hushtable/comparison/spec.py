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

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hushtable.comparison.evaluate import Wanted
from hushtable.comparison.grid import Grid
from hushtable.errors import PolicyError, UsageError, did_you_mean
from hushtable.policy.files import load_policy
from hushtable.policy.policy import Policy
from hushtable.policy.text import read_yaml
from hushtable.registry import algorithms, models

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
