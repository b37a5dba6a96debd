"""``hushtable forms``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["forms"]


def forms(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the forms in which columns are published, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.forms, name, as_json, title="The published forms.", example="cells: {entry}")
