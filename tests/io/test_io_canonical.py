from __future__ import annotations

from hushtable.io.canonical import canonical_json, digest


def test_canonical_json_keeps_order_and_unites_numbers() -> None:
    assert canonical_json({"b": 2.0, "a": [1.5, True, "é"]}) == '{"b":2,"a":[1.5,true,"é"]}'


def test_digest_tells_order_apart_but_not_how_a_number_is_written() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"a": 1.0, "b": 2})
    assert digest({"a": 1, "b": 2}) != digest({"b": 2, "a": 1})
    assert len(digest({"label": "\ud800"})) == 64
