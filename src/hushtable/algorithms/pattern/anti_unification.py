"""Anti-unification patterns: each record is published as the values that it shares with enough others.

The values that all records in a set share describe the set. If that description is long enough, it is a pattern and
represents its records. If it is too short, the set is divided by the values of one attribute, and its parts are
described in turn. The *condition* selects the attribute: the one that induces the fewest sets (``<``) or the most
(``>``), and each of them if several are tied. Records whose sets become too small to publish are searched again,
first under the same condition, then under the next one; the remaining records are discarded.

The paper leaves some points open. Our interpretation:

- *long*. The text calls it a minimum length and sets it to 2, "that is to say, the maximum number of attributes that
  can have value indifferent is 2". ``indifferent`` is the second interpretation, which reproduces the published
  numbers of discarded records; ``long`` is the first. A pattern is never empty.
- A record may match several patterns. In a release, it goes to the first of them with enough records, the longest
  first; the exported patterns also show how many records match each.
- Discarded records are suppressed if the suppression limit allows it for all of them. Otherwise, the rest is searched
  for shorter patterns, length by length, until it fits. Records that still have nothing in common with enough others
  join the group that loses least. ``rest: refuse`` gives up instead and reports the limit needed.
- The paper starts with one set for each value of the confidential attributes, so that a pattern reveals that value
  with certainty: ``within`` does this. A model on such an attribute is therefore refused. Without ``within``, the
  search starts with a single set and stops when the pattern is long enough and every model holds.

When to use
-----------
When you want rules: which combinations of values are common, with their counts.

When not
--------
For numeric columns with many values: few records share them, and most cells are blanked.

Cost
----
One search per condition; Adult in less than a second.

References
----------
E. Armengol, V. Torra, "Generalization-based k-anonymization", MDAI 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from hushtable.algorithms.base import Algorithm, Partition, Problem, Reads, Recoding
from hushtable.algorithms.pattern.anti_unify import Condition
from hushtable.algorithms.pattern.groups import PatternGroups
from hushtable.algorithms.pattern.join import join_rest, merge_worst
from hushtable.algorithms.pattern.search import Records
from hushtable.algorithms.trim import trim
from hushtable.arrays import IntArray
from hushtable.errors import DataError, IncompatibleError, NotFound, ParameterError, PolicyError
from hushtable.kernels.grouping import number_rows
from hushtable.models.compose import AllOf
from hushtable.params import AtLeast
from hushtable.table.encoded import EncodedTable


@dataclass(frozen=True)
class AntiUnification(Algorithm):
    """Keeps values that a group shares and blanks others.

    Parameters
    ----------
    conditions : list of {"<", ">"}
        For each search, whether the attribute with the fewest or the most values divides a set first.
    indifferent : int
        Maximum number of attributes that a pattern leaves open.
    long : int, optional
        Minimum number of attributes that a pattern fixes; replaces ``indifferent``.
    unknown : {"value", "indifferent"}
        Whether records can share a missing value like any other, or it counts as open.
    within : str or list of str, optional
        Sensitive columns whose values are not mixed: each pattern has one value of them.
    rest : {"join", "refuse"}
        How to treat discarded records beyond the suppression limit.

    Examples
    --------
    >>> AntiUnification(conditions=["<"], indifferent=1).values()
    {'conditions': ['<'], 'indifferent': 1}
    """

    conditions: Annotated[tuple[Condition, ...], "attributes with fewest (<) or most (>) values first"] = (">", "<")
    indifferent: Annotated[int, AtLeast(0), "maximum number of attributes that a pattern leaves open"] = 2
    long: Annotated[int | None, AtLeast(1), "minimum number of attributes that a pattern fixes, instead"] = None
    unknown: Annotated[Literal["value", "indifferent"], "how patterns treat a missing value"] = "value"
    within: Annotated[
        str | tuple[str, ...] | None, "sensitive columns whose values are not mixed. Defaults to none"
    ] = None
    rest: Annotated[Literal["join", "refuse"], "how to treat discarded records beyond the limit"] = "join"

    name: ClassVar[str] = "anti-unification"
    recoding: ClassVar[Recoding] = Recoding.PATTERN
    reads_sensitive: ClassVar[Reads] = Reads.CHOOSES
    disclosure: ClassVar[str] = (
        "With 'within', each pattern has one value of that column, which is published with it; no model may protect "
        "that column. Without it, sensitive values are only checked."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.conditions:
            raise ParameterError("AntiUnification has no condition.", hint="Give '<', '>' or both, in order.")
        if self.within == ():
            object.__setattr__(self, "within", None)

    @property
    def apart(self) -> tuple[str, ...]:
        """The columns of ``within``."""
        return (self.within,) if isinstance(self.within, str) else self.within or ()

    @property
    def chooses_publicly(self) -> bool:
        """Never: no model may protect a column of ``within``, and other columns are only checked."""
        return False

    def check(self, model: AllOf, suppression: float) -> None:
        """Refuse models on a column of ``within``: every pattern would reveal its value with certainty."""
        for member in model.members:
            shown = sorted({name for key in member.histogram_keys() for name in key} & set(self.apart))
            if shown:
                raise IncompatibleError(
                    f"{self.name} within {shown[0]!r} makes patterns of one value each, so it cannot promise "
                    f"{member.name} on that column.",
                    hint="Remove 'within': the search then continues until the model holds.",
                )

    def run(self, problem: Problem) -> Partition:
        """Find patterns, then place the records; see the module's docstring."""
        table = problem.table
        length = self._length(table)
        records = self._records(table)
        apart = self._sets(problem)
        kept = trim(problem)
        if kept is None:
            raise self.not_found(problem)
        groups = PatternGroups(problem, records, apart, np.full(table.n_rows, -1, dtype=np.int64))
        groups.leave_out(~kept)
        budget = problem.budget - groups.units(np.flatnonzero(~kept))
        for condition in self.conditions:
            groups.extract(condition, length)
        discarded = len(groups.rest)
        if groups.units(groups.rest) > budget and self.rest == "refuse":
            raise self._too_many(problem, groups)
        shorter = length
        while (groups.units(groups.rest) > budget or not groups.n_groups) and shorter > 1:
            shorter -= 1
            for condition in self.conditions:
                groups.extract(condition, shorter)
        joined = groups.n_groups > 0 and groups.units(groups.rest) <= budget
        if not joined:
            joined = join_rest(groups, budget)
        placed = (groups.labels, groups.n_groups) if joined else None
        if placed is not None:
            placed = merge_worst(problem, records, *placed)
        if placed is None:
            placed = np.where(kept, 0, -1).astype(np.int64), 1
        labels, n_groups = placed
        suppressed = int(np.count_nonzero(labels[: table.n_sample] < 0))
        return Partition(
            labels,
            n_groups,
            blank_unknown=self.unknown == "indifferent",
            notes={
                "pattern_length": length,
                "discarded": discarded + int(np.count_nonzero(~kept)),
                "suppressed": suppressed,
                "joined": max(discarded + int(np.count_nonzero(~kept)) - suppressed, 0),
                "all_equal_attributes": not groups.bounded,
            },
        )

    def _length(self, table: EncodedTable) -> int:
        d = len(table.quasi)
        if self.long is None:
            return max(1, d - self.indifferent)
        if self.long > d:
            raise ParameterError(
                f"The 'long' parameter of AntiUnification is {self.long}, but a record has only {d} quasi-identifiers.",
                hint=f"Lower it to {d} or less.",
            )
        return self.long

    def _records(self, table: EncodedTable) -> Records:
        for column in table.quasi:
            if column.coded.missing and column.coded.size == 1:
                raise DataError(
                    f"Column {column.name!r} has no known value, so no pattern can use it.",
                    code="all-unknown",
                    hint="Give it the role 'identifier', which drops it, or fill its missing values.",
                )
        return Records(
            [c.codes for c in table.quasi],
            [c.coded.size for c in table.quasi],
            [c.coded.missing and self.unknown == "indifferent" for c in table.quasi],
        )

    def _sets(self, problem: Problem) -> IntArray:
        """Number the sets of the first partition."""
        table = problem.table
        if not self.apart:
            return np.zeros(table.n_rows, dtype=np.int64)
        known = {c.name: c for c in table.sensitive}
        for name in self.apart:
            if name not in known:
                raise PolicyError(
                    f"{self.name} cannot work within {name!r}, which is not a sensitive column.",
                    code="not-sensitive",
                    hint=f"Sensitive columns: {', '.join(known) or 'none'}.",
                )
        columns = [known[name] for name in self.apart]
        labels, first = number_rows([c.codes for c in columns], [c.coded.size for c in columns])
        units = table.stats_of(labels, len(first), ()).sizes
        least = problem.model.min_group_size()
        if units.max() < least:
            raise PolicyError(
                f"A group needs {least} people, but no value of {' and '.join(map(repr, self.apart))} has more than "
                f"{units.max():g}.",
                code="class-too-small",
                hint="Lower the parameter, or remove 'within'.",
            )
        return labels

    def _too_many(self, problem: Problem, groups: PatternGroups) -> NotFound:
        units = groups.units(np.flatnonzero(groups.labels[: problem.table.n_sample] < 0))
        share = np.ceil(units / problem.table.sample_units * 1e4) / 1e4
        return NotFound(
            f"{self.name} would discard {units / problem.table.unit:g} people, more than the suppression limit allows.",
            hint=f"Raise the suppression limit to {share:g}, allow more indifferent attributes, or set 'rest: join'.",
        )
