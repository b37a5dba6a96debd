"""Drives the studio as a person would: a server of its own, and a browser that may load nothing from elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 90_000
"""Milliseconds: on a busy machine a worker alone needs half a minute to start."""

QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
"""What keeps Chromium from asking for anything by itself."""

STEPS = ("data", "columns", "hierarchies", "protect", "run", "explore", "compare", "attack", "export")


def chromium_program() -> str | None:
    """The browser of this machine, if there is one."""
    return shutil.which("chromium") or shutil.which("google-chrome")


class Server:
    """``hushtable studio`` in a process of its own."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        self.home = home
        self.arguments = arguments
        self.environment = environment
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        words = ["studio", "--no-browser", "--port", "0", "--json", *self.arguments]
        command = [sys.executable, "-m", "hushtable", *words]
        environment = {**os.environ, "HUSHTABLE_STUDIO": str(self.home), **self.environment}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        said = ""
        while not said.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the studio did not start: {self.process.stderr.read()}")
            said += line
        self.url = json.loads(said)["url"]
        parts = urlsplit(self.url)
        self.base = f"{parts.scheme}://{parts.netloc}"

    def workers(self, lane: str) -> list[int]:
        """The process numbers of its workers of a lane."""
        command = ["ps", "-ww", "--ppid", str(self.process.pid), "-o", "pid=,args="]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [int(line.split()[0]) for line in listed if line.split()[-1] == lane]

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it as Ctrl-C does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(20)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def open_page(browser: Any, server: Server, **options: Any) -> Any:
    """A page of a new browser session that is let in; what it asks for is noted in ``page.asked``."""
    return enter(new_context(browser, **options), server)


def new_context(browser: Any, **options: Any) -> Any:
    """A new browser session, with an empty cache, no cookies and, by default, windows of 1280 x 800."""
    return browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})


def enter(context: Any, server: Server) -> Any:
    """A new page of a browser session, let in by the server; what it asks for is noted in ``page.asked``."""
    page = context.new_page()
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.set_default_timeout(PATIENCE)
    page.goto(server.url)
    page.get_by_role("heading", name="Projects", exact=True).wait_for()
    connected(page)
    return page


def connected(page: Any) -> None:
    """Wait until the page talks with the server: what is done before arrives late, and in any order."""
    page.wait_for_function("window.did_handshake === true")


def try_it(page: Any) -> str:
    """Begin with the embedded patients; return the project's address."""
    page.get_by_role("button", name="Try it with the embedded patients").click()
    page.get_by_text("5,000 rows, 11 columns").wait_for()
    return page.url.rsplit("/", 1)[0]


def choose(page: Any, label: str, option: str) -> None:
    """Choose an option of a select, as the mouse does; again if the page was drawn anew, which closes its menu."""
    from playwright.sync_api import TimeoutError as TookTooLong

    wanted = page.get_by_role("option", name=option).first
    for _ in range(3):
        page.get_by_label(label, exact=True).first.click()
        try:
            wanted.click(timeout=10_000)
        except TookTooLong:
            if page.get_by_role("listbox").count():
                break
        else:
            return
    wanted.click()


def put(field: Any, text: str) -> None:
    """Type into a field and leave it."""
    field.fill(text)
    field.press("Tab")


def take_algorithm(page: Any, base: str, name: str) -> None:
    """Choose the algorithm, and wait until the policy can be run with it."""
    go(page, base, "protect")
    choose(page, "Algorithm", f"{name}:")
    page.get_by_text("No problems found").wait_for()


def go(page: Any, base: str, step: str) -> None:
    """Open a step and wait for it."""
    page.goto(f"{base}/{step}")
    page.locator("h1").wait_for()
    connected(page)


def run_it(page: Any, base: str, number: int = 1) -> None:
    """Make a release."""
    go(page, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("heading", name=f"Release {number}:").wait_for()
