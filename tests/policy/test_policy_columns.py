from __future__ import annotations

from hushtable.policy.columns import BackgroundPolicy, ColumnPolicy, OutputPolicy


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
