"""``hushtable guards``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["guards"]


def guards(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the guards, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.guards, name, as_json, title="The guards.", example="guard: [{entry}]")
