"""Run the benchmarks and write docs/benchmarks.md.

    python benchmarks/_page.py [--only mondrian,lattice_rows] [--reference FILE.json] [--census FILE.csv]
                               [--nist FOLDER] [--scorer PYTHON] [--accept] [--write]

Every figure that was ever measured is kept in docs/benchmarks.json with its day and the machine's load; a benchmark
that is not run leaves its figures as they were. The longest ones are run only if they are named. A figure that got
worse is not stored, and makes the command fail, unless ``--accept`` is given. ``--write`` runs nothing and writes the
page from there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _figures import FIGURES, PICTURES, SECTIONS, Figure

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
STORE = DOCS / "benchmarks.json"
BESIDE = HERE.parent.parent / "shared"
BUSY = 1.5
"""Load above which a figure is marked, because other work was running."""

NOISE = {"s": 1.5, "ms": 1.5}
"""How many times as long something may take by chance: one machine differs that much from day to day."""

OTHER_NOISE = 1.25
"""The same for figures in other units, such as ratios."""

PATIENCE = 60
"""Seconds to wait at most until the load of the previous benchmark is over."""

Stored = dict[str, dict[str, Any]]


def measured(command: str, files: dict[str, Path]) -> Any:
    """Run one benchmark; return what it printed, or None if a file that it needs is missing."""
    words = shlex.split(command)
    for name, file in files.items():
        if name in words:
            if not file.exists():
                print(f"{command}: {name} is missing; its figures stay as they were.", file=sys.stderr)
                return None
            words[words.index(name)] = str(file)
    print(f"== {command}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, str(HERE / words[0]), *words[1:], "--json"], stdout=subprocess.PIPE, check=False
    )
    # a result that differs from another tool's exits 1 too, and says by how much
    if not done.stdout:
        raise SystemExit(f"{command} failed; earlier results are stored.")
    return json.loads(done.stdout)


def is_worse(figure: Figure, value: float, load: float, before: dict[str, Any] | None) -> bool:
    """Whether a figure is worse than the stored one: it misses a target that was met, or the difference is no noise.

    On a busy machine, only targets count.
    """
    if before is None:
        return False
    if figure.met(before["value"]) and not figure.met(value):
        return True
    old, noise = before["value"], NOISE.get(figure.unit, OTHER_NOISE)
    if max(load, before["load"]) > BUSY:
        return False
    return bool(value < old / noise if figure.more else value > old * noise)


def update(stored: Stored, figures: Iterable[Figure], files: dict[str, Path], *, accept: bool = False) -> list[Figure]:
    """Measure figures, running each command once, and store the results after each command.

    Returns
    -------
    list of Figure
        Those that got worse, which are stored only if ``accept`` is true.
    """
    figures, worse = list(figures), []
    for command in dict.fromkeys(figure.command for figure in figures):
        load = _calm()
        found = measured(command, files)
        if found is None:
            continue
        for figure in figures:
            if figure.command == command:
                day, value = datetime.date.today().isoformat(), float(figure.pick(found))
                before = stored.get(figure.name)
                if is_worse(figure, value, load, before):
                    worse.append(figure)
                print(_sentence(figure, value, before, worse=figure in worse))
                if accept or figure not in worse:
                    stored[figure.name] = {"value": value, "day": day, "load": round(load, 1)}
        STORE.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return worse


def _sentence(figure: Figure, value: float, before: dict[str, Any] | None, *, worse: bool) -> str:
    parts = [_number(value, figure.unit), _bound(figure)]
    if before is not None:
        parts.append(f"{_number(before['value'], figure.unit)} on {before['day']}")
    if figure.peer and value:
        parts.append(f"{figure.peer[0]} {_number(figure.peer[1], figure.unit)}, ratio {figure.peer[1] / value:.2g}")
    return f"{'WORSE ' if worse else ''}{figure.name}: {'; '.join(parts)}"


def _calm() -> float:
    """Wait until the machine has calmed down, but not forever, and return its load."""
    until = time.monotonic() + PATIENCE
    while (load := os.getloadavg()[0]) > BUSY and time.monotonic() < until:
        time.sleep(1)
    return load


def page(stored: Stored) -> str:
    """Return the page, made from the stored figures."""
    out = [
        "# Benchmarks\n",
        "This page is written by `make bench`. All figures come from one machine with 2 cores. The last column is the "
        "command that repeats the measurement (after `python benchmarks/`). Seconds depend on the machine, so ratios "
        "are more informative. A figure marked * was measured while other work was running, and is an upper bound. "
        "The top of each benchmark file describes how it measures. `REFERENCE`, `CENSUS` and `NIST` are third-party "
        "files that are not part of this repository, and `SCORER` is a Python interpreter with NIST's `sdnist` "
        "installed.\n",
    ]
    for section, text in SECTIONS.items():
        out += [f"## {section}\n", text + "\n"]
        out += ["| what | ours | target | other tool | ratio | command |", "| --- | --- | --- | --- | --- | --- |"]
        for figure in FIGURES:
            if figure.section == section:
                out.append(_line(figure, stored.get(figure.name)))
        if section in PICTURES:
            out += ["", PICTURES[section]]
        out.append("")
    return "\n".join([*out, *_missed(stored)])


def _line(figure: Figure, found: dict[str, Any] | None) -> str:
    peer = f"{figure.peer[0]}: {_number(figure.peer[1], figure.unit)}" if figure.peer else ""
    ratio = f"{figure.peer[1] / found['value']:.2g}" if figure.peer and found and found["value"] else ""
    ours = "not measured" if found is None else _number(found["value"], figure.unit)
    if found is not None:
        ours += "*" if found["load"] > BUSY else ""
        ours = ours if figure.met(found["value"]) else f"**{ours}**"
    return f"| {figure.what} | {ours} | {_bound(figure)} | {peer} | {ratio} | `{figure.command}` |"


def _bound(figure: Figure) -> str:
    return f"{'at least' if figure.more else 'at most'} {_number(figure.target, figure.unit)}"


def _missed(stored: Stored) -> list[str]:
    out = ["## Missed targets\n"]
    for figure in FIGURES:
        found = stored.get(figure.name)
        if found is None:
            out.append(f"- {figure.name}: not measured.")
        elif not figure.met(found["value"]):
            off = abs(found["value"] / figure.target - 1) if figure.target else 1.0
            loaded = "" if found["load"] <= BUSY else f" The machine's load was {found['load']:g}."
            why = f" {figure.why}" if figure.why else ""
            value, target = _number(found["value"], figure.unit), _number(figure.target, figure.unit)
            out.append(f"- {figure.name}: {value} instead of {target} ({off:.0%} off).{why.rstrip()}{loaded}")
    if len(out) == 1:
        out.append("None.")
    return [*out, ""]


def _number(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits} {unit}".strip() if unit not in ("x", "%") else f"{digits}{unit}"


def main() -> None:
    """Run the requested benchmarks and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="benchmarks, by the names of their files, separated by commas")
    parser.add_argument("--reference", type=Path, default=BESIDE / "reference" / "arx-optimal.json")
    parser.add_argument("--census", type=Path, default=BESIDE / "data" / "census" / "census-1080.csv")
    parser.add_argument("--nist", type=Path, default=BESIDE / "data" / "nist-crc")
    parser.add_argument("--scorer", type=Path, default=Path("no-scorer"))
    parser.add_argument("--accept", action="store_true", help="store figures that got worse too")
    parser.add_argument("--write", action="store_true", help="run nothing")
    options = parser.parse_args()
    stored: Stored = json.loads(STORE.read_text(encoding="utf-8")) if STORE.is_file() else {}
    stored = {figure.name: stored[figure.name] for figure in FIGURES if figure.name in stored}
    worse: list[Figure] = []
    if not options.write:
        names = set(options.only.split(",")) if options.only else None
        known = {Path(shlex.split(figure.command)[0]).stem for figure in FIGURES}
        if names is not None and names - known:
            parser.error(
                f"There is no benchmark {', '.join(sorted(names - known))}; there are {', '.join(sorted(known))}."
            )
        chosen = [
            figure
            for figure in FIGURES
            if (not figure.long if names is None else Path(shlex.split(figure.command)[0]).stem in names)
        ]
        places = {"REFERENCE": options.reference, "CENSUS": options.census, "NIST": options.nist}
        worse = update(stored, chosen, {**places, "SCORER": options.scorer}, accept=options.accept)
    (DOCS / "benchmarks.md").write_text(page(stored), encoding="utf-8")
    if worse and not options.accept:
        raise SystemExit(
            "These figures got worse, and are not stored:\n"
            + "".join(f"  {figure.name}\n" for figure in worse)
            + "Find the reason. If it is a good one, store them with --accept."
        )


if __name__ == "__main__":
    main()
