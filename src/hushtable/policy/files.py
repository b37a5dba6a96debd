"""Policies in files."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import PolicyError
from hushtable.io.files import atomic_write_text
from hushtable.params import typed
from hushtable.policy.policy import Policy
from hushtable.policy.text import read_yaml

__all__ = ["is_linked", "load_policy", "policy_text", "save_policy"]


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
