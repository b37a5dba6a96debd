"""Running (alp, dif)-anonymity of Wang, Xu and Qu 2011: samples, attacked records, precision, steps and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable import rng
from hushtable.api import run_plan
from hushtable.datasets import adult_policy, load_adult
from hushtable.engines.local import problem_of
from hushtable.engines.release import Release
from hushtable.models.alp_dif import AlpDif
from hushtable.models.k_anonymity import KAnonymity
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms
from hushtable.table.ranks import dense_ranks

__all__ = ["ALP", "DIF", "QUASI", "STATUS", "Point", "WangSetting", "attacked", "measured", "records", "sample"]

QUASI = ("age", "education", "sex", "occupation", "native-country", "salary-class")
STATUS = "marital-status"
ALP = {"Divorced": 0.43, "Widowed": 0.42, "Separated": 0.5, "Married-civ-spouse": 1.0}
DIF = {"Divorced": 0.27, "Widowed": 0.31, "Separated": 0.6, "Married-civ-spouse": 1.0}
PROTECTED = ("Divorced", "Separated", "Widowed")

_TIMES = 5
"""Number of timed runs."""


@cache
def records() -> pa.Table:
    """The records with one of the paper's four values and without gaps."""
    table = load_adult("train").select([*QUASI, STATUS]).drop_null()
    return table.filter(pc.is_in(table.column(STATUS), value_set=pa.array(sorted(ALP))))


@cache
def sample(n: int, seed: int, turn: int) -> pa.Table:
    """One of the samples that are averaged."""
    table = records()
    order = np.argsort(rng.uniform(seed, f"wang2011/{n}/{turn}", table.num_rows), kind="stable")
    return table.take(pa.array(np.sort(order[:n])))


@dataclass(frozen=True)
class WangSetting:
    """The parameters of a run: k, the bounds of protected values (none: only k-anonymity), and the share v."""

    k: int
    alp: tuple[tuple[str, float], ...] = ()
    dif: tuple[tuple[str, float], ...] = ()
    v: float = 0.01
    as_printed: bool = False

    def policy(self) -> Policy:
        """The policy of the paper's experiment."""
        columns = {name: spec for name, spec in adult_policy()["columns"].items() if name in QUASI}
        columns["age"] = {**columns["age"], "hierarchy": {"intervals": [5, 10, 20]}}
        columns["salary-class"] = {"role": "quasi", "kind": "nominal", "hierarchy": {"flat": {}}}
        columns[STATUS] = {"role": "sensitive", "kind": "nominal"}
        models: list[Any] = [KAnonymity(k=self.k)]
        if self.alp:
            models.append(AlpDif(alp=dict(self.alp), dif=dict(self.dif), on=STATUS))
        algorithm = algorithms.build("greedy-loss", {"as_printed": True} if self.as_printed else {})
        return Policy(columns=columns, models=models, algorithm=algorithm, suppression=self.v)


@dataclass(frozen=True)
class Point:
    """The results, averaged over the samples.

    Attributes
    ----------
    attacked, guarded : float
        Records in classes of one value: of any value, and of a protected one.
    prec : float
    steps : float
        Columns raised by the algorithm.
    suppressed : float
        Share of the records.
    seconds : float
        CPU seconds of the algorithm alone: the fastest of several runs, averaged over the samples.
    band : pair of float
        The fastest and the slowest of all runs.
    """

    attacked: float
    guarded: float
    prec: float
    steps: float
    suppressed: float
    seconds: float
    band: tuple[float, float]


def attacked(release: Release, column: str, protected: Sequence[str]) -> tuple[int, int]:
    """Count the records whose whole class has one sensitive value: of any value, and of a protected one.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "status": ["a", "a", "b", "b"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["status"], models=[ht.KAnonymity(k=2)])
    >>> attacked(ht.anonymize(people, policy), "status", ["a"])
    (4, 2)
    """
    labels = release.verification.labels[: release.table.num_rows]
    ranks, _ = dense_ranks(release.table.column(column))
    n = int(labels.max()) + 1
    low = np.full(n, np.iinfo(np.int64).max)
    high = np.full(n, -1, dtype=np.int64)
    np.minimum.at(low, labels, ranks)
    np.maximum.at(high, labels, ranks)
    alike = (low == high)[labels]
    guarded = pc.is_in(release.table.column(column).cast(pa.string()), value_set=pa.array(protected))
    return int(alike.sum()), int((alike & guarded.to_numpy(zero_copy_only=False)).sum())


@cache
def measured(setting: WangSetting, n: int, seed: int, repeats: int, timed: bool = False) -> Point:
    """Run a setting on several samples.

    Parameters
    ----------
    setting : WangSetting
    n, seed, repeats : int
        Size of the samples, their seed, and their number.
    timed : bool
        Whether to repeat each run for its time; otherwise no time is given.
    """
    protected = [name for name, bound in setting.alp if bound < 1] or list(PROTECTED)
    plan = setting.policy().plan()
    found, times = [], []
    for turn in range(repeats):
        table = sample(n, seed, turn)
        release = run_plan(table, plan)
        lost = 1 - release.table.num_rows / n
        counts = attacked(release, STATUS, protected)
        found.append((*counts, release.measure("prec"), release.partition.notes["steps"], lost))
        times.append(_seconds(table, plan) if timed else [0.0])
    everyone, guarded, prec, steps, lost = (float(np.mean(part)) for part in zip(*found, strict=True))
    least = float(np.mean([min(runs) for runs in times]))
    every = [seconds for runs in times for seconds in runs]
    return Point(everyone, guarded, prec, steps, lost, least, (min(every), max(every)))


def _seconds(table: pa.Table, plan: Any) -> list[float]:
    """CPU seconds of the algorithm alone, several times, after a warm-up run."""
    problem = problem_of(table, plan)
    plan.algorithm.run(problem)
    times = []
    for _ in range(_TIMES):
        begin = time.process_time()
        plan.algorithm.run(problem)
        times.append(time.process_time() - begin)
    return times
