"""A plan: a policy with every name resolved to an object, ready to be run by any engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from hushtable.algorithms.base import Algorithm, Recoding, check_compatible
from hushtable.errors import IncompatibleError, ParameterError, PolicyError
from hushtable.models.base import PrivacyModel, Stat
from hushtable.models.compose import AllOf
from hushtable.release.forms.base import check_forms
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins
from hushtable.table.plan import SideTables, TablePlan

if TYPE_CHECKING:
    from hushtable.release.guard import Guard


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

    def result(self) -> dict[str, int]:
        """Return the result of the comparison."""

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
    """How to anonymize a table: a policy with every name resolved to an object.

    Bad combinations are refused here, and only here: a policy makes its plan when it is made, before any data are read.

    Attributes
    ----------
    table : TablePlan
        Columns, the meaning of missing values, cell styles, entity column.
    models : tuple of PrivacyModel
    algorithm : Algorithm
    suppression : float
        Share of people that may be suppressed.
    seed : int
    side_tables : SideTables
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
    side_tables: SideTables = field(default_factory=SideTables)
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
        model, algorithm = self.model(), self.algorithm
        self._check_publish()
        # otherwise it depends on the table which columns are quasi-identifiers
        if self.document.get("rest") != "quasi":
            self._check_columns_read()
            algorithm.check_table(self.table)
            object.__setattr__(self, "table", algorithm.planned(self.table))
        population, ledger = self._has("population", self.side_tables.population), self._has("ledger", self.account)
        check_compatible(algorithm, model, self.table.missing, population=population, suppression=self.suppression)
        check_forms(self.table, algorithm, model)
        if self.table.treated:
            from hushtable.release.treatment_rules import check_treatments

            check_treatments(self.table, model, suppression=self.suppression, ledger=ledger)
        if self.table.shown_weight is not None:
            from hushtable.release.class_weights import check_weight_plan

            check_weight_plan(self.table, model, algorithm, ledger=ledger)
        self._check_guards(model, ledger=ledger)
        if ledger:
            self._check_ledger()
        self._check_background(model)
        if self.account is not None:
            self.account.check(model)

    def _has(self, setting: str, given: object) -> bool:
        """Whether there is a table or a ledger; one that the policy names may not have been read yet."""
        return given is not None or setting in self.document

    def _check_columns_read(self) -> None:
        quasi = self.table.named(Role.QUASI)
        for model in self.models:
            unknown = [name for name in model.columns_read() if name not in quasi]
            if unknown:
                raise PolicyError(
                    f"{model.name} names {unknown[0]!r}, which is not a quasi-identifier.",
                    code="not-quasi",
                    hint=f"Quasi-identifiers: {', '.join(quasi) or 'none'}.",
                )

    def _check_publish(self) -> None:
        """Refuse additional contents of release.json that would reveal records."""
        algorithm = self.algorithm
        if not self.document.get("publish"):
            return
        if algorithm.samples:
            raise IncompatibleError(
                f"{algorithm.name} lets only its draws depend on the records, but 'publish' reads them.",
                hint="Remove 'publish' from the policy.",
            )
        if algorithm.keeps_signatures or self.table.entity is not None:
            why = (
                f"{algorithm.name} may add counterfeits, and counts of the whole table would reveal which rows they are"
                if algorithm.keeps_signatures
                else "the policy counts people, and counts of the whole table would reveal how many rows a person has"
            )
            raise IncompatibleError(
                f"'publish: [reference]' is refused: {why}.",
                hint="Remove 'publish', and verify with the private companion.",
            )

    def _check_guards(self, model: AllOf, *, ledger: bool) -> None:
        guards, algorithm = self.guards, self.algorithm
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
            guard.check(algorithm, model, self.suppression)
            guard.check_table(self.table)
        if guards and algorithm.recoding is Recoding.NUMBERED:
            raise IncompatibleError(
                f"{algorithm.name} must keep its classes, which {', '.join(g.name for g in guards)} would change.",
                hint="Remove 'guard' from the policy, or choose another algorithm.",
            )

    def _check_ledger(self) -> None:
        algorithm = self.algorithm
        if algorithm.recoding is Recoding.CONCEALED:
            raise IncompatibleError(
                f"A ledger compares classes, but {algorithm.name} makes none.",
                hint="Remove 'ledger' from the policy and publish these people only once, or choose another algorithm.",
            )
        if algorithm.keeps_signatures and self.suppression:
            raise IncompatibleError(
                f"{algorithm.name} with a ledger must not suppress anyone: suppressed people have a value that is too "
                "frequent, which would reveal the values of people who share a later class with them.",
                hint="Set 'suppression: 0'.",
            )

    def _check_background(self, model: AllOf) -> None:
        """Refuse a model without the adversary's beliefs that it needs, and beliefs that it would not use."""
        known = self._has("background", self.side_tables.background)
        model.estimated()  # raises if the members need different beliefs
        for member in model.members:
            if known and member.bandwidth() is not None:
                raise IncompatibleError(
                    f"{member.name} estimates the adversary's beliefs, so the policy's background table would not be "
                    "used.",
                    hint="Leave out 'background', or choose bayes-optimal with background: true.",
                )
            if not known and Stat.BACKGROUND in member.stats_needed() and member.bandwidth() is None:
                raise IncompatibleError(
                    f"{member.name} needs a background table.",
                    hint="Add 'background: {file: beliefs.csv, on: disease}' to the policy.",
                )

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

    def changed(self, *, algorithm: Algorithm | None = None, guards: Sequence[Guard] | None = None) -> Plan:
        """Return the plan with another algorithm or other guards, also in its document, and with new coins."""
        algorithm, guards = algorithm or self.algorithm, self.guards if guards is None else tuple(guards)
        document = {**self.document, "algorithm": {algorithm.name: algorithm.values()}}
        document |= {"guard": named_alone({g.name: g.values()} for g in guards)}
        document = {name: value for name, value in document.items() if guards or name != "guard"}
        return replace(self, algorithm=algorithm, guards=guards, document=document, coins=None)

    def model(self) -> AllOf:
        """Return the models, bound to their sensitive columns."""
        return AllOf.bound_to(self.models, self.table.named(Role.SENSITIVE))


def named_alone(choices: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return choices as a policy lists them: those without parameters read best as names.

    Examples
    --------
    >>> named_alone([{"minimality": {"extra": 0.5}}, {"downcoding": {}}])
    [{'minimality': {'extra': 0.5}}, 'downcoding']
    """
    return [dict(choice) if any(choice.values()) else next(iter(choice)) for choice in choices]
