"""What the tests of engines that write files share."""

from __future__ import annotations

from pathlib import Path

__all__ = ["contents"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name there."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
