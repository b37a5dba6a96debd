"""Jobs: state in SQLite, workers that are watched, cancel, and what a restart finds."""

from __future__ import annotations

import os
import signal
import sqlite3
import time

import pytest
from support_studio import finished

from hushtable.errors import Cancelled, UsageError
from hushtable.studio.jobs import TASKS, JobKind, Jobs, Store
from hushtable.studio.projects import Projects
from hushtable.studio.service import Studio
from hushtable.studio.worker import Reporter, work


def test_a_job_goes_from_queued_to_done(tmp_path):
    store = Store(tmp_path)
    job = store.submit("p", "check", "quick", {"a": 1})
    assert (job.state, job.arguments, job.over) == ("queued", {"a": 1}, False)
    assert store.claim("heavy", 1) is None
    taken = store.claim("quick", 7)
    assert taken is not None and taken.id == job.id and taken.state == "running"
    assert store.claim("quick", 8) is None, "a job is taken once"
    assert store.progress(job.id, 0.5, "half") is False
    assert store.job(job.id).share == 0.5 and store.job(job.id).what == "half"
    assert store.progress(job.id, 0.2, "back") is False
    assert store.job(job.id).share == 0.5, "progress does not go back"
    assert store.end(job.id, "done", result={"x": float("nan")})
    assert not store.end(job.id, "failed"), "an ended job stays as it is"
    assert store.job(job.id).result == {"x": None}


def test_the_time_left_only_falls(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("hushtable.studio.jobs.time.time", lambda: now[0])
    store = Store(tmp_path)
    job = store.submit("p", "run", "heavy")
    store.claim("heavy", 1)

    def after(seconds, share):
        now[0] = 1000.0 + seconds
        store.progress(job.id, share, "working")
        return store.job(job.id)

    assert after(0.5, 0.2).seconds_left() is None, "too early to tell"
    assert after(10, 0.04).seconds_left() is None, "too little to tell"
    assert after(10, 0.5).seconds_left() == pytest.approx(10)
    assert after(15, 0.55).seconds_left() == pytest.approx(5), "slower than thought: the promise is not taken back"
    assert after(16, 0.9).seconds_left() == pytest.approx(16 / 0.9 - 16), "faster: it is"
    late = after(30, 0.91)
    assert late.seconds_left() is None and late.late
    assert store.job(job.id).as_dict()["seconds_left"] is None
    store.end(job.id, "done")
    assert not store.job(job.id).late


def test_a_folder_of_an_earlier_version_is_taken_over(tmp_path):
    with sqlite3.connect(tmp_path / "studio.sqlite") as db:
        db.execute(
            "CREATE TABLE jobs (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, project TEXT NOT NULL, kind TEXT "
            "NOT NULL, lane TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'queued', share REAL "
            "NOT NULL DEFAULT 0, what TEXT NOT NULL DEFAULT '', created REAL NOT NULL, started REAL, ended REAL, "
            "worker INTEGER, cancel REAL, result TEXT, error TEXT)"
        )
        db.execute(
            "INSERT INTO jobs (id, project, kind, lane, arguments, created) VALUES ('j', 'p', 'run', 'heavy', '{}', 1)"
        )
    db.close()
    store = Store(tmp_path)
    assert store.job("j").promised is None
    assert store.claim("heavy", 1) is not None
    store.progress("j", 0.5, "on")


def test_many_quick_looks_do_not_hide_a_run(tmp_path):
    store = Store(tmp_path)
    run = store.submit("p", "run", "heavy")
    for _ in range(120):
        store.submit("p", "column", "quick")
    assert [job.id for job in store.jobs("p", kinds=("run", "compare"))] == [run.id]
    assert len(store.jobs("p")) == 100 and store.jobs("other", kinds=("run",)) == []


def test_cancel_ends_what_waits_and_asks_what_runs(tmp_path):
    store = Store(tmp_path)
    first, second = store.submit("p", "run", "heavy"), store.submit("p", "run", "heavy")
    store.claim("heavy", 1)
    assert store.cancel(second.id).state == "cancelled"
    asked = store.cancel(first.id)
    assert asked.state == "running" and asked.cancelling
    with pytest.raises(Cancelled):
        Reporter(store, first)(0.1, "working")


def test_progress_of_a_deleted_job_stops_its_worker(tmp_path):
    store = Store(tmp_path)
    job = store.submit("p", "run", "heavy")
    store.claim("heavy", 1)
    store.forget("p")
    with pytest.raises(Cancelled):
        Reporter(store, job)(0.1, "working")
    with pytest.raises(UsageError, match="no such job"):
        store.job(job.id)


def test_what_ran_when_the_studio_died_is_interrupted(tmp_path):
    store = Store(tmp_path)
    running, waiting = store.submit("p", "run", "heavy"), store.submit("p", "unknown", "nobody")
    upload = store.submit("p", "open", "nobody")  # its file does not outlive the studio
    store.claim("heavy", 1)
    jobs = Jobs(tmp_path)
    try:
        assert jobs.interrupted == 2
        assert store.job(upload.id).state == "interrupted"
        assert store.job(running.id).state == "interrupted"
        assert store.job(waiting.id).state == "queued"
    finally:
        jobs.stop()


def test_an_error_says_nothing_of_the_data(tmp_path, monkeypatch):
    store, projects = Store(tmp_path), Projects(tmp_path)
    project = projects.create("p")

    class Bad(JobKind):
        def run(self, project, arguments, report):
            raise RuntimeError("cell: Jule Falkrieder")

    monkeypatch.setitem(TASKS, "check", Bad("quick", ""))
    job = store.submit(project.id, "check", "quick")
    work(store, projects, store.claim("quick", 1))
    over = store.job(job.id)
    assert over.state == "failed" and over.error["code"] == "internal"
    assert "Falkrieder" not in str(over.error)


def test_a_dead_worker_fails_its_job_and_the_next_job_gets_a_new_one(tmp_path):
    studio = Studio(tmp_path)
    try:
        project = studio.create("p")
        job = studio.example(project, rows=1_000_000)
        found = _until_running(studio, "quick")
        os.kill(found[1], signal.SIGKILL)
        over = studio.jobs.wait(job.id)
        assert over.state == "failed" and over.error["code"] == "worker-died"
        finished(studio, studio.example(project, rows=50))
        assert project.data is not None
        studio.projects.tidy()
        assert [p.name for p in (project.folder / "data").iterdir()] == ["patients.csv"]
    finally:
        studio.stop()


def test_a_worker_that_does_not_listen_is_ended(tmp_path):
    studio = Studio(tmp_path)
    studio.jobs._patience = 0.0
    try:
        project = studio.create("p")
        job = studio.example(project, rows=1_000_000)
        _until_running(studio, "quick")
        studio.jobs.store.cancel(job.id)
        assert studio.jobs.wait(job.id, 20).state == "cancelled"
        assert project.data is None
    finally:
        studio.stop()


def test_a_worker_that_cannot_start_is_not_started_for_ever(tmp_path, monkeypatch):
    import hushtable.studio.jobs as module

    monkeypatch.setattr(module.sys, "executable", "/bin/false")
    studio = Studio(tmp_path)
    try:
        job = studio.example(studio.create("p"), rows=50)
        assert studio.jobs.wait(job.id, 20).error["code"] == "worker-died"
        monkeypatch.undo()
        finished(studio, studio.example(studio.create("q"), rows=50))  # a machine may recover
    finally:
        studio.stop()


def test_what_was_handed_to_a_job_that_never_began_is_deleted(tmp_path, monkeypatch):
    """The address of a database may hold a password, and an upload is about people."""
    monkeypatch.setattr(Jobs, "_look_after", lambda self, lane: None)
    studio = Studio(tmp_path)
    try:
        asked, uploaded, left = studio.create("asked"), studio.create("uploaded"), studio.create("left")
        path = studio.new_upload(uploaded, "people.csv")
        path.write_text("age\n30\n")
        jobs = [studio.query(asked, "postgresql://me:sesame@localhost/x", "SELECT 1")]
        jobs.append(studio.opened(uploaded, path, "people.csv"))
        for job, project in zip(jobs, (asked, uploaded), strict=True):
            assert len([*(project.folder / "data").iterdir()]) == 1
            assert studio.cancel(job.id).state == studio.cancel(job.id).state == "cancelled"
            assert [*(project.folder / "data").iterdir()] == []
        studio.query(left, "postgresql://me:sesame@localhost/x", "SELECT 1")
    finally:
        studio.stop()
    assert [*(left.folder / "data").iterdir()] == [], "nor does it outlive the studio"


def test_state_survives_a_restart(tmp_path):
    first = Studio(tmp_path)
    project = first.create("Kept")
    finished(first, first.example(project, rows=50))
    first.stop()
    second = Studio(tmp_path)
    try:
        (again,) = second.projects.all()
        assert again.facts["name"] == "Kept" and again.document() == project.document()
        assert second.job_of(again, "example").state == "done"
    finally:
        second.stop()


def _until_running(studio, lane):
    for _ in range(400):
        found = studio.jobs.store.running(lane)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("the job did not begin")
