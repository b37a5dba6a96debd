"""A PostgreSQL server of our own, for as long as the tests of a process run, and empty databases."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest


def _binaries() -> Path | None:
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4].split(".")[0]))
    here = shutil.which("initdb")
    return Path(found[-1]).parent if found else Path(here).parent if here else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def postgres():
    """The address of a database on a fresh server: user ``ann`` with the password ``sesame``."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    # the server refuses to run as root
    sudo = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    # a socket's path has at most 107 characters, which pytest's folders exceed
    with tempfile.TemporaryDirectory(prefix="hushpg-") as place:
        folder = Path(place)
        if sudo:
            shutil.chown(folder, "postgres")
        folder.chmod(0o755)
        port = _free_port()
        secret = folder / "password"
        secret.write_text("sesame")
        secret.chmod(0o644)

        def call(*command: str | Path) -> None:
            done = subprocess.run([*sudo, *map(str, command)], capture_output=True, text=True, cwd=folder, timeout=120)
            assert done.returncode == 0, done.stderr

        call(binaries / "initdb", "-D", folder / "data", "-U", "ann", f"--pwfile={secret}", "--auth=scram-sha-256",
             "--encoding=UTF8", "--no-sync", "--no-locale")  # fmt: skip
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
        call(binaries / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://ann:sesame@127.0.0.1:{port}/postgres"
        finally:
            call(binaries / "pg_ctl", "-D", folder / "data", "-w", "-m", "immediate", "stop")


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of an empty database, of each kind in turn."""
    if request.param != "postgresql":
        return f"{request.param}:///{tmp_path / 'clinic.db'}"
    import psycopg

    server = request.getfixturevalue("postgres")
    name = f"d{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}")
    return server.removesuffix("postgres") + name
