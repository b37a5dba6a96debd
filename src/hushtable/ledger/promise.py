"""What a release promised: its models, and what they know of its whole table; sealed, so that only the key opens it.

A new release is held against the promises of all earlier ones. Models name values (``only: [HIV]``), and the ledger
must not tell any: so they are kept in a form that nobody can read without the ledger's key.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable.errors import HushtableError
from hushtable.ledger.entry import Entry
from hushtable.ledger.key import Key
from hushtable.models.compose import AllOf
from hushtable.registry import models
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key as Names

__all__ = ["Promise", "opened", "sealed"]


@dataclass(frozen=True)
class Promise:
    """The models of one release.

    Attributes
    ----------
    release : int
        Its place among all releases.
    name : str
        What the release is called; empty for the new one.
    model : AllOf
        Bound to their columns.
    reference : Reference
        The release's whole table.
    called : mapping of str to str
        What its columns are called in the ledger, where that differs.
    ignores_case : bool
        Whether capital letters make no difference to who is who.
    """

    release: int
    name: str
    model: AllOf
    reference: Reference
    called: Mapping[str, str] = field(default_factory=dict)
    ignores_case: bool = False

    def calls(self, key: Names) -> Names:
        """Return what some columns are called in the ledger."""
        return tuple(self.called.get(name, name) for name in key)


def sealed(promise: Promise, key: Key) -> str:
    """Return the promise of a release as a text that only the key opens."""
    model, reference = promise.model, promise.reference
    attributes = []
    for name in sorted(model.histogram_keys()):
        a = reference.attribute(name)
        attributes.append(
            {
                "key": list(a.key), "labels": list(a.labels), "units": a.units.tolist(), "unit": a.unit,
                "ordered": a.ordered, "numbers": None if a.numbers is None else a.numbers.tolist(),
                "categories": None if a.categories is None else a.categories.tolist(),
                "n_categories": a.n_categories, "levels": [level.tolist() for level in a.levels],
                "level_labels": [list(row) for row in a.level_labels], "whole": a.whole, "withheld": a.withheld,
            }
        )  # fmt: skip
    data = {
        "models": [[m.name, m.values()] for m in model.members],
        "units": reference.units,
        "unit": reference.unit,
        "attributes": attributes,
        "called": dict(promise.called),
        "ignores_case": promise.ignores_case,
    }
    return key.seal(zlib.compress(json.dumps(data, sort_keys=True).encode()))


def opened(entries: Sequence[Entry], key: Key) -> list[Promise]:
    """Return the promises of earlier releases; those of 0.1.0 kept none."""
    found = []
    for e, entry in enumerate(entries):
        if entry.sealed:
            data = json.loads(zlib.decompress(key.unseal(entry.sealed)))
            name, model = entry.name or f"release {e + 1}", _model(data["models"])
            found.append(Promise(e, name, model, _reference(data), data["called"], data["ignores_case"]))
    return found


def _model(given: Sequence[tuple[str, Mapping[str, Any]]]) -> AllOf:
    try:
        return AllOf(tuple(models.build(name, dict(values)) for name, values in given))
    except HushtableError as error:
        error.add_note("An earlier release of the ledger was promised under this model.")
        raise


def _reference(data: Mapping[str, Any]) -> Reference:
    def array(values: Any, kind: Any) -> Any:
        return None if values is None else np.array(values, dtype=kind)

    attributes = {}
    for a in data["attributes"]:
        made = Attribute(
            key=tuple(a["key"]), labels=tuple(a["labels"]), units=array(a["units"], np.int64), unit=a["unit"],
            ordered=a["ordered"], numbers=array(a["numbers"], np.float64), categories=array(a["categories"], np.int64),
            n_categories=a["n_categories"], levels=tuple(array(level, np.int64) for level in a["levels"]),
            level_labels=tuple(tuple(row) for row in a["level_labels"]), whole=a["whole"], withheld=a["withheld"],
        )  # fmt: skip
        attributes[made.key] = made
    return Reference(data["units"], data["unit"], attributes)
