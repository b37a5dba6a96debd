"""``--quiet`` and ``--log-json``. Log records say what happened, with counts; they never contain a cell."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from hushtable.cli import output

__all__ = ["JsonLines", "configure"]

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
