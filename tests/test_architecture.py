"""The page on the architecture: its drawing is made of the imports, and the files that it names are there."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from test_imports import ORDER

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def made():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "generator" / "architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.graph = functools.cache(module.graph)
    return module


def test_the_drawing_is_made_of_the_imports(made):
    """Make it again with: make generated."""
    assert made.DRAWING.read_text(encoding="utf-8") == made.drawing()


def test_every_package_is_drawn_once_and_arrows_point_down(made):
    names = [text.text for text in ElementTree.parse(made.DRAWING).iter("{http://www.w3.org/2000/svg}text")][::2]
    assert sorted(names) == sorted([*(name for name in ORDER if name[0] not in "[_"), made.FACADE])
    place, _ = made.places(made.reduced(made.graph()))
    assert all(place[used][1] < place[name][1] for name, uses in made.graph().items() for used in uses)


def test_arrows_that_are_left_out_follow_from_others(made):
    whole, few = made.graph(), made.reduced(made.graph())

    @functools.cache
    def below(name):
        return set().union(*({one} | below(one) for one in few[name]))

    assert sum(map(len, few.values())) < 50 < sum(map(len, whole.values()))
    assert all(below(name) >= uses for name, uses in whole.items())


@pytest.mark.parametrize("folder", ["algorithms", "cli", "studio", "agents"])
def test_no_model_is_imported_by_name(folder):
    """Base classes and registries are enough: what the page, and CONTRIBUTING, say of models and algorithms."""
    allowed = {"models": {"base", "compose"}, "algorithms": None if folder == "algorithms" else {"base"}}
    for path in sorted((ROOT / "src" / "hushtable" / folder).rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r"\s*from hushtable\.(models|algorithms)\.(\w+)", line)
            if found and allowed[found[1]] is not None:
                assert found[2] in allowed[found[1]], (path.name, line)


def test_boxes_do_not_overlap(made):
    place, _ = made.places(made.reduced(made.graph()))
    boxes = sorted((row, x) for name, (x, row) in place.items() if ">" not in name)
    apart = [b[1] - a[1] for a, b in zip(boxes, boxes[1:], strict=False) if a[0] == b[0]]
    assert min(apart) > made.WIDTH


def test_the_files_that_the_page_names_are_there():
    named = set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 20
    base = ROOT / "src" / "hushtable"
    missing = [name for name in named if not ((base / name).exists() or (ROOT / name).exists())]
    assert missing == []
