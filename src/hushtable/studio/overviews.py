"""Overview of every hierarchy, kept until the column's settings change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from hushtable.schema.columns import Role
from hushtable.studio.home import inside
from hushtable.studio.projects import Project

FILE = "hierarchies.json"
"""File with the overviews, in the project's folder."""


def quasi_of(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the quasi-identifiers, in the policy's order."""
    return [name for name, settings in document["columns"].items() if settings.get("role") == Role.QUASI]


def overview_key(project: Project, document: Mapping[str, Any], column: str) -> str:
    """Return a fingerprint of everything that a column's overview depends on."""
    settings = document["columns"][column]
    spec = settings.get("hierarchy")
    said = [{n: settings.get(n) for n in ("kind", "order", "hierarchy")}, document.get("missing_values", [])]
    files = [_stamp(project, word) for word in _words(spec)]
    return hashlib.sha256(json.dumps([said, files], sort_keys=True, default=str).encode()).hexdigest()[:16]


def _words(spec: Any) -> list[str]:
    if isinstance(spec, Mapping):
        return [word for value in spec.values() for word in _words(value)]
    return [spec] if isinstance(spec, str) and spec.startswith("files/") else []


def _stamp(project: Project, name: str) -> list[Any]:
    path = inside(project.folder, name)
    return [name, path.stat().st_mtime_ns] if path.is_file() else [name]


def known_overviews(project: Project) -> dict[str, dict[str, Any]]:
    """Return the known overviews of the quasi-identifiers' current hierarchies, by column."""
    document = project.document()
    kept = project.json(FILE) or {}
    return {
        name: kept[name]
        for name in quasi_of(document)
        if name in kept and kept[name]["key"] == overview_key(project, document, name)
    }
