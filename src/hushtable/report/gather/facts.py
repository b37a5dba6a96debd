"""All facts about a release, for any template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.report.content.report import Facts, Rules
from hushtable.report.gather.associations import associations
from hushtable.report.gather.attacks import attack_evidence
from hushtable.report.gather.columns import ROUNDING, binned_columns, column_evidence
from hushtable.report.gather.privacy import adversaries, bands, model_evidence, risk_evidence
from hushtable.report.gather.provenance import provenance, published_files, treatment
from hushtable.report.gather.recipients import recipient_evidence
from hushtable.report.gather.utility import measured, trained, usefulness, warnings

if TYPE_CHECKING:
    from hushtable.report.content.about import About

__all__ = ["LEAST", "facts_of"]

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
        warnings=warnings(release),
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
