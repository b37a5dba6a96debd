"""hushtable: publish a table about people without publishing the people."""

from __future__ import annotations

import os
from typing import Any

from hushtable._version import __version__

if os.environ.get("HUSHTABLE_THREADS"):
    from hushtable.parallel import limit_libraries

    limit_libraries()

__all__ = [
    "Anonymizer",
    "Audit",
    "Ledger",
    "LinkedPolicy",
    "LinkedRelease",
    "Policy",
    "Release",
    "__version__",
    "alpha_k_anonymity",
    "anonymize",
    "anonymize_linked",
    "audit",
    "basic_beta_likeness",
    "compare",
    "delta_disclosure",
    "draft_policy",
    "enhanced_beta_likeness",
    "entropy_l_diversity",
    "increment",
    "k_anonymity",
    "l_diversity",
    "load_policy",
    "open_linked",
    "open_release",
    "profile",
    "read_policy",
    "read_sql",
    "recursive_c_l_diversity",
    "register",
    "run",
    "t_closeness",
    "verify",
    "verify_linked",
    "write_sql",
]

# name -> module; models, algorithms, guards, treatments and measures are found through the registry, so that importing
# hushtable costs nothing and a new model needs no line here
_LAZY = {
    "Anonymizer": "hushtable.anonymizer",
    "Audit": "hushtable.auditing",
    "Ledger": "hushtable.ledger.ledger",
    "LinkedPolicy": "hushtable.linked.policy",
    "LinkedRelease": "hushtable.linked.release",
    "Policy": "hushtable.policy.policy",
    "Release": "hushtable.engines.release",
    "alpha_k_anonymity": "hushtable.auditing",
    "anonymize": "hushtable.api",
    "anonymize_linked": "hushtable.linked.run",
    "audit": "hushtable.auditing",
    "basic_beta_likeness": "hushtable.auditing",
    "compare": "hushtable.comparison.run",
    "delta_disclosure": "hushtable.auditing",
    "draft_policy": "hushtable.api",
    "enhanced_beta_likeness": "hushtable.auditing",
    "entropy_l_diversity": "hushtable.auditing",
    "increment": "hushtable.api",
    "k_anonymity": "hushtable.auditing",
    "l_diversity": "hushtable.auditing",
    "load_policy": "hushtable.policy.files",
    "open_linked": "hushtable.linked.release",
    "open_release": "hushtable.api",
    "profile": "hushtable.api",
    "read_policy": "hushtable.linked.policy",
    "read_sql": "hushtable.io.sql",
    "recursive_c_l_diversity": "hushtable.auditing",
    "register": "hushtable.registry",
    "run": "hushtable.api",
    "t_closeness": "hushtable.auditing",
    "verify": "hushtable.api",
    "verify_linked": "hushtable.linked.verify",
    "write_sql": "hushtable.io.sql",
}

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
    import os

    folder = os.path.join(os.path.dirname(__file__), name)
    if name.startswith("_") or os.path.isdir(folder) or os.path.exists(f"{folder}.py"):
        return ""
    from hushtable.errors import did_you_mean

    hint = did_you_mean(name, __dir__())
    # a list of a hundred names helps nobody
    return f". {hint}" if hint.startswith("Did") else ". dir(hushtable) lists all names."
