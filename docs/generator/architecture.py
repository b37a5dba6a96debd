"""Writes ``docs/images/architecture.svg``: the packages of hushtable and who imports whom, read from the sources.

Run ``make generated`` after adding a package or a first import between two; a test fails if the
drawing is stale. An arrow is left out if a longer path says the same, because a hundred and fifty arrows show nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hushtable"
DRAWING = ROOT / "docs" / "images" / "architecture.svg"
FACADE = "hushtable.*"
"""All single files beside the packages that import packages: what ``import hushtable`` offers."""

WORDS = {
    "io": "reads and writes tables",
    "schema": "roles and kinds of columns",
    "hierarchy": "generalization hierarchies",
    "kernels": "fast loops over arrays",
    "table": "encodes, counts groups",
    "treatments": "changes single columns",
    "laws": "estimates populations",
    "models": "judges groups",
    "algorithms": "forms groups",
    "release": "recodes, verifies, writes",
    "utility": "measures what was lost",
    "risk": "measures exposure",
    "attacks": "plays adversaries",
    "ledger": "checks earlier releases",
    "policy": "says what is asked for",
    "report": "writes the evidence",
    "engines": "runs: memory, disk, Spark",
    "linked": "several tables together",
    FACADE: "functions for Python users",
    "comparison": "runs many policies",
    "pipelines": "Airflow, Dagster, dbt",
    "datasets": "example data",
    "reproduce": "experiments of papers",
    "testing": "the contract suite",
    "studio": "the web app",
    "agents": "assistants (MCP)",
    "cli": "the command line",
}
WAY = {"io", "schema", "hierarchy", "table", "models", "algorithms", "release", "utility", "attacks"}
"""The packages that a table passes through in one run, from reading to measuring; they are drawn darker."""
WIDTH, HEIGHT = 184, 40
ACROSS, DOWN, BEND = 204, 74, 44

Graph = dict[str, set[str]]
Places = dict[str, tuple[float, int]]


def imports(path: Path) -> Iterator[str]:
    """Yield the package, or the single file, that each import of hushtable in a file reaches."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("hushtable."))


def graph() -> Graph:
    """Return which packages each package imports; the foundation, which every one imports, is left out."""
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    found: Graph = {name: set() for name in packages}
    single: Graph = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).parts[0]
        reached = set(imports(path))
        if own in packages:
            found[own] |= reached - {own}
        elif own != "__main__.py":
            single[path.stem] = reached
    offered = {name for name, reached in single.items() if reached & packages}
    found[FACADE] = {name for one in offered for name in single[one]}
    # a name such as hushtable.anonymize is looked up by __init__.py
    for name, reached in found.items():
        known = {FACADE if one in offered | {"__init__"} or one not in {*packages, *single} else one for one in reached}
        found[name] = (known & set(found)) - {name}
    return found


def reduced(whole: Graph) -> Graph:
    """Return the graph without the imports that a longer path implies."""

    @cache
    def below(name: str) -> frozenset[str]:
        return frozenset().union(*({one} | below(one) for one in whole[name]))

    return {name: {one for one in uses if not any(one in below(o) for o in uses)} for name, uses in whole.items()}


def rows(uses: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the row of each package: as far down as those that import it allow."""
    users = {name: {other for other in uses if name in uses[other]} for name in uses}

    def height(name: str) -> int:
        return 1 + max((height(user) for user in users[name]), default=-1)

    tall = {name: height(name) for name in uses}
    return {name: max(tall.values()) - tall[name] for name in uses}


def places(uses: Graph) -> tuple[Places, list[list[str]]]:
    """Return where everything is drawn, and the path of every arrow through the rows between its ends."""
    row = rows(uses)
    paths = []
    for name in sorted(uses):
        for used in sorted(uses[name]):
            between = [f"{used}>{name}@{r}" for r in range(row[used] + 1, row[name])]
            row |= {bend: row[used] + 1 + i for i, bend in enumerate(between)}
            paths.append([used, *between, name])
    near: dict[str, list[str]] = {name: [] for name in row}
    for path in paths:
        for a, b in pairwise(path):
            near[a].append(b)
            near[b].append(a)
    lines = [sorted(name for name in row if row[name] == r) for r in range(max(row.values()) + 1)]
    across = _centered(lines)
    for sweep in range(40):
        for line in lines if sweep % 2 else lines[::-1]:
            line.sort(key=lambda name: (sum(across[n] for n in near[name]) / len(near[name]), name))
            across |= _centered([line])
    left = min(across[name] - _half(name) for name in row)
    return {name: (across[name] - left, row[name]) for name in row}, paths


def _half(name: str) -> float:
    return BEND / 2 if ">" in name else ACROSS / 2


def _centered(lines: list[list[str]]) -> dict[str, float]:
    """Return how far from the middle everything is, with each row in its order."""
    found = {}
    for line in lines:
        at = -sum(map(_half, line))
        for name in line:
            found[name] = at + _half(name)
            at += 2 * _half(name)
    return found


def drawing() -> str:
    """Return the picture as SVG."""
    uses = reduced(graph())
    place, paths = places(uses)
    width = max(x + _half(name) for name, (x, _) in place.items())
    tall = (max(r for _, r in place.values()) + 1) * DOWN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {tall}" role="img" '
        'aria-label="Packages of hushtable, from reading at the top to the front ends at the bottom">',
        "<style>text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#5b6470}.n{font-weight:600;font-size:14px;"
        "fill:#1b2430}rect{fill:#f4f7fa;stroke:#52708f}.way{fill:#dcebf7;stroke:#1f5f99}path{fill:none;stroke:#8796a5;"
        "stroke-width:1.3}.tip{fill:#8796a5;stroke:none}</style>",
        f'<rect width="{width:.0f}" height="{tall}" style="fill:#fff;stroke:none"/>',
    ]
    lines += [_arrow([place[name] for name in path]) for path in paths]
    lines += [_box(name, *place[name]) for name in sorted(uses)]
    return "\n".join([*lines, "</svg>", ""])


def _arrow(path: list[tuple[float, int]]) -> str:
    """Draw a line past the rows between two boxes, with a tip at its end."""
    (x, row), *others = path
    y = row * DOWN + (DOWN + HEIGHT) // 2
    drawn = f"M{x:.0f} {y}"
    for i, (to_x, to_row) in enumerate(others):
        last = i == len(others) - 1
        to_y = to_row * DOWN + (DOWN - HEIGHT) // 2 - 6 * last
        half = (y + to_y) // 2
        drawn += f"C{x:.0f} {half} {to_x:.0f} {half} {to_x:.0f} {to_y}"
        x, y = to_x, to_y if last else to_y + HEIGHT
        drawn += "" if last else f"V{y}"
    return f'<path d="{drawn}"/><path class="tip" d="M{x - 4:.0f} {y}h8l-4 7z"/>'


def _box(name: str, x: float, row: int) -> str:
    top = row * DOWN + (DOWN - HEIGHT) // 2
    way = ' class="way"' if name in WAY else ""
    return (
        f'<rect{way} x="{x - WIDTH / 2:.0f}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text class="n" x="{x:.0f}" y="{top + 17}">{name}</text>'
        f'<text x="{x:.0f}" y="{top + 33}">{WORDS[name]}</text>'
    )


if __name__ == "__main__":
    DRAWING.write_text(drawing(), encoding="utf-8")
