"""Startup of the studio: a free port, the guard, the pages, and one server that ends everything it started."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from hushtable.errors import DEBUG, UsageError
from hushtable.studio.projects import Claim, default_home
from hushtable.studio.service import CATALOGUES, Studio
from hushtable.studio.web.safety import Access

_TRIED = 20


def serve(
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str = "",
    *,
    data: Path | None = None,
    home: Path | None = None,
    open_browser: bool = True,
    announce: Callable[[str], None] = lambda url: None,
) -> None:
    """Run the studio until it is stopped.

    Parameters
    ----------
    host : str
        Loopback, or another address together with a ``token``.
    port : int, optional
        Defaults to the first free port from 8080 on.
    token : str
        Defaults to a random one.
    data : Path, optional
        Table to start a project with.
    home : Path, optional
        The studio's folder.
    open_browser : bool
    announce : callable
        Called with the address once the studio responds.
    """
    from hushtable.studio.web.register import register
    from hushtable.studio.web.rest import api
    from hushtable.studio.web.safety import RequestGuard

    if not os.environ.get(DEBUG):
        # the error of a handler may quote a cell; the words of ``failure`` are shown instead
        logging.getLogger("nicegui").setLevel(logging.CRITICAL + 1)
    listening = _listen(host, port)
    access = Access(host, listening.getsockname()[1], token)
    claim = Claim(home or default_home())
    studio = Studio(home or default_home())
    try:
        if data is not None:
            _begin_with(studio, data)
        # while nobody asks yet: the first page would wait for all models and algorithms to be imported
        threading.Thread(target=lambda: [len(known) for known in CATALOGUES.values()], daemon=True).start()
        app = api(studio)
        register(studio, app)
        guarded = RequestGuard(app, access, studio.largest)
        # requests are not logged: the token is in the first one's address
        config = uvicorn.Config(
            guarded, access_log=False, log_level="error", server_header=False, timeout_graceful_shutdown=1
        )
        server = _Server(config, lambda: _ready(access.url(), open_browser, announce))
        server.run(sockets=[listening])
    finally:
        studio.stop()
        claim.release()


def _ready(url: str, open_browser: bool, announce: Callable[[str], None]) -> None:
    announce(url)
    if open_browser:
        webbrowser.open(url)


def _listen(host: str, port: int | None) -> socket.socket:
    """Bind the port before anything else is done, so that a port in use is reported at once."""
    wanted = range(8080, 8080 + _TRIED) if port is None else [port]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in wanted:
        taken = socket.socket(family, socket.SOCK_STREAM)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((host, number))
        except (OSError, OverflowError):
            taken.close()
            continue
        return taken
    raise UsageError(
        f"The studio cannot listen on {host!r}, port {port or f'{wanted[0]} to {wanted[-1]}'}.",
        code="port",
        hint="Another program may use it: choose another with --port, or 0 for any.",
    )


def _begin_with(studio: Studio, data: Path) -> None:
    """Create a project from a file named on the command line."""
    if data.is_dir():
        release = (data / "release.json").is_file()
        raise UsageError(
            f"{str(data)!r} is the folder of a release." if release else f"{str(data)!r} is a folder.",
            code="folder",
            hint="The studio starts with an original table. To look at a release, use 'hushtable report' or "
            "'hushtable measure'."
            if release
            else "Give a table, or upload linked tables as a ZIP file.",
        )
    if not data.is_file():
        raise UsageError(f"There is no file {str(data)!r}.", code="no-file", hint="Check the path.")
    project = studio.create(data.stem[:80] or data.name)
    path = studio.new_upload(project, data.name)
    shutil.copyfile(data, path)
    studio.opened(project, path, data.name)


class _Server(uvicorn.Server):
    """Reports when it responds."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C ends the server as intended: nothing is raised after that."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to respond."""
        await super().startup(sockets)
        if self.started:
            self._ready()
