"""The device for passes over wide tables: the processor, or a graphics card if there is one and it is worthwhile.

The results do not depend on it.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import UsageError
from hushtable.kernels.passes import Passes, Shadow
from hushtable.kernels.rounds import Processor, RoundsState
from hushtable.kernels.tiles import Device, DeviceLost, Tiles, Visitor

DEVICE = "HUSHTABLE_DEVICE"
"""Environment variable: the device for policies that do not name one."""

KNOWN = ("auto", "cpu", "gpu")

PAYS_FROM = 2e11
"""Number of terms (records x records x columns) at which starting a card is worthwhile.

That is about two seconds of processor time.
"""

_log = logging.getLogger(__package__)
_wanted: ContextVar[str] = ContextVar("device", default="auto")


@contextmanager
def use(name: str) -> Iterator[None]:
    """Use a device for the work inside.

    Raises
    ------
    UsageError
        If the device is unknown, or ``gpu`` is requested and there is no usable card.

    Examples
    --------
    >>> import numpy as np
    >>> with use("cpu"):
    ...     type(passes_for(np.zeros((4, 2)))).__name__
    'Shadow'
    """
    if name not in KNOWN:
        raise UsageError(f"There is no device {name!r}.", code="device", hint=f"Known: {', '.join(KNOWN)}.")
    if name == "gpu":
        _need_card()
    token = _wanted.set(name)
    try:
        yield
    finally:
        _wanted.reset(token)


def _need_card() -> None:
    from hushtable.kernels.gpu import card_problem

    if problem := card_problem():
        raise UsageError(f"'device: gpu' cannot be used: {problem[0]}", code="no-card", hint=problem[1])


def device() -> str:
    """Return the device that the policy names, or else the environment.

    Raises
    ------
    UsageError
        If the environment names an unknown device.

    Examples
    --------
    >>> with use("cpu"):
    ...     device()
    'cpu'
    """
    wanted = _wanted.get()
    if wanted != "auto" or not os.environ.get(DEVICE):
        return wanted
    wanted = os.environ[DEVICE]
    if wanted not in KNOWN:
        raise UsageError(f"{DEVICE} must be one of {', '.join(KNOWN)}.", code="device", hint="Correct or unset it.")
    if wanted == "gpu":
        _need_card()
    return wanted


def passes_for(points: FloatArray) -> Passes:
    """Return the object that makes passes over these points."""
    n, d = points.shape
    wanted = device()
    if wanted == "cpu" or (wanted == "auto" and float(n) * n * d < PAYS_FROM):
        return Shadow(points)
    if wanted == "auto" and not _has_card():
        return Shadow(points)
    try:
        return Tiles(points, _cards(n, d))
    except DeviceLost as error:
        _log.warning("%s The processor does the work.", error)
        return Shadow(points)


def rounds_for(points: FloatArray, labels: IntArray, near: IntArray, least: int, tolerance: FloatArray) -> RoundsState:
    """Return the object that anneals these groups in rounds; parameters as for ``rounds.Processor``."""
    if device() != "cpu" and _has_card():
        from hushtable.kernels.gpu import CardRounds

        try:
            return CardRounds(points, labels, near, least, tolerance)
        except DeviceLost as error:
            _log.warning("%s The processor does the work.", error)
    return Processor(points, labels, near, least, tolerance)


def _has_card() -> bool:
    if importlib.util.find_spec("cupy") is None:
        return False
    from hushtable.kernels.gpu import card_problem

    return card_problem() is None


def _cards(n: int, d: int) -> list[Device]:
    """The card with the whole table, or with parts of it that are loaded in turn."""
    from hushtable.kernels.gpu import Card, free_bytes

    need, free = Card.needed_bytes(n, d), free_bytes()
    parts = -(-need // max(int(0.9 * free), 1))
    _log.info("The card: %.1f of %.1f GiB of free memory are needed", need / 2**30, free / 2**30)
    if parts == 1:
        return [Card()]
    if parts > n:
        raise DeviceLost("The card has no free memory.")
    _log.warning(
        "The table needs %.1f GiB and the card has %.1f GiB free: it is processed in %d parts, which takes longer.",
        need / 2**30, free / 2**30, parts,
    )  # fmt: skip
    return [Visitor(Card) for _ in range(parts)]
