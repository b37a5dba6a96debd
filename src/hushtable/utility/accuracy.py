"""Classification accuracy: train on the release, test on original records.

The share of original test records whose target a classifier predicts correctly from the quasi-identifiers, after it
learned from the released rows of the training part (suppressed ones are absent). The value of the release lies between
``accuracy-majority``, which ignores quasi-identifiers, and ``accuracy-original``, which learns from the original rows;
in a small table it can fall outside. Not defined if sensitive values are published separately
from people, or if a part is empty.

References
----------
V. Iyengar, "Transforming data to satisfy privacy constraints", 2002; J. Brickell, V. Shmatikov, "The cost of
privacy: destruction of data-mining utility in anonymized data publishing", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from hushtable.utility.base import Comparison
from hushtable.utility.classification import CLASSIFIERS, DEFAULT_CLASSIFIER, ClassificationMeasure


@dataclass(frozen=True)
class Accuracy(ClassificationMeasure):
    """Accuracy on original records of a classifier trained on the release only.

    Parameters
    ----------
    model : {"tree", "logistic"}
        A decision tree of depth at most 10, as in the report, or logistic regression.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> Accuracy(model="tree", test=0.5).compute(example())
    0.5
    """

    model: Annotated[Literal["tree", "logistic"], "kind of classifier"] = DEFAULT_CLASSIFIER

    name: ClassVar[str] = "accuracy"

    def compute(self, comparison: Comparison) -> float:
        """Train on the release, test on the original."""
        task = self.task(comparison)
        return task.accuracy(task.released(), self.model) if task else float("nan")

    def about(self, comparison: Comparison) -> str:
        """The target and the classifier."""
        return f"predicting {self.target_of(comparison)!r} with {CLASSIFIERS[self.model]}"
