"""Base classes of algorithms, which turn a problem into a partition of the records.

An algorithm never names a model and never publishes anything: it receives an encoded table and a predicate, and
returns a group number for every record. Recoding and verification happen elsewhere, in the same way for all
algorithms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hushtable.arrays import AnyArray, BoolArray, IntArray
from hushtable.errors import IncompatibleError, NotFound, ParameterError
from hushtable.models.base import Monotone, Stat, Threat
from hushtable.models.compose import AllOf
from hushtable.params import Parametrised
from hushtable.schema.columns import Missing
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

if TYPE_CHECKING:
    from hushtable.algorithms.earlier import Counterfeits, Earlier
    from hushtable.algorithms.regions import CutTree
    from hushtable.algorithms.store import TupleStore

__all__ = ["Algorithm", "Partition", "Problem", "Progress", "Reads", "Recoding", "check_compatible", "quietly"]

Progress = Callable[[float, str], None]
"""Called with the share of completed work and a description; raises ``Cancelled`` to stop."""


def quietly(share: float, what: str) -> None:
    """Ignore progress reports."""


class Recoding(Enum):
    """How the records of a group are made to look the same.

    ``GLOBAL``: each value of a column in the same way everywhere, at one level of its hierarchy or a cut through it.
    ``LOCAL``: each group with its own cells. ``CENTROID``: one representative record. ``PATTERN``: common values
    kept, others blanked. ``BUCKET``: quasi-identifiers stay exact, and only the link to the sensitive values is
    broken. ``NUMBERED``: each group with its own cells and a number, so that groups with equal cells stay separate.
    ``CONCEALED``: each record with its own cells, which cover a crowd of others; possible links follow from matching
    all people to all records.
    """

    GLOBAL = "global"
    LOCAL = "local"
    CENTROID = "centroid"
    PATTERN = "pattern"
    BUCKET = "bucket"
    NUMBERED = "numbered"
    CONCEALED = "concealed"

    @property
    def by_number(self) -> bool:
        """Whether a published number, not the cells alone, distinguishes classes."""
        return self in (Recoding.BUCKET, Recoding.NUMBERED)


class Reads(Enum):
    """How the choice of groups depends on sensitive values, for an adversary who knows the algorithm.

    ``CHECKS``: quasi-identifiers determine the proposed groups, coins decide which of several records with equal ones
    join a group, and sensitive values only decide whether the models hold. The minimality attack exploits refused
    proposals; the minimality guard bounds what they reveal. ``COINS``: records are chosen by their sensitive values,
    and secret coins decide which. An adversary who knows everything but the secret learns no more than the published
    shares of a class. ``CHOOSES``: sensitive values decide by a public rule. ``disclosure`` states what that reveals,
    the known-algorithm attack measures it, and the minimality guard avoids it.
    """

    CHECKS = "checks"
    COINS = "coins"
    CHOOSES = "chooses"

    @property
    def sentence(self) -> str:
        """The description for pages and reports."""
        return _READS[self][0]

    @property
    def excess(self) -> float:
        """How far correct guesses by an informed adversary may exceed the guarantee, as a share of people.

        Measured, not proved: the contract suite checks it for every algorithm.
        """
        return _READS[self][1]


_READS = {
    Reads.CHECKS: (
        "Only checks sensitive values: it proposes groups by quasi-identifiers, and the models accept or refuse them. "
        "Refused proposals can reveal something; the minimality guard bounds that.",
        0.2,
    ),
    Reads.COINS: (
        "Chooses records by sensitive value, and secret coins decide which: someone who knows everything but the "
        "local secret learns no more than the published shares of a class.",
        0.0,
    ),
    Reads.CHOOSES: (
        "Chooses records by sensitive value with a public rule, which reveals something about them. The minimality "
        "guard avoids that.",
        0.5,
    ),
}


@dataclass(frozen=True)
class Problem:
    """The input of an algorithm.

    Attributes
    ----------
    store : TupleStore
        The table; see ``hushtable.algorithms.store``. An encoded table is one.
    model : AllOf
    reference : Reference
    suppression : float
        Share of the sample's people that may be suppressed, from 0 to 1.
    seed : int
    progress : Progress
    earlier : Earlier, optional
        Commitments from earlier releases of the same people.
    policy : bytes
        A digest of the policy; with the table, ``earlier`` and the local secret, it determines the coins.
    tossed : Coins, optional
        The coins themselves, if they are already known.
    """

    store: TupleStore
    model: AllOf
    reference: Reference
    suppression: float = 0.0
    seed: int = 0
    progress: Progress = quietly
    earlier: Earlier | None = None
    policy: bytes = b""
    tossed: Coins | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.suppression <= 1:
            raise ParameterError(
                f"The suppression limit must be a share from 0 to 1. Got {self.suppression!r} instead."
            )

    @property
    def table(self) -> EncodedTable:
        """Every record as a row."""
        return self.store.records()

    def collapsed(self, why: str) -> Problem:
        """Return the problem with equal records as one row, for algorithms that never separate them.

        Parameters
        ----------
        why : str
            Why the combinations are needed, for the error if there are too many.
        """
        return self._on(self.store.combinations(why))

    def together(self, why: str) -> Problem:
        """Return the problem with equal records as one row, unless ``trim`` has to suppress individual records."""
        whole = bool(self.model.table_satisfied(self.reference.whole(), self.reference)[0])
        return self._on(self.store.records()) if self.budget and not whole else self.collapsed(why)

    @property
    def grouped(self) -> Problem:
        """The problem on the rows to which the labels of the algorithm's partition refer."""
        return self._on(self.store.given)

    def as_read_by(self, algorithm: Algorithm) -> Problem:
        """Return the problem with models of single classes, if the algorithm does not expose its cells."""
        judged = Stat.CELLS in self.model.stats_needed()
        own_cells = any(column.form is not None and column.form.any_groups for column in self.store.outline.quasi)
        if not judged or (algorithm.reads_cells and self.store.fits and not own_cells):
            return self
        return self.of_classes()

    def of_classes(self) -> Problem:
        """Return the problem with models of single classes."""
        return self._as(replace(self, model=self.model.of_classes()))

    def _on(self, table: EncodedTable) -> Problem:
        """Return the problem with the same records in another form."""
        return self if table is self.store else self._as(replace(self, store=table))

    def _as(self, other: Problem) -> Problem:
        """Let another form of the problem use the same coins."""
        vars(other)["_tossing"] = self
        return other

    @property
    def budget(self) -> int:
        """Number of units that may be suppressed."""
        return int(np.floor(self.suppression * self.store.sample_units + 1e-9))

    def done(self) -> Problem:
        """Return the problem as stored with a release: with the coins used, and without progress reports."""
        return replace(self, progress=quietly, tossed=self.used_coins)

    @cached_property
    def coins(self) -> Coins:
        """Coins for every choice that depends on sensitive values; see ``hushtable.table.coins``."""
        same: Problem | None = vars(self).get("_tossing")
        if same is not None:
            return same.coins
        known = b"" if self.earlier is None else self.earlier.digest(self.table)
        return self.tossed or Coins.of_release(self.store.digest + known, self.policy)

    @property
    def used_coins(self) -> Coins | None:
        """The coins, if any choice has used them: anyone who has them can reproduce the choices."""
        same: Problem | None = vars(self).get("_tossing")
        return self.tossed or (vars(self).get("coins") if same is None else same.used_coins)

    @cached_property
    def secret_order(self) -> IntArray:
        """All rows, in an order that nobody can predict without the local secret.

        Choices that depend on sensitive values take records in this order, never in canonical order: an adversary who
        can predict such a choice can undo it. If no model uses a sensitive value, it is the canonical order.
        """
        order = self.table.canonical_order
        if not self.model.histogram_keys():
            return order
        return order[np.argsort(self.coins.lots(self.table)[order], kind="stable")]

    @cached_property
    def order(self) -> IntArray:
        """All rows by their quasi-identifiers, and equal ones in secret order: people before a population.

        Algorithms that only check sensitive values break ties by it. In canonical order, equal records are sorted by
        their values, so these would decide by a public rule who joins which group.
        """
        order = self.secret_order
        if order is self.table.canonical_order:
            return order
        return order[np.lexsort((self.table.distinct()[0][order], order >= self.table.n_sample))]


@dataclass(frozen=True)
class Partition:
    """A group number for every row of the encoded table.

    Attributes
    ----------
    labels : integer array
        ``0 .. n_groups - 1``; -1 for suppressed rows. Empty if the problem's store did the grouping.
    n_groups : int
    levels : tuple of int, optional
        The level of every quasi-identifier, for global recoding.
    cuts : tuple of int64 arrays, optional
        The level of every leaf of every quasi-identifier, if columns are generalized to a cut through their hierarchy
        instead of one level. All leaves under a node of the cut have its level.
    regions : CutTree, optional
        The regions for new records, for algorithms that cut space.
    whole_numbers : bool
        Whether to round centroids of integer columns to integers.
    blank_unknown : bool
        Whether patterns blank a value that is missing in all records of a group, instead of keeping it as shared.
    counterfeits : Counterfeits, optional
        Invented records to publish.
    crowds : pair of int64 arrays, optional
        For ``CONCEALED``: offsets and rows that the cells of each group cover; each group is then one record.
    blanked : mapping of str to bool array, optional
        For ``PATTERN``: which groups blank a column although their records agree in it. Groups are then numbered so
        that no two of them publish the same cells.
    by_column : mapping of str to integer array, optional
        For ``CENTROID``: the group of every row for a column's representative, if columns are grouped separately.
        Rows with the same label are in the same group of every column.
    notes : mapping
        Facts about the result (such as ``optimum_proven``).
    space : mapping of str to array
        Every evaluated solution, as columns of equal length; empty if the algorithm keeps none.
    """

    labels: AnyArray
    n_groups: int
    levels: tuple[int, ...] | None = None
    cuts: tuple[IntArray, ...] | None = None
    regions: CutTree | None = None
    whole_numbers: bool = False
    blank_unknown: bool = False
    counterfeits: Counterfeits | None = None
    crowds: tuple[IntArray, IntArray] | None = None
    blanked: Mapping[str, BoolArray] | None = None
    by_column: Mapping[str, IntArray] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, AnyArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm(Parametrised, ABC):
    """Base of all algorithms, with parameters as fields, ``recoding`` as a class attribute and ``run``.

    ``keeps_signatures`` says whether the algorithm uses ``Problem.earlier``; it may then add counterfeits.
    ``reads_cells`` says whether the algorithm shows models what its groups publish; for other algorithms, models that
    evaluate cells become models of classes. ``reads_sensitive`` says how groups depend on sensitive values; if they
    do so by a public rule, ``disclosure`` states what that reveals to an adversary who knows the algorithm.
    ``samples`` says whether it draws records with the operating system's randomness, so that its results cannot be
    reproduced.
    """

    recoding: ClassVar[Recoding] = Recoding.LOCAL
    keeps_signatures: ClassVar[bool] = False
    reads_cells: ClassVar[bool] = False
    reads_sensitive: ClassVar[Reads] = Reads.CHECKS
    disclosure: ClassVar[str] = ""
    samples: ClassVar[bool] = False

    @property
    def apart(self) -> tuple[str, ...]:
        """Sensitive columns whose values no group mixes. Defaults to none."""
        return ()

    @property
    def chooses_publicly(self) -> bool:
        """Whether sensitive values that models may protect decide by a public rule."""
        return self.reads_sensitive is Reads.CHOOSES

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that the algorithm cannot handle, before any data is read. Most accept all.

        Raises
        ------
        IncompatibleError
            With the reason and a remedy.
        """

    @abstractmethod
    def run(self, problem: Problem) -> Partition:
        """Partition the records so that every group satisfies the model.

        Raises
        ------
        NotFound
            If this algorithm finds no such partition; one may still exist.
        """

    def check_table(self, table: TablePlan) -> None:
        """Refuse, before any work, columns that the algorithm cannot handle. Defaults to none.

        Raises
        ------
        IncompatibleError
        """

    def planned(self, table: TablePlan) -> TablePlan:
        """Return the columns as the algorithm needs them; most do not change the policy's plan."""
        return table

    def not_found(self, problem: Problem) -> NotFound:
        """Return the error for an algorithm that gave up."""
        return NotFound(
            f"{self.name} found no partition that satisfies {', '.join(m.name for m in problem.model.members)}.",
            hint="Relax a parameter, raise the suppression limit, or try another algorithm.",
        )


def check_compatible(
    algorithm: Algorithm, model: AllOf, missing: Missing, *, population: bool, suppression: float = 0.0
) -> None:
    """Refuse, before any work, combinations that cannot give a sound release.

    There are few refusals. Bucketization publishes exact quasi-identifiers, so it refuses models against identity
    disclosure. Centroids and patterns do not show whom they cover in the population or an adversary's background
    table, so they refuse models that count them. Missing values as wildcards merge classes, so they refuse models
    that do not survive merging and population models that do not survive wider coverage. Concealed records form no
    classes, so they refuse models of classes. Differential privacy refuses algorithms that do not draw records at
    random.
    """
    algorithm.check(model, suppression)
    for member in model.members:
        if algorithm.recoding is Recoding.BUCKET and Threat.IDENTITY in member.threats:
            raise IncompatibleError(
                f"{algorithm.name} publishes exact quasi-identifiers, so it cannot promise {member.name}.",
                hint="Choose an algorithm that generalizes, or a model against attribute disclosure.",
            )
        if algorithm.recoding is Recoding.CONCEALED and not member.of_crowds:
            raise IncompatibleError(
                f"{algorithm.name} publishes records that differ from each other, and {member.name} needs classes of "
                "equal ones.",
                hint="Use k-concealment, alone or with distinct-l, or choose an algorithm that makes classes, such as "
                "mondrian.",
            )
        if member.drawing() is not None and not algorithm.samples:
            raise IncompatibleError(
                f"{member.name} needs records that are drawn at random and a recoding that does not depend on them; "
                f"{algorithm.name} gives neither.",
                hint="Choose 'algorithm: safe-pub'.",
            )
        outside = member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}
        if outside and algorithm.recoding in (Recoding.CENTROID, Recoding.PATTERN):
            known = "population" if Stat.POPULATION in outside else "background table's people"
            raise IncompatibleError(
                f"{member.name} counts the {known} that a class covers; {algorithm.name} publishes no cover.",
                hint="Choose an algorithm that generalizes, such as mondrian.",
            )
        if Stat.POPULATION in outside and not population:
            raise IncompatibleError(
                f"{member.name} needs a population table.", hint="Give 'population: file.csv' in the policy."
            )
        if missing is Missing.WILDCARD and Monotone.MERGE not in member.monotone:
            raise IncompatibleError(
                f"'missing: wildcard' unites classes, and {member.name} does not survive merging.",
                hint="Choose 'missing: own_category'.",
            )
        counts = Stat.POPULATION in member.stats_needed()
        if missing is Missing.WILDCARD and counts and Monotone.ADD not in member.monotone:
            raise IncompatibleError(
                f"'missing: wildcard' lets a class cover more of the population, and {member.name} does not survive "
                "that.",
                hint="Choose 'missing: own_category'.",
            )
