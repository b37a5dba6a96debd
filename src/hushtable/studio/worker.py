"""A worker process: takes jobs of one lane, one after the other, until the studio that started it ends.

Started as ``python -m hushtable.studio.worker HOME LANE`` with a pipe as stdin: when the pipe closes, the studio has
ended, and so does the worker.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

from hushtable.engines.stages import share_of_run
from hushtable.errors import DEBUG, Cancelled
from hushtable.failures import failure
from hushtable.studio.jobs import TASKS, Job, Store
from hushtable.studio.projects import Projects

_IDLE = 0.05
_BEAT = 0.1


class Reporter:
    """Receives the progress of a task; raises if the user has canceled."""

    def __init__(self, store: Store, job: Job) -> None:
        self._store = store
        self._job = job
        self._reported = 0.0

    def __call__(self, share: float, what: str) -> None:
        """Record the progress of the job."""
        now = time.monotonic()
        if now - self._reported < _BEAT:
            return
        self._reported = now
        done = share_of_run(share, what) if self._job.kind == "run" else min(max(share, 0.0), 1.0)
        if self._store.progress(self._job.id, done, what):
            raise Cancelled("Canceled.", hint="Nothing was written.")


class _Compiling(logging.Handler):
    """Shows the kernels' messages to the user of a job, for example that kernels are being compiled."""

    def __init__(self, store: Store, job: Job) -> None:
        super().__init__(logging.WARNING)
        self._store = store
        self._job = job

    def emit(self, record: logging.LogRecord) -> None:
        """Show it as the job's current step."""
        self._store.progress(self._job.id, 0.0, record.getMessage())


def work(store: Store, projects: Projects, job: Job) -> None:
    """Run one job and record its outcome."""
    kernels, compiling = logging.getLogger("hushtable.kernels"), _Compiling(store, job)
    kernels.addHandler(compiling)
    try:
        result = TASKS[job.kind].run(projects[job.project], dict(job.arguments), Reporter(store, job))
    except Cancelled as stopped:
        store.end(job.id, "cancelled", error=stopped.as_dict())
    except Exception as error:
        if os.environ.get(DEBUG):
            traceback.print_exception(error)
        store.end(job.id, "failed", error=failure(error)[0])
    else:
        store.end(job.id, "done", result=result)
    finally:
        kernels.removeHandler(compiling)


def main(home: str, lane: str) -> None:
    """Work until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the studio's to handle; it closes the pipe
    if not os.environ.get(DEBUG):
        warnings.simplefilter("ignore")  # a library's warning may quote what it stumbled over
    threading.Thread(target=_end_with_parent, daemon=True).start()
    store, projects = Store(Path(home)), Projects(Path(home))
    while True:
        job = store.claim(lane, os.getpid())
        if job is None:
            time.sleep(_IDLE)
        else:
            work(store, projects, job)


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
