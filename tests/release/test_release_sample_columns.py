from __future__ import annotations

import pytest

from hushtable.errors import UsageError
from hushtable.release.sample.columns import ColumnCondition, parse_rule


@pytest.mark.parametrize(
    ("text", "given", "then"),
    [
        ("age < 15 -> marital_status = N", [("age", "<", ("15",))], [("marital_status", "=", ("N",))]),
        ("age<=15->marital-status!=N", [("age", "<=", ("15",))], [("marital-status", "!=", ("N",))]),
        ("age == -5", [], [("age", "=", ("-5",))]),
        (
            "`my age` >= 1 and x > 2 -> y in {a, b}",
            [("my age", ">=", ("1",)), ("x", ">", ("2",))],
            [("y", "in", ("a", "b"))],
        ),
        ('"and" = "a -> b"', [], [("and", "=", ("a -> b",))]),
        ("job = exec manager and x = null", [], [("job", "=", ("exec manager",)), ("x", "=", (None,))]),
        ("job in {a b, 'null', null}", [], [("job", "in", ("a b", "null", None))]),
        ("marital status = N", [], [("marital status", "=", ("N",))]),
    ],
)
def test_rules(text, given, then):
    rule = parse_rule(text)
    assert list(rule.given) == [ColumnCondition(*c) for c in given]
    assert list(rule.then) == [ColumnCondition(*c) for c in then]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "comparison is missing"),
        ("a = 1 -> b = 2 -> c = 3", "more than one arrow"),
        ("-> b = 2", "comparison is missing"),
        ("a = 1 and", "comparison is missing"),
        ("= 1", "column is missing"),
        ("{a} = 1", "column is missing"),
        ("a <", "needs one value"),
        ("a < 1 < 2", "needs one value"),
        ("a in b", "values in braces"),
        ("a in {}", "values in braces"),
        ("a in {b,}", "values in braces"),
        ("a in {b", "values in braces"),
        ("a = 'b", "does not end"),
        ("a ! b", "an unknown sign"),
    ],
)
def test_bad_rules(text, why):
    with pytest.raises(UsageError, match=why) as caught:
        parse_rule(text)
    assert caught.value.code == "rule" and repr(text) in caught.value.message
