"""One setting tried on the table: what it achieved and cost, or why there is no release."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable import registry
from hushtable.algorithms.base import Progress
from hushtable.api import anonymize
from hushtable.engines.release import Release
from hushtable.errors import (
    Cancelled,
    HushtableError,
    IncompatibleError,
    Infeasible,
    NotFound,
    UsageError,
    VerificationError,
)
from hushtable.policy.policy import Policy
from hushtable.registry import measures

Row = dict[str, Any]
"""A row of the comparison, JSON-ready: settings, ``status``, ``reason``, ``values`` by name and ``seconds``."""

_STATUS = (
    (Infeasible, "infeasible"),
    (NotFound, "not found"),
    (IncompatibleError, "refused"),
    (VerificationError, "violated"),
)
ACCURACY, ORIGINAL, DROP = "accuracy", "accuracy-original", "accuracy-drop"
ACHIEVED = "achieved "
"""Prefix of the names of models' achieved values."""


@dataclass(frozen=True)
class Wanted:
    """What to measure for every release.

    Attributes
    ----------
    measures : tuple of (str, mapping)
        Utility measures in addition to those of every summary, with their parameters. With ``accuracy``,
        ``accuracy-drop`` is the loss compared with a classifier trained on the original.
    risks : tuple of (str, mapping)
        Risk measures with their parameters.

    Examples
    --------
    >>> Wanted.of(measures=["accuracy"]).risks
    (('prosecutor', {}),)
    """

    measures: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    risks: tuple[tuple[str, Mapping[str, Any]], ...] = (("prosecutor", {}),)

    @classmethod
    def of(cls, measures: Sequence[Any] = (), risks: Sequence[Any] = ()) -> Wanted:
        """Build from names, or names with parameters; the prosecutor's risk is always included.

        Raises
        ------
        UsageError
            If a name or a parameter is unknown.
        """
        named = dict([_named(entry, registry.measures) for entry in measures])
        exposed = {"prosecutor": {}, **dict([_named(entry, registry.risks) for entry in risks])}
        return cls(tuple(named.items()), tuple(exposed.items()))

    def including(self, *names: str) -> Wanted:
        """Return the same with the sources of these quantities.

        Examples
        --------
        >>> Wanted.of().including("journalist", "accuracy-drop", "ncp").as_data()
        {'measures': [{'accuracy': {}}], 'risks': [{'prosecutor': {}}, {'journalist': {}}]}
        """
        named, exposed = dict(self.measures), dict(self.risks)
        for name in names:
            measure = ACCURACY if name in (DROP, ORIGINAL) else name
            if measure in registry.measures and not registry.measures[measure].default:
                named.setdefault(measure, {})
            elif measure in registry.risks:
                exposed.setdefault(measure, {})
        return Wanted(tuple(named.items()), tuple(exposed.items()))

    def as_data(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "measures": [{n: dict(v)} for n, v in self.measures],
            "risks": [{n: dict(v)} for n, v in self.risks],
        }


def _named(entry: Any, known: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(entry, str) and not (isinstance(entry, Mapping) and len(entry) == 1):
        raise UsageError(
            f"Each {known.kind} must be a name, or a name with parameters.",
            code="comparison",
            hint="For example 'accuracy', or 'accuracy: {model: tree}'.",
        )
    ((name, values),) = entry.items() if isinstance(entry, Mapping) else [(entry, None)]
    if values is not None and not isinstance(values, Mapping):
        raise UsageError(f"The parameters of {name!r} must be a mapping.", code="comparison")
    known.build(name, values)
    return name, dict(values or {})


@dataclass(frozen=True)
class SettingTask:
    """A setting in the form that is sent to another process."""

    place: int
    policy: Mapping[str, Any]
    folder: Path | None
    wanted: Wanted
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def evaluate(data: pa.Table, task: SettingTask, progress: Progress | None = None) -> Row:
    """Anonymize under one setting and measure; a setting without a release is a row with the reason.

    Raises
    ------
    Cancelled
    """
    started = time.perf_counter()
    try:
        with _one_thread(task.wanted):
            policy = Policy(**task.policy).based_in(task.folder).holding(task.tables)
            release = anonymize(data, policy, progress=progress)
            seconds = time.perf_counter() - started
            values = _values(release, task.wanted)
    except Cancelled:
        raise
    except HushtableError as error:
        return {**failed(error), "seconds": round(time.perf_counter() - started, 3)}
    return {"status": "ok", "reason": "", "values": values, "seconds": round(seconds, 3)}


def failed(error: HushtableError) -> Row:
    """A row without a release.

    Examples
    --------
    >>> failed(NotFound("datafly found none.", hint="Relax k."))["status"]
    'not found'
    """
    status = next((word for kind, word in _STATUS if isinstance(error, kind)), "unusable")
    return {"status": status, "reason": f"{error.message} {error.hint}".strip(), "values": {}, "seconds": 0.0}


def is_row(row: Any) -> bool:
    """Whether data from a file have the form of a setting's row.

    Examples
    --------
    >>> is_row(failed(NotFound("datafly found none."))), is_row({"status": "ok"})
    (True, False)
    """
    if not isinstance(row, dict) or not isinstance(row.get("values"), dict):
        return False
    texts = all(isinstance(row.get(name), str) for name in ("status", "reason"))
    numbers = [row.get("seconds"), *(value for value in row["values"].values() if value is not None)]
    return texts and all(isinstance(value, int | float) for value in numbers)


def _one_thread(wanted: Wanted) -> AbstractContextManager[Any]:
    """Use one thread: sums of classifiers depend on the number of threads, and other cores stay free."""
    if not wanted.measures:
        return nullcontext()
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1)
    return limits


def _values(release: Release, wanted: Wanted) -> dict[str, float | None]:
    records = release.encoded.n_sample
    found: dict[str, Any] = {
        "classes": release.verification.classes,
        "suppressed": release.n_suppressed / records,
    }
    for name, parameters in wanted.risks:
        found |= _risk(name, release.risk(name, **parameters).after.as_dict())
    for evidence in release.verification.evidence:
        on = evidence.parameters.get("on")
        column = f" ({on if isinstance(on, str) else '+'.join(on)})" if on else ""
        found[f"{ACHIEVED}{evidence.model}{column}"] = evidence.achieved
    found |= release.measures()
    comparison = release.comparison()
    for name, parameters in wanted.measures:
        found[name] = measures.build(name, parameters).compute(comparison)
        if name == ACCURACY:
            found[ORIGINAL] = measures.build(ORIGINAL, parameters).compute(comparison)
            found[DROP] = found[ORIGINAL] - found[ACCURACY]
    return {name: _plain(value) for name, value in found.items()}


def _risk(name: str, finding: Mapping[str, Any]) -> dict[str, Any]:
    """Return a risk's numbers as ``name-field``; the most important one has the risk's own name."""
    numbers = {
        k: v for k, v in finding.items() if v is None or (isinstance(v, int | float) and not isinstance(v, bool))
    }
    main = next((field for field in ("highest", "share") if field in numbers), None)
    fields = {f"{name}-{k.replace('_', '-')}": v for k, v in numbers.items() if k not in (main, "threshold", "people")}
    return {**({name: numbers[main]} if main else {}), **fields}


def _plain(value: Any) -> float | None:
    number = value.item() if hasattr(value, "item") else value
    return None if number is None or not math.isfinite(number) else number
