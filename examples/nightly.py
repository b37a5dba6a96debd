"""A platform engineer's nightly job: run the policy, verify, gate on risk, publish or keep yesterday's release.

The exit code is made for a scheduler: 0 published, 1 a promise or the gate is broken, 2 the job is broken, 3 no release
is possible tonight. Whatever happens, what was published before stays until a new release has passed.

    python examples/nightly.py policy.yaml patients.csv published --highest-risk 0.2

With ``--engine auto`` the work is done by Spark where pyspark and Java are there.
"""

from __future__ import annotations

import argparse
import filecmp
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BROKEN_PROMISE, BROKEN_JOB = 1, 2


def hushtable(*words: object) -> dict[str, Any]:
    """Call the command line and return its JSON; end the job with its exit code where it fails."""
    command = [sys.executable, "-m", "hushtable", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    if done.returncode:
        # messages name columns and kinds of values, never a value: they may go into a log
        log(f"{words[0]}: {said.get('code', 'failed')}: {said.get('message', done.stderr)} {said.get('hint', '')}")
        raise SystemExit(done.returncode)
    return said


def log(message: str) -> None:
    """Write a line for the scheduler."""
    print(f"nightly: {message}", file=sys.stderr)


def spark_is_there() -> bool:
    """Whether pyspark and Java are installed."""
    return importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None


def main() -> None:
    """Run the job."""
    parser = argparse.ArgumentParser(description="Publish a table every night, or say why not.")
    parser.add_argument("policy", type=Path)
    parser.add_argument(
        "data", help="a file, a folder, or an address such as postgresql://user@host/clinic?table=people"
    )
    parser.add_argument("published", type=Path, help="folder of the release that readers see")
    parser.add_argument("--highest-risk", type=float, default=0.09, help="gate on the prosecutor's highest risk")
    parser.add_argument("--engine", choices=["local", "auto"], default="local")
    given = parser.parse_args()
    engine = ["--engine", "spark"] if given.engine == "auto" and spark_is_there() else []

    given.published.parent.mkdir(parents=True, exist_ok=True)
    # beside the target, so that moving it into place is one rename
    with tempfile.TemporaryDirectory(dir=given.published.parent, prefix=".nightly-") as work:
        fresh = Path(work) / "release"
        hushtable("run", given.policy, "--data", given.data, "--output", fresh, *engine)
        table = next(file for file in fresh.iterdir() if file.stem == "release" and file.suffix != ".json")
        if unchanged(table, given.published / table.name):
            log("the table has not changed, and neither has the release")
            return
        # with the original, what counts people can be verified too
        verified = hushtable("verify", table, "--policy", given.policy, "--data", given.data)
        risk = hushtable("risk", fresh, "--data", given.data, "--only", "prosecutor", "--files", given.policy.parent)
        highest = risk["risks"]["prosecutor"]["after"]["highest"]
        if highest > given.highest_risk:
            log(f"the highest risk is {highest:.4g}, above the gate of {given.highest_risk:g}: not published")
            raise SystemExit(BROKEN_PROMISE)
        swap(fresh, given.published)
    log(f"published {verified['rows']:,} rows, highest risk {highest:.4g}")


def unchanged(new: Path, old: Path) -> bool:
    """The same table, policy and seed give the same bytes: nothing new to publish or to review."""
    return old.is_file() and filecmp.cmp(old, new, shallow=False)


def swap(new: Path, target: Path) -> None:
    """Put the new release in place of the old one."""
    old = new.with_name("yesterday")
    if target.exists():
        os.replace(target, old)
    os.replace(new, target)


if __name__ == "__main__":
    main()
