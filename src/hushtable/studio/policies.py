"""A project's policy as an object, with every file that it names among those uploaded to the project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hushtable.errors import PolicyError
from hushtable.linked.policy import LinkedPolicy
from hushtable.policy.policy import Policy
from hushtable.studio.home import inside
from hushtable.studio.projects import Project


def policy_of(project: Project, document: Mapping[str, Any] | None = None) -> Policy | Any:
    """Return the project's policy, or another one for its data; for linked tables, a ``LinkedPolicy``.

    Raises
    ------
    PolicyError
        With every fault, or if it names a file that was not uploaded to the project.
    """
    given = project.document() if document is None else document
    if project.linked:
        return confined_linked(project, LinkedPolicy(**given))
    return confined(project, Policy(**given))


def confined_linked(project: Project, policy: LinkedPolicy, base: Path | None = None) -> LinkedPolicy:
    """Return a policy of linked tables that looks for its files only among the project's own, or in a folder."""
    base = base or project.folder / "files"
    policy = policy.based_in(base)
    _check_files(inside(base, file) for file in linked_files(policy))
    return policy


def linked_files(policy: LinkedPolicy) -> list[str]:
    """Return the files that a policy of linked tables names."""
    plans = map(policy.table_plan, policy.tables)
    return _named(column.hierarchy for plan in plans for column in plan.columns)


def _named(hierarchies: Iterable[Any]) -> list[str]:
    return [str(file) for hierarchy in hierarchies if (file := getattr(hierarchy, "file", None))]


def _check_files(paths: Iterable[Path]) -> None:
    for path in paths:
        if not path.is_file():
            raise PolicyError(
                f"The policy names the file {path.name!r}, which the project does not have.",
                code="no-file",
                hint="Upload it on the Hierarchies page; for linked tables, put it into the ZIP file.",
            )


def confined(project: Project, policy: Policy) -> Policy:
    """Return the policy, which looks for its files only among those uploaded to the project.

    A ledger is refused: no project has one, and a missing ledger counts as empty, so that the release would not be
    compared with earlier ones.
    """
    if policy.ledger is not None:
        raise PolicyError(
            "The policy names a ledger, which the studio does not support.",
            code="ledger",
            hint="Use 'hushtable run' with the ledger, or remove it from the policy.",
        )
    policy = policy.based_in(project.folder)
    columns = policy.table_plan().columns
    named = [policy.population] if policy.population else []
    named += [policy.background.file] if policy.background else []
    named += [key for c in columns for t in c.treatments if (key := getattr(t, "key", None))]
    named += _named(c.hierarchy for c in columns)
    _check_files(map(project.file, named))
    return policy
