"""Job state in SQLite: the only state that the server, its workers and a restarted server share."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushtable.errors import UsageError
from hushtable.io.canonical import plain

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
