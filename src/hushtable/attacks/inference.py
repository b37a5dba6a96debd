"""Inference: a classifier learns from the release what quasi-identifiers reveal about a sensitive column.

It is trained on the published cells and values, and applied to the original quasi-identifiers of the people in the
release. A column with more than 10 numbers or dates is cut at its quartiles, as in the accuracy measures.

Baseline: always the most frequent value. Control: a classifier trained on half of the release and applied to the
people of the other half. Its success is statistical knowledge, which a useful release reveals on purpose; only the
excess was learned from a person's own record.

References
----------
Article 29 Working Party, "Opinion 05/2014 on anonymisation techniques" (WP216), 2014, on inference; J. Brickell,
V. Shmatikov, "The cost of privacy", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from hushtable.arrays import IntArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.linkage import sample
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.params import AtLeast
from hushtable.release.comparison import RowComparison
from hushtable.utility.classification import Task


@dataclass(frozen=True)
class Inference(SensitiveAttack):
    """Predicts a person's value with a classifier trained on the release.

    Parameters
    ----------
    classifier : {"tree", "logistic"}
    targets : int
        Maximum number of released records used for training and testing, drawn at random.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 27, 52, 53, 54], "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=3)])
    >>> result = ht.anonymize(table, policy).attack("inference")
    >>> result.rate, result.baseline
    (1.0, 0.5)
    """

    classifier: Annotated[Literal["tree", "logistic"], "classifier that learns from the release"] = "tree"
    targets: Annotated[int, AtLeast(2), "maximum number of records used for training and testing, drawn at random"] = (
        500_000
    )

    name: ClassVar[str] = "inference"
    knowledge: ClassVar[str] = (
        "The adversary knows a person's exact quasi-identifiers, and trains a classifier on the release."
    )
    remedy: ClassVar[str] = (
        "If the rate exceeds the control, the release reveals individual records: raise k, or add t-closeness or "
        "beta-likeness, which bound what any class reveals. If both exceed the baseline, the release reveals a "
        "statistical fact that also holds for people outside it; only coarser quasi-identifiers hide it."
    )

    def _draw_records(self, view: View) -> IntArray | None:
        """Return the records used for training and testing, in a separate order; None for all."""
        return None if len(view.released) <= self.targets else sample(view, self.targets, "inference/targets")

    def run(self, view: View) -> AttackResult:
        """Train on all and test on all; then train on one half and test on the other."""
        column = self.column(view)
        k = max(int(view.sizes[view.sizes > 0].min()), 1)
        comparison = RowComparison(view.table, view.labels, view.cells, k=k, seed=view.seed)
        some = self._draw_records(view)
        split = Task.of(comparison, column.name, 0.5, some)
        known = (split.target >= 0) & (view.labels >= 0) if split is not None else np.zeros(0, dtype=np.bool_)
        if split is None or not known.any():
            raise UsageError(
                f"The inference attack needs known values, and column {column.name!r} has none.",
                code="no-values",
                hint="Choose another column with `on`.",
            )
        training = replace(split, tested=np.zeros(comparison.n, dtype=np.bool_)).released()
        rate = replace(split, tested=known).accuracy(training, self.classifier)
        halves = replace(split, tested=split.tested & known)
        control = halves.accuracy(halves.released(), self.classifier)
        targets = int(known.sum())
        most = int(np.bincount(split.target[known]).max())
        counts = {**view.base_counts(), "values to tell apart": len(np.unique(split.target[known]))}
        if some is not None:
            counts["records sampled"] = len(some)
        return self.result(
            targets, round(rate * targets), most / targets, counts, None if np.isnan(control) else control
        )
