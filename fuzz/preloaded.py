"""Everything that a command imports, for processes that are forked off one that has it."""

from __future__ import annotations

import importlib
import pkgutil

import hushtable

__all__ = ["preload"]


def preload() -> None:
    """Import what the commands import; nothing is run that starts a thread."""
    skipped = ("hushtable.studio", "hushtable.engines.spark", "hushtable.testing", "hushtable.__main__")
    for module in pkgutil.walk_packages(hushtable.__path__, "hushtable."):
        if not module.name.startswith(skipped):
            importlib.import_module(module.name)


preload()
