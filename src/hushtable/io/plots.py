"""Small charts for notebooks, as matplotlib axes; only the points of a partition are cells of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hushtable.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colors, which color-blind readers can distinguish
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C6D00")


def new_axes(ax: Axes | None = None, size: tuple[float, float] = (7.0, 4.0)) -> Axes:
    """Return the given axes, or those of a new figure without a frame at the top and on the right.

    Raises
    ------
    UsageError
        If something else is given.
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    elif not hasattr(ax, "barh"):
        raise UsageError(f"A chart needs matplotlib axes, not {type(ax).__name__}.", hint="Remove 'ax'.")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    return ax


def bars(
    labels: Sequence[str], series: Mapping[str, Sequence[float]], *, ax: Axes | None = None, xlabel: str = "",
    title: str = "",
) -> Axes:  # fmt: skip
    """Draw horizontal bars, the first label at the top, and return the axes.

    Parameters
    ----------
    labels : sequence of str
    series : mapping of str to sequence of float
        Name -> a number for each label; several series are drawn next to each other.
    ax : Axes, optional
    xlabel, title : str

    Examples
    --------
    >>> bars(["age", "sex"], {"loss": [0.2, 0.0]}, xlabel="loss").get_xlabel()
    'loss'
    """
    made = new_axes(ax, (7.0, 1.0 + 0.35 * max(len(labels), 1) * max(len(series), 1)))
    high = 0.8 / max(len(series), 1)
    for number, (name, values) in enumerate(series.items()):
        places = [i - 0.4 + high * (number + 0.5) for i in range(len(labels))]
        made.barh(places, list(values), height=high, color=COLOURS[number % len(COLOURS)], label=name)
    made.set_yticks(range(len(labels)), labels)
    made.invert_yaxis()
    made.set_xlabel(xlabel)
    made.set_title(title)
    if len(series) > 1:
        made.legend(frameon=False)
    return made


def class_sizes(sizes: Any, counts: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how many people are in classes of each size.

    Examples
    --------
    >>> import numpy as np
    >>> class_sizes(np.array([2, 5]), np.array([3, 1])).get_xlabel()
    'people in a class'
    """
    made = new_axes(ax)
    made.bar(sizes, sizes * counts, width=0.8, color=COLOURS[0])
    made.set_xlabel("people in a class")
    made.set_ylabel("people in classes of this size")
    return made


def partition(
    points: Any, boxes: Any, names: Sequence[str], labels: Sequence[Sequence[str]], *, ax: Axes | None = None
) -> Axes:
    """Draw boxes (left, bottom, right, top) over points; labels name the leaves of axes that are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> ax = partition(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0, 3.0, 3.0]]), ["age", "height"], ((), ()))
    >>> ax.get_xlabel(), len(ax.patches)
    ('age', 1)
    """
    from matplotlib.patches import Rectangle

    made = new_axes(ax, (7.0, 5.5))
    made.grid(visible=False)
    made.scatter(points[:, 0], points[:, 1], s=4, color=COLOURS[1], zorder=2)
    for left, bottom, right, top in boxes:
        made.add_patch(Rectangle((left, bottom), right - left, top - bottom, facecolor=f"{COLOURS[4]}40",
                                 edgecolor=COLOURS[0], linewidth=0.8, zorder=1))  # fmt: skip
    made.autoscale_view()
    made.set_xlabel(names[0])
    made.set_ylabel(names[1])
    # more names would be illegible
    if 0 < len(labels[0]) <= 20:
        made.set_xticks(range(len(labels[0])), labels[0], rotation=45, ha="right")
    if 0 < len(labels[1]) <= 20:
        made.set_yticks(range(len(labels[1])), labels[1])
    return made
