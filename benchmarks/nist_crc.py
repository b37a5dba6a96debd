"""NIST's benchmark of de-identified tables: samples of hushtable's releases beside other tools.

    python benchmarks/nist_crc.py ROOT --data ma2019,tx2019 --columns 10,20,24 --k 6,12,50 --scorer PYTHON --json

ROOT is a folder as NIST publishes it (a folder per state with a CSV and a JSON file). PYTHON is the interpreter of an
environment with ``sdnist``, NIST's scorer, which pins old versions of numpy and pandas and so needs one of its own:

    python -m venv nist && nist/bin/pip install sdnist

Every column is a quasi-identifier, so every row published stands for at least k people in all of them. Each release is
sampled with several seeds (``--seeds``), and the means of the scores are printed: k-marginal (1000: all pairs of
columns are distributed as in the original), the same within areas where PUMA is a column, and the share of people who
are unique in the original and whose exact row is in the sample.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

import hushtable as ht

NUMERIC = {"AGEP", "PINCP", "POVPIP", "DENSITY", "PWGTP", "WGTP", "NOC", "NPF"}
ALL_BUT = {"PWGTP", "WGTP", "DENSITY", "INDP"}
TEN = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
NOT_APPLICABLE = "N"
SETTINGS = (
    ({"information-cuts": {"refine": True}}, {"counts": {"digits": 0}}),
    ("information-cuts", {"counts": {"digits": 0}}),
    ("mondrian", {"counts": {"digits": 0}}),
    ("information-cuts", "regions"),
)
"""Algorithms and forms; the last one shows what is lost without counts."""

REFERENCE: tuple[dict[str, Any], ...] = tuple(
    dict(
        zip(
            ("method", "data", "columns", "k_marginal", "k_marginal_by_area", "unique_matches_percent"),
            row,
            strict=True,
        )
    )
    for row in (
        ("synthpop CART 1.9", "ma2019", 10, 978, None, 25),
        ("MST, epsilon 10", "ma2019", 10, 966, None, 16),
        ("AIM, epsilon 1", "ma2019", 10, 958, None, 15),
        ("adversarial random forest", "ma2019", 10, 973, None, 18),
        ("SDV GaussianCopula", "ma2019", 10, 910, None, 6),
        ("SDV TVAE", "ma2019", 10, 885, None, 16),
        ("sdcMicro PRAM", "ma2019", 10, 981, None, 66),
        ("sdcMicro k-anonymity, k = 6", "ma2019", 10, 898, None, 46),
        ("random 40% of the rows", "ma2019", 10, 978, None, 41),
        ("columns shuffled", "ma2019", 10, 918, None, 6),
        ("synthpop CART 1.9", "ma2019", 24, 971, 930, 0.4),
        ("MST, epsilon 10", "ma2019", 24, 927, 877, 0),
        ("adversarial random forest", "ma2019", 24, 933, None, 0),
        ("SDV GaussianCopula", "ma2019", 24, 819, 756, 0),
        ("SDV TVAE", "ma2019", 24, 833, 690, 0),
        ("sdcMicro PRAM", "ma2019", 24, 982, 959, 41),
        ("random 40% of the rows", "ma2019", 24, 972, 939, 40),
        ("columns shuffled", "ma2019", 24, 911, 805, 0),
        ("synthpop CART 1.9", "tx2019", 24, 972, 928, 0.1),
        ("sdcMicro PRAM", "tx2019", 24, 983, 955, 40),
        ("random 40% of the rows", "tx2019", 24, 972, 935, 40),
        ("columns shuffled", "tx2019", 24, 914, 791, 0),
    )
)
"""Other tools, measured once with the same scorer on the same tables."""

SCORER = r"""
import contextlib, io, json, sys, warnings
from pathlib import Path
warnings.filterwarnings("ignore")
from sdnist.report.dataset import Dataset
import sdnist.utils as utils
from sdnist.load import TestDatasetName
from sdnist.metrics.kmarginal import KMarginal
from sdnist.metrics.unique_exact_matches import unique_exact_matches

def marginal(data, groups):
    metric = KMarginal(data.d_target_data, data.d_synthetic_data, groups)
    metric.compute_score()
    return float(metric.score)

root, name, *files = sys.argv[1:]
for file in files:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        data = Dataset(Path(file), utils.SimpleLogger(), getattr(TestDatasetName, name), Path(root), False)
        scores = {
            "k_marginal": marginal(data, []),
            "k_marginal_by_area": marginal(data, ["PUMA"]) if "PUMA" in data.features else None,
            "unique_matches_percent": float(unique_exact_matches(data.c_target_data, data.c_synthetic_data)[1]),
        }
    print(json.dumps(scores), flush=True)
"""


def original(root: Path, name: str) -> pa.Table:
    """Read a table as text: what a number is, the policy says."""
    files = sorted(root.glob(f"*/{name}.csv"))
    if not files:
        raise SystemExit(f"There is no table {name} below {root}.")
    with files[0].open() as head:
        names = head.readline().strip().split(",")
    options = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return pa_csv.read_csv(files[0], convert_options=options)


def column_set(table: pa.Table, size: int) -> list[str]:
    chosen = {10: TEN, 20: [n for n in table.column_names if n not in ALL_BUT]}.get(size, table.column_names)
    return list(chosen)


def release_of(table: pa.Table, k: int, algorithm: Any, form: Any, area: float) -> ht.Release:
    quasi: dict[str, Any] = {name: {"kind": "numeric" if name in NUMERIC else "nominal"} for name in table.column_names}
    if "PUMA" in quasi:
        quasi["PUMA"]["weight"] = area
    policy = ht.Policy(
        quasi=quasi, models=[ht.KAnonymity(k=k)], algorithm=algorithm, cells=form, missing_values=[NOT_APPLICABLE]
    )
    return ht.anonymize(table, policy)


def scores(root: Path, name: str, files: list[Path], scorer: str) -> list[dict[str, float]]:
    """Score files in the scorer's own environment."""
    command = [scorer, "-c", SCORER, str(root), name, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"The scorer failed: {done.stderr.strip().splitlines()[-1:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name in arguments.data.split(","):
        table = original(arguments.root, name)
        for size in map(int, arguments.columns.split(",")):
            part = table.select(column_set(table, size))
            for k in map(int, arguments.k.split(",")):
                for algorithm, form in SETTINGS[: arguments.settings]:
                    yield scored(arguments, name, part, k, algorithm, form)


def scored(
    arguments: argparse.Namespace, name: str, table: pa.Table, k: int, algorithm: Any, form: Any
) -> dict[str, Any]:
    release = release_of(table, k, algorithm, form, arguments.area)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for seed in range(arguments.seeds):
            files.append(Path(folder) / f"{seed}.csv")
            drawn = pa.table(release.sample(seed=seed))
            drawn = pa.table(
                {n: pc.fill_null(drawn.column(n).cast(pa.string()), NOT_APPLICABLE) for n in drawn.column_names}
            )
            pa_csv.write_csv(drawn, files[-1], pa_csv.WriteOptions(quoting_style="none"))
        found = scores(arguments.root, name, files, arguments.scorer)
    means = {key: None if found[0][key] is None else round(fmean(f[key] for f in found), 2) for key in found[0]}
    shown = form if isinstance(form, str) else next(iter(form))
    named = algorithm if isinstance(algorithm, str) else f"{next(iter(algorithm))}, refined"
    return {"data": name, "columns": table.num_columns, "k": k, "algorithm": named, "form": shown, **means}


def told(row: dict[str, Any]) -> str:
    what = row.get("method") or f"{row['algorithm']}, {row['form']}, k = {row['k']}"
    area = "-" if row["k_marginal_by_area"] is None else f"{row['k_marginal_by_area']:.1f}"
    return (
        f"{row['data']}  {row['columns']:>2}  {what:<36} {row['k_marginal']:>7.1f}  {area:>5}  "
        f"{row['unique_matches_percent']:>5.1f}%"
    )


def chart(found: list[dict[str, Any]], path: Path) -> None:
    """Draw utility against unique matches: up and to the left is better."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # a panel without other tools compares nothing
    beside = {(r["data"], r["columns"]) for r in REFERENCE}
    panels = sorted({(r["data"], r["columns"]) for r in found} & beside)
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 4.4), squeeze=False)
    named = []
    for axis, (data, columns) in zip(axes[0], panels, strict=True):
        names: list[tuple[str, float, float]] = []
        mine = [r for r in found if (r["data"], r["columns"]) == (data, columns) and r["form"] == "counts"]
        others = [r for r in REFERENCE if (r["data"], r["columns"]) == (data, columns) and r["k_marginal"] > 900]
        for algorithm, sign in (("information-cuts, refined", "o-"), ("mondrian", "s--")):
            line = sorted((r for r in mine if r["algorithm"] == algorithm), key=lambda r: r["k"])
            if not line:
                continue
            axis.plot(
                [r["unique_matches_percent"] for r in line],
                [r["k_marginal"] for r in line],
                sign,
                label=f"hushtable, {algorithm}",
            )
            names += [(f"k = {r['k']}", r["unique_matches_percent"], r["k_marginal"]) for r in line]
        axis.plot([r["unique_matches_percent"] for r in others], [r["k_marginal"] for r in others], "x", color="0.45")
        names += [(r["method"], r["unique_matches_percent"], r["k_marginal"]) for r in others]
        axis.set_title(f"{data}, {columns} columns", fontsize=10)
        axis.set_xlabel("unique people whose row reappears (%)", fontsize=8)
        axis.set_ylabel("k-marginal", fontsize=8)
        axis.grid(alpha=0.3)
        # room for the names
        axis.set_xlim(right=1.5 * axis.get_xlim()[1])
        named.append((axis, names))
    axes[0][0].legend(fontsize=7, loc="center")
    figure.tight_layout()
    for axis, names in named:
        write_names(axis, names)
    figure.savefig(path, dpi=110)


def write_names(axis: Any, names: list[tuple[str, float, float]]) -> None:
    """Write each name next to its point, where it covers neither another name nor a point."""
    renderer = axis.figure.canvas.get_renderer()
    points = axis.transData.transform([(x, y) for _, x, y in names])
    taken: list[Any] = []
    for name, x, y in names:
        for offset, side in itertools.product(((5, 4), (5, -9), (-5, 4), (-5, -9), (9, -3)), range(3)):
            move = (offset[0], offset[1] * (1 + side))
            text = axis.annotate(name, (x, y), xytext=move, textcoords="offset points", fontsize=6.5, color="0.25",
                                 ha="left" if offset[0] > 0 else "right")  # fmt: skip
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(one) for one in taken) and not any(box.contains(*point) for point in points):
                break
            text.remove()
        else:
            text = axis.annotate(name, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=6.5)
        taken.append(text.get_window_extent(renderer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--data", default="ma2019,tx2019")
    parser.add_argument("--columns", default="10,20,24")
    parser.add_argument("--k", default="6,12,50")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--area", type=float, default=1.3, help="weight of the area (PUMA) beside other columns")
    parser.add_argument("--settings", type=int, default=len(SETTINGS), help="how many of the settings, from the first")
    parser.add_argument("--scorer", required=True, help="Python of the environment that has sdnist")
    parser.add_argument("--chart", type=Path, help="draw a chart into this file")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = []
    for row in rows(arguments):
        found.append(row)
        print(told(row), file=sys.stderr if arguments.json else sys.stdout, flush=True)
    if arguments.chart:
        chart(found, arguments.chart)
    if arguments.json:
        beside = [{**r, "k": None, "algorithm": r["method"], "form": "reference"} for r in REFERENCE]
        print(json.dumps([*found, *beside]))
        return
    print()
    for row in REFERENCE:
        if row["data"] in arguments.data.split(",") and str(row["columns"]) in arguments.columns.split(","):
            print(told(row))


if __name__ == "__main__":
    main()
