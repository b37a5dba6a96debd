"""(alp, dif)-anonymity.

Symbol: (alp, dif). For a protected sensitive value s, LP_s of a class is the share of its people who have s. The
average leakage probability of a table, ALP_s = sum(y_i * y_i / x_i) / sum(y_i) over its classes of x_i people, y_i of
whom have s, is the average leakage for a person with s. Every protected value satisfies

- ALP_s <= alp_s, and
- LP_s - ALP_s <= dif_s in every class.

A value without an entry is not protected (a bound of 1 never applies), so each value gets the protection it needs.
For the k of the paper's model, add ``k-anonymity``.

The average covers only the published classes, so suppression changes it. Merging classes never raises it (Theorem 1).
A single class reaches the minimum, which is the value's share of the table (Theorem 2), with a difference of zero. So
a bound below that share is infeasible, and any other can be met. However, the model does not survive merging: Theorem
3 covers the merged class with the higher leakage, but in a class that is not merged the difference grows as the
average falls.

When to use
-----------
When each sensitive value needs its own bounds, on average over the table and for single classes.

When not
--------
When every class must be bounded absolutely: the average may hide a bad class up to ``dif``. It is not monotone, so
searches cannot prune.

Cost
----
Evaluates the whole table at every step; slower than models of single classes.

References
----------
Q. Wang, Z. Xu, S. Qu, "An enhanced k-anonymity model against homogeneity attack", 2011.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from hushtable.arrays import BoolArray, FloatArray, IntArray, places_among
from hushtable.errors import Infeasible, ParameterError
from hushtable.models.alpha_k import known_codes
from hushtable.models.base import Monotone, Quantity, Sense, SensitiveModel, compare
from hushtable.params import Constraint, OfValues
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats


@dataclass(frozen=True)
class Probabilities(Constraint):
    """Every number of a mapping lies between 0 and 1."""

    def holds(self, value: Any) -> bool:
        """Whether all numbers lie in [0, 1]."""
        return all(0 <= number <= 1 for number in value.values())

    def sentence(self) -> str:
        """Return the words that follow the type's name."""
        return "in [0, 1]"

    def schema(self) -> dict[str, Any]:
        """Return the bounds of the values."""
        return {"additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}


@dataclass(frozen=True)
class AlpDif(SensitiveModel):
    """Each protected value leaks little on average, and not much more in any class.

    Score of a class: the worst excess over a bound, max(ALP_s - alp_s, LP_s - ALP_s - dif_s), over the protected
    values in the class; -1 if there are none. Satisfied when score <= 0.

    Parameters
    ----------
    alp : mapping of str to float
        Value -> maximum average leakage probability.
    dif : mapping of str to float
        Value -> maximum excess of a class's leakage probability over the average.
    on : str or list of str, optional
        The sensitive column.

    Examples
    --------
    >>> groups = GroupStats.of(sizes=[4, 2], illness=[[2, 1, 1, 0], [0, 0, 0, 2]])
    >>> table = Reference.of(6, Attribute.of("illness", ["HIV", "cancer", "cold", "fever"], [2, 1, 1, 2]))
    >>> AlpDif(alp={"HIV": 0.5, "cancer": 0.25}, on="illness").satisfied(groups, table).tolist()
    [True, True]
    >>> AlpDif(alp={"HIV": 0.4}, on="illness").score(groups, table).round(3).tolist()
    [0.1, -1.0]
    """

    alp: Annotated[Mapping[str, float], Probabilities(), OfValues(), "value -> maximum average leakage probability"]
    dif: Annotated[
        Mapping[str, float], Probabilities(), OfValues(), "value -> maximum excess of a class over the average"
    ] = field(default_factory=dict)

    name: ClassVar[str] = "alp-dif"
    bounded_by: ClassVar[float] = 0.0  # the score is an excess
    monotone: ClassVar[Monotone] = Monotone.NONE
    sense: ClassVar[Sense] = "<="
    table_level: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.protected:
            raise ParameterError(
                "AlpDif protects no value: both 'alp' and 'dif' are empty.", hint="Set at least one bound."
            )

    def __hash__(self) -> int:
        return hash((tuple(sorted(self.alp.items())), tuple(sorted(self.dif.items())), self.on))

    @property
    def protected(self) -> tuple[str, ...]:
        """The labels of the protected values, sorted."""
        return tuple(sorted({*self.alp, *self.dif}))

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        """The worst excess over a bound, per group."""
        entries, excess = self._excess(groups, self.attribute(table))
        histogram = self.histogram(groups)
        worst = np.full(len(histogram.values), -1.0)
        worst[entries] = excess
        return histogram.max(worst, empty=-1.0)

    def quantities(self, groups: GroupStats, table: Reference) -> tuple[Quantity, ...]:
        """The average leakage and the largest excess over it, each for the value closest to its bound."""
        attribute = self.attribute(table)
        codes, alp, dif = self._bounds(attribute)
        _, owner, value, average, leakage = self._leakage(groups, attribute)
        beyond = np.zeros(len(codes))
        np.maximum.at(beyond, value, leakage - average[owner, value])
        found = []
        for symbol, given, bounds, reached in (
            ("alp", self.alp, alp, average.max(axis=0, initial=0.0)),
            ("dif", self.dif, dif, beyond),
        ):
            own = [i for i, code in enumerate(codes) if attribute.labels[code] in given]
            if own:
                at = max(own, key=lambda i, r=reached, b=bounds: float(r[i] - b[i]))  # type: ignore[misc]
                # messages do not show values: the position among the bounds identifies the value
                place = list(given).index(attribute.labels[codes[at]]) + 1
                found.append(Quantity(f"{symbol} of value {place}", "<=", float(bounds[at]), reached[at : at + 1]))
        return tuple(found)

    def average_leakage(self, groups: GroupStats, table: Reference) -> FloatArray:
        """ALP of every protected value (in the order of ``protected``), one row per candidate table."""
        return self._leakage(groups, self.attribute(table))[3]

    def contributes(self, groups: GroupStats, table: Reference) -> BoolArray:
        """Mark every value except the one with the worst excess: any other record dilutes it.

        The default would add a record to all groups of the table at once.
        """
        attribute, histogram = self.attribute(table), self.histogram(groups)
        entries, excess = self._excess(groups, attribute)
        owner = histogram.groups[entries]
        out = np.zeros((len(groups), attribute.n_values), dtype=np.bool_)
        out[owner] = True
        worst = excess >= self.score(groups, table)[owner]
        out[owner[worst], histogram.values[entries[worst]]] = False
        return out

    def feasible(self, table: Reference) -> Infeasible | None:
        """Check whether a bound is below the value's share of the table, the minimum that a single class reaches."""
        attribute = self.attribute(table)
        codes, alp, _ = self._bounds(attribute)
        share = attribute.distribution()[codes]
        violated = np.flatnonzero(~compare(share, "<=", alp))
        if not len(violated):
            return None
        at = int(violated[0])
        # messages do not show values: the position among the bounds identifies the value
        place = list(self.alp).index(attribute.labels[codes[at]]) + 1
        return Infeasible(
            f"alp={alp[at]:g} for value {place} of 'alp', but that value makes up {share[at]:.6g} of "
            f"{attribute.name!r}, and no grouping leaks less on average.",
            hint=f"Raise alp for it to {np.ceil(share[at] * 1e4) / 1e4:g} or more.",
        )

    def _bounds(self, attribute: Attribute) -> tuple[IntArray, FloatArray, FloatArray]:
        codes = known_codes(attribute, self.protected)
        labels = [attribute.labels[code] for code in codes]
        alp = np.array([self.alp.get(label, 1.0) for label in labels])
        dif = np.array([self.dif.get(label, 1.0) for label in labels])
        return np.array(codes, dtype=np.int64), alp, dif

    def _leakage(
        self, groups: GroupStats, attribute: Attribute
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]:
        """Entries of protected values, their tables and columns; ALP (table x value); LP per entry."""
        codes = self._bounds(attribute)[0]
        column = places_among(codes, attribute.n_values)
        histogram = self.histogram(groups)
        entries = np.flatnonzero(column[histogram.values] >= 0)
        value = column[histogram.values[entries]]
        offsets = groups.table_offsets()
        table_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        owner = table_of[histogram.groups[entries]]
        leakage = histogram.shares()[entries]
        shape = (len(offsets) - 1, len(codes))
        cell, cells = owner * len(codes) + value, shape[0] * shape[1]
        each = histogram.counts[entries] * leakage
        # sorted, so that the sum does not depend on the order of the groups
        order = np.lexsort((each, cell))
        leaked = np.bincount(cell[order], weights=each[order], minlength=cells)
        having = np.bincount(cell, weights=histogram.units[entries], minlength=cells) / histogram.unit
        average = np.divide(leaked, having, out=np.zeros(cells), where=having > 0).reshape(shape)
        return entries, owner, value, average, leakage

    def _excess(self, groups: GroupStats, attribute: Attribute) -> tuple[IntArray, FloatArray]:
        """Entries of protected values, and how far each exceeds the worse of its two bounds."""
        _, alp, dif = self._bounds(attribute)
        entries, owner, value, average, leakage = self._leakage(groups, attribute)
        mean = average[owner, value]
        return entries, np.maximum(mean - alp[value], leakage - mean - dif[value])
