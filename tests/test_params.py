"""Parameters as data: coercion, the one error sentence, and JSON Schema."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.errors import ParameterError
from hushtable.hierarchy.flat import Flat
from hushtable.models.k_anonymity import KAnonymity
from hushtable.params import AtLeast, Between, Constraint, OfValues, Parametrised, Positive


@dataclass(frozen=True)
class Thing(Parametrised):
    k: Annotated[int, AtLeast(2), "how many"]
    share: Annotated[float, Between(0, 1, closed="right"), "which part"] = 0.5
    speed: Annotated[float | None, Positive(), "how fast"] = None
    mode: Annotated[Literal["a", "b"], "which"] = "a"
    names: Annotated[str | tuple[str, ...] | None, "columns"] = None
    weights: Annotated[Mapping[str, float], "value -> weight"] = field(default_factory=dict)
    flag: Annotated[bool, "whether"] = False
    anything: Annotated[Any, "whatever"] = None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 1}, "The 'k' parameter of Thing must be an int >= 2. Got 1 instead."),
        ({"k": 2.0}, "must be an int >= 2. Got 2.0 instead."),
        ({"k": True}, "must be an int >= 2. Got True instead."),
        ({"k": "3"}, "must be an int >= 2. Got '3' instead."),
        ({"k": None}, "must be an int >= 2. Got None instead."),
        ({"k": 2, "share": 0}, "must be a float in (0, 1]. Got 0 instead."),
        ({"k": 2, "share": float("nan")}, "must be a float in (0, 1]. Got nan instead."),
        ({"k": 2, "share": 10**400}, "must be a float in (0, 1]."),
        ({"k": 2, "speed": 0}, "must be a float or None > 0. Got 0 instead."),
        ({"k": 2, "speed": float("inf")}, "must be a float or None > 0. Got inf instead."),
        ({"k": 2, "mode": "c"}, "must be a value of 'a', 'b'. Got 'c' instead."),
        ({"k": 2, "names": [1]}, "must be a str or list of str or None. Got [1] instead."),
        ({"k": 2, "weights": {"a": "x"}}, "must be a mapping of str to float."),
        ({"k": 2, "weights": [1]}, "must be a mapping of str to float."),
        ({"k": 2, "flag": 1}, "must be a bool. Got 1 instead."),
        ({"kk": 2}, "Thing has no parameter 'kk'. Did you mean 'k'?"),
        ({}, "Thing needs the parameter 'k' (an int >= 2)."),
    ],
)
def test_the_error_sentence(values, message):
    with pytest.raises(ParameterError) as caught:
        Thing.build(values)
    assert message in str(caught.value)
    assert isinstance(caught.value, ValueError) and caught.value.exit_code == 2


def test_values_take_their_declared_type():
    thing = Thing(k=2, share=1, speed=3, names=["a", "b"], weights={"x": 1})
    assert (thing.share, thing.speed, thing.names, thing.weights) == (1.0, 3.0, ("a", "b"), {"x": 1.0})
    assert isinstance(thing.share, float) and isinstance(thing.weights["x"], float)


def test_numpy_numbers_are_numbers():
    thing = Thing(k=np.int64(7), share=np.float32(0.5), speed=np.float64(2))
    assert type(thing.k) is int and thing.k == 7
    assert type(thing.share) is float and thing.share == 0.5
    assert type(thing.speed) is float


def test_huge_whole_numbers_are_judged_not_crashed_on():
    for values in ({"k": 10**400}, {"k": 2**63}, {"k": 2, "speed": 10**400}):
        with pytest.raises(ParameterError):
            Thing(**values)
    assert Thing(k=2**63 - 1).k == 2**63 - 1


@given(st.integers(2, 99), st.sampled_from(["a", "b"]), st.lists(st.text(max_size=3), max_size=3))
def test_values_build_the_same_again(k, mode, names):
    thing = Thing(k=k, mode=mode, names=names)
    assert Thing.build(thing.values()) == thing
    assert "share" not in thing.values() and thing.values()["k"] == k


def test_schema_says_the_same():
    schema = Thing.schema()
    assert schema["required"] == ["k"] and schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["k"] == {"type": "integer", "minimum": 2, "description": "how many"}
    assert properties["share"]["exclusiveMinimum"] == 0 and properties["share"]["maximum"] == 1
    assert properties["mode"]["enum"] == ["a", "b"] and properties["mode"]["default"] == "a"
    assert properties["weights"]["additionalProperties"] == {"type": "number"}


@pytest.mark.parametrize(
    ("closed", "low", "high", "sentence"),
    [
        ("both", True, True, "in [0, 1]"),
        ("left", True, False, "in [0, 1)"),
        ("right", False, True, "in (0, 1]"),
        ("neither", False, False, "in (0, 1)"),
    ],
)
def test_between(closed, low, high, sentence):
    bound = Between(0, 1, closed=closed)
    assert (bound.holds(0), bound.holds(1), bound.holds(0.5), bound.holds(2)) == (low, high, True, False)
    assert bound.sentence() == sentence


def test_a_constraint_without_a_definition_says_so():
    with pytest.raises(TypeError, match="does not define holds"):
        Constraint().holds(1)
    with pytest.raises(TypeError, match="does not define sentence"):
        Constraint().sentence()
    assert Constraint().schema() == {}


@dataclass(frozen=True)
class Discreet(Parametrised):
    limits: Annotated[Mapping[str, float], OfValues(), "value -> limit"]
    only: Annotated[tuple[str, ...] | None, OfValues(), "values"] = None
    on: Annotated[str | None, "column"] = None


def test_values_of_the_table_are_counted_not_told():
    assert Discreet(limits={"HIV": 0.1}, only=("HIV", "flu"), on="disease").public_values() == {
        "limits": "1 value",
        "only": "2 values",
        "on": "disease",
    }
    assert Discreet(limits={}).public_values() == {"limits": {}}
    assert Thing(k=3, weights={"a": 1}).public_values() == {"k": 3, "weights": {"a": 1}}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"limits": {}, "only": ["CANARY", 3]}, "Got a list of text, a number instead"),
        ({"limits": {}, "only": "CANARY"}, "Got text instead"),
        ({"limits": [["CANARY", 1]]}, "Got a list of something else instead"),
        ({"limits": {"CANARY": "CANARY"}}, "Got a mapping to text instead"),
    ],
)
def test_wrong_values_of_the_table_are_not_told_either(values, told):
    with pytest.raises(ParameterError, match=told) as caught:
        Discreet.build(values)
    assert "CANARY" not in str(caught.value)


def test_misspelt_parameters_of_a_class_get_a_hint():
    with pytest.raises(ParameterError, match=r"KAnonymity has no parameter 'kk'\. Did you mean 'k'\?"):
        KAnonymity(kk=5)
    with pytest.raises(ParameterError, match=r"Flat has no parameter 'x'\. It takes none\."):
        Flat(x=1)
    made = KAnonymity(k=5)
    assert copy.copy(made) == pickle.loads(pickle.dumps(made)) == dataclasses.replace(made) == made
