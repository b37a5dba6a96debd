"""The command line of benchmarks that consist of several named runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

__all__ = ["asked"]


def asked(description: str | None, runs: Iterable[str]) -> tuple[list[str], bool]:
    """Return the runs that ``--only`` names, all where it is left out, and whether JSON is wanted."""
    known = list(runs)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(known), help="some of these, separated by commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen: list[str] = options.only.split(",")
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        parser.error(f"--only takes {', '.join(known)}; there is no {', '.join(unknown)}.")
    return chosen, options.json
