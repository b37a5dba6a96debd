"""A small table of people with a policy, and what a call of the command line answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POLICY = """\
columns:
  name: {role: identifier}
  age: {role: quasi, kind: numeric, hierarchy: {intervals: [5, 10, 20]}}
  zip: {role: quasi, kind: nominal, hierarchy: {prefix: "*"}}
  disease: {role: sensitive}
models:
- k-anonymity: {k: 3}
- distinct-l: {l: 2}
seed: 7
"""
DISEASES = ("flu", "cough", "angina", "ulcer")
# stands for any value of a person: no message may repeat it
CANARY = "CANARYBIRD"


@dataclass(frozen=True)
class Answer:
    """What a call printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What was printed, wherever the lines were broken."""
        return " ".join((self.out + self.err).split())

    @property
    def data(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def rows(n: int = 40) -> list[list[str]]:
    """People who differ in everything."""
    return [[f"person {i}", str(20 + i % 37), f"{14000 + 7 * i}", DISEASES[i % 4]] for i in range(n)]


def write_csv(path: Path, cells: list[list[str]], header: str = "name,age,zip,disease") -> Path:
    """Write rows of plain cells."""
    path.write_text("\n".join([header, *(",".join(row) for row in cells)]) + "\n", encoding="utf-8")
    return path
