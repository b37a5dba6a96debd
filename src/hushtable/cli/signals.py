"""Ctrl-C and termination: the run stops, temporary files are removed, and nothing is half-written.

Python raises ``KeyboardInterrupt`` wherever it happens to be. Inside a callback from compiled code, it is printed and
forgotten, and the run would continue to its end. So the signal is also remembered, and checked between stages.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hushtable.errors import Cancelled

_NOTHING = "Nothing was written."
_received: list[int] = []
_hint = [_NOTHING]


class Terminated(Cancelled):
    """A signal ended the run.

    Examples
    --------
    >>> Terminated(signal.SIGTERM).exit_code
    143
    """

    def __init__(self, number: int = signal.SIGINT, hint: str = _NOTHING) -> None:
        super().__init__("Canceled.", hint=hint)
        self.exit_code = 128 + number  # type: ignore[misc]


@contextmanager
def handled_signals() -> Iterator[None]:
    """Handle Ctrl-C and termination inside the block, and restore the earlier handlers after it."""
    _received.clear()
    _hint[:] = [_NOTHING]
    if threading.current_thread() is not threading.main_thread():
        # Python handles signals in the main thread only
        yield
        return
    before = {number: signal.signal(number, _receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def signalled() -> Terminated | None:
    """Return the error to end with if a signal was received: compiled code turns signals into its own errors."""
    return Terminated(_received[0], _hint[0]) if _received else None


def when_cancelled(hint: str) -> None:
    """Set what a canceled command leaves behind, if anything."""
    _hint[:] = [hint]


def raise_if_cancelled() -> None:
    """Stop here if a signal was received and lost.

    Raises
    ------
    Cancelled

    Examples
    --------
    >>> raise_if_cancelled()
    """
    error = signalled()
    if error is not None:
        raise error


def nearly_done() -> None:
    """Ignore signals from here on: the result is in place, and "nothing was written" would no longer be true."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def skipped_by_signals() -> Iterator[None]:
    """After ``nearly_done``: let a signal end the block, but not the command."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _receive)
    try:
        with suppress(KeyboardInterrupt, Cancelled):
            yield
    finally:
        nearly_done()
        _received.clear()


def _receive(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt
