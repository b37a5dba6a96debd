"""Error messages without values of the table, and exit codes.

==== ==========================================================
exit meaning
==== ==========================================================
0    success; every verified model holds
1    a model is violated
2    the call, the policy or the data cannot be used
3    infeasible, or not found by this algorithm
70   an internal error of hushtable
130  canceled (Ctrl-C); nothing was written
==== ==========================================================
"""

from __future__ import annotations

import os
import traceback

from hushtable.errors import DEBUG, Cancelled, HushtableError

INTERNAL = 70
"""Exit code of an internal error (EX_SOFTWARE of sysexits.h)."""


def failure(error: BaseException) -> tuple[dict[str, str], int]:
    """Return the message for an exception, and the exit code.

    Examples
    --------
    >>> failure(RuntimeError("a cell of the table"))[0]["message"]
    'hushtable stopped on an internal error (RuntimeError); no row values are shown.'
    """
    if isinstance(error, KeyboardInterrupt):
        error = Cancelled("Canceled.", hint="Nothing was written.")
    if isinstance(error, HushtableError):
        return error.as_dict(), error.exit_code
    if isinstance(error, MemoryError):
        said = _said("MemoryError", "memory", "The machine ran out of memory.", "Use fewer columns or rows.")
        return said, INTERNAL
    if isinstance(error, OSError) and error.errno and error.filename:
        place = f"{os.fspath(error.filename)!r} cannot be used: {os.strerror(error.errno)}."
        return _said(type(error).__name__, "file", place, "Check the path and its permissions."), 2
    # the exception's own text may quote a cell, so only its type and place are shown
    return (
        _said(
            type(error).__name__,
            "internal",
            f"hushtable stopped on an internal error ({type(error).__name__}{_place(error)}); no row values are shown.",
            f"Run with {DEBUG}=1 to see the traceback, and report it without data.",
        ),
        INTERNAL,
    )


def _said(error: str, code: str, message: str, hint: str) -> dict[str, str]:
    return {"error": error, "code": code, "message": message, "hint": hint}


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "hushtable" in f.filename]
    if not frames:
        return ""
    module = frames[-1].filename.replace(os.sep, "/").rpartition("hushtable/")[2]
    return f" in {module}, line {frames[-1].lineno}"
