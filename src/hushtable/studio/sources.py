"""Which databases a page may ask for: servers, which guard themselves; no file of this machine."""

from __future__ import annotations

from hushtable.errors import UsageError
from hushtable.io.sql.place import SqlPlace
from hushtable.io.sql.text import one_select

__all__ = ["check_source"]

_SERVERS = ("postgresql",)


def check_source(source: str, query: str) -> None:
    """Refuse what is no database server, or no single SELECT.

    Database files are refused: an address would lead to any file of the machine, and so would a query.

    Examples
    --------
    >>> check_source("sqlite:////etc/clinic.db", "SELECT 1")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The studio asks database servers only, not files. Use 'hushtable studio DATA' ...
    """
    place = SqlPlace.of(source)
    if place.url.scheme not in _SERVERS:
        raise UsageError(
            "The studio asks database servers only, not files.",
            code="source",
            hint="Use 'hushtable studio DATA' with a table exported from it, or upload that.",
        )
    one_select(query)
