"""Reporting of exceptions on the command line: text on stderr, or one JSON document on stdout."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import typer

from hushtable.cli import output
from hushtable.cli.output import console, print_json, put
from hushtable.errors import DEBUG, Cancelled, did_you_mean
from hushtable.failures import failure

# typer carries its own copy of click's exceptions in later versions, so they are found through what it exports
_ClickUsage = typer.BadParameter.__mro__[1]
_ClickError = typer.BadParameter.__mro__[2]

# how typer reports an unknown choice
_CHOICE = re.compile(r"""Invalid value for .*?: (?P<quote>['"])(?P<got>.*)(?P=quote) is not one of (?P<known>.*)\.$""")

# some versions of typer repeat the words of pydantic
_PYDANTIC = (
    (re.compile(": Value error, "), ": "),
    (re.compile("Input should be a valid integer.*"), "It must be a whole number."),
    (re.compile("Input should be a valid number.*"), "It must be a number."),
    (re.compile("Input should be greater than or equal to (.+)"), r"It must be at least \1."),
    (re.compile("Input should be less than or equal to (.+)"), r"It must be at most \1."),
)


def fail(error: BaseException, *, as_json: bool) -> int:
    """Report an exception and return the exit code."""
    if isinstance(error, _ClickError):
        said, code = _usage(error), 2
    else:
        said, code = failure(KeyboardInterrupt() if isinstance(error, typer.Abort) else error)
    if said["code"] == "internal" and os.environ.get(DEBUG):
        traceback.print_exception(error)
    _report(said, as_json)
    return code


def _report(said: Mapping[str, str], as_json: bool) -> None:
    if output.logged:
        extra = {name: said[name] for name in ("error", "code", "hint")}
        logging.getLogger("hushtable.cli").error(said["message"], extra=extra)
    if as_json:
        print_json(said)
        return
    to = console(stderr=True, error=True)
    canceled = said["code"] == Cancelled.default_code
    message = said["message"] if canceled else f"Error: {said['message']}"
    # whole sentences in a pipe or a log, where lines are searched
    put(to, message, style="yellow" if canceled else "bold red", wrap=to.is_terminal)
    if said["hint"]:
        put(to, said["hint"], wrap=to.is_terminal)


def _usage(error: BaseException) -> dict[str, str]:
    """A wrong call: typer's own sentence, and a pointer to the help."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hushtable"
    # choices come in lines of their own
    message = " ".join((error.format_message() if hasattr(error, "format_message") else str(error)).split())
    for words, ours in _PYDANTIC:
        message = words.sub(ours, message, count=1)
    if choice := _CHOICE.search(message):
        meant = did_you_mean(choice["got"], re.findall("'([^']*)'", choice["known"]))
        message = message if "Known" in meant else f"{message} {meant}".rstrip()
    hint = f"See '{command} --help'." if isinstance(error, _ClickUsage) else ""
    return {"error": "UsageError", "code": "usage", "message": message, "hint": hint}


# what every record has; all else was given with "extra"
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and the record's extra fields.

    Examples
    --------
    >>> record = logging.makeLogRecord({"name": "hushtable.engines", "levelname": "INFO", "msg": "verified", "rows": 5})
    >>> json.loads(JsonLines().format(record))["rows"]
    5
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a line, without tracebacks, since they may quote values."""
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        said |= {name: value for name, value in vars(record).items() if name not in _OWN}
        return json.dumps(said, default=str)


def configure(*, quiet: bool, as_json: bool) -> None:
    """Send hushtable's log records to stderr as JSON, or only errors; without either option, keep Python's default."""
    logger = logging.getLogger("hushtable")
    output.quiet, output.logged = quiet, as_json
    logger.handlers = []
    logger.propagate = not as_json
    logger.setLevel(logging.INFO if as_json else logging.ERROR if quiet else logging.NOTSET)
    if as_json:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(JsonLines())
        logger.addHandler(handler)
