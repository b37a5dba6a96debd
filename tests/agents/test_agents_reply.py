from __future__ import annotations

import pytest

from hushtable.agents.reply import Column, Count, PolicyNumber, Prose, Share, Word, render


@pytest.mark.parametrize(
    "raw", ["a cell", 3, 3.5, b"x", {"rows": "a cell"}, [1], {"a cell": None}, {Prose("x"): None}, object()]
)
def test_what_is_not_declared_does_not_leave(raw):
    with pytest.raises(TypeError, match="a reply may"):
        render(raw)


def test_what_may_leave():
    reply = {
        "rows": Count.people(1234, 5),
        "unique": Count.people(4, 5),
        "columns": {Column("age"): {"role": Word("quasi")}},
        "cost": Share.of(0.12345),
        "summary": Prose("One."),
        "settings": [PolicyNumber(5), True, None],
    }
    assert render(reply) == (
        '{"rows": 1200, "unique": "fewer than 5", "columns": {"age": {"role": "quasi"}}, "cost": 0.12, '
        '"summary": "One.", "settings": [5, true, null]}'
    )


def test_subclasses_are_not_taken_for_their_parents():
    class Sly(str):
        """Would be rendered as itself."""

    with pytest.raises(TypeError):
        render(Sly("a cell"))
