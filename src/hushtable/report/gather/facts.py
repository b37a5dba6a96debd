"""All facts about a release, for any template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hushtable.about import summary_of
from hushtable.arrays import IntArray
from hushtable.errors import UsageError, did_you_mean
from hushtable.kernels.grouping import number_rows
from hushtable.registry import measures
from hushtable.release.comparison import Comparison, RowComparison
from hushtable.release.released import Released
from hushtable.report.content import (
    About,
    AccuracyEvidence,
    Facts,
    MeasureEvidence,
    Recipient,
    RecipientEvidence,
    Rules,
    Usefulness,
    finite,
)
from hushtable.report.gather.columns import ROUNDING, associations, binned_columns, column_evidence
from hushtable.report.gather.privacy import adversaries, attack_evidence, bands, model_evidence, risk_evidence
from hushtable.report.gather.provenance import provenance, published_files, treatment
from hushtable.risk.linkage import above
from hushtable.schema.columns import Role
from hushtable.table.ranks import dense_ranks
from hushtable.utility.classification import CLASSIFIERS, DEFAULT_CLASSIFIER

LEAST = 10
"""Minimum number of records in a bar of a histogram; more if a model requires larger classes."""


def facts_of(
    release: Any,
    about: About,
    *,
    threshold: float,
    comparison: str,
    attacks: bool | Sequence[str],
    labels: bool,
    progress: Callable[[float, str], None],
) -> Facts:
    """Gather all evidence about a release.

    Parameters
    ----------
    release : Release
    about : About
    threshold, comparison : float and str
        Defines when a person is at risk.
    attacks : bool or sequence of str
    labels : bool
        Whether to name values that enough released records share.
    progress : callable
    """
    progress(0.0, "assessing risks")
    before, after = release.origin.before(), release.origin.after(lambda: release.table)
    comparing = release.made.comparison(release.plan)
    least = max(LEAST, release.model.min_group_size())
    binned = binned_columns(release, comparing, least, named=labels)
    tried, refused = attack_evidence(release, attacks, _stage(progress, 0.05, 0.5))
    groups = release.recoded.buckets
    return Facts(
        provenance=provenance(release),
        treatment=treatment(release, after),
        models=model_evidence(release),
        adversaries=adversaries(tried),
        risks=risk_evidence(before, after, threshold, comparison),
        bands=bands(before, after),
        attacks=tried,
        attacks_not_run=refused,
        columns=column_evidence(release, comparing, binned),
        associations=associations(
            list(binned.values()),
            np.asarray(comparing.labels),
            comparing.sizes,
            None if groups is None else np.asarray(groups[: comparing.n]),
        ),
        measures=measured(comparing, _stage(progress, 0.5, 0.7)),
        accuracy=trained(comparing, _stage(progress, 0.7, 0.95)),
        rules=_rules(least, labels),
        files=published_files(release),
        recipients=recipient_evidence(release, about, threshold, comparison),
        usefulness=usefulness(release, _stage(progress, 0.95, 1.0)),
        warnings=tuple(map(str, release.cautions)),
    )


def _stage(progress: Callable[[float, str], None], begin: float, end: float) -> Callable[[float, str], None]:
    return lambda share, what: progress(begin + (end - begin) * share, what)


def _rules(least: int, labels: bool) -> Rules:
    names = (
        f"Values that at least {least} records share are named, as requested."
        if labels
        else "No value is named: values are numbered, and ranges have round ends."
    )
    return Rules(
        least=least,
        rounding=ROUNDING,
        labels=labels,
        sentences=(
            f"Every bar of a histogram represents at least {least} records of the input; smaller ones are merged or "
            "omitted.",
            f"Counts of bars are rounded to multiples of {ROUNDING}, so that differences between before and after do "
            "not reveal single records.",
            names,
            "The input is identified by a keyed hash: without the publisher's secret, nobody can find out by trial and "
            "error what it was.",
        ),
    )


# Risks by recipient: what each could link and learn with the data that it already holds.
#
# A recipient who holds some columns of people in the release finds, for each person, the published rows with the same
# cells in those columns. If these are few, the person may be found among them; if all of them have one sensitive
# value, it is learned with certainty. Columns that are published unchanged count with their exact values.


def recipient_evidence(
    release: Released, about: About, threshold: float, comparison: str
) -> tuple[RecipientEvidence, ...]:
    """Assess every recipient.

    Parameters
    ----------
    release : Released
    about : About
    threshold, comparison : float and str
        Defines when a person is at risk.

    Raises
    ------
    UsageError
        If a recipient holds a column that is not published.
    """
    if release.apart and about.recipients:
        raise UsageError(
            "Recipients cannot be assessed if sensitive values are published separately from people.",
            code="recipients",
            hint="Remove 'recipients'.",
        )
    return tuple(_assessed(release, one, threshold, comparison) for one in about.recipients)


def _assessed(release: Released, recipient: Recipient, threshold: float, comparison: str) -> RecipientEvidence:
    published = release.columns
    for name in recipient.holds:
        if name not in published:
            raise UsageError(
                f"The recipient {recipient.name!r} holds the column {name!r}, which is not published.",
                code="recipients",
                hint=did_you_mean(name, published),
            )
    groups = _groups(release, recipient.holds)
    sizes = np.bincount(groups)
    risk = 1.0 / sizes[groups]
    hidden = [name for name in release.plan.table.named(Role.SENSITIVE) if name not in recipient.holds]
    certain = {name: _certain(release, groups, sizes, name) for name in hidden}
    worst = max(certain, key=lambda name: certain[name], default=None)
    return RecipientEvidence(
        name=recipient.name,
        holds=recipient.holds,
        terms=recipient.terms,
        smallest=int(sizes.min()),
        highest=float(risk.max()),
        average=float(risk.mean()),
        share_at_risk=float(above(risk, comparison, threshold).mean()),
        learned=worst,
        share_learned=certain[worst] if worst is not None else 0.0,
    )


def _groups(release: Released, columns: tuple[str, ...]) -> IntArray:
    """Return the number of each published row's group: rows with the same cells in some columns."""
    rows = release.table.num_rows
    if not columns:
        return np.zeros(rows, dtype=np.int64)
    ranks = [dense_ranks(release.table.column(name)) for name in columns]
    return np.asarray(number_rows([r for r, _ in ranks], [n for _, n in ranks])[0], dtype=np.int64)


def _certain(release: Released, groups: IntArray, sizes: IntArray, column: str) -> float:
    """Return the share of rows in whose group all rows have the same value of a sensitive column."""
    value, distinct = dense_ranks(release.table.column(column))
    pairs = np.unique(groups * (distinct + 1) + value)
    several = np.bincount(pairs // (distinct + 1), minlength=len(sizes))
    return float((several[groups] == 1).mean())


# What the release is still good for: every registered measure, and classifiers.


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
