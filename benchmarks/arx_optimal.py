"""The optimal lattice search beside another tool's figures: same optimum, CPU time, ratio.

    python benchmarks/arx_optimal.py FILE.json [--data DIR] [--json]

FILE.json holds a list of runs on Adult's 30,162 records: quasi-identifiers, model (``k:5,distinct-l:3``), sensitive
attribute, suppression limit, metric, node, score, cpu_ms. Every run is repeated with ours on the encoded table (what is
timed is the search, collapsing the records included; CPU milliseconds, warm, best of 3). Exits 1 if a score
differs by more than 1e-6.

A model string is a list of ``name:parameter:parameter`` with names as in policies and parameters in declared order;
``k`` is k-anonymity, ``t-equal``, ``t-ordered`` and ``t-hierarchical`` are t-closeness by that distance.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.datasets.locate import data_dirs
from hushtable.errors import HushtableError, UsageError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.io.files import read_table
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.registry import models
from hushtable.schema.columns import Kind, Role
from hushtable.table.encode import encode
from hushtable.table.plan import ColumnPlan, TablePlan

ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    "k": ("k-anonymity", {}),
    "l": ("distinct-l", {}),
    "t": ("t-closeness", {}),
    "t-equal": ("t-closeness", {"distance": "equal"}),
    "t-ordered": ("t-closeness", {"distance": "ordered"}),
    "t-hierarchical": ("t-closeness", {"distance": "hierarchical"}),
    "beta": ("beta-likeness", {}),
    "delta": ("delta-disclosure", {}),
}
METRICS = {"disc": "discernibility", "dm": "discernibility", "aecs": "average-class-size"}
TOLERANCE = 1e-6
QUIET_SORT = 0.316
"""Seconds of the calibration on the quiet reference machine."""


def calibrate() -> float:
    """CPU seconds of numpy.sort of 5,000,000 random int64 below 2^40, seed 0."""
    numbers = np.random.default_rng(0).integers(0, 2**40, 5_000_000)
    start = time.process_time()
    np.sort(numbers)
    return time.process_time() - start


def model_of(text: str) -> PrivacyModel:
    """Build one model of a model string."""
    short, *arguments = text.strip().split(":")
    name, values = ALIASES.get(short, (short, {}))
    names = [p.name for p in models[name].params() if p.name != "on" and p.name not in values]
    if len(arguments) > len(names):
        raise UsageError(f"{name} takes {len(names)} parameters: {', '.join(names)}.")
    return models.build(name, {**values, **dict(zip(names, map(_number, arguments), strict=False))})


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def folder(given: str | None) -> Path:
    """Return the folder that has Adult's records and hierarchies."""
    roots = [Path(given)] if given else data_dirs()
    for root in roots:
        for place in (root, root / "adult"):
            if (place / "adult-30162.csv").is_file():
                return place
    raise UsageError("adult-30162.csv was not found.", hint="Give the folder with --data.")


def problem_of(table: pa.Table, row: dict[str, Any], data: Path) -> Problem:
    """Encode the columns of one run."""
    quasi = row["quasi_identifiers"]
    sensitive = row.get("sensitive") or []
    sensitive = [sensitive] if isinstance(sensitive, str) else sensitive
    columns = []
    for name in quasi:
        kind = Kind.NUMERIC if pa.types.is_integer(table.schema.field(name).type) else Kind.NOMINAL
        hierarchy = Taxonomy(file=str(data / f"hierarchy-{name}.csv"))
        columns.append(ColumnPlan(name, Role.QUASI, kind=kind, hierarchy=hierarchy))
    for name in sensitive:
        file = data / f"hierarchy-{name}.csv"
        columns.append(
            ColumnPlan(name, Role.SENSITIVE, hierarchy=Taxonomy(file=str(file)) if file.is_file() else None)
        )
    encoded = encode(table.select([*quasi, *sensitive]), TablePlan(tuple(columns)))
    model = AllOf.bound_to([model_of(part) for part in row["model"].split(",")], tuple(sensitive))
    return Problem(encoded, model, encoded.reference(model.histogram_keys()), float(row["suppression_limit"]))


def measure(table: pa.Table, row: dict[str, Any], data: Path, repeats: int) -> dict[str, Any]:
    """Run one row and put ours beside it."""
    problem = problem_of(table, row, data)
    algorithm = Optimal.build({"objective": METRICS.get(row["metric"], row["metric"])})
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        notes = algorithm.run(problem).notes
        best = min(best, time.process_time() - start)
    node = row.get("node")
    return {
        "model": row["model"],
        "suppression_limit": row["suppression_limit"],
        "metric": row["metric"],
        "score": row["score"],
        "ours": notes["value"],
        "agrees": abs(notes["value"] - row["score"]) <= TOLERANCE,
        "same_node": node is None or node == notes["levels"],
        "node": notes["levels"],
        "proven": notes["optimum_proven"],
        "judged": notes["nodes_judged"],
        "theirs_ms": row.get("cpu_ms"),
        "ours_ms": round(best * 1000, 1),
        "ratio": round(row["cpu_ms"] / (best * 1000), 1) if row.get("cpu_ms") else None,
    }


def line(result: dict[str, Any]) -> str:
    """One result in one line."""
    verdict = "same" if result["same_node"] else "tie"
    node = "".join(str(level) if level < 10 else f"({level})" for level in result["node"].values())
    return (
        f"{result['model']:24} {result['suppression_limit']:<5g} {result['metric']:5} {result['score']:<18.12g} "
        f"{result['ours']:<18.12g} {verdict if result['agrees'] else 'DIFFERS':8} {node:14} {result['judged']:>7} "
        f"{result['theirs_ms'] or '-':>9} {result['ours_ms']:>9} {result['ratio'] or '-':>7}"
    )


def main() -> int:
    """Run every row of a file; 1 if a score differs or a row cannot be run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", help="folder with adult-30162.csv and hierarchy-*.csv, or its parent")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        data = folder(options.data)
        rows = json.loads(options.file.read_text(encoding="utf-8"))
        table = read_table(str(data / "adult-30162.csv"))
    except (HushtableError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    seconds = calibrate()
    if not options.json:
        print(
            f"numpy.sort of 5,000,000 int64: {seconds:.3f} s CPU here, {QUIET_SORT} s on the quiet reference machine; "
            f"multiply ratios by {seconds / QUIET_SORT:.2f} to compare with its quiet figures."
        )
        print(
            f"{'model':24} {'supp':5} {'met':5} {'their score':18} {'our score':18} {'node':8} {'levels':14} "
            f"{'judged':>7} {'their ms':>9} {'our ms':>9} {'ratio':>7}"
        )
    results, failures = [], 0
    for row in rows:
        try:
            result = measure(table, row, data, max(options.repeats, 1))
        except (HushtableError, KeyError) as error:
            failures += 1
            print(f"{row.get('model')}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        failures += not result["agrees"]
        results.append(result)
        if not options.json:
            print(line(result), flush=True)
    if options.json:
        print(json.dumps({"calibration_s": seconds, "quiet_s": QUIET_SORT, "rows": results}, indent=1))
    else:
        print(f"{len(results)} of {len(rows)} rows run, {failures} differ or could not be run.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
