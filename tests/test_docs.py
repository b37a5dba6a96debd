"""Every registered name is documented, and links lead somewhere."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from hushtable import registry

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
KINDS = {name: known for name, known in vars(registry).items() if isinstance(known, registry.Registry)}
# the page that lists a kind's names, where it is not called like the kind
LISTS = {"templates": "report.md"}
# sections that the page of a model or an algorithm is made from
GUIDANCE = ("When to use", "When not", "Cost")


def undocumented(names, page: str) -> list[str]:
    """The names without a line "- `name`: ..." of their own."""
    lines = (DOCS / page).read_text(encoding="utf-8")
    return [name for name in names if not re.search(rf"^- `{re.escape(name)}`: \S", lines, re.MULTILINE)]


def invented(names, page: str) -> list[str]:
    """Names with such a line that nothing is registered under."""
    lines = (DOCS / page).read_text(encoding="utf-8")
    return [name for name in re.findall(r"^- `([a-z0-9-]+)`: \S", lines, re.MULTILINE) if name not in names]


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_name_has_a_line(kind):
    names = list(KINDS[kind])
    page = LISTS.get(kind, f"{kind}.md")
    assert names, f"no {kind} found"
    assert undocumented(names, page) == []
    assert invented(names, page) == []


def test_a_missing_name_is_noticed():
    assert undocumented(["k-anonymity", "no-such-model"], "models.md") == ["no-such-model"]
    assert "k-anonymity" in invented(["no-such-model"], "models.md")


@pytest.mark.parametrize("kind", ["models", "algorithms"])
def test_each_says_when_to_use_it_and_when_not(kind):
    lacking = {
        name: [title for title in GUIDANCE if f"\n{title}\n{'-' * len(title)}\n" not in _module_text(known)]
        for name, known in KINDS[kind].items()
    }
    assert {name: titles for name, titles in lacking.items() if titles} == {}


def _module_text(known: type) -> str:
    return inspect.cleandoc(inspect.getmodule(known).__doc__ or "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target
