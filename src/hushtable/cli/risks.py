"""``hushtable risks``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["risks"]


def risks(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the risk measures, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.risks, name, as_json, title="The risk measures.", example="")
