"""hushtable: publish a table about people without publishing the people."""

from __future__ import annotations

from typing import Any

from hushtable._version import __version__

__all__ = [
    "Anonymizer",
    "Ledger",
    "Policy",
    "Release",
    "__version__",
    "anonymize",
    "compare",
    "draft_policy",
    "increment",
    "load_policy",
    "open_release",
    "profile",
    "read_sql",
    "run",
    "verify",
    "write_sql",
]

# name -> module; models, algorithms, guards and measures are found through the registry, so that importing hushtable
# costs nothing and a new model needs no line here
_LAZY = {
    "Anonymizer": "hushtable.anonymizer",
    "Ledger": "hushtable.ledger.ledger",
    "Policy": "hushtable.policy.policy",
    "Release": "hushtable.engines.release",
    "anonymize": "hushtable.api",
    "compare": "hushtable.comparison.run",
    "draft_policy": "hushtable.api",
    "increment": "hushtable.api",
    "load_policy": "hushtable.policy.files",
    "open_release": "hushtable.api",
    "profile": "hushtable.api",
    "read_sql": "hushtable.io.sql.access",
    "run": "hushtable.api",
    "verify": "hushtable.api",
    "write_sql": "hushtable.io.sql.access",
}


def __dir__() -> list[str]:
    """What can be asked for, for people who look with the Tab key: the registered classes too."""
    from hushtable import registry

    known = (registry.models, registry.algorithms, registry.guards, registry.measures)
    return sorted({*__all__, *(c.__name__ for r in known for c in r.values())})


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name[:1].isupper():
        from hushtable import registry

        known = (registry.models, registry.algorithms, registry.guards, registry.measures)
        found = registry.class_named(name, known)
        if found is not None:
            return found
    raise AttributeError(f"module 'hushtable' has no attribute {name!r}")
