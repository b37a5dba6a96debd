"""``hushtable schema``."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    as_json: Annotated[bool, typer.Option("--json", help="The same: a schema is JSON anyway.")] = False,
) -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check it."""
    from hushtable.cli.output import print_json
    from hushtable.policy.policy import Policy

    print_json(Policy.json_schema())
