from __future__ import annotations

from xml.etree import ElementTree

import pytest
from test_comparison_outcomes import OUTCOMES, row

from hushtable.comparison.outcomes import Outcomes
from hushtable.errors import UsageError


def test_the_chart_tells_its_contents_in_words(tmp_path):
    OUTCOMES.chart(tmp_path / "a.svg")
    OUTCOMES.chart(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.get("role") == "img"
    svg = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{svg}title").text == "ncp over prosecutor of 3 settings"
    assert "b with k-anonymity k=2: prosecutor 0.1, ncp 0.3" in root.find(f"{svg}desc").text


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats(tmp_path, kind, start):
    OUTCOMES.chart(tmp_path / f"a.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes().startswith(start)


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(UsageError, match=r"Got '\.gif'"):
        OUTCOMES.chart(tmp_path / "a.gif")
    with pytest.raises(UsageError, match="no chart to draw"):
        Outcomes((row("d", None, None),)).chart(tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_names_with_signs_of_markup(tmp_path):
    odd = {**row("a<b>&", 0.5, 0.1), "models": 'on="$x$"'}
    Outcomes((odd,)).chart(tmp_path / "a.svg")
    assert "a<b>&" in ElementTree.parse(tmp_path / "a.svg").getroot().find("{http://www.w3.org/2000/svg}desc").text
