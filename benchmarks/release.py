"""A saved release, opened: what measuring, assessing and reporting it cost beside the run that made it.

    python benchmarks/release.py [--rows 10000000] [--only streamed,report] [--json]

``streamed`` anonymizes an Adult-like table of eight quasi-identifiers from Parquet to Parquet by streaming, and then
measures and assesses the folder, each in a process of its own. ``new measures`` are those that the run did not take.
``report`` writes the evidence file of a release of Adult three times in one process: without attacks, which starts what
has to start, with attacks, and again, when they come from the companion.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ONE = """
import json, resource, sys, time
def used():
    return resource.getrusage(resource.RUSAGE_SELF)
start, wall = used(), time.perf_counter()
import hushtable as ht
{work}
end = used()
print(json.dumps({{
    "seconds": time.perf_counter() - wall,
    "cpu_s": end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime,
    # ru_maxrss would count the parent's memory too
    "peak_mib": int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024,
    **locals().get("more", {{}}),
}}))
"""

RUN = """
import hushtable.release.evidence as evidence
write, spent = evidence.write_companion, []
def timed(*words, **named):
    begin = time.process_time()
    try:
        return write(*words, **named)
    finally:
        spent.append(time.process_time() - begin)
evidence.write_companion = timed
from hushtable.release.origin import Made
keep = Made.keep
def kept(*words):
    begin = time.process_time()
    try:
        return keep(*words)
    finally:
        spent.append(time.process_time() - begin)
Made.keep = kept
ht.run(sys.argv[1], sys.argv[2], sys.argv[3], engine="stream")
more = {"companion_s": sum(spent)}
"""
MEASURE = "assert ht.open_release(sys.argv[3], sys.argv[1]).measures()['ncp'] > 0"
NEW = "assert ht.open_release(sys.argv[3], sys.argv[1]).measures(['kl-divergence', 'query-error'])"
RISK = "assert ht.open_release(sys.argv[3], sys.argv[1]).risk().as_dict()"
REPORT = """
def report(**more):
    begin = time.perf_counter()
    ht.open_release(sys.argv[3], sys.argv[1]).report(sys.argv[4], **more)
    return time.perf_counter() - begin
started = report(attacks=False)
more = {"started_s": started, "first": report(), "second": report()}
"""


def one(work: str, *words: Path) -> dict[str, Any]:
    """Do some work in a process of its own."""
    command = [sys.executable, "-c", ONE.format(work=work), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def streamed(rows: int) -> dict[str, Any]:
    """Measure and assess a streamed release."""
    from hushtable.datasets.adult_like import adult_like
    from hushtable.io.files import write_table
    from hushtable.policy.files import save_policy
    from hushtable.policy.policy import Policy

    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        table = adult_like(rows)
        policy = Policy(
            quasi=[n for n in table.column_names if n != "occupation"],
            sensitive=["occupation"],
            models=[{"k-anonymity": {"k": 5}}],
            output={"format": "parquet"},
        )
        write_table(table, folder / "in.parquet")
        save_policy(policy, folder / "policy.yaml")
        del table
        words = (folder / "in.parquet", folder / "policy.yaml", folder / "out")
        made = one(RUN, *words)
        found = {name: one(work, *words) for name, work in (("measure", MEASURE), ("new", NEW), ("risk", RISK))}
        private = sum(p.stat().st_size for p in (folder / "out.private").glob("rows.arrow"))
    return {
        "rows": rows,
        "run": made,
        **found,
        "ratios": {name: one["cpu_s"] / made["cpu_s"] for name, one in found.items()},
        "companion": made["companion_s"] / made["cpu_s"],
        "bytes_a_row": private / rows,
    }


def report() -> dict[str, Any]:
    """Write the evidence file of a release of Adult, twice."""
    import hushtable as ht
    from hushtable.datasets import load_adult
    from hushtable.io.files import write_table

    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        table = load_adult("30162")
        quasi = [name for name in table.column_names if name != "occupation"]
        policy = ht.Policy(quasi=quasi, sensitive=["occupation"], models=[ht.KAnonymity(k=5)])
        write_table(table, folder / "in.parquet")
        ht.run(folder / "in.parquet", policy, folder / "out")
        words = (folder / "in.parquet", folder / "policy.yaml", folder / "out")
        return one(REPORT, *words, folder / "evidence.html")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=10_000_000)
    parser.add_argument("--only", default="streamed,report")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    wanted = options.only.split(",")
    found: dict[str, Any] = {}
    if "streamed" in wanted:
        found["streamed"] = streamed(int(options.rows))
    if "report" in wanted:
        found["report"] = report()
    if options.json:
        print(json.dumps(found))
        return
    if "streamed" in found:
        made = found["streamed"]
        run = made["run"]
        print(f"{made['rows']:,} rows x 8, streamed: {run['cpu_s']:.1f} s CPU, {run['peak_mib']:.0f} MiB")
        print(f"  companion: {made['companion']:.1%} of that, {made['bytes_a_row']:.1f} bytes a row")
        for name, ratio in made["ratios"].items():
            print(f"  {name}: {made[name]['cpu_s']:.1f} s CPU ({ratio:.0%}), {made[name]['peak_mib']:.0f} MiB")
    if "report" in found:
        for name in ("first", "second"):
            print(f"{name} report of Adult, warm: {found['report'][name]:.2f} s")
        print(f"all three, with the start of the process: {found['report']['seconds']:.1f} s")


if __name__ == "__main__":
    main()
