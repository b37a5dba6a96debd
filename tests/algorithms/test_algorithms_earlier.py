"""Commitments from earlier releases: what is known about the records decides over the coins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hushtable.algorithms.base import Problem
from hushtable.algorithms.earlier import Earlier
from hushtable.models.compose import AllOf
from hushtable.models.k_anonymity import KAnonymity
from hushtable.testing import random_case

ROWS = 12
CASE = random_case(3, ROWS)
EARLIER = Earlier(
    ("disease",), ((0, 1), (1, 2)), np.arange(ROWS) % 3 - 1, np.full(ROWS, -1), np.zeros(ROWS, dtype=np.bool_)
)


def key_of(earlier, case=CASE):
    table = case.encoded([])
    return Problem(table, AllOf((KAnonymity(k=2),)), table.reference(), earlier=earlier).coins.key


@pytest.mark.parametrize(
    "changes",
    [
        {"signatures": ((0, 1), (0, 2))},
        {"of_row": np.arange(ROWS) % 2},
        {"left": np.arange(ROWS) % 3 - 1},
        {"alone": np.arange(ROWS) == 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_other_commitments_give_other_coins(changes):
    assert len({key_of(None), key_of(EARLIER), key_of(replace(EARLIER, **changes))}) == 3


def test_neither_the_order_of_records_nor_that_of_signatures_matters():
    turned = np.arange(ROWS)[::-1]
    other = replace(EARLIER, signatures=EARLIER.signatures[::-1], of_row=np.array([-1, 1, 0])[EARLIER.of_row + 1])
    assert key_of(other) == key_of(EARLIER)
    case = replace(CASE, table=CASE.table.take(pa.array(turned)))
    assert key_of(replace(EARLIER, of_row=EARLIER.of_row[turned]), case) == key_of(EARLIER)
