"""``hushtable attacks``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["attacks"]


def attacks(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the attacks, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.attacks, name, as_json, title="The attacks.", example="")
