"""Composition: what several releases of the same people reveal in combination.

A person who is in several releases is in one class of each; the person's value is in all of those classes, so it is in
their intersection. The attack succeeds if one value is left. Everybody is looked up in the other releases by
quasi-identifiers and published cells (if several classes cover a person, the union of their values counts). The
targets are the records of this release that are also in every other original, with the same quasi-identifiers and
value.

Without another release, the attack is refused: pass the earlier releases as ``others``.

Baseline: the best result of the homogeneity attack on a single release.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import BoolArray, IntArray, mask_of
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.matching import match_chunks
from hushtable.attacks.people import People
from hushtable.attacks.view import View
from hushtable.errors import UsageError
from hushtable.hierarchy.base import Coded
from hushtable.kernels.grouping import number_rows
from hushtable.table.coded_columns import SensitiveColumn


@dataclass(frozen=True)
class Composition(SensitiveAttack):
    """Intersects the classes of a person in several releases.

    Parameters
    ----------
    others : Release or list of Release
        Other releases with the same quasi-identifiers and sensitive column.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import hushtable as ht
    >>> first = pa.table({"age": [25, 26, 52, 53], "disease": ["flu", "HIV", "gout", "cold"]})
    >>> second = pa.table({"age": [25, 24, 90, 91], "disease": ["flu", "gout", "gout", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> result = ht.anonymize(first, policy).attack("composition", others=ht.anonymize(second, policy))
    >>> result.targets, result.successes, result.baseline
    (1, 1, 0.0)
    """

    others: Annotated[Any, "another release of the same people, or several"] = None

    name: ClassVar[str] = "composition"
    knowledge: ClassVar[str] = (
        "The adversary knows a person's quasi-identifiers, and that the person is in all of the releases."
    )
    remedy: ClassVar[str] = (
        "Partition-based models do not compose. Keep a ledger of releases of the same people ('hushtable ledger "
        "check' refuses a release that breaks a model in combination with earlier ones), publish a changing table "
        "under m-invariance, or release only once: if the classes stay the same, intersections reveal nothing."
    )

    def run(self, view: View) -> AttackResult:
        """Intersect, and count the people with one value left."""
        column = self.column(view)
        views = [View.of(release) for release in self._releases()]
        theirs = [_same(other, view, column) for other in views]
        targets = view.released
        for other, other_column in zip(views, theirs, strict=True):
            targets = targets[_in_both(view, column, targets, other, other_column)]
        labels = view.labels[targets]
        own = _values_of_classes(view, column)
        left = own[labels]
        alone = [left.sum(axis=1) == 1]
        for other, other_column in zip(views, theirs, strict=True):
            people = _translate(view, targets, other)
            found = _values(other, other_column, people)
            place = _translation(column.coded, other_column.coded)
            mapped = np.zeros((len(targets), column.coded.size), dtype=np.bool_)
            mapped[:, place >= 0] = found[:, place[place >= 0]]
            # values that this original does not have stand in the other's classes all the same
            alone.append(found.sum(axis=1) == 1)
            left = left & mapped
        one = left.sum(axis=1) == 1
        n = max(len(targets), 1)
        counts = {
            **view.base_counts(),
            "releases": 1 + len(views),
            "people in all releases": len(targets),
            "mean values left": float(left.sum(axis=1).mean()) if len(targets) else 0.0,
        }
        baseline = max(float(np.count_nonzero(a)) / n for a in alone)
        return self.result(len(targets), int(one.sum()), baseline, counts)

    def _releases(self) -> list[Any]:
        given = list(self.others) if isinstance(self.others, list | tuple) else [self.others]
        if self.others is None or not given:
            raise UsageError(
                "The composition attack needs another release of the same people.",
                code="no-other-release",
                hint="Give it with --other RELEASE_DIR, or in Python: release.attack('composition', others=[earlier]).",
            )
        return given


def _same(other: View, view: View, column: SensitiveColumn) -> SensitiveColumn:
    """Return the other release's column of that name, if it also has the same quasi-identifiers."""
    names = [c.name for c in view.table.quasi]
    found = {c.name: c for c in other.table.sensitive}
    absent = sorted(set(names) ^ {c.name for c in other.table.quasi}) + [column.name] * (column.name not in found)
    if absent:
        raise UsageError(
            f"The other release differs in the columns {', '.join(map(repr, absent))}.",
            code="absent-columns",
            hint="Releases are intersected on the same quasi-identifiers and sensitive column.",
        )
    return found[column.name]


def _decoded(view: View, rows: IntArray) -> pa.Table:
    """Return the quasi-identifiers of these original rows as values."""
    return pa.table({c.name: _value(c.coded, c.codes[rows]) for c in view.table.quasi})


def _value(coded: Coded, codes: Any) -> pa.Array:
    place = codes.astype(np.int64) - int(coded.missing)
    return coded.values.take(pa.array(place, mask=place < 0))


def _translate(view: View, rows: IntArray, other: View) -> People:
    """Return people of one original in the codes of another."""
    return People.of_table(other, _decoded(view, rows)) if len(rows) else People.of_rows(other, rows)


def _translation(mine: Coded, theirs: Coded) -> IntArray:
    """Return the other release's code of each code of this release; -1 if it has none."""
    values = theirs.values if theirs.values.type == mine.values.type else theirs.values.cast(mine.values.type)
    place = pc.index_in(mine.values, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    place = np.where(place >= 0, place + int(theirs.missing), -1)
    return np.concatenate([[0 if theirs.missing else -1], place]) if mine.missing else place


def _in_both(
    view: View, column: SensitiveColumn, rows: IntArray, other: View, other_column: SensitiveColumn
) -> BoolArray:
    """Return which rows have a released row of the other original with the same quasi-identifiers and value."""
    if not len(rows):
        return np.zeros(0, dtype=np.bool_)
    people = _translate(view, rows, other)
    value = _translation(column.coded, other_column.coded)[column.codes[rows].astype(np.int64)]
    there = [c.codes[other.released].astype(np.int64) for c in other.table.quasi]
    there.append(other.values(other_column))
    both = [np.concatenate([a, b]) + 1 for a, b in zip(there, [*people.codes, value], strict=True)]
    numbers, first = number_rows(both, [int(b.max()) + 1 for b in both])
    return mask_of(numbers[: len(other.released)], len(first))[numbers[len(other.released) :]]


def _values_of_classes(view: View, column: SensitiveColumn) -> BoolArray:
    histogram = view.histogram(column)
    out = np.zeros((view.n_groups, column.coded.size), dtype=np.bool_)
    out[histogram.groups, histogram.values] = True
    return out


def _values(view: View, column: SensitiveColumn, people: People) -> BoolArray:
    """Return which values the classes that cover each person hold."""
    of_class = _values_of_classes(view, column).astype(np.float32)
    out = np.zeros((len(people), column.coded.size), dtype=np.bool_)
    for part, inside in match_chunks(view, people):
        out[part] = inside.astype(np.float32) @ of_class > 0
    return out
