"""A project's policy as an object, with every file that it names inside the project's folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import PolicyError
from hushtable.policy.policy import Policy
from hushtable.studio.home import inside
from hushtable.studio.projects import Project

__all__ = ["confined", "policy_of"]


def policy_of(project: Project, document: Mapping[str, Any] | None = None) -> Policy:
    """Return the project's policy, or another one for its data.

    Raises
    ------
    PolicyError
        With every fault, or if it names a file outside the project's folder.
    """
    policy = Policy(**(project.document() if document is None else document))
    return confined(project, policy)


def confined(project: Project, policy: Policy) -> Policy:
    """Return the policy with its files resolved inside the project's folder, and nowhere else.

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
    named = [str(file) for c in policy.table_plan().columns if (file := getattr(c.hierarchy, "file", None))]
    named += [policy.population] if policy.population else []
    named += [policy.background.file] if policy.background else []
    for file in named:
        path = inside(project.folder, file)
        if not path.is_file():
            raise PolicyError(
                f"The policy names the file {path.name!r}, which the project does not have.",
                code="no-file",
                hint="Upload it on the Hierarchies page.",
            )
    return policy
