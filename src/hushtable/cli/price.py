"""``hushtable price``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable import registry
from hushtable.cli.opening import opened
from hushtable.cli.options import AsJson, Data, Files, OnlyMeasures, ReleaseFolder, registered
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.io.figures import number, share

if TYPE_CHECKING:
    from hushtable.engines.price import GuardPrice


def price(
    folder: ReleaseFolder,
    data: Data,
    only: OnlyMeasures = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Show what a release's guards and round regions cost in utility, next to what they gain in safety.

    The release is compared with releases of the same policy with each guard alone, with no guard, and with tight
    ranges.
    """
    names = registered(only, registry.measures)
    with opened(folder, data, files) as (release, progress):
        progress(1.0, "comparing with tighter releases")
        found = release.price(names)

    def text(to: Console) -> None:
        _print(to, found)

    deliver({"release": folder, **found.as_dict()}, as_json, text)


def _print(to: Console, found: GuardPrice) -> None:
    titles = ["tight ranges" if v.tight else " + ".join(v.guards) or "no guard" for v in found.variants]
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
