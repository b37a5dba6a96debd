"""``hushtable price``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.cli.options import AsJson, Data, Files, OnlyMeasures, ReleaseFolder, registered
from hushtable.cli.rerun import reproduced

if TYPE_CHECKING:
    from rich.console import Console

    from hushtable.release.price import GuardPrice

__all__ = ["price"]


def price(
    folder: ReleaseFolder,
    data: Data,
    only: OnlyMeasures = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Show what a release's guards cost in utility, next to what they gain in safety.

    The saved policy is run again on the original with all of its guards, with each alone, and with none.
    """
    from hushtable import registry
    from hushtable.cli.output import deliver, put

    names = registered(only, registry.measures)
    with reproduced(folder, data, files) as (release, progress):
        progress(1.0, "comparing with fewer guards")
        found = release.price(names)

    def text(to: Console) -> None:
        put(to, f"{folder}: the original gives the published table byte for byte.")
        _print(to, found)

    deliver({"release": folder, "reproduced": True, **found.as_dict()}, as_json, text)


def _print(to: Console, found: GuardPrice) -> None:
    from hushtable.cli.output import bullet, grid, put
    from hushtable.io.figures import number, share

    titles = [" + ".join(v.guards) or "no guard" for v in found.variants]
    rows = [(name, *(number(v.measures[name]) for v in found.variants)) for name in found.without.measures]
    for name in found.without.attacks:
        results = [v.attacks.get(name) for v in found.variants]
        rows.append((f"{name} attack, rate", *("-" if r is None else share(r.rate) for r in results)))
        rows.append(("  its baseline", *("-" if r is None else share(r.baseline) for r in results)))
    to.print()
    to.print(grid(["", *titles], rows, right=titles, fold=["", *titles]))
    if found.refused:
        to.print()
        put(to, "Not run:")
        for name, reason in found.refused.items():
            bullet(to, f"{name}: {reason}")
