"""A plan: a policy with every name resolved to an object, ready to be run by any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushtable.algorithms.base import Algorithm, check_compatible
from hushtable.errors import ParameterError, PolicyError
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
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
    """

    table: TablePlan
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    suppression: float = 0.0
    seed: int = 0
    extra: Extra = field(default_factory=Extra)
    document: Mapping[str, Any] = field(default_factory=dict)

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

    def model(self) -> AllOf:
        """Return the models, bound to their sensitive columns."""
        return AllOf.bound_to(self.models, self.table.named(Role.SENSITIVE))
