from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import Sample, agree, samples, verdicts, whole

from hushtable.errors import ParameterError
from hushtable.models.distinct_l import DistinctL
from hushtable.registry import models

ls = st.integers(2, 5)


def model(l: int) -> DistinctL:
    return DistinctL(l=l, on="disease")


def test_allards_classes_have_six_and_four_distinct_values():
    sample = Sample(({0: 7, 1: 6, 2: 5, 3: 3, 4: 1, 5: 1}, {0: 100, 1: 6, 2: 5, 3: 3}))
    assert model(2).score(sample.stats(), sample.table()).tolist() == [6, 4]
    assert sample.satisfied(model(5)) == [True, False]


@given(samples(), ls)
def test_equals_its_twin(sample: Sample, l: int):
    agree(model(l), sample, lambda g: min(len(g), whole(g)) >= l)


def test_does_not_survive_suppression():
    assert verdicts(model(3), {0: 5, 1: 1, 2: 1}, {0: 5, 1: 1}) == [True, False]


def test_an_empty_group_is_not_satisfied():
    assert Sample(({},)).satisfied(model(2)) == [False]


def test_infeasible_names_the_distinct_values():
    reason = model(3).feasible(Sample(({0: 3, 1: 2},)).table())
    assert str(reason) == "l=3 but 'disease' has 2 distinct values. Lower l to 2 or less."
    lone = model(2).feasible(Sample(({0: 3},)).table())
    assert str(lone) == "l=2 but 'disease' has 1 distinct value. No l above 1 can hold."
    assert model(2).feasible(Sample(({0: 3, 1: 2},)).table()) is None


def test_refuses_l_below_2_and_is_registered():
    with pytest.raises(ParameterError, match=r"must be an int >= 2\. Got 2\.5 instead\."):
        DistinctL(l=2.5)
    assert models.build("distinct-l", {"l": 3}).bind(("disease", "salary")) == (
        model(3),
        DistinctL(3, on="salary"),
    )


def test_refuses_to_stand_on_no_column():
    with pytest.raises(ParameterError, match="The 'on' parameter of DistinctL names no column"):
        models.build("distinct-l", {"l": 3, "on": []})
