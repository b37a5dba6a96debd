"""Every registered form passes the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hushtable.registry import forms
from hushtable.release.forms.base import Cells, Form
from hushtable.release.forms.counts import Counts
from hushtable.release.forms.intervals import RangeCells
from hushtable.schema.columns import Cover, Kind
from hushtable.testing import check_form

VARIANTS = [*(form() for form in forms.values()), Counts(digits=0, dates="day"), Counts(digits=1, dates="year")]


@pytest.mark.parametrize("form", VARIANTS, ids=str)
def test_the_contract(form):
    assert check_form(form, tables=12) > 0


@pytest.mark.slow
@pytest.mark.parametrize("form", VARIANTS, ids=str)
def test_the_contract_at_length(form):
    assert check_form(form, tables=300, seed=1000) > 0


class Short(RangeCells):
    """Denies the last leaf."""

    def covers(self, groups, codes):
        return super().covers(groups, codes) & (codes < self.extent[1][groups])


class Boastful(RangeCells):
    """Covers everything and does not say so."""

    @property
    def extent(self):
        return np.zeros(len(self), dtype=np.int64), np.full(len(self), self.column.coded.size - 1)


@dataclass(frozen=True)
class Planted(Form):
    kind: ClassVar[type[Cells]] = Short
    name: ClassVar[str] = "planted"
    in_words: ClassVar[str] = "something that is wrong"

    def cover(self, kind: Kind) -> Cover:
        return Cover.RANGE

    def from_members(self, column, offsets, members):
        return self.kind(column, offsets, members)


@pytest.mark.parametrize(
    ("kind", "broken"), [(Short, "does not cover its class"), (Boastful, "a cell and its text differ")]
)
def test_the_contract_can_fail(kind, broken, monkeypatch):
    monkeypatch.setitem(forms._all(), "planted", Planted)
    monkeypatch.setattr(Planted, "kind", kind)
    with pytest.raises(AssertionError, match=broken):
        check_form(Planted, tables=4)
