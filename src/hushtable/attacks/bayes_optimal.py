"""Bayes-optimal adversary: knows a joint distribution f of quasi-identifiers and values, and updates it by the release.

Prior alpha = f(s|q); posterior beta as in ``models/bayes_optimal.py``, which has the formula. A person is attacked
if the belief in some value changes by ``theta`` or more. f is

- ``background``: a table with the quasi-identifiers, the sensitive column and a column ``probability`` that adds up
  to 1 over the rows; or
- ``outside``: records of other people, whose shares serve as f; or
- without either, the policy's own ``background`` table, if it has one for this column; or
- without any of them, the value's share in the whole table for everybody: the posterior is its share in the class.

People whose quasi-identifiers do not occur in f are judged by the last.

Baseline: without the release no belief changes, so it is 0.

References
----------
A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; T. Allard, "Partition-based models", 2023,
"Formalizing the Bayes-Optimal Model" and its example.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.arrays import FloatArray, IntArray, places_among
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.matching import candidates
from hushtable.attacks.people import People, scored
from hushtable.attacks.view import View
from hushtable.errors import DataError, ParameterError
from hushtable.io.frames import to_arrow
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import compare
from hushtable.models.bayes_optimal import BayesOptimal as Model
from hushtable.models.bayes_optimal import Beliefs
from hushtable.params import Between
from hushtable.release.recode import class_numbers
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

PROBABILITY = "probability"
"""The column of a background table that contains f."""

_UNIT = 1 << 40
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class BayesOptimalAttack(SensitiveAttack):
    """Updates a joint distribution with the release, and counts the people whose beliefs change by theta.

    Parameters
    ----------
    theta : float
        Change of belief that counts as a breach.
    background : table, optional
        The joint distribution: quasi-identifiers, sensitive column and ``probability``. Defaults to the policy's.
    outside : table, optional
        Records of other people to estimate it from.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"age": [25, 26, 52, 53], "disease": ["flu", "HIV", "flu", "flu"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(table, policy).attack("bayes-optimal", theta=0.3)
    >>> result.rate, result.counts["greatest change"]
    (0.0, 0.25)
    """

    theta: Annotated[float, Between(0, 1, closed="right"), "change of belief that counts as a breach"] = 0.2
    background: Annotated[Any, "joint distribution: quasi-identifiers, sensitive column, probability"] = None
    outside: Annotated[Any, "records of other people to estimate the joint distribution from"] = None

    name: ClassVar[str] = "bayes-optimal"
    knowledge: ClassVar[str] = (
        "The adversary knows a person's quasi-identifiers, that the person is in the release, and how values are "
        "distributed given quasi-identifiers."
    )
    remedy: ClassVar[str] = (
        "Add bayes-optimal with an acceptable theta, and with the adversary's background table if you have one; "
        "t-closeness and beta-likeness bound the same change against an adversary who knows the whole table's shares."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.background is not None and self.outside is not None:
            raise ParameterError("BayesOptimalAttack accepts 'background' or 'outside', not both.")

    def run(self, view: View) -> AttackResult:
        """Check every class, and count the records of people whose beliefs change."""
        column = self.column(view)
        labels, records = view.labels[view.released], len(view.released)
        changed = self._shares(view, column)[labels]
        known = np.zeros(records, dtype=np.bool_)
        if self.background is not None or self.outside is not None or _has_own(view, column):
            informed = self._informed(view)
            known = ~np.isnan(informed)
            changed = np.where(known, informed, changed)
        breach = compare(changed, ">=", self.theta)
        counts = {
            **view.base_counts(),
            "attacked records": int(breach.sum()),
            "attacked classes": len(np.unique(labels[breach])),
            "records known to the background": int(known.sum()),
            "greatest change": float(changed.max()),
            "mean change": float(changed.mean()),
        }
        return self.result(records, int(breach.sum()), 0.0, counts)

    def beliefs(self, view: View) -> tuple[Beliefs, People, IntArray]:
        """Return prior and posterior of every (class, q, value) in the background, and the people with each q.

        Returns
        -------
        beliefs : Beliefs
        people : People
            The rows of the background.
        first : int64 array
            A row of ``people`` for each q.
        """
        column = self.column(view)
        people, mass = self._joint(view, column)
        sizes = [c.coded.size + len(u.paths) + 1 for c, u in zip(view.table.quasi, people.unseen, strict=True)]
        quasi, first = number_rows([codes + 1 for codes in people.codes], sizes)
        offsets, classes = candidates(view, people)
        owner = np.repeat(np.arange(len(people)), np.diff(offsets))
        value, n_values = self._values(people, column)
        joint = Histogram.from_pairs(classes, quasi[owner] * n_values + value[owner], mass[owner], view.n_groups, _UNIT)
        groups = GroupStats(view.sizes, histograms={(column.name,): view.histogram(column)}, background=joint)
        return Model(theta=self.theta, background=True, on=column.name).beliefs(
            groups, self._reference(view, column, n_values)
        ), people, first  # fmt: skip

    def _informed(self, view: View) -> FloatArray:
        """Return the largest change of belief about each released record; NaN if f does not contain its q."""
        beliefs, people, first = self.beliefs(view)
        change = np.where(np.isnan(beliefs.posterior), 1.0, np.abs(beliefs.prior - beliefs.posterior))
        change = np.maximum(change, beliefs.surprise)
        key = beliefs.group * len(first) + beliefs.quasi
        distinct, place = np.unique(key, return_inverse=True)
        worst = np.zeros(len(distinct))
        np.maximum.at(worst, place, change)
        # a record is looked up by its class and its quasi-identifiers
        here = [people.codes[j][first] for j in range(len(people.codes))]
        mine = [c.codes[view.released].astype(np.int64) for c in view.table.quasi]
        sizes = [int(max(a.max(initial=0), b.max(initial=0))) + 2 for a, b in zip(here, mine, strict=True)]
        numbers, _ = number_rows([np.concatenate([a, b]) + 1 for a, b in zip(here, mine, strict=True)], sizes)
        quasi = places_among(numbers[: len(first)], int(numbers.max()) + 1)[numbers[len(first) :]]
        wanted = view.labels[view.released] * len(first) + quasi
        at = np.minimum(np.searchsorted(distinct, wanted), max(len(distinct) - 1, 0))
        found = (quasi >= 0) & (distinct[at] == wanted) if len(distinct) else np.zeros(len(wanted), dtype=np.bool_)
        return np.where(found, worst[at] if len(distinct) else np.nan, np.nan)

    def _shares(self, view: View, column: SensitiveColumn) -> FloatArray:
        groups = GroupStats(view.sizes, histograms={(column.name,): view.histogram(column)})
        return Model(theta=self.theta, on=column.name).score(groups, self._reference(view, column))

    def _values(self, people: People, column: SensitiveColumn) -> tuple[IntArray, int]:
        """Return the value of each row, and the number of possible values.

        Values that do not occur in the original get the numbers after its own: they are believed before the release,
        and not after it.
        """
        value = scored(people, column.name, "The background table")
        new = np.flatnonzero(value < 0)
        if not len(new):
            return value, column.coded.size
        cells = to_arrow(self.background if self.outside is None else self.outside).column(column.name)
        number, n = class_numbers([cells.take(pa.array(new))])
        out = value.copy()
        out[new] = column.coded.size + number
        return out, column.coded.size + n

    def _reference(self, view: View, column: SensitiveColumn, n_values: int | None = None) -> Reference:
        size = n_values or column.coded.size
        units = np.bincount(view.values(column), minlength=size).astype(np.int64)
        labels = [*(label or "" for label in column.coded.labels[0]), *[""] * (size - column.coded.size)]
        return Reference(
            units=len(view.released), unit=1, attributes={(column.name,): Attribute.of(column.name, labels, units)},
            background_values=size, background_on=column.name,
        )  # fmt: skip

    def _joint(self, view: View, column: SensitiveColumn) -> tuple[People, IntArray]:
        if self.outside is not None:
            people = People.of_table(view, self.outside, "The outside table")
            scored(people, column.name, "The outside table")
            return people, np.ones(len(people), dtype=np.int64)
        if self.background is None:
            return _own(view, column)
        table = to_arrow(self.background)
        people = People.of_table(view, table, "The background table")
        if PROBABILITY not in table.column_names:
            raise DataError(
                f"The background table lacks the column {PROBABILITY!r}.",
                code="absent-columns",
                hint="It holds the joint distribution: one row per combination, adding up to 1.",
            )
        try:
            mass = np.asarray(table.column(PROBABILITY).cast(pa.float64()).to_numpy())
        except pa.ArrowInvalid:
            raise DataError(f"The column {PROBABILITY!r} of the background table contains text.", code="no-distribution"
                            ) from None  # fmt: skip
        if not np.isfinite(mass).all() or (mass < 0).any() or abs(float(mass.sum()) - 1.0) > _SUM_TOLERANCE:
            raise DataError(
                f"The joint distribution does not add up to 1: its {len(mass):,} rows add up to {mass.sum():.6g}, or "
                "one is negative or missing.",
                code="no-distribution",
                hint=f"Divide the column {PROBABILITY!r} by its sum.",
            )
        return people, np.rint(mass * _UNIT).astype(np.int64)


def _has_own(view: View, column: SensitiveColumn) -> bool:
    """Whether the policy has a background table for this column."""
    own = bool(view.table.background_rows) and not view.table.bandwidths
    return own and view.table.background_on == column.name


def _own(view: View, column: SensitiveColumn) -> tuple[People, IntArray]:
    """Return the rows of the policy's background table, which are coded with the original, and their mass."""
    table = view.table
    people = People.of_rows(view, np.arange(table.background_rows.start, table.background_rows.stop))
    value = np.asarray(table.background_codes, dtype=np.int64) % column.coded.size
    return replace(people, sensitive={column.name: value}), table.background_mass
