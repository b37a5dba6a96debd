"""Policies in files."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hushtable.errors import PolicyError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.urls import is_url
from hushtable.params import typed
from hushtable.policy.policy import Policy
from hushtable.policy.text import read_yaml


@typed
def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy from a YAML file; the files that it names are relative to its folder.

    Raises
    ------
    PolicyError
        If there is no such file; or, with the line, every fault in it.

    Examples
    --------
    >>> import tempfile
    >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_policy(policy, Path(folder, "policy.yaml"))
    ...     load_policy(Path(folder, "policy.yaml")) == policy
    True
    """
    file = Path(path)
    text = policy_text(file)
    if is_linked(file):
        raise PolicyError(
            f"{file.name} is a policy of linked tables, and this works on one table.",
            code="linked",
            hint="'check', 'run', 'verify', 'measure', 'risk', 'attack', 'report', 'sample' and 'ledger' accept linked "
            "tables; in Python, use read_policy and open_release.",
        )
    return Policy.from_yaml(text, file=file.name).based_in(file.parent)


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a YAML file, completely or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    atomic_write_text(path, policy.to_yaml())


def is_linked(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a policy of linked tables: one with ``tables``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "policy.yaml").write_text("columns: {tables: {role: quasi}}")
    ...     is_linked(Path(folder, "policy.yaml"))
    False
    """
    text = policy_text(Path(path))
    # most policies need not be read twice
    return "tables" in text and "tables" in read_yaml(text).data


def policy_text(file: Path) -> str:
    """Return the text of a policy's file.

    Raises
    ------
    PolicyError
        If there is no such file, or it is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PolicyError(
            f"There is no policy file {str(file)!r}.", code="no-policy", hint="'hushtable init' writes one."
        ) from None
    except UnicodeDecodeError as error:
        line = file.read_bytes().count(b"\n", 0, error.start) + 1
        raise PolicyError(
            f"{file.name}: line {line}: The policy is not UTF-8 text.", code="encoding", hint="Save it as UTF-8."
        ) from None
    except OSError as error:
        raise PolicyError(
            f"The policy file {str(file)!r} cannot be read: {error.strerror}.", code="no-policy"
        ) from None


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
    from hushtable.hierarchy.spec import hierarchy_data, parse_hierarchy

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
