"""The whole table with values that only earlier releases know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.ledger.entry import Entry
from hushtable.ledger.wide import widened
from hushtable.table.people import PERSON_UNITS
from hushtable.table.reference import Attribute, Reference


def entry(counts: dict[str, int], unit: int) -> Entry:
    """One class with so many units of each value."""
    person, one, n = np.array([[1, 0]], dtype=np.uint64), np.zeros(1, dtype=np.int64), len(counts)
    return Entry(
        "", "", "", ("disease",), unit, person, person[:, 0].copy(), one, one, (tuple(counts),),
        np.zeros(n, dtype=np.int64), np.array(list(counts.values()), dtype=np.int64), np.arange(n)[:, None],
    )  # fmt: skip


def shares(now: int, then: int, unit: int) -> list[float]:
    """The shares of a, which the new release knows, and of z, in people and in units of an earlier release."""
    table = Reference.of(now, Attribute.of("disease", ["a"], [now]))
    own = replace(table.attribute(("disease",)), units=np.array([now * unit]), unit=unit)
    table = replace(table, attributes={("disease",): own})
    earlier = entry({"a": PERSON_UNITS, "z": then}, PERSON_UNITS)
    wide = widened(table, entry({"a": now * unit}, unit), [earlier], ("disease",), PERSON_UNITS)
    assert wide is not None
    return wide.attribute(("disease",)).distribution().tolist()


@pytest.mark.parametrize("unit", [1, PERSON_UNITS])
@pytest.mark.parametrize("people", [3, 1_000, 1_000_000])
def test_shares_are_those_of_the_people_however_many_units_they_have(unit, people):
    assert shares(people, people * PERSON_UNITS, unit) == [0.5, 0.5]


def test_a_share_of_a_person_is_not_rounded_to_nothing():
    """One of somebody's two records has z, and the new release counts whole people."""
    assert shares(1, PERSON_UNITS // 2, 1) == pytest.approx([2 / 3, 1 / 3])
