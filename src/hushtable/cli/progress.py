"""A progress bar with the time left, on stderr, only on a terminal and not with ``--quiet`` or ``--log-json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hushtable.cli.output import Console, console
from hushtable.cli.signals import raise_if_cancelled

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def _bar(to: Console, done: ProgressColumn) -> Progress:
    """A bar followed by what is done, the elapsed time and the time left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=30),
        done,
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=to,
        transient=True,
    )


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """Yield the ``progress`` callback of ``anonymize``; it raises if the user has canceled."""
    to = console(stderr=True)
    if not to.is_terminal or to.quiet:
        yield lambda share, what: raise_if_cancelled()
        return
    from rich.progress import TextColumn

    from hushtable.engines.stages import share_of_run

    with _bar(to, TextColumn("{task.percentage:>3.0f}%")) as bar:
        task = bar.add_task("reading", total=1.0)

        def report(share: float, what: str) -> None:
            raise_if_cancelled()
            done = max(bar.tasks[0].completed, share_of_run(share, what))
            bar.update(task, completed=done, description=what)

        yield report


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show that work continues, and for how long, if its share is not known; on a terminal only."""
    to = console(stderr=True)
    if not to.is_terminal or to.quiet:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=to, transient=True) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that reports (finished, total); it raises if the user has canceled."""
    to = console(stderr=True)
    if not to.is_terminal or to.quiet:
        yield lambda done, total: raise_if_cancelled()
        return
    from rich.progress import MofNCompleteColumn

    with _bar(to, MofNCompleteColumn()) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int) -> None:
            raise_if_cancelled()
            bar.update(task, completed=done, total=total)

        yield report
