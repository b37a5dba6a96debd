"""What other tools were seen to accept in silence, or to fail at without a word: refused, with the reason."""

from __future__ import annotations

import math

import pytest
from support_peers import K2, people, policy

import hushtable as ht
from hushtable.errors import DataError, Infeasible, ParameterError, PolicyError

# anonypyx: a misspelt option disables a model silently


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"models": [{"t-closenes": {"t": 0.1}}]}, "Did you mean 't-closeness'?"),
        ({"models": [{"t-closeness": {"tt": 0.1}}]}, "Did you mean 't'?"),
        ({"models": [{"k-anonymity": {"k": 2}}], "supression": 0.1}, "Did you mean 'suppression'?"),
        ({"models": [{"k-anonymity": {"k": 2}}], "algorithm": {"mondrain": {}}}, "Did you mean 'mondrian'?"),
        ({"models": [{"k-anonymity": {"k": 2}}], "algorithm": {"mondrian": {"mod": "strict"}}}, "Did you mean 'mode'?"),
    ],
)
def test_a_misspelt_option_is_refused(settings, hint):
    with pytest.raises(PolicyError) as refused:
        ht.Policy(**{"quasi": ["age"], "sensitive": ["disease"]} | settings)
    assert hint in str(refused.value)


def test_a_model_on_a_column_that_is_not_sensitive_is_refused():
    with pytest.raises(PolicyError, match="not a sensitive column"):
        policy(ht.DistinctL(l=2, on="age"))


# anonypy, anonypyx, qiyuangong, mosaicrown "release" what cannot be


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ht.KAnonymity(k=61), "k=61 but the table has 60 people"),
        (ht.DistinctL(l=5), "l=5 but 'disease' has 4 distinct values"),
        (ht.EntropyL(l=3.99), "l=3.99 but the whole of 'disease' is only as diverse as"),
        (ht.PSensitive(p=5), "p=5 but 'disease' has 4 distinct values"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_its_reason(model, reason):
    with pytest.raises(Infeasible, match=reason) as refused:
        ht.anonymize(people(), policy(model))
    assert refused.value.hint


# lighthouse: a repeated index or an inf ends in a bare TypeError, AssertionError or KeyError


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinity_is_refused_by_name(value):
    frame = people(20).astype({"age": float})
    frame.loc[4, "age"] = value
    with pytest.raises(DataError, match="'age'") as refused:
        ht.anonymize(frame, policy(K2))
    assert refused.value.hint
    assert "infinite" in str(refused.value).lower() or "inf" in str(refused.value).lower()


def test_repeated_column_names_are_refused_by_name():
    frame = people(20)
    frame.columns = ["age", "age", "disease"]
    with pytest.raises(DataError, match="'age'"):
        ht.anonymize(frame, policy(K2))


def test_a_parameter_out_of_range_has_one_sentence():
    with pytest.raises(ParameterError, match=r"^The 'k' parameter of KAnonymity must be an int >= 2. Got 1 instead.$"):
        ht.KAnonymity(k=1)


# accepted and silently meaning something else: the mistake behind most of the list


def test_values_of_a_joint_column_cannot_be_named():
    rules = policy(ht.AlpDif(alp={"0": 0.9}, on=("disease", "zip")), quasi=["age"], sensitive=["disease", "zip"])
    with pytest.raises(PolicyError, match="have no names"):
        ht.anonymize(people(), rules)


def test_beliefs_about_another_column_are_refused(tmp_path):
    frame = people(8)
    frame["disease"], frame["pay"] = ["flu", "HIV"] * 4, ["low", "high"] * 4
    (tmp_path / "beliefs.csv").write_text("age,zip,disease,probability\n30,14000,flu,0.5\n31,14001,HIV,0.5\n")
    rules = policy(
        ht.BayesOptimal(theta=0.99, background=True, on="pay"),
        sensitive=["disease", "pay"],
        background={"file": "beliefs.csv", "on": "disease"},
    )
    with pytest.raises(PolicyError, match="about another column"):
        ht.anonymize(frame, rules.based_in(tmp_path))
