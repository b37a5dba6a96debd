"""What is written beside a published table: its policy, and ``release.json`` with what verifying later needs.

``release.json`` holds what was achieved, what it cost, and the whole-table distributions of the sensitive columns; no
record's values. Where records were suppressed, whole-table counts less the published ones are theirs, so only those
that a model compares with are written. A value that suppressed records alone have keeps its count, not its name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hushtable._version import __version__
from hushtable.algorithms.base import Partition
from hushtable.arrays import AnyArray, IntArray
from hushtable.errors import UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.models.compose import AllOf
from hushtable.release.verify import Verification, joint_codes
from hushtable.table.encoded import EncodedTable, SensitiveColumn
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

__all__ = ["Described", "evidence_of", "summary_of", "write_documents"]


class Described(Protocol):
    """What the evidence looks at: a release, or what an engine has of one whose table is on disk only."""

    @property
    def policy(self) -> Mapping[str, Any]:
        """The policy it was made under."""

    @property
    def encoded(self) -> EncodedTable:
        """The encoded input."""

    @property
    def model(self) -> AllOf:
        """The models, bound to their columns."""

    @property
    def reference(self) -> Reference:
        """What models compare classes with."""

    @property
    def verification(self) -> Verification:
        """What every model achieved."""

    @property
    def source_rows(self) -> AnyArray:
        """The input row of each published row."""

    def summary(self) -> dict[str, Any]:
        """What was done, as data."""


@runtime_checkable
class _Counterfeiting(Protocol):
    def codes_of(self, column: str) -> IntArray:
        """Return the codes of a sensitive column, row by row of the published table."""


def summary_of(
    encoded: EncodedTable,
    columns: list[str],
    released: int,
    policy: Mapping[str, Any],
    verification: Verification,
    measures: Mapping[str, float],
    partition: Partition,
) -> dict[str, Any]:
    """Return what was done, as data: sizes, what every model achieved, what it cost. No value of a record."""
    return {
        "hushtable": __version__,
        "records": encoded.n_sample,
        "released": released,
        "suppressed": encoded.n_sample - released,
        "columns": columns,
        "algorithm": policy.get("algorithm"),
        **verification.as_dict(),
        "measures": measures,
        "notes": dict(partition.notes),
    }


def write_documents(release: Described, folder: Path, name: str, shown: Callable[[], IntArray]) -> None:
    """Write ``policy.yaml`` and ``release.json`` into the folder of a release."""
    import yaml

    policy = yaml.safe_dump(dict(release.policy), sort_keys=False, allow_unicode=True)
    atomic_write_text(folder / "policy.yaml", policy)
    evidence = evidence_of(release, name, shown)
    atomic_write_text(folder / "release.json", json.dumps(evidence, indent=1, ensure_ascii=False) + "\n")


def evidence_of(release: Described, name: str, shown: Callable[[], IntArray]) -> dict[str, Any]:
    """Return what ``release.json`` says.

    Parameters
    ----------
    release : Release, or what an engine has of one
    name : str
        The published file.
    shown : callable
        Gives the verifier's classes in the order in which the published file shows them.
    """
    table = release.encoded
    summary = release.summary()
    compared = _compared(release) if summary["suppressed"] else set(release.reference.attributes)
    evidence = {
        **summary,
        "file": name,
        "kinds": {c.name: str(c.coded.kind) for c in table.sensitive},
        "reference": _reference_data(release, compared),
    }
    fakes = np.flatnonzero(release.source_rows < 0)
    if len(table.row_units) or len(table.population_rows) or len(fakes):
        stats = release.verification.stats
        classes = shown()
        evidence["class_counts"] = {
            "unit": table.unit,
            "units": stats.units[classes].tolist(),
            "population": None if stats.population is None else stats.population[classes].tolist(),
        }
    if len(fakes):
        count = np.bincount(release.verification.labels[fakes], minlength=len(release.verification.stats))
        evidence["counterfeits"] = {"total": len(fakes), "classes": count[classes].tolist()}
    plain: dict[str, Any] = _jsonable(evidence)
    return plain


def _compared(release: Described) -> set[Key]:
    """Which columns some model compares with the whole table: those without whose counts it judges otherwise."""
    stats = release.verification.stats
    stats = stats.take(stats.units > 0)
    unknown = {
        key: replace(a, units=np.zeros_like(a.units), whole=False) for key, a in release.reference.attributes.items()
    }
    blind = replace(release.reference, attributes=unknown)
    found: set[Key] = set()
    for member in release.model.members:
        try:
            same = np.array_equal(member.score(stats, blind), member.score(stats, release.reference), equal_nan=True)
        except UsageError:
            same = False
        if not same:
            found |= member.histogram_keys()
    return found


def _reference_data(release: Described, compared: set[Key]) -> dict[str, Any]:
    reference = release.reference
    shown = {column.name: _published_codes(release, column) for column in release.encoded.sensitive}
    sizes = {column.name: column.coded.size for column in release.encoded.sensitive}
    published: dict[str, set[str]] = {}
    for column in release.encoded.sensitive:
        codes = np.flatnonzero(np.bincount(shown[column.name], minlength=column.coded.size))
        published[column.name] = {column.coded.labels[0][c] or "" for c in codes.tolist()}
    return {
        "units": reference.units,
        "unit": reference.unit,
        "population": reference.population,
        "attributes": [
            _attribute_data(a, published[a.key[0]], counted=a.key in compared)
            for a in reference.attributes.values()
            if len(a.key) == 1
        ],
        "joint": [
            _joint_data(a, joint_codes([shown[n] for n in a.key], [sizes[n] for n in a.key])[0])
            for a in reference.attributes.values()
            if len(a.key) > 1 and a.key in compared
        ],
    }


def _published_codes(release: Described, column: SensitiveColumn) -> AnyArray:
    """Return the codes of the published rows; only a release in memory can have counterfeits among them."""
    rows = release.source_rows
    if len(rows) and int(rows.min()) < 0 and isinstance(release, _Counterfeiting):
        return release.codes_of(column.name)
    return np.asarray(column.codes[rows])


def _joint_data(attribute: Attribute, shown: AnyArray) -> dict[str, Any]:
    """Counts of the combinations that occur, by their numbers: names are in the columns' own entries.

    A number tells a combination, so those that suppressed records alone have keep their counts and no number.
    """
    published = np.zeros(attribute.n_values, dtype=np.bool_)
    published[shown] = True
    codes = np.flatnonzero((attribute.units > 0) & published)
    data = {"columns": list(attribute.key), "codes": codes.tolist(), "units": attribute.units[codes].tolist()}
    rest = attribute.units[(attribute.units > 0) & ~published]
    return {**data, "withheld": np.sort(rest).tolist()} if len(rest) else data


def _attribute_data(attribute: Attribute, shown: set[str], *, counted: bool) -> dict[str, Any]:
    hidden = [label not in shown for label in attribute.labels]
    numbers = None
    if attribute.numbers is not None:
        numbers = [None if h else x for h, x in zip(hidden, attribute.numbers.tolist(), strict=True)]
    return {
        "column": attribute.key[0],
        "labels": [None if h else label for h, label in zip(hidden, attribute.labels, strict=True)],
        "units": attribute.units.tolist() if counted else None,
        "ordered": attribute.ordered,
        "numbers": numbers,
        "categories": None if attribute.categories is None else attribute.categories.tolist(),
        "n_categories": attribute.n_categories,
        "levels": [level.tolist() for level in attribute.levels],
        "level_labels": [
            [label if shows else None for label, shows in zip(row, _showing(level, hidden, len(row)), strict=True)]
            for level, row in zip(attribute.levels, attribute.level_labels, strict=True)
        ],
    }


def _showing(level: IntArray, hidden: list[bool], n_nodes: int) -> list[bool]:
    """Which nodes of a level stand above a value that is published."""
    showing: list[bool] = (np.bincount(level[~np.array(hidden)], minlength=n_nodes) > 0).tolist()
    return showing


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
