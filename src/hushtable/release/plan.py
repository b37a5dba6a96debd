"""A plan: a policy with every name resolved to an object, ready to be run by any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Recoding, check_compatible
from hushtable.errors import IncompatibleError, ParameterError, PolicyError
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.release.forms.base import check_forms
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins
from hushtable.table.encode import Extra
from hushtable.table.plan import TablePlan

if TYPE_CHECKING:
    from hushtable.release.guards.base import Guard

__all__ = ["Account", "Plan"]


class Account(Protocol):
    """What holds a release against earlier ones of the same people: ``hushtable.ledger.account.Account``."""

    @property
    def person(self) -> str:
        """The column that says whose a record is."""

    @property
    def records(self) -> int | None:
        """How many of the earlier releases count; all where it is None."""

    def summary(self) -> dict[str, Any]:
        """Return which ledger it is and how many of its releases count, as data."""

    def told(self, *, counted: bool = True) -> dict[str, int]:
        """Return what the release was held against, for everybody."""

    def hold(self, release: Any) -> Self:
        """Return the account with what a release was held against; raise where it breaks a promise."""

    def pinned(self) -> Self:
        """Return the account as of now."""

    def again(self) -> Self:
        """Return the account as it was when the release was made."""

    def check(self, model: AllOf) -> None:
        """Refuse models that cannot be judged across releases."""

    def commitments(self, table: pa.Table, columns: TablePlan, model: AllOf) -> Any:
        """Return what earlier releases commit a new one to, if anything."""


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
    account : Account, optional
        The ledger that releases are held against.
    coins : Coins, optional
        Those of a release that is made again; by default they come from the local secret.
    """

    table: TablePlan
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    suppression: float = 0.0
    seed: int = 0
    extra: Extra = field(default_factory=Extra)
    document: Mapping[str, Any] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()
    account: Account | None = None
    coins: Coins | None = None

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
        for model in self.models:
            unknown = [name for name in model.columns_read() if name not in self.table.named(Role.QUASI)]
            if unknown:
                raise PolicyError(
                    f"{model.name} names {unknown[0]!r}, which is not a quasi-identifier.",
                    code="not-quasi",
                    hint=f"Quasi-identifiers: {', '.join(self.table.named(Role.QUASI)) or 'none'}.",
                )
        self.algorithm.check_table(self.table)
        object.__setattr__(self, "table", self.algorithm.planned(self.table))
        check_compatible(
            self.algorithm,
            self.model(),
            self.table.missing,
            population=self.extra.population is not None,
            suppression=self.suppression,
        )
        check_forms(self.table, self.algorithm, self.model())
        if self.table.treated:
            from hushtable.release.treatment_rules import check_treatments

            check_treatments(self.table, self.model(), ledger=self.account is not None)
        if self.table.shown_weight is not None:
            from hushtable.release.class_weights import check_weight_plan

            check_weight_plan(self.table, self.model(), self.algorithm, ledger=self.account is not None)
        self._check_guards_and_ledger()

    def _check_guards_and_ledger(self) -> None:
        if self.guards and self.algorithm.recoding is Recoding.CONCEALED:
            raise IncompatibleError(
                f"{self.algorithm.name} gives each record its own crowd, and {', '.join(g.name for g in self.guards)} "
                "would change it.",
                hint="Leave 'guard' out of the policy, or choose another algorithm.",
            )
        if self.algorithm.samples and (self.guards or self.account is not None):
            raise IncompatibleError(
                f"{self.algorithm.name} lets nothing but its draws depend on the records; guards and ledgers look at "
                "them.",
                hint="Leave 'guard' and 'ledger' out of the policy.",
            )
        for guard in self.guards:
            guard.check(self.algorithm, self.model(), self.suppression)
            guard.check_table(self.table)
        if self.guards and self.algorithm.recoding is Recoding.NUMBERED:
            raise IncompatibleError(
                f"{self.algorithm.name} has to keep the classes that it makes, so guards cannot change them.",
                hint="Leave 'guard' out of the policy, or choose another algorithm.",
            )
        if self.account is not None and self.algorithm.recoding is Recoding.CONCEALED:
            raise IncompatibleError(
                f"A ledger compares classes, and {self.algorithm.name} makes none.",
                hint="Leave 'ledger' out of the policy and publish these people once, or choose another algorithm.",
            )
        if self.account is not None:
            self.account.check(self.model())
            if self.algorithm.keeps_signatures and self.suppression:
                raise IncompatibleError(
                    f"{self.algorithm.name} with a ledger leaves nobody out: people who were left out have a too "
                    "frequent value, and would give away those whom they meet in a later release.",
                    hint="Set 'suppression: 0'.",
                )

    def refuse_guards(self, what: str) -> None:
        """Raise, where the plan has guards, treatments or a ledger, that ``what`` does not apply them."""
        self.refuse_treatments(f"{what} does not treat columns")
        if self.account is not None:
            raise IncompatibleError(
                f"{what} does not hold releases against a ledger, and the policy names one.",
                hint="Run it locally in one go, or take 'ledger' out of the policy and use 'hushtable ledger check'.",
            )
        if self.guards:
            raise IncompatibleError(
                f"{what} does not apply guards, and the policy asks for {', '.join(g.name for g in self.guards)}.",
                hint="Leave 'guard' out of the policy, or run it locally in one go.",
            )

    def refuse_treatments(self, why: str) -> None:
        """Raise, where the plan treats columns, that this cannot be done, and why."""
        if not self.table.treated:
            return
        named = ", ".join(repr(column.name) for column in self.table.columns if column.treatments)
        raise IncompatibleError(
            f"{why}, and the policy treats {named}.",
            code="treatment",
            hint="Leave 'treatment' and the role 'pseudonym' out of the policy, or publish the table on its own.",
        )

    def refuse_in(self, engine: str) -> None:
        """Raise, where the plan needs whole columns in one place, that an engine does not hold them."""
        self.refuse_treatments(f"{engine} does not hold all rows of a column, which treatments look at")
        self.refuse_class_weights(engine)

    def refuse_class_weights(self, what: str, does: str = "publish") -> None:
        """Raise, where the plan publishes mean weights of classes, that ``what`` does not."""
        if self.table.shown_weight is not None:
            raise IncompatibleError(
                f"{what} does not {does} the mean weights of classes, and the policy asks for those of "
                f"{self.table.shown_weight!r}.",
                code="published-weights",
                hint="Leave out 'publish' below the column, or publish the table on its own, with the engine 'local'.",
            )

    def pinned(self) -> Plan:
        """Return the plan with the ledger as it is now, in the policy that travels with the release too."""
        if self.account is None:
            return self
        account = self.account.pinned()
        if account is self.account:
            return self
        # a copy of this policy must not take a ledger that is gone for a new one
        named = {name: value for name, value in self.document["ledger"].items() if name != "new"}
        document = {**self.document, "ledger": {**named, "records": account.records}}
        return replace(self, account=account, document=document)

    def repeating(self) -> Plan:
        """Return the plan of a release that is made again: the ledger counts as it was then."""
        return self if self.account is None else replace(self, account=self.account.again())

    def model(self) -> AllOf:
        """Return the models, bound to their sensitive columns."""
        return AllOf.bound_to(self.models, self.table.named(Role.SENSITIVE))
