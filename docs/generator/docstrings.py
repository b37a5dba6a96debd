"""Docstrings -> Markdown: paragraphs, lists, definition lists, literal blocks and headed sections."""

from __future__ import annotations

import re
import textwrap

__all__ = ["markdown", "sections"]

_CODE = re.compile(r"(``.+?``)", re.DOTALL)
_SPECIAL = re.compile(r"([\\*_\[\]|#~])")


def sections(text: str) -> dict[str, str]:
    """Split a docstring at its underlined headings; what stands before the first has the key ""."""
    found = {"": []}
    heading = ""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        under = lines[i + 1] if i + 1 < len(lines) else ""
        if line.strip() and len(under) >= 3 and set(under) == {"-"}:
            heading = line.strip()
            found[heading] = []
        elif not (line and set(line) == {"-"} and i and lines[i - 1].strip() == heading):
            found[heading].append(line)
    return {name: "\n".join(part).strip("\n") for name, part in found.items()}


def markdown(text: str) -> str:
    """Return a docstring's part as Markdown; nothing in it is taken for markup but ``code``."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    return "\n\n".join(filter(None, (_block(block) for block in blocks)))


def _block(block: str) -> str:
    lines = block.splitlines()
    if not block.strip():
        return ""
    if all(line.startswith("    ") for line in lines):
        return f"```text\n{textwrap.dedent(block)}\n```"
    if re.match(r"(={2,} )+={2,}$", lines[0]):
        return f"```text\n{block}\n```"
    if any(re.match(r"[-*] ", line) for line in lines):
        return _list(lines)
    if _is_definitions(lines):
        return _definitions(lines)
    return _inline(" ".join(line.strip() for line in lines))


def _list(lines: list[str]) -> str:
    out: list[str] = []
    for line in lines:
        if re.match(r"[-*] ", line):
            out.append(line[2:].strip())
        elif out and line.startswith(" "):
            out[-1] += " " + line.strip()
        else:
            out.append(line.strip())
    first = 0 if re.match(r"[-*] ", lines[0]) else 1
    lead = [_inline(out[0]), ""] if first else []
    return "\n".join([*lead, *(f"- {_inline(item)}" for item in out[first:])])


def _is_definitions(lines: list[str]) -> bool:
    indented = [line.startswith("    ") for line in lines]
    return any(indented) and not indented[0] and any(a and not b for a, b in zip(indented[1:], indented, strict=False))


def _definitions(lines: list[str]) -> str:
    out: list[str] = []
    lead: list[str] = []
    for i, line in enumerate(lines):
        follows = i + 1 < len(lines) and lines[i + 1].startswith("    ")
        if line.startswith("    "):
            out[-1] += (" " if not out[-1].endswith("**: ") else "") + _inline(line.strip())
        elif follows:
            out.append(f"- **{_inline(line.strip())}**: ")
        else:
            (out or lead).append(_inline(line.strip()))
    return "\n".join([*([" ".join(lead), ""] if lead else []), *out])


def _inline(text: str) -> str:
    return "".join(f"`{part.strip('`')}`" if part.startswith("``") else _escape(part) for part in _CODE.split(text))


def _escape(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # single backticks and *emphasis* are used in a few docstrings as Markdown has them
    emphasis = re.split(r"(`[^`]+`|(?<![\w*])\*[\w' -]+\*(?![\w*]))", text)
    return "".join(part if i % 2 else _SPECIAL.sub(r"\\\1", part) for i, part in enumerate(emphasis))
