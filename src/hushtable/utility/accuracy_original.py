"""Classification accuracy without anonymization: the upper baseline of ``accuracy``.

Same target, split, features and classifier, but trained on the original rows of the training part, including the
suppressed ones.

References
----------
J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data publishing",
2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from hushtable.utility.base import Comparison
from hushtable.utility.classification import CLASSIFIERS, DEFAULT_CLASSIFIER, ClassificationMeasure


@dataclass(frozen=True)
class AccuracyOriginal(ClassificationMeasure):
    """Accuracy on original records of a classifier trained on original records.

    Parameters
    ----------
    model : {"tree", "logistic"}
        A decision tree of depth at most 10, as in the report, or logistic regression.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> AccuracyOriginal(model="tree", test=0.5).compute(example())
    0.5
    """

    model: Annotated[Literal["tree", "logistic"], "kind of classifier"] = DEFAULT_CLASSIFIER

    name: ClassVar[str] = "accuracy-original"

    def compute(self, comparison: Comparison) -> float:
        """Train on the original, test on the original."""
        task = self.task(comparison)
        return task.accuracy(task.originals(task.trained), self.model) if task else float("nan")

    def about(self, comparison: Comparison) -> str:
        """The target and the classifier."""
        return f"predicting {self.target_of(comparison)!r} with {CLASSIFIERS[self.model]}"
