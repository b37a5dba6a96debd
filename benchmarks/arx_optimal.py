"""The optimal lattice search compared with another tool's figures: same optimum, CPU time, ratio.

    python benchmarks/arx_optimal.py FILE.json [--data DIR] [--least 3] [--unseen] [--check] [--json]

FILE.json holds a list of runs on Adult's 30,162 records: quasi-identifiers, model (``k:5,distinct-l:3``), sensitive
attribute, suppression limit, metric, node, score, cpu_ms. Every run is repeated with ours on the encoded table (what is
timed is the search, collapsing the records included; CPU milliseconds, warm, best of 3). Exits 1 if a score
differs by more than 1e-6, or a row is less than ``--least`` times as fast.

``--unseen`` runs rows that the file does not have: other k, other models and objectives, 8 and 9 columns. The other
tool cannot be run here, so these are compared with their recorded neighbors of the same columns and suppression limit
(and metric, where it is recorded): the faster of the next smaller and the next greater k, and for models the fastest
row whose models are as monotone. ``--check`` proves each optimum by judging every node.

A model string is a list of ``name:parameter:parameter`` with names as in policies and parameters in declared order;
``k`` is k-anonymity, ``t-equal``, ``t-ordered`` and ``t-hierarchical`` are t-closeness by that distance.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.algorithms.lattice.judge import Judge
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
UNSEEN = {
    9: (("k:3", "k:10", "k:20", "k:100"), ("loss", "disc", "aecs", "entropy", "prec")),
    8: (
        (
            *("k:5", "k:3,distinct-l:2", "k:10,t-equal:0.3", "k:5,t-equal:0.1", "k:5,beta:1.5", "k:5,delta:2"),
            *("k:5,recursive-cl:2:2", "k:5,entropy-l:4", "k:5,probabilistic-l:3"),
        ),
        ("loss", "disc", "aecs"),
    ),
}
"""Columns -> models and metrics of rows that are not recorded; each at 0, 2 and 100% suppression."""

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
        columns.append(ColumnPlan(name, Role.SENSITIVE, hierarchy=Taxonomy(file=str(file)) if file.is_file() else None))
    encoded = encode(table.select([*quasi, *sensitive]), TablePlan(tuple(columns)))
    model = AllOf.bound_to([model_of(part) for part in row["model"].split(",")], tuple(sensitive))
    return Problem(encoded, model, encoded.reference(model.histogram_keys()), float(row["suppression_limit"]))


def unseen(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows that are not recorded, each with the least time of its recorded neighbors."""
    out = []
    for columns, (names, metrics) in UNSEEN.items():
        alike = [row for row in rows if len(row["quasi_identifiers"]) == columns]
        for limit, metric, model in itertools.product((0.0, 0.02, 1.0), metrics, names):
            near = [row for row in alike if row["suppression_limit"] == limit]
            near = _nearest([row for row in near if row["metric"] == metric] or near, model)
            sensitive = alike[0]["sensitive"]
            out.append(
                {
                    "quasi_identifiers": alike[0]["quasi_identifiers"],
                    "model": model,
                    "sensitive": sensitive,
                    "suppression_limit": limit,
                    "metric": metric,
                    "cpu_ms": min(row["cpu_ms"] for row in near),
                }
            )
    return out


def _nearest(rows: list[dict[str, Any]], model: str) -> list[dict[str, Any]]:
    """Keep the rows with the models that are most alike."""
    loose = ("t-equal", "beta", "delta")
    if all("," in row["model"] for row in rows):
        return [row for row in rows if any(n in row["model"] for n in loose) == any(n in model for n in loose)]
    sizes = {int(row["model"].split(":")[1]) for row in rows}
    k = int(model.split(",")[0].split(":")[1])
    below, above = (n for n in sizes if n <= k), (n for n in sizes if n >= k)
    chosen = {max(below, default=min(sizes)), min(above, default=max(sizes))}
    return [row for row in rows if int(row["model"].split(":")[1]) in chosen]


def exhaustive(problem: Problem, objective: str) -> float:
    """Return the least value of all nodes, each judged."""
    judge = Judge(problem, objective)
    return min(judge(node.astype(np.int64)).value for node in judge.space.nodes)


def measure(table: pa.Table, row: dict[str, Any], data: Path, repeats: int, *, check: bool = False) -> dict[str, Any]:
    """Run one row and compare it with theirs."""
    problem = problem_of(table, row, data)
    objective = METRICS.get(row["metric"], row["metric"])
    algorithm = Optimal.build({"objective": objective})
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        notes = algorithm.run(problem).notes
        best = min(best, time.process_time() - start)
    node = row.get("node")
    score = exhaustive(problem, objective) if check else row.get("score", notes["value"])
    ratio = row["cpu_ms"] / (best * 1000) if row.get("cpu_ms") else None
    return {
        "model": row["model"],
        "suppression_limit": row["suppression_limit"],
        "metric": row["metric"],
        "score": score,
        "ours": notes["value"],
        "agrees": abs(notes["value"] - score) <= TOLERANCE,
        "better": notes["value"] < score - TOLERANCE,
        "same_node": node is None or node == notes["levels"],
        "node": notes["levels"],
        "proven": notes["optimum_proven"],
        "judged": notes["nodes_judged"],
        "nodes": notes["nodes"],
        "theirs_ms": row.get("cpu_ms"),
        "ours_ms": round(best * 1000, 1),
        "ratio": None if ratio is None else round(ratio, 2),
    }


def line(result: dict[str, Any]) -> str:
    """One result in one line."""
    verdict = "same" if result["same_node"] else "tie"
    differs = "BETTER" if result["better"] else "DIFFERS"
    node = "".join(str(level) if level < 10 else f"({level})" for level in result["node"].values())
    return (
        f"{result['model']:24} {result['suppression_limit']:<5g} {result['metric']:5} {result['score']:<18.12g} "
        f"{result['ours']:<18.12g} {verdict if result['agrees'] else differs:8} {node:14} {result['judged']:>7} "
        f"{result['theirs_ms'] or '-':>9} {result['ours_ms']:>9} {result['ratio'] or '-':>7}"
    )


def main() -> int:
    """Run every row of a file; 1 if a score differs or a row cannot be run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", help="folder with adult-30162.csv and hierarchy-*.csv, or its parent")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--least", type=float, default=3.0, help="ratio below which a row fails; 0: any")
    parser.add_argument("--unseen", action="store_true", help="rows that the file does not have")
    parser.add_argument("--check", action="store_true", help="judge every node to prove each optimum")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        data = folder(options.data)
        rows = json.loads(options.file.read_text(encoding="utf-8"))
        table = read_table(str(data / "adult-30162.csv"))
    except (HushtableError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    rows = unseen(rows) if options.unseen else rows
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
    results, failures, slow = [], 0, 0
    for row in rows:
        try:
            result = measure(table, row, data, max(options.repeats, 1), check=options.check)
        except (HushtableError, KeyError) as error:
            failures += 1
            print(f"{row.get('model')}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        # a better optimum than theirs is said with its node, and is no failure
        failures += not (result["agrees"] or result["better"])
        slow += result["ratio"] is not None and result["ratio"] < options.least
        results.append(result)
        if not options.json:
            print(line(result), flush=True)
    if options.json:
        print(json.dumps({"calibration_s": seconds, "quiet_s": QUIET_SORT, "rows": results}, indent=1))
    else:
        print(f"{len(results)} of {len(rows)} rows run, {failures} differ or could not be run.")
        print(f"{slow} below {options.least:g}x; least ratio {min((r['ratio'] or 0 for r in results), default=0)}.")
    return 1 if failures or slow else 0


if __name__ == "__main__":
    sys.exit(main())
