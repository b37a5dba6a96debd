"""A release saved and read again, and what verifying it from its files has to give."""

from __future__ import annotations

import pytest

from hushtable.api import run_plan
from hushtable.release.companion import companion_of, read_companion
from hushtable.release.written import read_published

FORMATS = ["csv", "parquet"]


def saved(table, plan, folder, format="csv"):
    """A release, its published file as it is read back, and its private companion."""
    release = run_plan(table, plan)
    release.save(folder / "out", format=format)
    published = read_published(folder / "out" / f"release.{format}")
    return release, published, read_companion(companion_of(folder / "out"), folder / "out")


def same(one, two) -> None:
    assert one.ok == two.ok
    assert one.classes == two.classes and one.rows == two.rows
    assert one.people == pytest.approx(two.people)
    for a, b in zip(one.evidence, two.evidence, strict=True):
        assert (a.model, a.violations) == (b.model, b.violations)
        assert a.achieved == pytest.approx(b.achieved, nan_ok=True)
