"""Similarity: the values of a class differ, but all belong to one category and reveal the same secret.

The categories are the policy's (``categories``, the most sensitive first). A record is attacked if all values of its
class belong to one category. Also counted: classes entirely in the first category ("top secret"), and classes with
one category over half; the paper does not define which of these are the "attribute disclosures" of its Table 10.

By definition, p+-sensitive with p >= 2 leaves no class in one category, and (p, alpha)-sensitive with alpha > 0 none
entirely in the first.

Baseline: the whole table as one class. Control: people who are not in the release, with the same reading.

References
----------
X. Sun, L. Sun, H. Wang, "Extended k-anonymity models against sensitive attribute disclosure", 2011, Tables 2-4 and
10; N. Li, T. Li, S. Venkatasubramanian, "t-closeness", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.homogeneity import agreed
from hushtable.attacks.people import People, outsiders, scored
from hushtable.attacks.view import View
from hushtable.errors import UsageError


@dataclass(frozen=True)
class Similarity(SensitiveAttack):
    """Reads the category of a person's value from a class whose values all belong to one.

    Parameters
    ----------
    external : table, optional
        People to attack, with all quasi-identifiers. Defaults to all released records.
    control : table, optional
        People who are not in the release, with quasi-identifiers and the sensitive column.
    on : str, optional
        The sensitive column; it needs categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["cancer", "HIV", "HIV", "cold"]})
    >>> disease = {"categories": {"top secret": ["HIV", "cancer"], "non secret": ["cold"]}}
    >>> policy = ht.Policy(quasi=["age"], sensitive={"disease": disease}, models=[ht.KAnonymity(k=2)])
    >>> release = ht.anonymize(table, policy)
    >>> release.attack("homogeneity").rate, release.attack("similarity").rate
    (0.0, 0.5)
    """

    external: Annotated[Any, "people to attack, with all quasi-identifiers; defaults to all records"] = None
    control: Annotated[Any, "people who are not in the release, with the sensitive column"] = None

    name: ClassVar[str] = "similarity"
    knowledge: ClassVar[str] = (
        "The adversary knows that a person is in the release, the person's quasi-identifiers, and which values reveal "
        "the same secret."
    )
    remedy: ClassVar[str] = (
        "Require values of several categories in every class: p-plus-sensitive with p of 2 or more excludes this "
        "attack, p-alpha-sensitive with alpha above 0 excludes classes entirely in the most sensitive category, and "
        "t-closeness over the value hierarchy makes them unlikely."
    )

    def run(self, view: View) -> AttackResult:
        """Count the records whose class belongs to one category."""
        column = self.column(view)
        if column.categories is None:
            raise UsageError(
                f"The similarity attack needs sensitivity categories, and column {column.name!r} has none.",
                code="no-categories",
                hint="Declare them in the policy, the most sensitive first: categories: {secret: [...], ...}.",
            )
        histogram = view.histogram(column).relabel(column.categories)
        one = histogram.lengths == 1
        top = one & (histogram.min(histogram.values, empty=-1.0) == 0)
        most = histogram.max(histogram.units) * 2 > histogram.sum(histogram.units)
        baseline = float(view.whole(column).relabel(column.categories).lengths[0] == 1)
        counts = {
            **view.base_counts(),
            "records in one category": int(view.sizes[one].sum()),
            "classes in one category": int(one.sum()),
            "records in the first category alone": int(view.sizes[top].sum()),
            "classes in the first category alone": int(top.sum()),
            "records with a category over half": int(view.sizes[most].sum()),
            "classes with a category over half": int(most.sum()),
        }
        outside = outsiders(view, self.control)
        control = None
        if outside is not None:
            guess, value = agreed(view, outside, histogram), scored(outside, column.name)
            control = float(np.mean((guess >= 0) & (value >= 0) & (guess == column.categories[value])))
        if self.external is None:
            return self.result(len(view.released), int(view.sizes[one].sum()), baseline, counts, control)
        people = People.of_table(view, self.external)
        known = int(np.count_nonzero(agreed(view, people, histogram) >= 0))
        return self.result(len(people), known, baseline, counts, control)
