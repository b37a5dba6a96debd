"""From an exception to an exit code and a message that carries no value of the table.

==== ==========================================================
exit meaning
==== ==========================================================
0    done; what was verified holds
1    a model is violated
2    the call, the policy or the data is not usable as it is
3    infeasible, or not found by this algorithm
70   a fault of hushtable itself
130  cancelled (Ctrl-C); nothing was written
==== ==========================================================
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping

import typer

from hushtable.cli.output import console, print_json, put
from hushtable.errors import Cancelled, HushtableError

__all__ = ["DEBUG", "INTERNAL", "fail", "failure"]

INTERNAL = 70
"""Exit code of a fault in hushtable itself (EX_SOFTWARE of sysexits.h)."""

DEBUG = "HUSHTABLE_DEBUG"
"""Set it to see the traceback of an internal error; tracebacks may quote values of the table."""

# typer carries its own copy of click's exceptions in later versions, so they are found through what it exports
_ClickUsage = typer.BadParameter.__mro__[1]
_ClickError = typer.BadParameter.__mro__[2]


def fail(error: BaseException, *, as_json: bool) -> int:
    """Report an exception and return the exit code."""
    said, code = failure(error)
    if said["code"] == "internal" and os.environ.get(DEBUG):
        traceback.print_exception(error)
    _report(said, as_json)
    return code


def failure(error: BaseException) -> tuple[dict[str, str], int]:
    """What to say about an exception, without a value of the table, and the exit code.

    Examples
    --------
    >>> failure(RuntimeError("a cell of the table"))[0]["message"]
    'hushtable stopped on an internal error (RuntimeError); no row values are shown.'
    """
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        error = Cancelled("Cancelled.", hint="Nothing was written.")
    if isinstance(error, HushtableError):
        return error.as_dict(), error.exit_code
    if isinstance(error, _ClickError):
        return _usage(error), 2
    if isinstance(error, MemoryError):
        said = _said("MemoryError", "memory", "The machine ran out of memory.", "Use fewer columns or rows.")
        return said, INTERNAL
    if isinstance(error, OSError) and error.errno and error.filename:
        place = f"{os.fspath(error.filename)!r} cannot be used: {os.strerror(error.errno)}."
        return _said(type(error).__name__, "file", place, "Check the path and its permissions."), 2
    # the exception's own text may quote a cell, so only its type and place are told
    return (
        _said(
            type(error).__name__,
            "internal",
            f"hushtable stopped on an internal error ({type(error).__name__}{_place(error)}); no row values are shown.",
            f"Run with {DEBUG}=1 for the traceback, and report it without data.",
        ),
        INTERNAL,
    )


def _report(said: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json(said)
        return
    to = console(stderr=True)
    cancelled = said["code"] == Cancelled.default_code
    message = said["message"] if cancelled else f"Error: {said['message']}"
    # whole sentences in a pipe or a log, where lines are searched
    put(to, message, style="yellow" if cancelled else "bold red", wrap=to.is_terminal)
    if said["hint"]:
        put(to, said["hint"], wrap=to.is_terminal)


def _said(error: str, code: str, message: str, hint: str) -> dict[str, str]:
    return {"error": error, "code": code, "message": message, "hint": hint}


def _usage(error: BaseException) -> dict[str, str]:
    """A wrong call: typer's own sentence, and where to read on."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hushtable"
    # choices come in lines of their own
    message = " ".join((error.format_message() if hasattr(error, "format_message") else str(error)).split())
    hint = f"See '{command} --help'." if isinstance(error, _ClickUsage) else ""
    return _said("UsageError", "usage", message, hint)


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "hushtable" in f.filename]
    if not frames:
        return ""
    module = frames[-1].filename.replace(os.sep, "/").rpartition("hushtable/")[2]
    return f" in {module}, line {frames[-1].lineno}"
