"""dbt on DuckDB: a function for post-hooks that audits a model. Needs ``dbt-duckdb``.

The post-hook runs in the model's transaction, so a model that fails its audit never becomes visible::

    {{ config(post_hook=[
        "copy {{ this }} to '.audit.parquet'",
        "select hushtable_audit('.audit.parquet', 'age,postcode,sex', 'k=5')",
    ]) }}

The function runs ``hushtable audit FILE --quasi age,postcode,sex --fail-under k=5`` and removes the file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin

__all__ = ["Plugin", "audited"]


class Plugin(BasePlugin):
    """Adds ``hushtable_audit(file, quasi, bounds)`` to DuckDB. List it under ``plugins`` in the profile."""

    def configure_connection(self, conn: Any) -> None:
        """Register the function."""
        conn.create_function("hushtable_audit", audited, ["VARCHAR"] * 3, "VARCHAR", side_effects=True)


def audited(file: str, quasi: str, bounds: str) -> str:
    """Audit a file, remove it, and return the result.

    Raises
    ------
    RuntimeError
        If a bound does not hold, which fails the model. The message contains no value of the table.
    """
    command = [sys.executable, "-m", "hushtable", "audit", file, f"--quasi={quasi}", f"--fail-under={bounds}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    finally:
        Path(file).unlink(missing_ok=True)
    if done.returncode:
        raise RuntimeError(f"hushtable audit ({done.returncode}): {' '.join(done.stderr.split())}")
    return done.stdout
