"""Every guard with every algorithm and model, and a plug-in that breaks its promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from hushtable import registry
from hushtable.release.guard import Guard
from hushtable.testing import check_guard

REFUSED_BY_ALL = {"concealed", "numbered"}
REFUSED_BY = {"downcoding": {"bucket", "centroid"}, "minimality": {"bucket"}}
"""What guards refuse themselves; one that is not listed has to work with every other algorithm."""


@pytest.mark.parametrize("algorithm", registry.algorithms)
@pytest.mark.parametrize("guard", registry.guards)
def test_every_guard_keeps_its_promises(guard, algorithm):
    built, guarded = registry.guards[guard], registry.algorithms[algorithm]
    if guarded.samples or guarded.recoding.value in REFUSED_BY_ALL | REFUSED_BY.get(guard, set()):
        with pytest.raises(AssertionError, match="never allowed a release"):
            check_guard(built, algorithms=[algorithm])
        return
    assert check_guard(built, algorithms=[algorithm])["released"] > 0


@dataclass(frozen=True)
class Narrow(Guard):
    """Publishes the cells of one class for all."""

    name: ClassVar[str] = "toy-narrow"

    def recoded(self, problem, recoded, coins):
        return replace(recoded, published=tuple(p.take(np.zeros(len(p), dtype=np.int64)) for p in recoded.published))


@dataclass(frozen=True)
class Nosy(Guard):
    """Makes groups by the numbers of the rows."""

    name: ClassVar[str] = "toy-nosy"

    def grouped(self, problem, partition, recoding, coins):
        n = problem.table.n_rows
        return replace(partition, labels=np.arange(n) * 2 // max(n, 1), n_groups=2, regions=None)


@pytest.mark.parametrize(("guard", "broken"), [(Narrow, "does not cover its record"), (Nosy, "order of the rows")])
def test_a_broken_guard_is_noticed(guard, broken):
    with pytest.raises(AssertionError, match=broken):
        check_guard(guard, algorithms=["mondrian", "mondrian", "localpk"], models=["k-anonymity"], seed=1)
