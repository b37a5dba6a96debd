"""A PostgreSQL server of our own, and empty databases."""

from __future__ import annotations

from support_postgres import address as address
from support_postgres import postgres as postgres
