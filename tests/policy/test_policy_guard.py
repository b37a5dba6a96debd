"""Guards in a policy: names, parameters, objects; the same as YAML; refused where they are faulty."""

from __future__ import annotations

import pytest

import hushtable as ht
from hushtable.policy.faults import InvalidPolicy
from hushtable.release.guards.minimality import MinimalityGuard


def policy(guard, **more) -> ht.Policy:
    return ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], guard=guard, **more)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["minimality", "downcoding"], ["minimality", "downcoding"]),
        ("downcoding", ["downcoding"]),
        ([MinimalityGuard(extra=0.5)], [{"minimality": {"extra": 0.5}}]),
        ([{"minimality": {"extra": 0.25}}], ["minimality"]),
        ([{"downcoding": None}], ["downcoding"]),
    ],
)
def test_all_ways_of_writing_are_one(given, kept):
    made = policy(given)
    assert made.document()["guard"] == kept
    assert ht.Policy.from_yaml(made.to_yaml()) == made == ht.Policy(**made.document())
    assert hash(made) == hash(policy(given)) and made.digest() != policy([]).digest()


def test_without_guards_nothing_changes():
    assert "guard" not in policy([]).document() and policy([]) == policy(None or ()) and policy([]).plan().guards == ()
    assert policy(["minimality"]).changed(guard=[]) == policy([])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["minimalty"], "There is no guard 'minimalty'. Did you mean 'minimality'?"),
        ([{"minimality": {"extra": 1}}], "must be a float in (0, 1)"),
        ([{"minimality": {"exta": 0.5}}], "has no parameter 'exta'"),
        ([{"downcoding": {"spread": 0}}], "must be a float > 0"),
        ({"minimality": {}}, "It must be a list of guards."),
        (["minimality", {"minimality": {"extra": 0.5}}], "The guard 'minimality' is listed twice."),
        ([{"minimality": {}, "downcoding": {}}], "This is not a single guard with its parameters."),
    ],
)
def test_faults_say_what_and_where(given, words):
    with pytest.raises(InvalidPolicy) as caught:
        policy(given)
    assert words in str(caught.value) and "guard" in str(caught.value)


def test_a_fault_has_its_line():
    text = policy(["minimality"]).to_yaml().replace("[minimality]", "[minimality, {downcoding: {climb: 2}}]")
    with pytest.raises(InvalidPolicy, match=r"line \d+: guard\[1\].downcoding"):
        ht.Policy.from_yaml(text)


def test_the_schema_knows_every_guard():
    schema = ht.Policy.json_schema()
    assert schema["properties"]["guard"]["items"] == {"$ref": "#/$defs/guard"}
    names = [choice["required"][0] for choice in schema["$defs"]["guard"]["anyOf"] if "required" in choice]
    assert names == ["downcoding", "minimality"]
    assert {"enum": names} in schema["$defs"]["guard"]["anyOf"]
