"""Fixtures of the tests that read and write."""

from __future__ import annotations

import secrets

import psycopg
import pytest

from support_postgres import postgres as postgres


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of an empty database."""
    if request.param != "postgresql":
        return f"{request.param}:///{tmp_path / 'clinic.db'}"
    server = request.getfixturevalue("postgres")
    name = f"d{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}")
    return server.removesuffix("postgres") + name
