"""Pictures of a release: the loss of its columns, the sizes of its classes, and its classes as boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hushtable.errors import UsageError
from hushtable.io.plots import bars, class_sizes, partition
from hushtable.release.plane import plane_of
from hushtable.schema.columns import Role
from hushtable.utility.ncp import ncp_of_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hushtable.engines.release import Release


def plot(
    release: Release, kind: Literal["loss", "classes", "partition"], ax: Axes | None, columns: Sequence[str] | None
) -> Axes:
    """Draw one picture of a release: see ``Release.plot``."""
    quasi = list(release.plan.table.named(Role.QUASI))
    if kind == "partition":
        plane = plane_of(release.comparison().rows, columns)
        return partition(plane.points, plane.boxes, list(columns or quasi)[:2], plane.labels, ax=ax)
    if columns is not None:
        raise UsageError(f"A plot of {kind!r} accepts no columns.", code="columns", hint="Remove 'columns'.")
    if kind == "classes":
        return class_sizes(*release.exposures()[1].frequencies(), ax=ax)
    lost = ncp_of_columns(release.comparison()).tolist()
    return bars(quasi, {"loss": lost}, ax=ax, xlabel="loss (NCP): 0 is exact, 1 says nothing")
