"""What all models of diversity keep, on random groups in whole or in parts of people."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_diversity import Sample, attack, grow, prefilter_holds, same_as_trying, samples

from hushtable.models.base import PrivacyModel
from hushtable.registry import models

WHOLE = st.integers(2, 4)
SHARES = st.sampled_from([0.25, 0.5, 0.75, 1])
RATIOS = st.sampled_from([0.5, 1, 1.5, 3])
EFFECTIVE = st.sampled_from([1, 1.5, 2, 2.5, 3, 4])
WEIGHTS = st.sampled_from([0.5, 1, 2, 3.5])

PARAMETERS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "distinct-l": {"l": st.integers(2, 5)},
    "probabilistic-l": {"l": EFFECTIVE},
    "entropy-l": {"l": EFFECTIVE},
    "recursive-cl": {"c": RATIOS, "l": WHOLE},
    "negation-recursive-cl": {"c": RATIOS, "l": st.integers(2, 3), "n": st.integers(1, 2)},
    "l-alpha": {
        "l": WHOLE,
        "alpha": WEIGHTS,
        "diversity": st.sampled_from(["probabilistic", "distinct", "entropy"]),
    },
    "p-sensitive": {"p": st.integers(2, 5)},
    "p-plus-sensitive": {"p": WHOLE},
    "p-alpha-sensitive": {"p": st.integers(1, 4), "alpha": st.sampled_from([0.5, 1, 1.25, 2, 3, 7])},
    "a-d": {"a": SHARES, "d": WHOLE},
    "alpha-k": {
        "alpha": SHARES,
        "k": st.integers(2, 5),
        "only": st.sampled_from([None, ("HIV",), ("cancer", "flu")]),
    },
    "alpha-beta-k": {"alpha": st.integers(1, 4), "beta": WHOLE, "k": st.integers(2, 6)},
}
REACHABLE: dict[str, dict[str, Any]] = {
    "distinct-l": {"l": 5},
    "probabilistic-l": {"l": 3},
    "entropy-l": {"l": 3},
    "recursive-cl": {"c": 1, "l": 3},
    "negation-recursive-cl": {"c": 1, "l": 2, "n": 1},
    "l-alpha": {"l": 2, "alpha": 2},
    "p-sensitive": {"p": 5},
    "p-plus-sensitive": {"p": 4},
    "p-alpha-sensitive": {"p": 3, "alpha": 2},
    "a-d": {"a": 0.4, "d": 3},
    "alpha-k": {"alpha": 0.4, "k": 5},
    "alpha-beta-k": {"alpha": 2, "beta": 3, "k": 5},
}
"""Parameters that any group reaches with a few more records of its six values."""
BY_SCORE = ("distinct-l", "probabilistic-l", "entropy-l", "p-sensitive", "p-plus-sensitive")
"""Models in which a value contributes exactly if it improves the score; others look at what is missing."""


def model(name: str, **values: Any) -> PrivacyModel:
    return models.build(name, {**values, "on": "disease"})


@st.composite
def chosen(draw: st.DrawFn, name: str) -> PrivacyModel:
    return model(name, **{key: draw(values) for key, values in PARAMETERS[name].items()})


@pytest.mark.parametrize("name", PARAMETERS)
@given(data=st.data(), sample=samples())
def test_what_is_declared_harmless_breaks_no_group(name: str, data: st.DataObject, sample: Sample):
    attack(data.draw(chosen(name)), sample)


@pytest.mark.parametrize("name", PARAMETERS)
@given(data=st.data(), sample=samples())
def test_no_smaller_group_holds(name: str, data: st.DataObject, sample: Sample):
    prefilter_holds(data.draw(chosen(name)), sample)


@pytest.mark.parametrize("name", BY_SCORE)
@given(sample=samples())
def test_contributes_are_the_values_that_raise_the_score(name: str, sample: Sample):
    same_as_trying(model(name, **dict.fromkeys(PARAMETERS[name], 3)), sample)


@pytest.mark.parametrize("name", REACHABLE)
@given(sample=samples(), diversity=st.sampled_from(["probabilistic", "distinct", "entropy"]))
def test_following_contributes_ends_at_a_satisfied_group(name: str, sample: Sample, diversity: str):
    more = {"diversity": diversity} if "diversity" in PARAMETERS[name] else {}
    grow(model(name, **REACHABLE[name], **more), sample)
