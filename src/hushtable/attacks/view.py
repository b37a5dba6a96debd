"""The view of an adversary: the published classes with their cells and values, the policy, and the original.

Classes are those of the published table (rows with equal cells). The original is used to score guesses, and as the
adversary's outside knowledge of quasi-identifiers if an attack says so.

A bucketization publishes exact quasi-identifiers, and values by group only. Attacks on values see its groups as
classes, whose cells are the sets of their members' values; attacks on identities see ``identity``: the exact cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Problem
from hushtable.algorithms.earlier import Counterfeits
from hushtable.arrays import IntArray
from hushtable.kernels.grouping import count_rows
from hushtable.models.compose import AllOf
from hushtable.registry import algorithms, guards
from hushtable.release.forms.base import Cells
from hushtable.release.forms.bucket import cells_of_buckets
from hushtable.release.guard import Guard
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import Histogram
from hushtable.treatments.treating import looked_up, prepared

if TYPE_CHECKING:
    from hushtable.release.released import Released


@dataclass(frozen=True)
class View:
    """A release as seen by an adversary and by the scoring.

    Attributes
    ----------
    published : pyarrow.Table
    policy : mapping
        The policy document, which is public and known to the adversary.
    cells : tuple of Cells
        The published cells of each class, one per quasi-identifier.
    table : EncodedTable
        The original.
    labels : int64 array
        The class of every original record; -1 for suppressed ones.
    rows : int64 array
        The original record of every published row.
    model : AllOf
        The policy's models, bound to their columns.
    seed : int
    exact : View, optional
        The release of a bucketization by its exact quasi-identifiers.
    counterfeits : Counterfeits, optional
        Published rows that belong to nobody, and are not in ``published`` and ``rows``: they hide values, but no
        people.
    problem : Problem, optional
        The algorithm's input, for replays.
    untreated : pyarrow.Table, optional
        If columns were treated, the values that the adversary looks for and that guesses are scored with: the true
        values, or the nearest ones that a treatment left. ``table`` then has the values that the release was made of.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> view = View.of(ht.anonymize(people, policy))
    >>> view.sizes.tolist(), view.histogram(view.table.sensitive[0]).distinct().tolist()
    ([2, 2], [2, 2])
    """

    published: pa.Table
    policy: Mapping[str, Any]
    cells: tuple[Cells, ...]
    table: EncodedTable
    labels: IntArray
    rows: IntArray
    model: AllOf
    seed: int = 0
    exact: View | None = None
    counterfeits: Counterfeits | None = None
    problem: Problem | None = None
    untreated: pa.Table | None = None

    @classmethod
    def of(cls, release: Released) -> View:
        """Create the view of a release."""
        table, recoded = release.encoded, release.recoded
        real = release.source_rows >= 0
        view = cls(
            published=release.table if real.all() else release.table.filter(pa.array(real)),
            policy=release.policy,
            cells=recoded.cells,
            table=table,
            labels=np.asarray(recoded.labels[: table.n_sample], dtype=np.int64),
            rows=release.source_rows[real],
            counterfeits=recoded.counterfeits,
            model=release.model,
            problem=release.problem,
            seed=int(release.policy.get("seed", 0)),
            untreated=_untreated(release),
        )
        if recoded.buckets is None:
            return view
        labels = np.asarray(recoded.buckets[: table.n_sample], dtype=np.int64)
        return replace(view, labels=labels, cells=cells_of_buckets(table, labels), exact=view)

    @property
    def identity(self) -> View:
        """The release by its published quasi-identifiers, for attacks on identities."""
        return self.exact or self

    @cached_property
    def _histograms(self) -> dict[str, Histogram]:
        return {}

    @cached_property
    def released(self) -> IntArray:
        """The original records that are in the release, ascending."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def suppressed(self) -> IntArray:
        """The original records that are not in the release."""
        return np.flatnonzero(self.labels < 0)

    @property
    def n_groups(self) -> int:
        """Number of class labels."""
        return len(self.cells[0])

    @cached_property
    def sizes(self) -> IntArray:
        """Records of each class."""
        return np.bincount(self.labels[self.released], minlength=self.n_groups).astype(np.int64)

    @property
    def n_classes(self) -> int:
        """Classes with records."""
        return int(np.count_nonzero(self.sizes))

    def values(self, column: SensitiveColumn) -> IntArray:
        """Return the sensitive code of every released record."""
        return np.asarray(column.codes[: self.table.n_sample][self.released], dtype=np.int64)

    def truth(self, column: SensitiveColumn) -> IntArray:
        """Return the true sensitive code of every released record, for scoring; -1 for values that are not published.

        It differs from ``values`` if the column was treated.
        """
        if self.untreated is None or not self.released.size:
            return self.values(column)
        if column.name not in self._true:
            from hushtable.attacks.people import People

            self._true[column.name] = People.of_rows(self, self.released).sensitive[column.name]
        return self._true[column.name]

    @cached_property
    def _true(self) -> dict[str, IntArray]:
        return {}

    def histogram(self, column: SensitiveColumn) -> Histogram:
        """Return the published records of each class by value, counted once for all attacks."""
        if column.name not in self._histograms:
            owner, values = self.labels[self.released], self.values(column)
            if self.counterfeits is not None:
                owner = np.concatenate([owner, self.counterfeits.groups])
                values = np.concatenate([values, self.counterfeits.codes[column.name]])
            (groups, found), units = count_rows([owner, values], [self.n_groups, column.coded.size])
            offsets = np.searchsorted(groups, np.arange(self.n_groups + 1)).astype(np.int64)
            self._histograms[column.name] = Histogram(offsets, found, units)
        return self._histograms[column.name]

    def people_of(self, histogram: Histogram, column: SensitiveColumn) -> IntArray:
        """Return the number of people of each histogram entry that have its value; counterfeits do not count."""
        if self.untreated is not None:
            size, truth = column.coded.size, self.truth(column)
            entries = histogram.groups * size + histogram.values
            people = (self.labels[self.released] * size + truth)[truth >= 0]
            place = np.minimum(np.searchsorted(entries, people), max(len(entries) - 1, 0))
            return np.bincount(place[entries[place] == people], minlength=len(entries)).astype(np.int64)
        if self.counterfeits is None:
            return histogram.units
        size = column.coded.size
        entries = histogram.groups * size + histogram.values
        wanted = self.counterfeits.groups * size + self.counterfeits.codes[column.name]
        return histogram.units - np.bincount(np.searchsorted(entries, wanted), minlength=len(entries))

    def whole(self, column: SensitiveColumn) -> Histogram:
        """Return the published records as one class: what is known about a person without their cells."""
        return Histogram.dense([np.bincount(self.values(column), minlength=column.coded.size)])

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """The policy's guards, which the adversary knows (but not the secret of their coins)."""
        return tuple(guards.build(*_named(chosen)) for chosen in self.policy.get("guard", ()))

    @cached_property
    def algorithm(self) -> Algorithm:
        """The policy's algorithm."""
        found: Algorithm = algorithms.build(*_named(self.policy.get("algorithm", "mondrian")))
        return found

    def guard(self, name: str) -> Guard | None:
        """Return the policy's guard of this name, if it has one."""
        return next((guard for guard in self.guards if guard.name == name), None)

    def base_counts(self) -> dict[str, float]:
        """Return the number of records and classes."""
        return {"records": len(self.released), "classes": self.n_classes}


def _untreated(release: Released) -> pa.Table | None:
    """What an adversary knows of quasi-identifiers and sensitive values, if some of them are treated."""
    plan = release.plan.table
    looked_at = [c for c in plan.columns if c.role in (Role.QUASI, Role.SENSITIVE)]
    if not any(column.treatments for column in looked_at):
        return None
    names = [column.name for column in looked_at]
    original, treated = release.original(names), release.treated(names)
    return pa.table({
        c.name: looked_up(prepared(original, c, plan), prepared(treated, c, plan), c.order)
        if any(treatment.draws for treatment in c.treatments)
        # everybody can round a number as the policy says
        else prepared(treated, c, plan).data
        for c in looked_at
    })  # fmt: skip


def _named(chosen: str | Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name and the parameters of an entry of a policy."""
    ((name, values),) = ({chosen: None} if isinstance(chosen, str) else chosen).items()
    return name, values
