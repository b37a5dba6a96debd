"""Fixtures of the tests that read and write."""

from __future__ import annotations

from support_postgres import address as address
from support_postgres import postgres as postgres
