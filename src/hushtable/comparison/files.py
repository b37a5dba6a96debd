"""The tables that a policy names (hierarchies, population, background), and the same policy for another folder."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy
from hushtable.io.urls import is_url

__all__ = ["policy_files", "rebased"]


def policy_files(document: Mapping[str, Any]) -> list[str]:
    """Return the files of tables that a policy names, each once.

    Examples
    --------
    >>> policy_files({"columns": {"age": {"role": "quasi", "hierarchy": "age.csv"}}, "population": "all.parquet"})
    ['age.csv', 'all.parquet']
    """
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    _each_file(copy.deepcopy(dict(document)), note)
    return list(dict.fromkeys(found))


def rebased(document: Mapping[str, Any], old: Path | None, new: Path) -> dict[str, Any]:
    """Return a policy whose file names are relative to another folder.

    Examples
    --------
    >>> rebased({"population": "all.csv"}, Path("data"), Path("out"))["population"]
    '../data/all.csv'
    """
    changed = copy.deepcopy(dict(document))
    start = Path.cwd() if old is None else old

    def move(name: str) -> str:
        away = is_url(name) or Path(name).is_absolute()
        return name if away else Path(os.path.relpath(start / name, new)).as_posix()

    _each_file(changed, move)
    if changed.get("ledger"):
        # a ledger that is not found is one without releases, so that nothing would be judged
        named = changed["ledger"] if isinstance(changed["ledger"], Mapping) else {"file": changed["ledger"]}
        changed["ledger"] = {k: move(v) if k in ("file", "key") and v else v for k, v in named.items()}
    return changed


def _each_file(document: dict[str, Any], act: Callable[[str], str]) -> None:
    for name, column in document.get("columns", {}).items():
        if column.get("hierarchy") is None:
            continue
        hierarchy = parse_hierarchy(column["hierarchy"], name)
        file = hierarchy.values().get("file")
        if isinstance(file, str):
            column["hierarchy"] = hierarchy_data(hierarchy.build({**hierarchy.values(), "file": act(file)}))
    if document.get("population"):
        document["population"] = act(document["population"])
    if document.get("background"):
        document["background"] = {**document["background"], "file": act(document["background"]["file"])}
