"""hushtable: publish a table about people without publishing the people."""

from __future__ import annotations

import os
from typing import Any

from hushtable._version import __version__ as __version__

if os.environ.get("HUSHTABLE_THREADS"):
    from hushtable.parallel import limit_libraries

    limit_libraries()

# module -> names; models, algorithms, guards, treatments and measures are found through the registry, so that importing
# hushtable costs nothing and a new model needs no line here
_PLACES = {
    "anonymizer": ("Anonymizer",),
    "api": ("anonymize", "draft_policy", "increment", "open_release", "profile", "run", "verify"),
    "auditing": (
        *("Audit", "alpha_k_anonymity", "audit", "basic_beta_likeness", "delta_disclosure", "enhanced_beta_likeness"),
        *("entropy_l_diversity", "k_anonymity", "l_diversity", "recursive_c_l_diversity", "t_closeness"),
    ),
    "comparison.run": ("compare",),
    "engines.release": ("Release",),
    "io.sql": ("read_sql", "write_sql"),
    "ledger.ledger": ("Ledger",),
    "linked.policy": ("LinkedPolicy", "read_policy"),
    "linked.release": ("LinkedRelease", "open_linked"),
    "linked.run": ("anonymize_linked",),
    "linked.verify": ("verify_linked",),
    "policy.files": ("load_policy",),
    "policy.policy": ("Policy",),
    "registry": ("register",),
}
_LAZY = {name: f"hushtable.{module}" for module, names in _PLACES.items() for name in names}

__all__ = sorted(["__version__", *_LAZY])

_MODULES = ("datasets", "errors", "registry", "testing")
"""Modules that users access as attributes; they are not listed."""


def _registries() -> tuple[Any, ...]:
    import importlib

    # not "from hushtable import": that would ask this module for the name first
    registry = importlib.import_module("hushtable.registry")
    return (registry.models, registry.algorithms, registry.guards, registry.treatments, registry.measures)


def __dir__() -> list[str]:
    """List the public names, including registered classes, for tab completion."""
    return sorted({*__all__, *(c.__name__ for r in _registries() for c in r.values())})


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"hushtable.{name}")
    if name[:1].isupper():
        known = _registries()
        found = importlib.import_module("hushtable.registry").class_named(name, known)
        if found is not None:
            return found
    raise AttributeError(f"module 'hushtable' has no attribute {name!r}{_advice(name)}", name=name)


def _advice(name: str) -> str:
    """Return advice about an unknown name; none about our own modules, which are imported by name."""
    import importlib
    import os

    folder = os.path.join(os.path.dirname(__file__), name)
    if name.startswith("_") or os.path.isdir(folder) or os.path.exists(f"{folder}.py"):
        return ""
    from hushtable.errors import did_you_mean

    if isinstance(getattr(importlib.import_module("hushtable.errors"), name, None), type):
        return f". Errors are in hushtable.errors: write hushtable.errors.{name}."
    hint = did_you_mean(name, __dir__())
    # a list of a hundred names helps nobody
    return f". {hint}" if hint.startswith("Did") else ". dir(hushtable) lists all names."
