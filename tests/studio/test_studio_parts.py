"""The parts that pages are made of, without a browser: drafts, outlines, fields, charts, words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable import registry
from hushtable.about import explanation, summary_of
from hushtable.errors import HierarchyError, HushtableError
from hushtable.params import Param
from hushtable.studio import charts
from hushtable.studio.drafts import faults_in, with_column, with_models, with_settings
from hushtable.studio.outline import grouped, outline_of, tree_of
from hushtable.studio.service import check_source
from hushtable.studio.theme import shade

DRAFT = {
    "columns": {
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"intervals": [5]}},
        "ill": {"role": "sensitive"},
    },
    "models": [{"k-anonymity": {"k": 2}}],
}
labels = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=6)


@st.composite
def trees(draw):
    values = draw(st.lists(labels, min_size=1, max_size=8, unique=True))
    names = draw(st.lists(labels.map(lambda s: f"g{s}"), min_size=1, max_size=4, unique=True))
    tree = {}
    for i, value in enumerate(values):
        tree.setdefault(names[i % len(names)], []).append(f"v{value}")
    return tree


@given(tree=trees())
def test_a_tree_survives_its_outline(tree):
    assert tree_of(outline_of(tree)) == tree


@given(tree=trees(), data=st.data())
def test_grouping_moves_values_and_loses_none(tree, data):
    values = [v for group in tree.values() for v in group]
    chosen = data.draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    after = grouped(tree, chosen, "new")
    assert sorted(v for group in after.values() for v in group) == sorted(values)
    assert after["new"] == chosen


@pytest.mark.parametrize("text", ["", "  \n", "a\n    b\n  c", "  a\nb", "a\n  b\n   c\n  d\n e", "g\n  x\ng\n  y"])
def test_outlines_that_make_no_tree(text):
    with pytest.raises(HierarchyError):
        tree_of(text)


def test_grouping_needs_values_and_a_name():
    for chosen, name in (([], "x"), (["a"], " ")):
        with pytest.raises(HierarchyError):
            grouped(["a", "b"], chosen, name)
    with pytest.raises(HierarchyError, match="contains groups"):
        grouped({"x": {"y": ["a"]}, "z": {"w": ["b"]}}, ["b"], "x")


def test_a_new_role_takes_what_is_not_for_it():
    changed = with_column(DRAFT, "age", {"role": "insensitive"})
    assert changed["columns"]["age"] == {"role": "insensitive", "kind": "numeric"}
    assert [f.code for f in faults_in(changed)] == ["no-quasi"]
    assert DRAFT["columns"]["age"]["role"] == "quasi", "the draft itself is not changed"


def test_another_kind_loses_the_order():
    ordinal = with_column(DRAFT, "ill", {"kind": "ordinal", "order": ["a", "b"]})
    assert "order" not in with_column(ordinal, "ill", {"kind": "nominal"})["columns"]["ill"]


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=5,
    )
)
def test_whatever_is_sent_is_taken_or_refused_in_words(value):
    """No odd JSON gets past with anything but our own errors."""
    for change in (
        lambda: with_column(DRAFT, "age", {"hierarchy": value}),
        lambda: with_column(DRAFT, "age", {"weight": value}),
        lambda: with_column(DRAFT, "ill", {"categories": value}),
        lambda: with_settings(DRAFT, {"suppression": value}),
        lambda: with_settings(DRAFT, {"background": value}),
        lambda: with_settings(DRAFT, {"output": value}),
        lambda: with_models(DRAFT, [{"k-anonymity": {"k": value}}]),
    ):
        try:
            change()
        except HushtableError:
            continue


@pytest.mark.parametrize(
    "source", ["sqlite:///a.db", "duckdb:///a.db", "file:///etc/passwd", "postgresql", "", "http://x/y", "s3://b/k"]
)
def test_only_database_servers_are_asked(source):
    with pytest.raises(HushtableError):
        check_source(source, "SELECT 1")


@pytest.mark.parametrize("query", ["", "DROP TABLE x", "SELECT 1; DROP TABLE x", "UPDATE x SET y = 1"])
def test_only_a_select_is_run(query):
    with pytest.raises(HushtableError):
        check_source("postgresql://u@h/d", query)
    check_source("postgresql://u@h/d", "SELECT 1")


def drawn(svg: str) -> ElementTree.Element:
    """Well-formed, with words for those who cannot see it, and nothing that runs or is fetched.

    What is drawn for wide and narrow windows is checked in both, and the wide one is returned.
    """
    root = ElementTree.fromstring(f"<div>{svg}</div>")
    found = [root[0]] if root[0].tag == "svg" else [part[0] for part in root]
    for one in found:
        assert one.get("aria-label") and one.find("title") is not None
        wide, high = map(float, one.get("viewBox").split()[2:])
        for text in one.iter("text"):
            assert 0 <= float(text.get("x")) <= wide and 0 <= float(text.get("y")) <= high
    assert not re.search(r"<script|href|onclick|url\(", svg)
    return found[0]


WILD = ["<script>alert(1)</script>", '"><img src=x>', "a & b", "日本語"]


def test_charts_are_safe_drawings():
    for word in WILD:
        drawn(charts.bars([[word, 3], ["b", 0]], word))
        drawn(charts.histogram({"heights": [1, 0, 2], "edges": [0, 1, 2, 3], "labels": [word] * 4}, word, [1.5, 99]))
        drawn(charts.sizes([[5, 3], [6, 1]], word, (word, word)))
        drawn(charts.partition_map([(0, 1, 0, 2, 5)], (4, 4), (word, word), ([(0, word)], [(3, word)]), word))
        drawn(charts.frontier([(1, 0.2, 0.5), (2, 0.0, 0.0)], word, (word, word), [1]))
        node = {"levels": (0, 1), "fits": True, "left_out": 3.0, "words": word}
        nodes = [node, {**node, "levels": (1, 1), "fits": False}]
        root = drawn(charts.lattice(nodes, word, (word, word), limit=(7, word), picked=0, current=1))
        assert [g.get("data-pick") for g in root.iter("g") if g.get("data-pick")] == ["0", "1"]
    drawn(charts.bars([], "nothing"))
    drawn(charts.sizes([[n, 1] for n in range(1, 60)], "long", ("people", "classes")))
    drawn(charts.histogram({"heights": [4], "edges": [7, 7], "labels": ["7", "7"]}, "one value"))


def boxes(svg: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Where the words of a drawing are, as wide as the widest usual font makes them."""
    found = []
    for text in svg.iter("text"):
        wide = 6.6 * len(text.text or "")
        begin = {"start": 0.0, "middle": -wide / 2, "end": -wide}[text.get("text-anchor", "start")]
        x, y = float(text.get("x")) + begin, float(text.get("y"))
        found.append((x, y - 10, x + wide, y + 2))
    return found


def test_no_label_of_a_comparison_covers_another():
    """Settings that lose equally much are told apart in the table; in the chart their numbers stand together."""
    points = [(i + 1, 0.2 - 0.001 * (i % 5), 0.3 + 0.002 * (i % 3)) for i in range(18)]
    points += [(19, 0.02, 0.9), (20, 0.02, 0.9)]
    svg = charts.frontier(points, "settings", ("risk", "loss"), [1])
    for part in ElementTree.fromstring(f"<div>{svg}</div>"):
        # the axes' own names are turned or stand below the numbers
        found = [b for b in boxes(part[0]) if b[0] > 20]
        for i, (a, b, c, d) in enumerate(found):
            for e, f, g, h in found[i + 1 :]:
                assert c <= e or g <= a or d <= f or h <= b
        words = [text.text for text in part[0].iter("text")]
        assert any("19, 20" in word for word in words)
        assert "0%" in words and "20%" in words and "0.2" in words, "both axes have numbers"


def test_shades_grow_with_the_share():
    styles = [shade(s / 10) for s in range(11)]
    assert styles[0] == "" and len(set(styles)) == 6


def test_everything_registered_explains_itself():
    for kind in (registry.models, registry.algorithms, registry.attacks, registry.hierarchies):
        for known in kind.values():
            assert len(summary_of(known)) > 10
            words = explanation(known)
            assert summary_of(known)[:30] in words and ">>>" not in words and "Parameters\n" not in words


def test_every_parameter_has_a_field():
    """What a form shows of a default is read back as the same value."""
    pytest.importorskip("nicegui")
    from hushtable.studio.pages.forms import field_text, parse_field

    for kind in (registry.models, registry.algorithms, registry.hierarchies):
        for known in kind.values():
            for param in known.params():
                if isinstance(param.default, int | float | str | bool | type(None)):
                    assert parse_field(param, param.default) == param.default or param.default == ""
                else:
                    read = parse_field(param, field_text(param.default))
                    read = param.default if read is None else read
                    assert param.coerce(read, known.__name__) == param.default
    mapping = Param("bounds", dict[str, float], (), "", True, None)
    assert parse_field(mapping, "{flu: 0.5, 'HIV, late': 0.1}") == {"flu": 0.5, "HIV, late": 0.1}
    assert parse_field(mapping, field_text({"flu": 0.5})) == {"flu": 0.5}
    with pytest.raises(HushtableError):
        parse_field(mapping, "{flu: [")
    assert fields(Param)


def test_numbers_of_people_are_not_shares():
    from hushtable.studio.pages.attack import _figure

    assert [_figure(key, 0.0) for key in ("uniques", "at_risk", "share_at_risk", "unique")] == ["0", "0", "0%", "0%"]
