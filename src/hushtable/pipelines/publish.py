"""One step of a pipeline: make a release, replace the previous one, and report what happened.

A step can be repeated at any time: the same table, policy and secret give the same files, and a killed step is simply
run again. The previous release stays complete until the new one is verified and written.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.api import run
from hushtable.io.canonical import digest
from hushtable.pipelines.metrics import measured, stated_in
from hushtable.policy.policy import Policy
from hushtable.report.signature import file_digest

__all__ = ["Outcome", "publish"]

_log = logging.getLogger(__package__)


@dataclass(frozen=True)
class Outcome:
    """What a step did.

    Attributes
    ----------
    folder : path
    version : str
        Digest of all published files: equal for equal releases.
    changed : bool
        Whether it differs from the release that was there before.
    seconds : float
    released, classes : int
    records, suppressed : int, optional
        Missing if ``release.json`` does not state them either: with differential privacy, or if there may be
        counterfeits. Schedulers show these figures to more people than may see the original.
    """

    folder: Path
    version: str
    changed: bool
    seconds: float
    released: int
    classes: int
    records: int | None = None
    suppressed: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form, for logs and schedulers."""
        return {**vars(self), "folder": str(self.folder)}


def publish(
    data: Any,
    policy: Policy | str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    engine: str = "auto",
    metrics: str | os.PathLike[str] | None = None,
) -> Outcome:
    """Make a release and replace the last one.

    Parameters
    ----------
    data, policy, target, to, engine
        As for ``hushtable.run``. An earlier release in the target is replaced.
    metrics : path, optional
        Gets OpenMetrics text about the run, whether it succeeds or not.

    Raises
    ------
    HushtableError
        The release that was there before is still there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "release")
    ...     [publish(people, policy, target).changed for _ in range(2)]
    [True, False]
    """
    folder = Path(target)
    with measured(metrics, target=folder.name) as known:
        before = _version(folder)
        run(data, policy, folder, to=to, engine=engine, overwrite=True)
        known.tell(stated_in(folder))
        version = _version(folder)
        known["changed"] = float(version != before)
    sizes = {name: int(known[name]) for name in ("records", "released", "suppressed", "classes") if name in known}
    outcome = Outcome(folder, version, version != before, known["duration_seconds"], **sizes)
    _log.info("Published %d rows", outcome.released, extra=outcome.as_dict())
    return outcome


def _version(folder: Path) -> str:
    """A digest of the published files; of no files if there is no release yet."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return digest({file.relative_to(folder).as_posix(): file_digest(file) for file in files})
