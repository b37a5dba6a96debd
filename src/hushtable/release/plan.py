"""A plan: a policy with every name resolved to an object, ready to be run by any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from hushtable.release.guard import Guard

__all__ = ["AccountProtocol", "Plan", "check_combination"]


class AccountProtocol(Protocol):
    """Comparison with earlier releases of the same people: ``hushtable.ledger.account.Account``."""

    @property
    def person(self) -> str:
        """Column that identifies each record's person."""

    @property
    def records(self) -> int | None:
        """Number of earlier releases to use; None for all."""

    def summary(self) -> dict[str, Any]:
        """Return which ledger it is and how many of its releases count, as data."""

    def told(self, *, counted: bool = True) -> dict[str, int]:
        """Return the public result of the comparison."""

    def hold(self, release: Any) -> Self:
        """Return the account with the result of comparing a release; raise if it breaks a promise."""

    def pinned(self) -> Self:
        """Return the account as of now."""

    def again(self) -> Self:
        """Return the account as it was when the release was made."""

    def check(self, model: AllOf) -> None:
        """Refuse models that cannot be checked across releases."""

    def commitments(self, table: pa.Table, columns: TablePlan, model: AllOf) -> Any:
        """Return what earlier releases commit a new one to, if anything."""


@dataclass(frozen=True)
class Plan:
    """How to anonymize a table.

    Bad combinations are refused here, before any data are read.

    Attributes
    ----------
    table : TablePlan
        Columns, the meaning of missing values, cell styles, entity column.
    models : tuple of PrivacyModel
    algorithm : Algorithm
    suppression : float
        Share of people that may be suppressed.
    seed : int
    extra : Extra
        Population and background tables.
    document : mapping
        The policy as data: it travels with the release.
    guards : tuple of Guard
        Countermeasures against attacks on the algorithm.
    account : AccountProtocol, optional
        The ledger with which releases are compared.
    coins : Coins, optional
        Coins of a release that is reproduced. Defaults to those of the local secret.
    """

    table: TablePlan
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    suppression: float = 0.0
    seed: int = 0
    extra: Extra = field(default_factory=Extra)
    document: Mapping[str, Any] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()
    account: AccountProtocol | None = None
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
        check_combination(
            self.table,
            self.model(),
            self.algorithm,
            self.guards,
            suppression=self.suppression,
            population=self.extra.population is not None,
            ledger=self.account is not None,
        )
        if self.account is not None:
            self.account.check(self.model())

    def refuse_guards(self, what: str) -> None:
        """Raise if the plan has guards, treatments or a ledger, which ``what`` does not apply."""
        self.refuse_treatments(f"{what} does not apply treatments")
        if self.account is not None:
            raise IncompatibleError(
                f"{what} does not compare releases with a ledger, but the policy names one.",
                hint="Run it locally in one go, or remove 'ledger' from the policy and use 'hushtable ledger check'.",
            )
        if self.guards:
            raise IncompatibleError(
                f"{what} does not apply guards, but the policy requires {', '.join(g.name for g in self.guards)}.",
                hint="Remove 'guard' from the policy, or run it locally in one go.",
            )

    def refuse_treatments(self, why: str) -> None:
        """Raise if the plan treats columns, with the reason."""
        if not self.table.treated:
            return
        named = ", ".join(repr(column.name) for column in self.table.columns if column.treatments)
        raise IncompatibleError(
            f"{why}, but the policy treats {named}.",
            code="treatment",
            hint="Remove 'treatment' and the role 'pseudonym' from the policy, or publish the table on its own.",
        )

    def refuse_in(self, engine: str) -> None:
        """Raise if the plan needs whole columns in memory, which an engine does not have."""
        self.refuse_treatments(f"{engine} does not hold all rows of a column, which treatments need")
        self.refuse_class_weights(engine)

    def refuse_class_weights(self, what: str, does: str = "publish") -> None:
        """Raise if the plan publishes mean weights of classes, which ``what`` does not support."""
        if self.table.shown_weight is not None:
            raise IncompatibleError(
                f"{what} does not {does} the mean weights of classes, but the policy publishes those of "
                f"{self.table.shown_weight!r}.",
                code="published-weights",
                hint="Remove 'publish' below the column, or publish the table on its own, with the engine 'local'.",
            )

    def pinned(self) -> Plan:
        """Return the plan with the current state of the ledger, also in the policy that is saved with the release."""
        if self.account is None:
            return self
        account = self.account.pinned()
        if account is self.account:
            return self
        # a copy of this policy must not mistake a missing ledger for a new one
        named = {name: value for name, value in self.document["ledger"].items() if name != "new"}
        document = {**self.document, "ledger": {**named, "records": account.records}}
        return replace(self, account=account, document=document)

    def repeating(self) -> Plan:
        """Return the plan of a release that is reproduced: with the ledger as it was then."""
        return self if self.account is None else replace(self, account=self.account.again())

    def model(self) -> AllOf:
        """Return the models, bound to their sensitive columns."""
        return AllOf.bound_to(self.models, self.table.named(Role.SENSITIVE))


def check_combination(
    table: TablePlan,
    model: AllOf,
    algorithm: Algorithm,
    guards: Sequence[Guard],
    *,
    suppression: float,
    population: bool,
    ledger: bool,
) -> None:
    """Refuse, before any data are read, what cannot be combined: for a policy when it is made, and for a plan.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    check_compatible(algorithm, model, table.missing, population=population, suppression=suppression)
    check_forms(table, algorithm, model)
    if table.treated:
        from hushtable.release.treatment_rules import check_treatments

        check_treatments(table, model, ledger=ledger)
    if table.shown_weight is not None:
        from hushtable.release.class_weights import check_weight_plan

        check_weight_plan(table, model, algorithm, ledger=ledger)
    if guards and algorithm.recoding is Recoding.CONCEALED:
        raise IncompatibleError(
            f"{algorithm.name} gives each record its own group, which "
            f"{', '.join(g.name for g in guards)} would change.",
            hint="Remove 'guard' from the policy, or choose another algorithm.",
        )
    if algorithm.samples and (guards or ledger):
        raise IncompatibleError(
            f"{algorithm.name} lets only its draws depend on the records, but guards and ledgers read them.",
            hint="Remove 'guard' and 'ledger' from the policy.",
        )
    for guard in guards:
        guard.check(algorithm, model, suppression)
        guard.check_table(table)
    if guards and algorithm.recoding is Recoding.NUMBERED:
        raise IncompatibleError(
            f"{algorithm.name} must keep its classes, so guards cannot change them.",
            hint="Remove 'guard' from the policy, or choose another algorithm.",
        )
    if ledger and algorithm.recoding is Recoding.CONCEALED:
        raise IncompatibleError(
            f"A ledger compares classes, but {algorithm.name} makes none.",
            hint="Remove 'ledger' from the policy and publish these people only once, or choose another algorithm.",
        )
    if ledger and algorithm.keeps_signatures and suppression:
        raise IncompatibleError(
            f"{algorithm.name} with a ledger must not suppress anyone: suppressed people have a too "
            "frequent value, and would reveal those whom they meet in a later release.",
            hint="Set 'suppression: 0'.",
        )
