"""What MkDocs calls while it builds: pages from the registries and the command line, and links to them."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.files import File
from pages import command_pages, commands, folder_of, kinds, named_pages

from hushtable.report.page.look import DARK, FONT, LIGHT, MONO

# the page that lists a kind -> the folder of the pages below it
_LISTS = {
    **{("report.md" if plural == "templates" else f"{plural}.md"): folder_of(plural) for plural in kinds()},
    "cli.md": "commands",
}
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:[A-Z]\w*\.md|src/[^)]*|benchmarks/[^)]*|examples/[^)]*)\)")


def on_config(config: Any) -> Any:
    """Put the generated pages into the navigation, each below the page that lists them."""
    generated = {folder_of(plural): list(known) for plural, known in kinds().items()} | {"commands": list(commands())}
    config.nav = [_with_pages(item, generated) for item in config.nav]
    return config


def _with_pages(item: Any, generated: dict[str, list[str]]) -> Any:
    ((title, value),) = item.items()
    if isinstance(value, list):
        return {title: [_with_pages(inner, generated) for inner in value]}
    if value in _LISTS:
        folder = _LISTS[value]
        return {title: [{"Overview": value}, *({name: f"{folder}/{name}.md"} for name in generated[folder])]}
    return item


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages; what the navigation leaves out goes to the guides, or nobody would find it."""
    for path, text in (*named_pages(), *command_pages()):
        files.append(File.generated(config, path, content=text))
    files.append(File.generated(config, "stylesheets/look.css", content=_look()))
    named = set(_targets(config.nav))
    forgotten = sorted(f.src_uri for f in files.documentation_pages() if f.src_uri not in named)
    next(item["How to"] for item in config.nav if "How to" in item).extend(forgotten)
    return files


def _look() -> str:
    """The colors and fonts of the report and the studio, as the theme's own variables take them."""
    fonts = f"--md-text-font: {FONT.removesuffix(', sans-serif')}; --md-code-font: {MONO.removesuffix(', monospace')};"
    return f':root {{{LIGHT}  {fonts}\n}}\n[data-md-color-scheme="slate"] {{{DARK}}}\n'


def _targets(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [target for value in values for target in _targets(value)]


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Link the names in lists to their pages; files of the repository are named, not linked: the site stands alone."""
    markdown = re.sub(r"^<!--.*?-->\n?", "", markdown, flags=re.DOTALL | re.MULTILINE)
    folder = _LISTS.get(page.file.src_uri)
    if folder == "commands":
        # a heading with several forms of a command counts for the first
        markdown = re.sub(
            r"^(## `hushtable ([a-z]+).*)$", r"\1\n\n[All options](commands/\2.md)", markdown, flags=re.MULTILINE
        )
    elif folder is not None:
        markdown = re.sub(r"^- `([a-z0-9-]+)`:", rf"- [`\1`]({folder}/\1.md):", markdown, flags=re.MULTILINE)
    return _OUTSIDE.sub(r"\1", markdown)
