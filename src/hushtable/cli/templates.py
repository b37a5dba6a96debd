"""``hushtable templates``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["templates"]


def templates(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the templates of the evidence file, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.templates, name, as_json, title="The templates of the evidence file.", example="")
