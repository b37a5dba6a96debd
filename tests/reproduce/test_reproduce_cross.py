"""The cross table: every kind of cell, and a page that needs nothing else."""

from __future__ import annotations

import pytest

from hushtable import registry
from hushtable.reproduce.cross import ATTACKS, SETTINGS, CrossResult, cross_cells, cross_page


@pytest.fixture(scope="module")
def cells(adult):
    return list(cross_cells(200, 20.0, ["k-anonymity", "guarding-nodes", "eps-m", "k-map"], ["mondrian", "anatomy"]))


def test_settings_are_accepted():
    """A model that is added later need not have one: the command says so if it is asked for."""
    for name, values in SETTINGS.items():
        registry.models.build(name, values)


def test_released_cells_are_measured_and_attacked(cells):
    found = {(c.model, c.algorithm): c for c in cells}
    one = found["k-anonymity", "mondrian"]
    assert one.outcome == "released" and 0 < one.loss < 1 and one.classes > 1
    assert set(one.attacks) == set(ATTACKS)
    assert found["eps-m", "mondrian"].outcome == found["k-map", "mondrian"].outcome == "released"


def test_refusals_say_why(cells):
    refused = [c for c in cells if c.model == "k-anonymity" and c.algorithm == "anatomy"]
    assert refused[0].outcome == "refused" and "exact quasi-identifiers" in refused[0].reason


def test_a_cell_beyond_its_limit_is_stopped(adult):
    slow, again = cross_cells(300, 0.001, ["t-closeness"], ["optimal", "mondrian"])
    assert slow.outcome == again.outcome == "too slow" and "0.001 s" in slow.reason


def test_the_page_stands_alone(cells):
    page = cross_page([*cells, CrossResult("t-closeness", "mdav", "infeasible", "<no & way>")], rows=200, seconds=20)
    assert page.startswith("<!doctype html>") and "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert "none exists" in page and "&lt;no &amp; way&gt;" in page
    assert all(f"Attack: {name}" in page for name in ATTACKS)
