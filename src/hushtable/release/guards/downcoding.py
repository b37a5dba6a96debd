"""The downcoding guard: cells are wider than the records require.

A minimal recoding publishes the smallest cell that covers a class, and Cohen shows how to exploit this: both ends of a
range occur, every member of a set occurs, and a node has records below two of its children. This guard widens cells at
random: a range grows by up to twice ``spread`` times its width, divided uniformly between both ends; a set gets from
one to ``spread`` times its size of additional members; a node is replaced by the one above with probability ``climb``.
So several places are equally likely to be the true end of a range, and no value of a generalized cell is certain to
occur. Exact cells are widened with probability ``exact``: otherwise, both values of a cell with two would be certain to
occur.

Cells of a global recoding (one level for a whole column) say nothing about a class, and stay unchanged. Widened cells
may overlap, so models must survive merging, and must not count the people of a population that a class covers.

References
----------
A. Cohen, "Attacks on deidentification's defenses", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from hushtable.algorithms.base import Algorithm, Problem, Recoding
from hushtable.arrays import IntArray
from hushtable.errors import IncompatibleError
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.params import Between, Positive
from hushtable.release.forms.base import Cells, Form, Widening
from hushtable.release.forms.widening import widen
from hushtable.release.guard import Guard
from hushtable.release.recode import Recoded, class_numbers
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins
from hushtable.table.plan import TablePlan


@dataclass(frozen=True)
class DowncodingGuard(Guard):
    """Publishes wider cells than the classes need, by random amounts.

    Parameters
    ----------
    spread : float
        A range grows by about this share of its width, up to twice as much; a set by up to this share of its members.
    climb : float
        The probability that a hierarchy node is replaced by the one above.
    exact : float
        The probability that an exact cell becomes a range, a set or a node.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": list(range(20, 60)), "pay": list(range(40))})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2)], cells="intervals")
    >>> guarded = ht.anonymize(table, policy.changed(guard=["downcoding"]))
    >>> ht.anonymize(table, policy).attack("downcoding").rate > 0.9, guarded.attack("downcoding").rate < 0.9
    (True, True)
    """

    spread: Annotated[float, Positive(), "share by which a range or a set may grow"] = 0.5
    climb: Annotated[
        float, Between(0, 1, closed="neither"), "probability that a node is replaced with the one above"
    ] = 0.5
    exact: Annotated[float, Between(0, 1, closed="neither"), "probability that an exact cell is widened"] = 0.1

    name: ClassVar[str] = "downcoding"
    answers: ClassVar[str] = "downcoding"

    def check(self, algorithm: Algorithm, model: AllOf, suppression: float) -> None:
        """Refuse representatives and numbered groups, and models that overlapping or wider cells could break."""
        if algorithm.recoding is Recoding.CENTROID or algorithm.recoding.by_number:
            what = "representatives" if algorithm.recoding is Recoding.CENTROID else "its groups by number"
            raise IncompatibleError(
                f"{algorithm.name} publishes {what}, but the downcoding guard only widens cells.",
                hint="Remove 'downcoding' from 'guard', or choose an algorithm that generalizes.",
            )
        if algorithm.recoding is Recoding.GLOBAL:
            return
        self.needs_merging(model, "lets cells overlap")
        for member in model.members:
            if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
                raise IncompatibleError(
                    f"{member.name} counts who else a class covers, but the downcoding guard widens cells afterwards.",
                    hint="Remove 'downcoding' from 'guard', or recode globally (optimal, incognito).",
                )

    def check_table(self, table: TablePlan) -> None:
        """Refuse columns whose form cannot be widened."""
        for column in table.columns:
            form = table.form(column)
            if column.role is Role.QUASI and isinstance(form, Form) and not form.can_widen:
                raise IncompatibleError(
                    f"Column {column.name!r} is published as {form.name}, which the downcoding guard cannot widen.",
                    hint="Choose 'cells: regions' or 'intervals', or remove 'downcoding' from 'guard'.",
                )

    def recoded(self, problem: Problem, recoded: Recoded, coins: Coins) -> Recoded:
        """Widen every cell at random; classes that then have equal cells become one."""
        keys = [Coins(coins.words(f"column {j}", 4).tobytes()) for j in range(len(recoded.cells))]
        cells = tuple(
            widen(c, Widening(self.spread, self.climb, self.exact, key), _showable(c))
            for c, key in zip(recoded.cells, keys, strict=True)
        )
        published = tuple(c.labels() for c in cells)
        merged, n = class_numbers(published)
        if n == recoded.n_groups:
            return replace(recoded, cells=cells, published=published)
        first = np.unique(merged, return_index=True)[1]
        labels = np.where(recoded.labels >= 0, merged[recoded.labels], -1)
        return Recoded(labels, tuple(c.take(first) for c in cells), tuple(p.take(first) for p in published))


def _showable(cells: Cells) -> IntArray | None:
    """The codes that a cell may show: all that the policy declares, or else those published in any class."""
    return None if cells.column.coded.declared else np.unique(cells.members)
