"""``hushtable models``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["models"]


def models(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the privacy models, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.models, name, as_json, title="The privacy models.", example="models: [{entry}]")
