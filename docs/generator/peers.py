"""Writes ``docs/peers.md`` from ``peers.yaml``: what ARX and sdcMicro offer, and where hushtable has it.

Run ``python docs/generator/peers.py`` after changing the data file; a test fails where the page is stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from hushtable import registry
from hushtable.cli.main import COMMANDS

DATA = Path(__file__).with_name("peers.yaml")
PAGE = Path(__file__).resolve().parents[1] / "peers.md"
HEAD = """# hushtable, ARX and sdcMicro

<!-- written by docs/generator/peers.py from docs/generator/peers.yaml -->

What ARX 3.9.2 and sdcMicro 5.8.1 offer, where hushtable offers the same, and the command that shows it. A test checks
the table against the registry, so every hushtable feature listed here exists. **Missing** names the closest
alternative; **left out** gives the reason.
"""
COLUMNS = "| what | ARX | sdcMicro | hushtable | shown by |\n| --- | --- | --- | --- | --- |\n"


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of the data file with its group."""
    for group in yaml.safe_load(DATA.read_text(encoding="utf-8")):
        for row in group["rows"]:
            yield group["group"], row


def problem(place: str) -> str:
    """Return what is wrong with a place of hushtable's; nothing where it is there."""
    kind, _, rest = place.partition("/")
    name, _, parameter = rest.partition(".")
    if kind == "command":
        return "" if name in COMMANDS else f"there is no command {name}"
    if kind in ("setting", "column", "role", "python"):
        return "" if name in _names(kind) else f"there is no {kind} {name}"
    known = getattr(registry, kind, None)
    if not isinstance(known, registry.Registry) or name not in known:
        return f"there is no {place}"
    return "" if not parameter or parameter in {p.name for p in known[name].params()} else f"{name} has no {parameter}"


def _names(kind: str) -> list[str]:
    from hushtable.engines.release import Release
    from hushtable.policy.columns import ColumnPolicy
    from hushtable.policy.policy import Policy
    from hushtable.schema.columns import Role

    return {
        "setting": list(Policy.model_fields),
        "column": list(ColumnPolicy.model_fields),
        "role": [str(role) for role in Role],
        "python": dir(Release),
    }[kind]


def command(row: dict[str, Any]) -> str:
    """Return the command that shows what hushtable has."""
    if "show" in row:
        return str(row["show"])
    kind, _, rest = row["ours"][0].partition("/")
    name = rest.partition(".")[0]
    if kind == "command":
        return f"hushtable {name} --help"
    return f"hushtable {kind} {name}" if kind in COMMANDS else "hushtable schema"


def page() -> str:
    """Return the text of the page."""
    parts, before = [HEAD], ""
    counts: Counter[str] = Counter()
    for group, row in rows():
        if group != before:
            parts.append(f"\n## {group}\n\n{COLUMNS}")
            before = group
        counts["ours" if "ours" in row else "missing" if "missing" in row else "left out"] += 1
        cells = [row["what"], row.get("arx", ""), row.get("sdcmicro", ""), *_ours(row)]
        parts.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n")
    total = sum(counts.values())
    parts.insert(1, f"\nhushtable has {counts['ours']} of the {total} features, lacks {counts['missing']} and leaves "
                    f"out {counts['left out']}.\n")  # fmt: skip
    return "".join(parts)


def _ours(row: dict[str, Any]) -> tuple[str, str]:
    if "ours" not in row:
        word = "missing" if "missing" in row else "left"
        return f"**{'missing' if word == 'missing' else 'left out'}**: {row[word]}", ""
    named = ", ".join(_label(place) for place in row["ours"])
    return named + (f"; {row['note']}" if "note" in row else ""), f"`{command(row)}`"


def _label(place: str) -> str:
    kind, _, name = place.partition("/")
    words = {
        "command": f"`hushtable {name}`",
        "setting": f"`{name}` in a policy",
        "column": f"`{name}` of a column",
        "role": f"`role: {name}`",
        "python": f"`release.{name}()`",
    }
    return words.get(kind, f"`{name}`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
