"""The base of guards, which make a release depend less on the records than a minimal algorithm would.

An adversary who knows how a release was made learns from what was *not* done: a class that was not divided, a cell that
was not narrower. A guard randomizes or over-generalizes, so that the same release could have been made in other ways.
It acts at three points: the algorithm's input, the groups that it made, and the cells that they publish. It never
loosens anything: groups only grow and cells only widen, and the result is settled and verified like any other release.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.errors import IncompatibleError
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.params import Parametrised
from hushtable.release.recode import Recoded
from hushtable.table.coins import Coins
from hushtable.table.plan import TablePlan

__all__ = ["Guard"]


@dataclass(frozen=True)
class Guard(Parametrised, ABC):
    """Base of all guards: parameters as fields, and one method for each of the three points, empty by default.

    Class attributes
    ----------------
    name : str
    answers : str
        The name of the attack that the guard prevents.
    """

    answers: ClassVar[str] = ""

    def check(self, algorithm: Algorithm, model: AllOf, suppression: float) -> None:
        """Refuse incompatible settings before any data are read.

        Raises
        ------
        IncompatibleError
            With the reason and a remedy.
        """

    def check_table(self, table: TablePlan) -> None:
        """Refuse, before any work, columns that the guard cannot protect.

        Raises
        ------
        IncompatibleError
        """

    def given(self, problem: Problem) -> Problem:
        """Return the changed input of the algorithm."""
        return problem

    def grouped(self, problem: Problem, partition: Partition, recoding: Recoding, coins: Coins) -> Partition | None:
        """Return the changed groups to publish; None if none satisfy the models."""
        return partition

    def recoded(self, problem: Problem, recoded: Recoded, coins: Coins) -> Recoded:
        """Return the changed cells to publish."""
        return recoded

    def needs_merging(self, model: AllOf, why: str) -> None:
        """Refuse models that do not survive merging.

        Raises
        ------
        IncompatibleError
        """
        for member in model.members:
            if Monotone.MERGE not in member.monotone:
                raise IncompatibleError(
                    f"The {self.name} guard {why}, but {member.name} does not survive merging.",
                    hint=f"Remove {self.name!r} from 'guard', or choose another model.",
                )
