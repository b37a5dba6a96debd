"""``hushtable algorithms``."""

from __future__ import annotations

from hushtable.cli.options import AsJson, MaybeName

__all__ = ["algorithms"]


def algorithms(name: MaybeName = None, as_json: AsJson = False) -> None:
    """List the algorithms, or tell all about one."""
    from hushtable import registry
    from hushtable.cli.catalogue import show

    show(registry.algorithms, name, as_json, title="The algorithms.", example="algorithm: {entry}")
