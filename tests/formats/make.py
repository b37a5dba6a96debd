"""Writes one file of every kind with the hushtable that is installed: ``python tests/formats/make.py FOLDER``.

Run it once for every version that is published, and keep the folder under the version's name: later versions must open
these files. The people are made up.
"""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from pathlib import Path

from hushtable.io.versions import FORMATS

POLICY = """\
# what this version was asked for
columns:
  name: {role: identifier}
  age: {role: quasi, kind: numeric, hierarchy: {intervals: [5, 10, 20]}}
  zip: {role: quasi, hierarchy: {prefix: "*"}}
  sex: {role: quasi}
  disease: {role: sensitive}
models:
- k-anonymity: {k: 3}
- distinct-l: {l: 2}
suppression: 0.1
"""


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    draw = random.Random(1)
    towns, ills = ["14248", "14249", "13053", "13068"], ["flu", "gout", "cold", "asthma"]
    people = [
        (f"P{i:02}", draw.randint(20, 69), draw.choice(towns), draw.choice("mf"), draw.choice(ills)) for i in range(40)
    ]
    with (folder / "people.csv").open("w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([("name", "age", "zip", "sex", "disease"), *people])
    (folder / "policy.yaml").write_text(f"{POLICY}format: {FORMATS['policy']}\n")
    for command in (
        "run policy.yaml --data people.csv --output release",
        "ledger add release --data people.csv --ledger releases.ledger --name spring",
        "report release --data people.csv --output evidence.html",
    ):
        call = [sys.executable, "-m", "hushtable", *command.split()]
        subprocess.run(call, cwd=folder, check=True, env={**os.environ, "HUSHTABLE_SECRET": str(folder / "secret")})
    (folder / "evidence.html").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
