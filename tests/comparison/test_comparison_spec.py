from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.comparison.spec import Grid, expand
from hushtable.errors import ParameterError, UsageError
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms, models

BASE = Policy(quasi=["age"], sensitive=["pay"], models=[{"k-anonymity": {"k": 3}}], suppression=0.1)


def labels(grid: Grid) -> list[str]:
    return [f"{s.algorithm} | {s.models} | {s.changes['suppression']:g}" for s in grid.settings(BASE)]


def test_an_empty_grid_is_the_base():
    assert labels(Grid()) == ["mondrian | k-anonymity k=3 | 0.1"]
    assert Grid().settings(BASE)[0].policy == BASE


def test_lists_are_multiplied_out_in_order():
    grid = Grid.of(
        ["datafly", {"mondrian": {"refine": [False, True]}}],
        [{"k-anonymity": {"k": [2, 5]}}, [{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.2}}]],
        [0, 0.5],
    )
    found = labels(grid)
    assert len(found) == 3 * 3 * 2
    assert found[0] == "datafly | k-anonymity k=2 | 0"
    assert found[5] == "datafly | k-anonymity k=2 + t-closeness t=0.2 | 0.5"
    # refine=false is the default: the same policy would be run twice otherwise
    assert found[-1] == "mondrian refine=true | k-anonymity k=2 + t-closeness t=0.2 | 0.5"


def test_the_same_policy_is_tried_once():
    grid = Grid.of(["mondrian", {"mondrian": {"refine": False}}, "mondrian"], [{"k-anonymity": {"k": [2, 2]}}])
    assert len(grid.settings(BASE)) == len({s.policy.digest() for s in grid.settings(BASE)}) == 1


def test_parts_that_refuse_each_other_are_a_setting_with_the_reason():
    (setting,) = Grid.of(["anatomy"], [{"k-anonymity": {"k": 3}}]).settings(BASE)
    assert setting.policy is None
    assert "cannot promise k-anonymity" in setting.refusal.message


@pytest.mark.parametrize(
    ("registry", "name", "values", "error", "words"),
    [
        (models, "k-anonymity", {"k": [2, 1]}, ParameterError, "must be an int >= 2"),
        (models, "k-anonymity", {"k": []}, ParameterError, "is empty"),
        (models, "k-anonymity", {"kk": [2]}, ParameterError, "Did you mean 'k'?"),
        (models, "k-anonymity", None, ParameterError, "needs the parameter 'k'"),
        (algorithms, "mondrain", None, UsageError, "Did you mean 'mondrian'?"),
    ],
)
def test_faults_are_told_before_any_work(registry, name, values, error, words):
    with pytest.raises(error, match=words):
        list(expand(registry, name, values))


@pytest.mark.parametrize(
    "entry", [{"k-anonymity": 5}, 5, {"a": {}, "b": {}}, []], ids=["no mapping", "number", "two algorithms", "list"]
)
def test_what_is_no_algorithm_is_refused(entry):
    with pytest.raises(UsageError):
        Grid.of([entry])


def test_a_parameter_that_is_a_list_is_one_value():
    assert list(expand(models, "distinct-l", {"l": 2, "on": ["a", "b"]})) == [
        {"distinct-l": {"l": 2, "on": ["a", "b"]}}
    ]
    assert [c["distinct-l"]["on"] for c in expand(models, "distinct-l", {"l": 2, "on": [["a", "b"], ["a"]]})] == [
        ["a", "b"],
        ["a"],
    ]


def test_a_grid_in_the_notation_of_the_command_line_is_explained():
    with pytest.raises(ParameterError, match=r"Write, for example, \{'models'"):
        ht.compare(pa.table({"age": [1], "pay": [1]}), BASE, {"k-anonymity.k": [5, 10]})
