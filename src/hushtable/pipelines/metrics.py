"""Metrics of a run as OpenMetrics text: sizes, times and success. Nothing in it depends on a cell.

Dashboards and catalogues have more readers than the original table, so sizes are those that ``release.json`` states. It
keeps silent about the number of records where that would break a promise: differential privacy, counterfeits.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hushtable.failures import failure
from hushtable.io.atomic import atomic_write_text, reported

__all__ = ["RunMetrics", "measured", "openmetrics"]

# name -> description, in the order of the output
_HELP = {
    "success": "Whether the last run wrote a release.",
    "exit_code": "Exit code of the last run: 0 done, 1 violated, 2 unusable, 3 infeasible, 70 internal.",
    "finished_timestamp_seconds": "When the last run ended.",
    "duration_seconds": "How long the last run took.",
    "records": "Records of the input.",
    "released": "Records that were published.",
    "suppressed": "Records that were suppressed.",
    "classes": "Classes of the published table.",
    "changed": "Whether the published files differ from those before the run.",
}


def openmetrics(values: Mapping[str, float], labels: Mapping[str, str] | None = None) -> str:
    r"""Return values as OpenMetrics text.

    Parameters
    ----------
    values : mapping of str to float
        Metrics by name, without the prefix.
    labels : mapping of str to str, optional
        Labels of every value.

    Examples
    --------
    >>> print(openmetrics({"success": 1, "records": 500}, {"job": 'the "nightly"'}))
    # TYPE hushtable_run_success gauge
    # HELP hushtable_run_success Whether the last run wrote a release.
    hushtable_run_success{job="the \"nightly\""} 1
    # TYPE hushtable_run_records gauge
    # HELP hushtable_run_records Records of the input.
    hushtable_run_records{job="the \"nightly\""} 500
    # EOF
    """
    marks = ",".join(f'{name}="{_escaped(value)}"' for name, value in (labels or {}).items())
    lines = []
    for name in [name for name in _HELP if name in values]:
        full = f"hushtable_run_{name}"
        number = f"{values[name]:.3f}".rstrip("0").rstrip(".")
        lines += [f"# TYPE {full} gauge", f"# HELP {full} {_HELP[name]}"]
        lines.append(f"{full}{{{marks}}} {number}" if marks else f"{full} {number}")
    return "\n".join([*lines, "# EOF"])


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class RunMetrics(dict[str, float]):
    """The metrics of a run so far; ``tell`` adds those of its release.

    Examples
    --------
    >>> known = RunMetrics()
    >>> known.tell({"rows": 9, "classes": 2, "sampled": True})
    >>> known
    {'released': 9.0, 'classes': 2.0}
    """

    def tell(self, stated: Mapping[str, Any]) -> None:
        """Add the sizes that the ``release.json`` of a release states."""
        sizes = {"released": stated["rows"], **stated}
        names = ("records", "released", "suppressed", "classes")
        self.update({name: float(sizes[name]) for name in names if name in sizes})


def stated_in(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the ``release.json`` of a release states.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "release.json").write_text('{"rows": 9}')
    ...     stated_in(folder)
    {'rows': 9}
    """
    found: dict[str, Any] = json.loads(Path(folder, "release.json").read_text(encoding="utf-8"))
    return found


@contextmanager
def measured(file: str | os.PathLike[str] | None, **labels: str) -> Iterator[RunMetrics]:
    """Time the block, and write its metrics to a file when it ends, whether it succeeds or fails.

    Parameters
    ----------
    file : path, optional
        Replaced atomically. Defaults to writing nothing.
    **labels : str
        Labels of every metric.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "hushtable.prom")
    ...     with measured(file) as known:
    ...         known["records"] = 500
    ...     "hushtable_run_success 1" in file.read_text()
    True
    """
    known, start = RunMetrics(success=0), time.monotonic()
    if file is not None:
        # a file that cannot be written must not fail a run that has published something
        with reported(file), tempfile.TemporaryFile(dir=Path(file).absolute().parent):
            pass
    try:
        yield known
        known |= {"success": 1, "exit_code": 0}
    except BaseException as error:
        known["exit_code"] = failure(error)[1]
        raise
    finally:
        known |= {"finished_timestamp_seconds": time.time(), "duration_seconds": time.monotonic() - start}
        if file is not None:
            atomic_write_text(file, openmetrics(known, labels) + "\n")
