from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hushtable.policy.faults import InvalidPolicy
from hushtable.policy.text import read_yaml, write_yaml


def test_only_true_and_false_are_booleans() -> None:
    read = read_yaml("{a: no, b: NO, c: yes, d: on, e: off, f: y, g: true, h: False}").data
    assert read == {"a": "no", "b": "NO", "c": "yes", "d": "on", "e": "off", "f": "y", "g": True, "h": False}


def test_keys_are_text_as_written() -> None:
    assert list(read_yaml("{on: 1, no: 1, 01: 1, 1.50: 1, true: 1, null: 1, 2020-01-01: 1, ~: 1, <<: 1}").data) == [
        "on", "no", "01", "1.50", "true", "null", "2020-01-01", "~", "<<",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-7", -7), ("+3", 3), ("0", 0), ("01", "01"), ("1_000", "1_000"), ("0x1f", "0x1f"), ("1:30", "1:30"),
        ("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("1e-3", 0.001), ("-1.5E+2", -150.0), ("00.5", "00.5"),
        (".inf", float("inf")),
        ("~", None), ("null", None), ("", None), ("'1'", "1"), ('"true"', "true"), ("!!str 5", "5"),
        ("2020-01-01", "2020-01-01"),
        ("!!int '5'", 5), ("1.2.3", "1.2.3"), ("-", "-"),
    ],
)  # fmt: skip
def test_scalars(text: str, value: object) -> None:
    if text == "-":
        text = "'-'"
    found = read_yaml(f"a: {text}").data["a"]
    assert found == value
    assert type(found) is type(value)


def test_listed_values_are_text_as_written() -> None:
    text = """
columns:
  order: {role: quasi, weight: 2, order: [01, 1.50, NO, true, 2020-01-01]}
  categories: {role: sensitive, categories: {1: [007, 1e3, null, ""]}}
  t: {role: quasi, hierarchy: {tree: {1: [01, 02], 2: {3: [1.0]}}}}
  r: {role: quasi, hierarchy: {taxonomy: {rows: [[1, 2], [01, 2]]}}}
missing_values: [null, ~, NA, -999, 0.0, '']
"""
    data = read_yaml(text).data
    columns = data["columns"]
    assert columns["order"] == {"role": "quasi", "weight": 2, "order": ["01", "1.50", "NO", "true", "2020-01-01"]}
    assert columns["categories"]["categories"] == {"1": ["007", "1e3", None, ""]}
    assert columns["t"]["hierarchy"] == {"tree": {"1": ["01", "02"], "2": {"3": ["1.0"]}}}
    assert columns["r"]["hierarchy"]["taxonomy"]["rows"] == [["1", "2"], ["01", "2"]]
    assert data["missing_values"] == ["null", "~", "NA", "-999", "0.0", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3", "line 5: b.c: The setting is given twice. Remove one of them."),
        ("a: 1\n'a': 2", "line 2: a: The setting is given twice. Remove one of them."),
        ("", "The policy is empty. Start it with 'columns:'."),
        ("# only a comment", "The policy is empty. Start it with 'columns:'."),
        ("- a", "A policy is a mapping of settings. Start it with 'columns:'."),
        ("seed: 3\na:\n\tb: 1", "line 3: This is not YAML: .* Indent with spaces, not with tabs."),
        ("seed: 3\na: [1", "line 3: This is not YAML: .* in quotes."),
        ("seed: 3\na: @b", "line 2: This is not YAML: .* in quotes."),
        ("a: 1\n---\na: 2", "line 2: This is not YAML: .*one policy"),
        ("a: 1\nb: \x01", "line 2: A character is not allowed in YAML."),
        ("a: 1\nb: !!python/name:os.system x", "line 2: b: Tags"),
        ("a: 1\nb: !word [x]", "line 2: b: Tags"),
        ("a: !!int x", "line 1: a: It is marked as 'int' but is not one."),
        ("a: 1\n[b]: 2", "line 2: A key must not be a list or a mapping."),
        ("a: &x [1, *x]", "The aliases of the policy expand too far."),
        ("a:\n " + "[" * 50_000, "line 2: The policy is nested too deeply."),
        ("a: [" + "\n".join(f"&a{i} [*a{i - 1}]," if i else "&a0 [1]," for i in range(500)) + "]", "expand too far"),
    ],
)
def test_unreadable_texts_say_the_line(text: str, message: str) -> None:
    with pytest.raises(InvalidPolicy, match=message):
        read_yaml(text)


def test_an_alias_bomb_ends() -> None:
    """300 bytes that unpack to a billion values: refused without unpacking any."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 10)]
    with pytest.raises(InvalidPolicy, match="expand too far"):
        read_yaml("\n".join(lines))


def test_aliases_may_repeat_some_values() -> None:
    chain = [f"&a{i} [*a{i - 1}]," if i else "&a0 [1]," for i in range(150)]
    with pytest.raises(InvalidPolicy, match="nested too deeply"):
        read_yaml("a: [" + "\n".join(chain) + "]")
    assert len(read_yaml("a: &x [1, 2]\nb: [" + ", ".join(["*x"] * 500) + "]").data["b"]) == 500


def test_aliases_and_a_byte_order_mark_are_fine() -> None:
    assert read_yaml("\ufeffa: &x {b: 1}\nc: *x").data == {"a": {"b": 1}, "c": {"b": 1}}


def test_lines_of_settings() -> None:
    lines = read_yaml("a:\n  b: 1\nc:\n- d\n- {e: 1}").lines
    assert lines == {("a",): 1, ("a", "b"): 2, ("c",): 3, ("c", 0): 4, ("c", 1): 5, ("c", 1, "e"): 5}


scalars = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())
plain = st.dictionaries(
    st.text(),
    st.recursive(scalars, lambda x: st.lists(x, max_size=4) | st.dictionaries(st.text(), x, max_size=4), max_leaves=10),
)


@given(plain.filter(lambda d: not {"columns", "missing_values"} & set(d)))
def test_what_is_written_is_read_back(data: dict[str, object]) -> None:
    text = write_yaml(data)
    assert read_yaml(text).data == data if data else text == "{}\n"
    # and a reader of YAML 1.1 agrees, so the file means the same to other tools
    assert yaml.safe_load(text) == data
