"""Saving a comparison in a folder (the table as CSV, everything as JSON, the chart), and reading it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hushtable._version import __version__
from hushtable.comparison.evaluate import is_row
from hushtable.comparison.outcomes import Outcomes
from hushtable.errors import DataError
from hushtable.io.files import atomic_write_text, write_table

__all__ = ["RESULTS", "load_outcomes", "save_outcomes"]

RESULTS = "results.jsonl"
"""The file of a comparison's folder that keeps finished settings while it runs."""

_JSON, _CSV = "comparison.json", "comparison.csv"


def save_outcomes(outcomes: Outcomes, folder: Path, chart: str = "svg") -> dict[str, Path]:
    """Write a comparison into a folder that exists, each file complete or not at all.

    Returns
    -------
    dict
        Written files by content: ``table``, ``data``, and ``chart`` if a setting produced a release.

    Raises
    ------
    OutputError
    """
    files = {"table": folder / _CSV, "data": folder / _JSON}
    write_table(outcomes.table, files["table"])
    base = Path.cwd() if outcomes.folder is None else outcomes.folder
    document = {
        "hushtable": __version__,
        "policy_folder": Path(os.path.relpath(base, folder)).as_posix(),
        **outcomes.as_dict(),
    }
    atomic_write_text(files["data"], json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    if outcomes.frontier:
        files["chart"] = folder / f"comparison.{chart}"
        outcomes.chart(files["chart"])
    return files


def load_outcomes(folder: Path) -> Outcomes:
    """Read the output of ``save_outcomes``.

    Raises
    ------
    DataError
        If the folder does not contain a comparison.
    """
    path = folder / _JSON
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple({k: v for k, v in row.items() if k != "frontier"} for row in document["rows"])
        if not all(_is_setting(row) for row in rows):
            raise ValueError("a row is not one")
        base = folder / document["policy_folder"]
        return Outcomes(rows, str(document["privacy"]), str(document["utility"]), base)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(
            f"{str(folder)!r} does not contain a finished comparison.",
            code="no-comparison",
            hint="Give the folder that 'hushtable compare' wrote. To resume an interrupted comparison, run its "
            "command again.",
        ) from None


def _is_setting(row: dict[str, Any]) -> bool:
    texts = all(isinstance(row.get(name), str) for name in ("algorithm", "models", "cells"))
    # a setting whose parts refuse each other has no policy
    return texts and is_row(row) and (isinstance(row.get("policy"), dict) or row["status"] != "ok")
