"""``hushtable measures``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["measures"]


def measures(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the utility measures, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.measures, name, as_json, title="The utility measures.", example="")
