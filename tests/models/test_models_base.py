"""What every model inherits: the bound that its scores are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hushtable.errors import UsageError
from hushtable.models.base import PrivacyModel


@dataclass(frozen=True)
class Without(PrivacyModel):
    least: int = 3
    name: ClassVar[str] = "without"

    def score(self, groups, table):
        return np.zeros(len(groups))


class ByParameter(Without):
    bounded_by: ClassVar[str] = "least"


class ByNumber(Without):
    bounded_by: ClassVar[float] = 0.0


class Overridden(Without):
    @property
    def bound(self):
        return 2 * self.least


def test_a_parameter_a_number_or_a_property_bounds_the_score():
    assert (ByParameter(least=4).bound, ByNumber().bound, Overridden(least=4).bound) == (4, 0.0, 8)


def test_a_model_without_a_bound_is_refused_with_the_remedy():
    with pytest.raises(UsageError, match="Without does not say what its score is compared with") as refused:
        _ = Without().bound
    assert "bounded_by" in refused.value.hint
