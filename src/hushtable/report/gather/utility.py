"""What the release is still good for: every registered measure, and classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hushtable.registry import measures
from hushtable.release.cautions import cautions
from hushtable.release.comparison import Comparison, RowComparison
from hushtable.report.content.base import finite
from hushtable.report.content.report import Usefulness
from hushtable.report.content.utility import AccuracyEvidence, MeasureEvidence
from hushtable.report.gather.words import summary_of
from hushtable.utility.classification import CLASSIFIERS, DEFAULT_CLASSIFIER

__all__ = ["measured", "trained", "usefulness", "warnings"]

_TRIO = ("accuracy-majority", "accuracy", "accuracy-original")


def measured(comparison: Comparison, progress: Callable[[float, str], None]) -> tuple[MeasureEvidence, ...]:
    """Compute every measure but the classifiers."""
    names = [name for name in measures if name not in _TRIO]
    found = []
    for i, name in enumerate(names):
        progress(i / len(names), f"measuring: {name}")
        measure = measures.build(name)
        found.append(
            MeasureEvidence(
                name=name,
                summary=summary_of(type(measure)),
                value=finite(float(measure.compute(comparison))),
                better=measure.better,
            )
        )
    return tuple(found)


def usefulness(release: Any, progress: Callable[[float, str], None]) -> Usefulness | None:
    """Assess what the release is still good for; None if its original is not available."""
    if release.source is None:
        return None
    progress(0.0, "assessing the release")
    found = release.verdict
    return Usefulness(grade=found.grade, words=found.words, changes=tuple(map(str, found.changes)))


def warnings(release: Any) -> tuple[str, ...]:
    """Return what the policy does not protect."""
    table = None if release.source is None else release.original()
    plan = release.plan
    found = cautions(plan.table, plan.model(), tuple(plan.document.get("publish") or ()), table)
    return tuple(map(str, found))


def trained(comparison: RowComparison, progress: Callable[[float, str], None]) -> tuple[AccuracyEvidence, ...]:
    """Train and test a classifier for every sensitive column; none if sensitive values are published separately."""
    if not comparison.linked or any(name not in measures for name in _TRIO):
        return ()
    found = []
    for i, column in enumerate(comparison.table.sensitive):
        progress(i / len(comparison.table.sensitive), "training a classifier")
        values = {}
        for name in _TRIO:
            values[name] = finite(float(measures.build(name, {"target": column.name}).compute(comparison)))
        found.append(
            AccuracyEvidence(
                target=column.name,
                classifier=CLASSIFIERS[DEFAULT_CLASSIFIER].removeprefix("a "),
                majority=values[_TRIO[0]],
                release=values[_TRIO[1]],
                original=values[_TRIO[2]],
            )
        )
    return tuple(found)
