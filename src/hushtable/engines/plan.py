"""A plan: a policy with every name resolved to an object, ready to be run by any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushtable.algorithms.base import Algorithm, check_compatible
from hushtable.errors import IncompatibleError, ParameterError, PolicyError
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.release.guards.base import Guard
from hushtable.schema.columns import Role
from hushtable.table.encode import Extra
from hushtable.table.plan import TablePlan

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What is to be done with a table.

    Bad combinations are refused here, before any data are read.

    Attributes
    ----------
    table : TablePlan
        Columns, the meaning of missing values, cell styles, entity column.
    models : tuple of PrivacyModel
    algorithm : Algorithm
    suppression : float
        Share of people that may be left out.
    seed : int
    extra : Extra
        Population and background tables.
    document : mapping
        The policy as data: it travels with the release.
    guards : tuple of Guard
        Countermeasures against attacks on the algorithm.
    """

    table: TablePlan
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    suppression: float = 0.0
    seed: int = 0
    extra: Extra = field(default_factory=Extra)
    document: Mapping[str, Any] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()

    def __post_init__(self) -> None:
        if not self.models:
            raise PolicyError(
                "The policy has no privacy model.",
                code="no-model",
                hint="Add one, for example k-anonymity: {k: 5}.",
            )
        if not 0 <= self.suppression <= 1:
            raise ParameterError(
                f"The suppression limit must be a share from 0 to 1. Got {self.suppression!r} instead."
            )
        self.algorithm.check_table(self.table)
        check_compatible(
            self.algorithm,
            self.model(),
            self.table.missing,
            population=self.extra.population is not None,
            suppression=self.suppression,
        )
        for guard in self.guards:
            guard.check(self.algorithm, self.model(), self.suppression)
            guard.check_table(self.table)

    def refuse_guards(self, what: str) -> None:
        """Raise, where the plan has guards, that ``what`` does not apply them."""
        if self.guards:
            raise IncompatibleError(
                f"{what} does not apply guards, and the policy asks for {', '.join(g.name for g in self.guards)}.",
                hint="Leave 'guard' out of the policy, or run it locally in one go.",
            )

    def model(self) -> AllOf:
        """Return the models, bound to their sensitive columns."""
        return AllOf.bound_to(self.models, self.table.named(Role.SENSITIVE))
