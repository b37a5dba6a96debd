"""The grid of columns: small bars, safe HTML, and what is known of each hierarchy."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa
import pytest
from support_studio import finished

from hushtable.schema.columns import Role
from hushtable.schema.profile import profile
from hushtable.studio.pages.columns import GridState
from hushtable.studio.views import known_overviews, named
from hushtable.studio.work.opening import sparks_of

WILD = ["<img src=x onerror=alert(1)> / 2", '"><script>alert(1)</script>', "a'b & c"]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.labels = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.labels.append(dict(attrs).get("aria-label"))
        assert not any(name.startswith("on") for name, _ in attrs)


def test_names_are_text_in_the_grid():
    table = pa.table({name: ["x", "y", "y"] for name in WILD})
    found = profile(table).as_dict()["columns"]
    settings = {name: {"role": role} for name, role in zip(WILD, ("quasi", "sensitive", "weird"), strict=True)}
    grid = GridState("0123456789ab", found, settings, [[1.0, 0.5], [], []], {WILD[0]: [2, 1]}, {WILD[0]: 0.5}, {})
    parser = Tags()
    parser.feed(grid.tools() + grid.table())
    assert not {"img", "script"} & set(parser.tags)
    assert {f"Role: {name}" for name in WILD} <= set(parser.labels)
    assert "2 → 1" in grid.row(0) and "50.0%" in grid.row(0)


def test_bars_of_numbers_follow_their_order_and_those_of_labels_their_frequency():
    table = pa.table({
        "age": ["1", "2", "2", "?", "100"] * 10, "sex": ["m", "f", "f", "f", ""] * 10,
        "when": ["2020-01-01", "2021-01-01", "2021-01-01", "2021-01-01", "2022-01-01"] * 10, "one": ["x"] * 50,
    })  # fmt: skip
    age, sex, when, one = sparks_of(table, profile(table))
    assert len(age) == 16 and age[0] == 1.0 and age[-1] == pytest.approx(1 / 3, abs=1e-3) and age[5] == 0
    assert sex[:2] == [1.0, 0.333]
    assert [place for place, height in enumerate(when) if height == 1.0] in ([7], [8]), "the year in the middle"
    assert one == [1.0]


def test_numbers_too_far_apart_for_bars_still_give_some():
    table = pa.table({"n": [-1.7e308, 1.7e308, 0.0, 1.0], "same": [5, 5, 5, 5]})
    for bars in sparks_of(table, profile(table)):
        assert all(0 <= height <= 1 for height in bars)


def test_an_overview_is_kept_until_its_column_changes(studio):
    project = studio.create("Overview")
    finished(studio, studio.example(project, rows=300))
    finished(studio, studio.look_at_all(project))
    known = known_overviews(project)
    assert list(known) == named(project.document(), Role.QUASI)
    assert known["age"]["nodes"][-1] == 1 and len(known["age"]["example"]) == len(known["age"]["nodes"])
    studio.set_column(project, "age", {"hierarchy": {"intervals": [10]}})
    assert set(known) - set(known_overviews(project)) == {"age"}
    assert finished(studio, studio.look_at_all(project)).result == {"columns": 1}
    studio.set_column(project, "sex", {"hierarchy": {"tree": {"tree": {"all": ["female"]}}}})
    finished(studio, studio.look_at_all(project))
    assert known_overviews(project)["sex"]["problems"] and not known_overviews(project)["sex"]["nodes"]
