"""``hushtable schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from hushtable.cli.output import print_json


def schema(
    report: Annotated[bool, typer.Option("--report", help="Print the schema of a report's JSON file instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="No effect: a schema is always JSON.")] = False,
) -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check it, or of a report."""
    if report:
        from hushtable.report.content import report_schema

        print_json(report_schema())
        return
    from hushtable.policy.policy import Policy

    print_json(Policy.json_schema())
