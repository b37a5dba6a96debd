"""Checks for problems that prevent a run."""

from __future__ import annotations

from typing import Any

from hushtable.policy.preflight import check_table
from hushtable.studio.jobs import Report
from hushtable.studio.projects import Project, policy_of
from hushtable.studio.work.tables import table_of


def check(project: Project, report: Report) -> dict[str, Any]:
    """Check the policy against the table."""
    seen = project.revision()  # first: what is changed meanwhile is not checked
    policy = policy_of(project)
    report(0.1, "reading")
    table = table_of(project)
    report(0.4, "checking")
    return {**check_table(table, policy).as_dict(), "revision": seen}
