"""``hushtable schema``."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    report: Annotated[bool, typer.Option("--report", help="That of a report's JSON file instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same: a schema is JSON anyway.")] = False,
) -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check it, or that of a report."""
    from hushtable.cli.output import print_json

    if report:
        from hushtable.report.content.report import report_schema

        print_json(report_schema())
        return
    from hushtable.policy.policy import Policy

    print_json(Policy.json_schema())
