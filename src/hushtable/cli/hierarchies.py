"""``hushtable hierarchies``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["hierarchies"]


def hierarchies(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the kinds of hierarchies, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.hierarchies, name, as_json, title="The kinds of hierarchies.", example="hierarchy: {entry}")
