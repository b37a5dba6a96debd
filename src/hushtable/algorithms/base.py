"""What an algorithm is: something that turns a problem into a partition of the records.

An algorithm never names a model and never publishes anything: it is given an encoded table and a predicate, and
returns a group number for every record. Recoding and verifying are done elsewhere, the same way for all of them.
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
"""Called with the share of the work that is done and a word on it; raises ``Cancelled`` to stop."""


def quietly(share: float, what: str) -> None:
    """Report progress to nobody."""


class Recoding(Enum):
    """How the records of a group come to look alike.

    ``GLOBAL``: every value of a column the same way everywhere, at one level of its hierarchy or a cut through it.
    ``LOCAL``: each group at its own cells. ``CENTROID``: one
    representative record. ``PATTERN``: common values kept, others blanked. ``BUCKET``: quasi-identifiers stay exact
    and only the link to the sensitive values is broken. ``NUMBERED``: each group at its own cells, with its number
    beside them, so that groups whose cells coincide stay apart. ``CONCEALED``: each record at its own cells, which
    cover a crowd of others; who may be which record is a question of matching all people to all records.
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
        """Whether classes are told apart by a published number, not by their cells alone."""
        return self in (Recoding.BUCKET, Recoding.NUMBERED)


class Reads(Enum):
    """How the choice of groups depends on sensitive values, to an adversary who knows the algorithm.

    ``CHECKS``: groups are proposed by quasi-identifiers, and sensitive values only decide whether the models hold. What
    can be learnt from a refused proposal is the minimality attack's business; the minimality guard bounds it.
    ``COINS``: records are chosen by their sensitive values, and secret coins decide which. Whoever knows everything but
    the secret believes what the published shares of a class say, and no more.
    ``CHOOSES``: sensitive values decide by a public rule. What that discloses is stated (``disclosure``), and the
    known-algorithm attack measures it; the minimality guard avoids it.
    """

    CHECKS = "checks"
    COINS = "coins"
    CHOOSES = "chooses"

    @property
    def sentence(self) -> str:
        """What a page or a report says of it."""
        return _READS[self][0]

    @property
    def excess(self) -> float:
        """By how much right guesses of who knows the algorithm may exceed the promise, as a share of the people.

        Measured, not proved: the contract suite holds every algorithm to it.
        """
        return _READS[self][1]


_READS = {
    Reads.CHECKS: (
        "Only checks sensitive values: it proposes groups by quasi-identifiers, and the models accept or refuse them. "
        "Refused proposals can tell something; the minimality guard bounds that.",
        0.2,
    ),
    Reads.COINS: (
        "Chooses records by sensitive value, and secret coins decide which: somebody who knows everything but the "
        "local secret learns no more than the published shares of a class.",
        0.0,
    ),
    Reads.CHOOSES: (
        "Chooses records by sensitive value with a public rule, which tells something about them. The minimality "
        "guard avoids that.",
        0.5,
    ),
}


@dataclass(frozen=True)
class Problem:
    """All that an algorithm is given.

    Attributes
    ----------
    store : TupleStore
        The table; see ``hushtable.algorithms.store``. An encoded table is one.
    model : AllOf
    reference : Reference
    suppression : float
        Share of the sample's people that may be left out, from 0 to 1.
    seed : int
    progress : Progress
    earlier : Earlier, optional
        What earlier releases of the same people have committed the new one to.
    policy : bytes
        A digest of the policy: with the table and the local secret it decides the coins.
    tossed : Coins, optional
        The coins themselves, where they are known already.
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
        """Return the problem with equal records as one row: for algorithms that never part them.

        Parameters
        ----------
        why : str
            What an error says the combinations are needed for, should they be too many.
        """
        return self._on(self.store.combinations(why))

    def together(self, why: str) -> Problem:
        """Return the problem with equal records as one row, unless ``trim`` has to leave out single records."""
        whole = bool(self.model.table_satisfied(self.reference.whole(), self.reference)[0])
        return self._on(self.store.records()) if self.budget and not whole else self.collapsed(why)

    @property
    def grouped(self) -> Problem:
        """The problem on the rows that the labels of the algorithm's partition are of."""
        return self._on(self.store.given)

    def as_read_by(self, algorithm: Algorithm) -> Problem:
        """Return the problem with models of single classes, where the algorithm does not know what cells show."""
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
        """Let another form of the problem toss the same coins."""
        vars(other)["_tossing"] = self
        return other

    @property
    def budget(self) -> int:
        """How many units may be suppressed."""
        return int(np.floor(self.suppression * self.store.sample_units + 1e-9))

    def done(self) -> Problem:
        """Return it as it is kept with a release: with the coins that were tossed, and nobody to report to."""
        return replace(self, progress=quietly, tossed=self.used_coins)

    @cached_property
    def coins(self) -> Coins:
        """What decides wherever sensitive values are looked at; see ``hushtable.table.coins``."""
        same: Problem | None = vars(self).get("_tossing")
        if same is not None:
            return same.coins
        return self.tossed or Coins.of_release(self.store.digest, self.policy)

    @property
    def used_coins(self) -> Coins | None:
        """The coins, if any choice came from them so far: whoever has these can make the same choices again."""
        same: Problem | None = vars(self).get("_tossing")
        return self.tossed or (vars(self).get("coins") if same is None else same.used_coins)

    @cached_property
    def secret_order(self) -> IntArray:
        """All rows in an order that nobody can predict without the local secret.

        Choices that depend on sensitive values take records in this order, never in canonical order: whoever can
        predict such a choice can undo it. Where no model looks at a sensitive value it is the canonical order.
        """
        order = self.table.canonical_order
        if not self.model.histogram_keys():
            return order
        return order[np.argsort(self.coins.lots(self.table)[order], kind="stable")]


@dataclass(frozen=True)
class Partition:
    """A group number for every row of the encoded table.

    Attributes
    ----------
    labels : integer array
        ``0 .. n_groups - 1``; -1 for suppressed rows. Empty where the store of the problem did the grouping.
    n_groups : int
    levels : tuple of int, optional
        The level of every quasi-identifier, for global recoding.
    cuts : tuple of int64 arrays, optional
        The level of every leaf of every quasi-identifier, where a column is generalized to a cut through its
        hierarchy instead of one level. The leaves under a node of the cut all have its level.
    regions : CutTree, optional
        Where new records would fall, for algorithms that cut space.
    whole_numbers : bool
        Whether centroids of integer columns are rounded to integers.
    blank_unknown : bool
        Whether patterns blank a value that is missing in all records of a group, instead of keeping it as common.
    counterfeits : Counterfeits, optional
        Records to publish that are nobody's.
    crowds : pair of int64 arrays, optional
        Of ``CONCEALED``: offsets and rows, the rows that the cells of each group cover; a group is then one record.
    blanked : mapping of str to bool array, optional
        Of ``PATTERN``: which groups blank a column although their records agree in it. Groups are then numbered such
        that no two of them publish the same cells.
    by_column : mapping of str to integer array, optional
        Of ``CENTROID``: the group of every row that a column's representative is of, where columns are grouped on
        their own. Rows with the same label are in the same group of every column.
    notes : mapping
        What the algorithm says about its result (``optimum_proven`` and the like).
    space : mapping of str to array
        Every solution that was looked at, as columns of equal length; empty where the algorithm keeps none.
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
    """Base of all algorithms: parameters as fields, ``recoding`` as class attribute, ``run`` as the work.

    ``keeps_signatures`` says whether the algorithm looks at ``Problem.earlier``; it may then add counterfeits.
    ``reads_cells`` says whether the algorithm tells models what its groups publish; to others, models that judge cells
    are models of classes. ``reads_sensitive`` says how groups depend on sensitive values; where they do by a public
    rule, ``disclosure`` states what that tells an adversary who knows the algorithm. ``samples`` says whether it draws
    records with the operating system's randomness: what it makes cannot be made again.
    """

    recoding: ClassVar[Recoding] = Recoding.LOCAL
    keeps_signatures: ClassVar[bool] = False
    reads_cells: ClassVar[bool] = False
    reads_sensitive: ClassVar[Reads] = Reads.CHECKS
    disclosure: ClassVar[str] = ""
    samples: ClassVar[bool] = False

    @property
    def apart(self) -> tuple[str, ...]:
        """Sensitive columns whose values no group mixes; by default there are none."""
        return ()

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models that the algorithm cannot handle, before any data are read; most handle all.

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
            If this algorithm finds no such partition; it claims nothing more.
        """

    def check_table(self, table: TablePlan) -> None:
        """Refuse, before any work, columns that the algorithm is not made for; by default there are none.

        Raises
        ------
        IncompatibleError
        """

    def planned(self, table: TablePlan) -> TablePlan:
        """Return the columns as the algorithm needs them; most take them as the policy says."""
        return table

    def not_found(self, problem: Problem) -> NotFound:
        """The error of an algorithm that gave up."""
        return NotFound(
            f"{self.name} found no partition that satisfies {', '.join(m.name for m in problem.model.members)}.",
            hint="Relax a parameter, raise the suppression limit, or try another algorithm.",
        )


def check_compatible(
    algorithm: Algorithm, model: AllOf, missing: Missing, *, population: bool, suppression: float = 0.0
) -> None:
    """Refuse, before any work, what cannot give a sound release.

    The refusals are few and declared: bucketization publishes exact quasi-identifiers, so it refuses models against
    identity disclosure; centroids and patterns do not say whom of the population, or of an adversary's background
    table, they cover, so they refuse models that count it; missing values as wildcards unite classes, so they refuse
    models that do not survive merging, and of those that count a population the ones that do not survive a wider cover;
    records that are concealed among others make no classes, so they refuse models of classes; differential privacy
    refuses algorithms that do not draw records at random.
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
                f"{algorithm.name} publishes records that differ from each other, and {member.name} judges classes of "
                "equal ones.",
                hint="Promise k-concealment alone, or choose an algorithm that makes classes, such as mondrian.",
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
