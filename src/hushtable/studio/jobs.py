"""Supervision of jobs: workers are started when there is work, watched, and terminated if they do not respond."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import DEBUG
from hushtable.studio.projects import Project
from hushtable.studio.store import Job, Store

LANES = ("quick", "heavy")
"""Viewing data does not wait for a run, so each has its own worker."""

_PATIENCE = 3.0
_WATCH = 0.1
_ATTEMPTS = 3


class Jobs:
    """Queue, workers and their supervision.

    Parameters
    ----------
    home : Path
        The studio's folder.
    patience : float
        Seconds that a canceled job has to respond before its worker is terminated.
    """

    def __init__(self, home: Path, patience: float = _PATIENCE) -> None:
        self.home = home
        self.store = Store(home)
        self.interrupted = self.store.interrupt()
        self._patience = patience
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._stillborn: dict[str, int] = {}
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._supervise, daemon=True)
        self._watch.start()

    def submit(self, project: str, kind: str, arguments: Mapping[str, Any] | None = None) -> Job:
        """Queue a job."""
        return self.store.submit(project, kind, TASKS[kind].lane, arguments)

    def of(self, project: str, kinds: Sequence[str], run: int | None = None) -> Iterator[Job]:
        """Return the latest jobs of some kinds on a project, or on one of its runs, newest first."""
        # by kind: a hundred looks at columns must not hide a run
        found = iter(self.store.jobs(project, kinds=kinds))
        return found if run is None else (job for job in found if job.arguments.get("run") == run)

    def wait(self, name: str, timeout: float = 60.0) -> Job:
        """Wait at most this many seconds for a job to end; for threads, not for the event loop."""
        until = time.monotonic() + timeout
        while True:
            job = self.store.job(name)
            if job.over or time.monotonic() > until:
                return job
            time.sleep(0.05)

    async def ended(self, name: str, patience: float | None = None) -> Job:
        """Wait at most this many seconds for a job to end, without blocking the event loop."""
        until = None if patience is None else time.monotonic() + patience
        while True:
            job = await asyncio.to_thread(self.store.job, name)
            if job.over or (until is not None and time.monotonic() > until):
                return job
            await asyncio.sleep(0.1)

    def stop(self) -> None:
        """Terminate the workers; unfinished jobs count as interrupted."""
        self._over.set()
        self._watch.join()
        for worker in self._workers.values():
            _end(worker)
        self.store.interrupt()

    def _supervise(self) -> None:
        while not self._over.wait(_WATCH):
            for lane in LANES:
                self._look_after(lane)

    def _look_after(self, lane: str) -> None:
        worker = self._workers.get(lane)
        job = self.store.running(lane)
        alive = worker is not None and worker.poll() is None
        if job is not None:
            name, _, cancel = job
            if not alive:
                self.store.end(name, "failed", error=_died())
            elif cancel is not None and time.time() - cancel > self._patience and worker is not None:
                # a long stretch without a look at the store: nothing is written before the end, so nothing is lost
                self.store.end(name, "cancelled")
                alive = False
            self._stillborn[lane] = 0
        if not alive and worker is not None:
            _end(worker)
            del self._workers[lane]
        if not alive and self.store.waiting(lane):
            self._stillborn[lane] = self._stillborn.get(lane, 0) + 1
            if self._stillborn[lane] > _ATTEMPTS:
                # a worker that cannot even start would be started for ever
                taken = self.store.claim(lane, 0)
                if taken is not None:
                    self.store.end(taken.id, "failed", error=_died())
                self._stillborn[lane] = 0
                return
            self._workers[lane] = _start(self.home, lane)


def _start(home: Path, lane: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "hushtable.studio.worker", str(home), lane]
    # a traceback may quote values of the table
    quiet = None if os.environ.get(DEBUG) else subprocess.DEVNULL
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)  # noqa: S603 our own words


def _end(worker: subprocess.Popen[bytes]) -> None:
    if worker.stdin is not None:
        worker.stdin.close()
    worker.kill()
    worker.wait()


def _died() -> dict[str, str]:
    return {
        "error": "WorkerDied",
        "code": "worker-died",
        "message": "The worker process ended before the job was done; nothing was written.",
        "hint": "The machine may have run out of memory: use fewer columns or rows, and run it again.",
    }


# The kinds of jobs: their lanes and functions.


Report = Callable[[float, str], None]
"""Called with the share that is done and a description; raises ``Cancelled`` to stop."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes
    ----------
    lane : str
    function : str
        As ``module:name`` below ``hushtable.studio.work``: only a worker that runs it imports it.
    """

    lane: str
    function: str

    def run(self, project: Project, arguments: dict[str, Any], report: Report) -> Any:
        """Run the task; the result is JSON-ready."""
        module, name = self.function.split(":")
        work = getattr(importlib.import_module(f"hushtable.studio.work.{module}"), name)
        return work(project, report, **arguments)


TASKS = {
    "open": JobKind("quick", "opening:open_upload"),
    "example": JobKind("quick", "opening:open_example"),
    "query": JobKind("quick", "opening:open_query"),
    "column": JobKind("quick", "opening:look_at_column"),
    "hierarchies": JobKind("quick", "opening:look_at_hierarchies"),
    "check": JobKind("quick", "checking:check"),
    "run": JobKind("heavy", "running:run"),
    "compare": JobKind("heavy", "running:compare"),
    "risk": JobKind("heavy", "running:risk"),
    "attack": JobKind("heavy", "running:attack"),
    "verify": JobKind("heavy", "running:verify_again"),
    "report": JobKind("heavy", "running:report"),
}
"""Name -> task."""
