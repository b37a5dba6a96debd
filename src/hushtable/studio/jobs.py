"""Jobs: their state in SQLite, which the server, its workers and a restarted server share, and their supervision.

Workers are started when there is work, watched, and terminated if they do not respond.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import secrets
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import DEBUG, UsageError
from hushtable.io.canonical import plain
from hushtable.studio.projects import Project

_ESTIMATE_FROM = 0.05
"""Share of a job that must be done before its end is estimated."""

ENDED = ("done", "failed", "cancelled", "interrupted")
"""The final states of a job."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL, lane TEXT NOT NULL,
  arguments TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'queued', share REAL NOT NULL DEFAULT 0,
  what TEXT NOT NULL DEFAULT '', created REAL NOT NULL, started REAL, ended REAL, worker INTEGER,
  cancel REAL, result TEXT, error TEXT, promised REAL
);
CREATE INDEX IF NOT EXISTS waiting ON jobs (state, lane);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_CLAIM = """
UPDATE jobs SET state = 'running', started = ?, worker = ?
WHERE number = (SELECT number FROM jobs WHERE state = 'queued' AND lane = ? ORDER BY number LIMIT 1) RETURNING """
_COLUMNS = "id, project, kind, arguments, state, share, what, created, started, ended, result, error, cancel, promised"


@dataclass(frozen=True)
class Job:
    """A piece of work in a worker process.

    Attributes
    ----------
    id, project, kind : str
    arguments : mapping
    state : str
        queued, running, done, failed, ``"cancelled"``, or interrupted if its worker died with the studio.
    share : float
        Share that is done, from 0 to 1.
    what : str
        Description of the current step.
    created, started, ended : float
        Seconds since 1970.
    result, error : mapping, optional
    cancelling : bool
        Whether cancellation was requested.
    promised : float, optional
        Estimated end: the earliest estimate so far, since an estimate never gets later.
    """

    id: str
    project: str
    kind: str
    arguments: Mapping[str, Any]
    state: str
    share: float
    what: str
    created: float
    started: float | None
    ended: float | None
    result: Any
    error: Mapping[str, str] | None
    cancelling: bool
    promised: float | None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED

    def seconds_left(self) -> float | None:
        """Estimated time left, by the earliest estimate so far: it only decreases.

        None while there is no basis for an estimate, and once that time has passed.
        """
        left = None if self.promised is None or self.state != "running" else self.promised - time.time()
        return left if left is not None and left > 0 else None

    @property
    def late(self) -> bool:
        """Whether it takes longer than estimated."""
        return self.state == "running" and self.promised is not None and self.promised <= time.time()

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        names = ("id", "project", "kind", "arguments", "state", "share", "what", "created", "started", "ended")
        return {
            **{name: getattr(self, name) for name in names},
            "cancelling": self.cancelling,
            "seconds_left": self.seconds_left(),
            "result": self.result,
            "error": self.error,
        }


class Store:
    """The jobs of a studio's folder, safe to use from several processes and threads."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.path = home / "studio.sqlite"
        with self._open() as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(_SCHEMA)
            if "promised" not in {row[1] for row in db.execute("PRAGMA table_info(jobs)")}:
                db.execute("ALTER TABLE jobs ADD COLUMN promised REAL")  # a folder of an earlier version

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            yield db
        finally:
            db.close()

    def submit(self, project: str, kind: str, lane: str, arguments: Mapping[str, Any] | None = None) -> Job:
        """Queue a job."""
        name = secrets.token_hex(8)
        with self._open() as db:
            db.execute(
                "INSERT INTO jobs (id, project, kind, lane, arguments, created) VALUES (?, ?, ?, ?, ?, ?)",
                (name, project, kind, lane, json.dumps(plain(dict(arguments or {}))), time.time()),
            )
        return self.job(name)

    def job(self, name: str) -> Job:
        """Return a job as it is now."""
        with self._open() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (name,)).fetchone()  # noqa: S608 constants
        if row is None:
            raise UsageError("There is no such job.", code="not-there", hint="It may have been deleted.")
        return _job(row)

    def jobs(self, project: str | None = None, limit: int = 100, kinds: Sequence[str] = ()) -> list[Job]:
        """Return the latest jobs, newest first, optionally those of a project or of some kinds."""
        wanted = ["project = ?"] if project else []
        wanted += [f"kind IN ({', '.join('?' * len(kinds))})"] if kinds else []
        where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
        values = (*([project] if project else []), *kinds, limit)
        with self._open() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM jobs {where} ORDER BY number DESC LIMIT ?",  # noqa: S608 constants
                values,
            ).fetchall()
        return [_job(row) for row in rows]

    def waiting(self, lane: str) -> bool:
        """Whether a lane has work."""
        with self._open() as db:
            found = db.execute("SELECT 1 FROM jobs WHERE lane = ? AND state = 'queued' LIMIT 1", (lane,)).fetchone()
        return found is not None

    def claim(self, lane: str, worker: int) -> Job | None:
        """Take the oldest queued job of a lane."""
        with self._open() as db:
            row = db.execute(_CLAIM + _COLUMNS, (time.time(), worker, lane)).fetchone()
        return None if row is None else _job(row)

    def progress(self, name: str, share: float, what: str) -> bool:
        """Record the progress of a job; return whether cancellation was requested."""
        now = time.time()
        with self._open() as db:
            row = db.execute(
                "UPDATE jobs SET share = max(share, :share), what = :what, promised = "
                "CASE WHEN :share < :least OR :now - started < 1 THEN promised "
                "ELSE min(coalesce(promised, 9e99), started + (:now - started) / :share) END "
                "WHERE id = :name AND state = 'running' RETURNING cancel",
                {"share": share, "what": what, "name": name, "now": now, "least": _ESTIMATE_FROM},
            ).fetchone()
        return row is None or row[0] is not None

    def end(self, name: str, state: str, *, result: Any = None, error: Mapping[str, str] | None = None) -> bool:
        """End a queued or running job; return whether it was one."""
        with self._open() as db:
            row = db.execute(
                "UPDATE jobs SET state = ?, ended = ?, result = ?, error = ? WHERE id = ? AND ended IS NULL "
                "RETURNING id",
                (state, time.time(), json.dumps(plain(result)), json.dumps(error) if error else None, name),
            ).fetchone()
        return row is not None

    def cancel(self, name: str) -> Job:
        """Request cancellation of a job; one that has not started ends at once."""
        with self._open() as db:
            db.execute(
                "UPDATE jobs SET cancel = coalesce(cancel, ?) WHERE id = ? AND ended IS NULL", (time.time(), name)
            )
            db.execute(
                "UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ? AND state = 'queued'", (time.time(), name)
            )
        return self.job(name)

    def running(self, lane: str) -> tuple[str, int, float | None] | None:
        """Return the running job of a lane, its worker, and when cancellation was requested."""
        with self._open() as db:
            row = db.execute(
                "SELECT id, worker, cancel FROM jobs WHERE lane = ? AND state = 'running' LIMIT 1", (lane,)
            ).fetchone()
        return None if row is None else (row[0], row[1], row[2])

    def interrupt(self) -> int:
        """Mark jobs that still count as running: their worker died with the studio that started it.

        Jobs that wait for an upload are marked too, since uploads are not kept.
        """
        with self._open() as db:
            return db.execute(
                "UPDATE jobs SET state = 'interrupted', ended = ? "
                "WHERE state = 'running' OR (state = 'queued' AND kind IN ('open', 'query'))",
                (time.time(),),
            ).rowcount

    def forget(self, project: str) -> None:
        """Delete the jobs of a project."""
        with self._open() as db:
            db.execute("DELETE FROM jobs WHERE project = ?", (project,))

    def setting(self, name: str, otherwise: str = "") -> str:
        """Return a setting of the studio itself."""
        with self._open() as db:
            row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return otherwise if row is None else str(row[0])

    def set(self, name: str, value: str) -> None:
        """Store a setting of the studio itself."""
        with self._open() as db:
            db.execute("INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                       (name, value))  # fmt: skip


def _job(row: tuple[Any, ...]) -> Job:
    return Job(
        id=row[0], project=row[1], kind=row[2], arguments=json.loads(row[3]), state=row[4], share=row[5], what=row[6],
        created=row[7], started=row[8], ended=row[9], result=json.loads(row[10]) if row[10] else None,
        error=json.loads(row[11]) if row[11] else None, cancelling=row[12] is not None, promised=row[13],
    )  # fmt: skip


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
