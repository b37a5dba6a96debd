"""kill -9 of the studio, its worker or both in the middle of a job: after a restart nothing runs for ever.

    python -m fuzz.studio_kills [--kills 20] [--seconds 900] [--seed 0]

Every job of every project is over soon after the restart, its release is whole or absent, nothing hidden is left, and
the same job can be done again. Exits 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from fuzz.workbench import people
from tests.browser.studio_driver import Server

__all__ = ["campaign"]

PATIENCE = 300.0


class Client:
    """A program that talks to a studio's REST API."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._headers = {"authorization": f"Bearer {server.url.partition('token=')[2]}"}

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Return what a call answers; a refusal is an error."""
        url = f"{self.server.base}/api{path}"
        answer = httpx.request(method, url, headers=self._headers, timeout=60, **options)
        if answer.status_code >= 400:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def over(self, job: str) -> dict[str, Any]:
        """Wait for a job's end."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found: dict[str, Any] = self.call("GET", f"/jobs/{job}")
            if found["state"] in ("done", "failed", "cancelled", "interrupted"):
                return found
            time.sleep(0.1)
        raise AssertionError(f"a job is still {found['state']} after {PATIENCE:.0f} s")

    def done(self, job: dict[str, Any]) -> Any:
        """Wait for a job that has to end well."""
        found = self.over(job["id"])
        if found["state"] != "done":
            raise AssertionError(f"a job ended as {found['state']}: {found['error']}")
        return found["result"]


def _table() -> bytes:
    import io

    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(people(8000, 7), sink)
    return sink.getvalue()


def _new(client: Client, content: bytes) -> tuple[str, dict[str, Any]]:
    project = client.call("POST", "/projects", json={"name": "People"})["id"]
    return project, client.call("PUT", f"/projects/{project}/data?name=people.parquet", content=content)


def _ready(client: Client, content: bytes) -> str:
    """A project whose policy can be run."""
    project, job = _new(client, content)
    client.done(job)
    for name, role in (("age", "quasi"), ("sex", "quasi"), ("name", "identifier"), ("diagnosis", "sensitive")):
        client.call("PATCH", f"/projects/{project}/columns/{name}", json={"role": role})
    client.call("PUT", f"/projects/{project}/models", json=[{"k-anonymity": {"k": 5}}])
    return project


def _children(pid: int) -> list[int]:
    """The processes that a process's threads started."""
    return [int(word) for task in Path(f"/proc/{pid}/task").glob("*/children") for word in task.read_text().split()]


def _kill(server: Server, whom: str) -> None:
    workers = _children(server.process.pid)
    victims = {"studio": [server.process.pid], "worker": workers, "both": [server.process.pid, *workers]}[whom]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if whom != "worker":
        server.process.wait()
        server.stop()


def _look(client: Client, home: Path, projects: list[str]) -> None:
    """Everything is over, and every run that is shown is whole."""
    for job in client.call("GET", "/jobs"):
        client.over(job["id"])
    for project in projects:
        client.call("GET", f"/projects/{project}")
        for run in client.call("GET", f"/projects/{project}/runs"):
            client.done(client.call("POST", f"/projects/{project}/runs/{run['number']}/verify"))
            (found,) = home.glob(f"*/{project}/runs/{run['number']:04d}/verified.json")
            if not json.loads(found.read_text())["satisfied"]:
                raise AssertionError(f"run {run['number']} is not verified: {found.read_text()}")
            if run["number"] > 3:
                client.call("DELETE", f"/projects/{project}/runs/{run['number']}")


def _hidden(home: Path) -> list[str]:
    return [str(p.relative_to(home)) for p in home.rglob(".*")]


def campaign(kills: int, seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """Kill so many times, or until the time is over; return how the jobs ended, and what was wrong."""
    r, ends, wrong = random.Random(seed), Counter[str](), []
    content = _table()
    with tempfile.TemporaryDirectory(prefix="hushtable-kills-") as folder:
        home = Path(folder) / "studio"
        server = Server(home)
        try:
            client = Client(server)
            projects = [_ready(client, content)]
            client.done(client.call("POST", f"/projects/{projects[0]}/runs"))
            began = time.monotonic()  # of one whose worker is there
            client.done(client.call("POST", f"/projects/{projects[0]}/runs"))
            took = time.monotonic() - began
            until = time.monotonic() + seconds
            while ends["kills"] < kills and time.monotonic() < until:
                what = r.choice(["run", "run", "open", "report"])
                job = _start(client, projects, content, what)
                time.sleep(r.uniform(0, took))
                before = client.call("GET", f"/jobs/{job['id']}")["state"]
                whom = r.choice(["studio", "worker", "both"])
                _kill(server, whom)
                if whom != "worker":
                    if home.stat().st_mode & 0o077:
                        raise AssertionError("the studio's folder is open to others")
                    server.start()
                    client = Client(server)
                    hidden = _hidden(home)
                    if hidden and not any(j["state"] in ("queued", "running") for j in client.call("GET", "/jobs")):
                        raise AssertionError(f"left behind after a restart: {hidden}")
                ended = client.over(job["id"])["state"]
                ends["kills"] += 1
                ends[f"{what} {before} -> {ended}"] += 1
                _look(client, home, projects)
            client.done(client.call("POST", f"/projects/{projects[0]}/runs"))
            if _hidden(home):
                raise AssertionError(f"left behind: {_hidden(home)}")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        finally:
            if server.process.poll() is None:
                server.stop()
    return ends, wrong


def _start(client: Client, projects: list[str], content: bytes, what: str) -> dict[str, Any]:
    if what == "open":
        project, job = _new(client, content)
        projects.append(project)
        return job
    if what == "report":
        done: dict[str, Any] = client.call("POST", f"/projects/{projects[0]}/runs/1/report", json={})
        return done
    started: dict[str, Any] = client.call("POST", f"/projects/{projects[0]}/runs")
    return started


def main() -> int:
    """Kill the studio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ends, wrong = campaign(options.kills, options.seconds, options.seed)
    print(f"studio {dict(sorted(ends.items()))} {'WRONG' if wrong else 'fine'}", flush=True)
    print("\n".join(wrong), end="\n" if wrong else "", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
