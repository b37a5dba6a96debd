"""Every registered name is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hushtable import registry

DOCS = Path(__file__).resolve().parents[1] / "docs"


def undocumented(names, page: str) -> list[str]:
    """The names without a line "- `name`: ..." of their own."""
    lines = (DOCS / page).read_text(encoding="utf-8")
    return [name for name in names if not re.search(rf"^- `{re.escape(name)}`: \S", lines, re.MULTILINE)]


@pytest.mark.parametrize("kind", ["models", "algorithms", "guards", "measures", "attacks", "risks"])
def test_every_registered_name_has_a_line(kind):
    names = list(getattr(registry, kind))
    assert names, f"no {kind} found"
    assert undocumented(names, f"{kind}.md") == []


def test_a_missing_name_is_noticed():
    assert undocumented(["k-anonymity", "no-such-model"], "models.md") == ["no-such-model"]


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "release" / "release.json").is_file()
