from __future__ import annotations

import copy
import pickle

import pytest

from hushtable.policy.columns import BackgroundPolicy, ColumnPolicy, Frozen, OutputPolicy, freeze, thaw


def test_settings_are_those_that_differ_from_the_defaults() -> None:
    assert ColumnPolicy(role="quasi", weight=1, order=[], categories=None).settings() == {"role": "quasi"}
    column = ColumnPolicy(role="sensitive", kind="ordinal", order=["a", 2], categories={"x": ["a"], "y": None})
    assert column.settings() == {
        "role": "sensitive",
        "kind": "ordinal",
        "categories": {"x": ["a"], "y": []},
        "order": ["a", "2"],
    }
    assert type(column.settings()["role"]) is str
    assert OutputPolicy().settings() == {}
    assert BackgroundPolicy(file="b.csv", on="s").settings() == {"file": "b.csv", "on": "s"}


def test_given_holds_what_was_said_even_if_it_is_the_default() -> None:
    assert ColumnPolicy(role="quasi", weight=1).given() == {"role": "quasi", "weight": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(a=2),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"b": 1}),
    ],
)
def test_no_change_is_possible(change) -> None:
    frozen = Frozen(a=1)
    with pytest.raises(TypeError, match="cannot be changed"):
        change(frozen)
    assert frozen == {"a": 1}


def test_copies_stay_frozen() -> None:
    frozen = freeze({"a": {"b": [1]}})
    for again in (copy.copy(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert again == frozen
        assert type(again["a"]) is Frozen


def test_thaw_gives_data_of_its_own() -> None:
    frozen = freeze({"a": {"b": [1]}})
    thawed = thaw(frozen)
    thawed["a"]["b"].append(2)
    assert frozen == {"a": {"b": (1,)}}
