"""The promise of a release: its models, and their reference to its whole table, sealed with the key.

A new release is checked against the promises of all earlier ones. Models name values (``only: [HIV]``), which the
ledger must not reveal: so promises are kept in a form that nobody can read without the ledger's key.
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
from hushtable.ledger.key import LedgerKey
from hushtable.models.compose import AllOf
from hushtable.registry import models
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key as Names

_PADDED = 4096
"""Sealed promises have a multiple of this many bytes."""


@dataclass(frozen=True)
class Promise:
    """The models of one release.

    Attributes
    ----------
    release : int
        Its position among all releases.
    name : str
        Name of the release; empty for the new one.
    model : AllOf
        Bound to their columns.
    reference : Reference
        The release's whole table.
    called : mapping of str to str
        Names of its columns in the ledger, if they differ.
    ignores_case : bool
        Whether case is ignored when people are compared.
    """

    release: int
    name: str
    model: AllOf
    reference: Reference
    called: Mapping[str, str] = field(default_factory=dict)
    ignores_case: bool = False

    def calls(self, key: Names) -> Names:
        """Return the names of some columns in the ledger."""
        return tuple(self.called.get(name, name) for name in key)


def sealed(promise: Promise, key: LedgerKey) -> str:
    """Return the promise of a release as text that only the key can open."""
    model, reference = promise.model, promise.reference
    data = {
        "models": [[m.name, m.values()] for m in model.members],
        "units": reference.units,
        "unit": reference.unit,
        "attributes": [vars(reference.attribute(name)) for name in sorted(model.histogram_keys())],
        "called": dict(promise.called),
        "ignores_case": promise.ignores_case,
    }
    text = zlib.compress(json.dumps(data, sort_keys=True, default=np.ndarray.tolist).encode())
    # its length would tell of values that only suppressed records have; zlib ignores what follows its stream
    return key.seal(text + bytes(-len(text) % _PADDED))


def opened(entries: Sequence[Entry], key: LedgerKey) -> list[Promise]:
    """Return the promises of earlier releases; those of 0.1.0 have none."""
    found = []
    for e, entry in enumerate(entries):
        if entry.sealed:
            data = json.loads(zlib.decompress(key.unseal(entry.sealed)))
            columns = map(Attribute.from_lists, data["attributes"])
            reference = Reference(data["units"], data["unit"], {a.key: a for a in columns})
            name, model = entry.name or f"release {e + 1}", _model(data["models"])
            found.append(Promise(e, name, model, reference, data["called"], data["ignores_case"]))
    return found


def _model(given: Sequence[tuple[str, Mapping[str, Any]]]) -> AllOf:
    try:
        return AllOf(tuple(models.build(name, dict(values)) for name, values in given))
    except HushtableError as error:
        error.add_note("An earlier release in the ledger promised this model.")
        raise
