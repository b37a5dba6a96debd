"""The policy: how to anonymize a table, as one frozen object and one YAML file."""

from __future__ import annotations

import html
import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError

from hushtable.algorithms.base import Algorithm
from hushtable.errors import UsageError, did_you_mean
from hushtable.io.canonical import canonical_json, digest
from hushtable.io.versions import FORMATS
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.params import typed
from hushtable.policy.checks import contradictions
from hushtable.policy.columns import (
    BackgroundPolicy,
    ColumnPolicy,
    EnginePolicy,
    Frozen,
    Labels,
    LedgerFile,
    LedgerPolicy,
    OutputPolicy,
    StrictModel,
    freeze,
    thaw,
)
from hushtable.policy.faults import Fault, InvalidPolicy, Place, faults_of, without_format
from hushtable.policy.normalise import SUGAR, normalise, python_only
from hushtable.policy.text import read_yaml, write_yaml
from hushtable.registry import algorithms, guards, models
from hushtable.release.forms.base import DEFAULT_FORM, build_form
from hushtable.release.plan import Plan, named_alone
from hushtable.schema.columns import Missing, Role
from hushtable.table.plan import SideTables, TablePlan

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.ledger.account import Account
    from hushtable.release.cautions import Caution
    from hushtable.release.guard import Guard

    Columns = str | Sequence[str] | Mapping[str, Any] | None
    """The columns of a role: names, or names with settings."""

_Choice = Annotated[Mapping[str, Mapping[str, Any]], AfterValidator(freeze)]


class WrittenPolicy(StrictModel):
    """What a policy of one table and one of linked tables have in common: both are equivalent to a YAML file."""

    _base_dir: Path | None = PrivateAttr(default=None)

    def document(self) -> dict[str, Any]:
        """Return the policy as plain data, as in YAML and in a release."""
        return self.settings()

    @property
    def base_dir(self) -> Path | None:
        """The folder of the policy's file, to which its file names are relative; None for the current one."""
        return self._base_dir

    @typed
    def based_in(self, folder: str | os.PathLike[str] | None) -> Self:
        """Return the same policy with its files resolved in this folder."""
        policy = self.model_copy()
        policy._base_dir = None if folder is None else Path(folder)
        return policy

    def changed(self, **settings: Any) -> Self:
        """Return the policy with some settings replaced, checked again.

        Examples
        --------
        >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}])
        >>> policy.changed(seed=7).seed, policy.seed
        (7, 0)
        """
        return type(self)(**{**self.document(), **settings}).based_in(self._base_dir)

    def digest(self) -> str:
        """Return the SHA-256 of the policy's canonical JSON: equal policies have equal digests.

        Examples
        --------
        >>> len(Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}]).digest())
        64
        """
        return digest(self.document())

    def to_yaml(self) -> str:
        """Return the policy as YAML text."""
        return write_yaml({"format": FORMATS["policy"], **self.document()})

    @classmethod
    @typed
    def from_yaml(cls, text: str, *, file: str = "") -> Self:
        r"""Read a policy from YAML text.

        Parameters
        ----------
        text : str
        file : str
            Its name, for error messages.

        Raises
        ------
        InvalidPolicy
            With the line of every fault.

        Examples
        --------
        >>> Policy.from_yaml("columns: {age: {role: quasi}}\nmodels: [k-anonymity: {k: 1}]")
        Traceback (most recent call last):
        hushtable.policy.faults.InvalidPolicy: line 2: models[0].k-anonymity: The 'k' parameter of KAnonymity must be
        an int >= 2. Got 1 instead.
        """
        try:
            read = read_yaml(text)
        except InvalidPolicy as error:
            raise InvalidPolicy(error.faults, file) from None
        try:
            if foreign := cls._python_only(read.data):
                raise InvalidPolicy(foreign)
            return cls(**read.data)
        except InvalidPolicy as error:
            raise error.at_lines(read.lines, file) from None

    @classmethod
    def _python_only(cls, data: Mapping[str, Any]) -> list[Fault]:
        """Return the settings of a file that only Python accepts."""
        return []


class Policy(WrittenPolicy):
    """How to anonymize a table. Immutable, compared by content, and equivalent to a YAML file.

    It contains only plain data; ``build_models``, ``build_algorithm``, ``table_plan`` and ``plan`` return objects.
    The order of columns is part of a policy: algorithms break ties by it.

    Parameters
    ----------
    columns : mapping of str to settings
        ``role``, and optionally ``kind``, ``hierarchy``, ``weight``, ``categories``, ``order``, ``cells``,
        ``treatment``.
    identifiers, quasi, sensitive, insensitive, weight, cluster, drop : list of str, or mapping of str to settings
        The columns of each role, instead of ``columns`` or in addition.
    rest : {"drop", "insensitive", "quasi"}, optional
        Role of columns that the policy does not name: not published, published unchanged, or generalized. By
        default, a column without a role is an error.
    hierarchies : mapping of str to hierarchy
        Hierarchies of columns that were declared without one: a recipe (``{"intervals": [5, 10]}``), a file, a mapping
        (``{"lung": ["flu", "cold"]}`` or ``{"flu": "lung"}``), a DataFrame with a row per value, or a function of the
        value.
    models : list
        Model objects, or ``{name: parameters}``.
    algorithm : object, name or ``{name: parameters}``
        Defaults to ``mondrian``.
    suppression : float
        Share of people that may be suppressed, from 0 to 1.
    missing : {"own_category", "wildcard", "error"}
        Meaning of an empty quasi-identifier cell.
    missing_values : list of str
        Texts that represent a missing value.
    cells : str or mapping
        How generalized values are published.
    seed : int
        Of what measures and attacks draw. It changes no release.
    entity : str, optional
        The column that identifies each row's person, to count people instead of rows.
    population : path or DataFrame, optional
        Table of the population, for models that count it.
    background : mapping, optional
        ``file`` (a path or a DataFrame), ``on`` and ``probability``: an adversary's prior beliefs.
    ledger : path or mapping, optional
        ``file`` of the ledger of earlier releases, and optionally ``person``, ``key`` and ``records``. A release that
        breaks a model in combination with those is refused.
    output : mapping
        ``format``: csv or parquet.
    engine : mapping
        ``device``: auto, cpu or gpu. Defaults to auto. The release is the same on every device.
    guard : list
        Guards against attacks on the algorithm: objects, names or ``{name: parameters}``.
    publish : list
        Additional contents of the public ``release.json``: ``reference``, the counts of published values in the
        whole table, for models that compare with it. Subtracting the published counts reveals suppressed records.

    Raises
    ------
    InvalidPolicy
        A ``PolicyError`` that names every fault, its place and the remedy.
    IncompatibleError
        If the models, the algorithm and the meaning of missing values cannot be combined.

    Examples
    --------
    >>> import hushtable as ht
    >>> policy = Policy(identifiers=["name"], quasi=["age", "zip"], sensitive=["disease"],
    ...                 models=[ht.KAnonymity(k=5), {"entropy-l": {"l": 3}}], hierarchies={"zip": {"prefix": "*"}})
    >>> print(policy.to_yaml())
    format: 2
    columns:
      name: {role: identifier}
      age: {role: quasi}
      zip: {role: quasi, hierarchy: prefix}
      disease: {role: sensitive}
    models:
    - k-anonymity: {k: 5}
    - entropy-l: {l: 3}
    algorithm:
      mondrian: {}
    suppression: 0.0
    missing: own_category
    cells: regions
    seed: 0
    <BLANKLINE>
    >>> Policy.from_yaml(policy.to_yaml()) == policy
    True
    >>> Policy(quasi=["age"], models=[{"k-anonimity": {"k": 5}}])
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: models[0]: There is no model 'k-anonimity'. Did you mean 'k-anonymity'?
    """

    always_written = ("columns", "models", "algorithm", "suppression", "missing", "cells", "seed")

    columns: Annotated[Mapping[str, ColumnPolicy], AfterValidator(freeze)] = Field(default_factory=Frozen)
    """every column of the table, with its role"""
    rest: Literal["drop", "insensitive", "quasi"] | None = None
    """role of the columns that are not named: not published, published unchanged, or generalized"""
    models: tuple[_Choice, ...] = ()
    """the privacy models, all of which must hold"""
    algorithm: _Choice = Field(default_factory=lambda: Frozen(mondrian=Frozen()))
    """the algorithm that groups the records"""
    suppression: Annotated[float, Field(ge=0, le=1, strict=True)] = 0.0
    """share of people that may be suppressed"""
    missing: Missing = Missing.OWN_CATEGORY
    """meaning of an empty quasi-identifier cell"""
    missing_values: Labels = ()
    """texts that represent a missing value"""
    cells: Any = DEFAULT_FORM
    """how generalized values are published"""
    seed: Annotated[int, Field(ge=0, lt=2**64, strict=True)] = 0
    """the seed of what measures and attacks draw; it changes no release"""
    entity: str | None = None
    """column that identifies each row's person, to count people instead of rows"""
    population: str | None = None
    """file of the population table"""
    background: BackgroundPolicy | None = None
    """an adversary's prior beliefs"""
    ledger: LedgerFile | None = None
    """earlier releases of the same people, with which a new one is compared"""
    output: OutputPolicy = OutputPolicy()
    """settings of the written release"""
    engine: EnginePolicy = EnginePolicy()
    """settings of the computation; the release does not depend on them"""
    guard: tuple[_Choice, ...] = ()
    """countermeasures against adversaries who know the algorithm"""
    publish: tuple[Literal["reference"], ...] = ()
    """additional contents of release.json: counts of the whole table, which reveal suppressed records"""

    _tables: dict[str, pa.Table] = PrivateAttr(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            identifiers: Columns = ...,
            quasi: Columns = ...,
            sensitive: Columns = ...,
            insensitive: Columns = ...,
            weight: Columns = ...,
            cluster: Columns = ...,
            drop: Columns = ...,
            rest: Literal["drop", "insensitive", "quasi"] | None = ...,
            models: Sequence[PrivacyModel | str | Mapping[str, Any]] | PrivacyModel = ...,
            algorithm: Algorithm | str | Mapping[str, Any] | None = ...,
            columns: Mapping[str, Any] = ...,
            hierarchies: Mapping[str, Any] | None = ...,
            suppression: float = ...,
            missing: Literal["own_category", "wildcard", "error"] | Missing = ...,
            missing_values: Sequence[object] = ...,
            cells: Any = ...,
            seed: int = ...,
            entity: str | None = ...,
            population: Any = ...,
            background: Any = ...,
            ledger: str | os.PathLike[str] | Mapping[str, Any] | LedgerPolicy | None = ...,
            output: Mapping[str, Any] | OutputPolicy = ...,
            engine: Mapping[str, Any] | EnginePolicy = ...,
            guard: Sequence[Guard | str | Mapping[str, Any]] | Guard | str | None = ...,
            publish: Sequence[Literal["reference"]] = ...,
        ) -> None: ...

    else:

        def __init__(self, /, **settings: Any) -> None:
            self._validated(settings)

    def _validated(self, settings: Mapping[str, Any]) -> None:
        """Check and store all settings."""
        settings = without_format(settings)
        tables: dict[str, pa.Table] = {}
        if settings.get("population") is not None or settings.get("background") is not None:
            from hushtable.policy.objects import taken_out

            settings, tables = taken_out(settings)
        data, faults = normalise(settings)
        try:
            super().__init__(**data)
        except ValidationError as error:
            faults += faults_of(error, _known_settings)
        if not faults:
            self._tables = tables
            faults += contradictions(self)
        if faults:
            raise InvalidPolicy(faults)
        self._planned(None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        same = self._canonical() == other._canonical() and self._tables.keys() == other._tables.keys()
        return same and all(table.equals(other._tables[name]) for name, table in self._tables.items())

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __str__(self) -> str:
        return self.to_yaml()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.to_yaml())}</pre>"

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        """The tables that were given in Python instead of files: ``population``, ``background``."""
        return self._tables

    @typed
    def holding(self, tables: Mapping[str, Any]) -> Self:
        """Return the same policy with these tables, in place of those that were given in Python.

        Parameters
        ----------
        tables : mapping of str to DataFrame
            ``population``, ``background``. A policy that was read from a file does not contain them.
        """
        from hushtable.policy.objects import IN_MEMORY

        named = {"population": self.population, "background": self.background and self.background.file}
        wanted = {name for name, said in named.items() if said == IN_MEMORY} - self._tables.keys()
        if not wanted & tables.keys():
            return self
        from hushtable.io.frames import to_arrow

        policy = self.model_copy()
        policy._tables = {**self._tables, **{name: to_arrow(tables[name]) for name in wanted & tables.keys()}}
        return policy

    def changed(self, **settings: Any) -> Self:
        """Return the policy with some settings replaced, checked again."""
        return super().changed(**settings).holding(self._tables)

    @typed
    def with_column(self, name: str, **settings: Any) -> Self:
        """Return the policy with some settings of one column replaced, checked again; None removes a setting.

        A new role drops the settings that belonged to the old one.

        Parameters
        ----------
        name : str
        **settings
            ``role``, ``kind``, ``hierarchy``, ``weight``, ``categories``, ``order``, ``cells``.

        Examples
        --------
        >>> policy = Policy(quasi=["age", "town"], models=[{"k-anonymity": {"k": 5}}])
        >>> policy.with_column("town", role="insensitive").named(Role.QUASI)
        ('age',)
        """
        columns = self.document()["columns"]
        if name not in columns:
            raise UsageError(f"There is no column {name!r} in the policy.", hint=did_you_mean(name, columns))
        role = settings.get("role", columns[name]["role"])
        have = columns[name] if isinstance(role, str) and role == columns[name]["role"] else {}
        columns[name] = {key: value for key, value in {**have, **settings}.items() if value is not None}
        return self.changed(columns=columns)

    @typed
    def for_columns(self, names: Iterable[str]) -> Self:
        """Return the policy for a table with these columns: ``rest`` becomes the role of each unnamed column.

        Examples
        --------
        >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}], rest="drop")
        >>> policy.for_columns(["age", "note"]).document()["columns"]
        {'age': {'role': 'quasi'}, 'note': {'role': 'drop'}}
        """
        if self.rest is None:
            return self
        columns = {**self.document()["columns"]}
        columns |= {name: {"role": self.rest} for name in names if name not in columns}
        return self.changed(columns=columns, rest=None)

    @typed
    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role, in order."""
        return tuple(name for name, column in self.columns.items() if column.role is role)

    def build_models(self) -> tuple[PrivacyModel, ...]:
        """Return the privacy models as objects, in the policy's order."""
        return tuple(models.build(name, thaw(values)) for choice in self.models for name, values in choice.items())

    def build_algorithm(self) -> Algorithm:
        """Return the algorithm as an object."""
        ((name, values),) = self.algorithm.items()
        algorithm: Algorithm = algorithms.build(name, thaw(values))
        return algorithm

    def build_guards(self) -> tuple[Guard, ...]:
        """Return the guards as objects, in the policy's order."""
        return tuple(guards.build(name, thaw(values)) for choice in self.guard for name, values in choice.items())

    def model(self) -> AllOf:
        """Return all models as one, bound to their sensitive columns."""
        return AllOf.bound_to(self.build_models(), self.named(Role.SENSITIVE))

    def cautions(self, table: pa.Table | None = None) -> tuple[Caution, ...]:
        """Return what a release under this policy would not protect; given a table, also what its values reveal.

        Examples
        --------
        >>> [caution.code for caution in Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}]).cautions()]
        ['no-sensitive']
        """
        from hushtable.release.cautions import cautions

        return cautions(self._planned(self._base_dir), table)

    def table_plan(self, base_dir: str | os.PathLike[str] | None = None) -> TablePlan:
        """Return the columns with their hierarchies as objects. Reads no file."""
        folder = self._folder(base_dir)
        columns = tuple(column.plan(name, folder) for name, column in self.columns.items())
        return TablePlan(columns, self.missing, self.missing_values, build_form(self.cells), self.entity)

    def plan(self, base_dir: str | os.PathLike[str] | None = None, *, read: bool = True) -> Plan:
        """Return everything as objects, ready to run. Reads the population and background tables.

        Parameters
        ----------
        base_dir : path, optional
            The folder that files are relative to. Defaults to the policy file's folder, or the current one.
        read : bool
            Whether to read those tables; without them, the plan can examine a release, but not run.

        Examples
        --------
        >>> Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}]).plan().models[0].k
        5
        """
        folder = self._folder(base_dir)
        return self._planned(folder, side_tables=self._side_tables(folder, read=read), account=self._account(folder))

    def _planned(self, folder: Path | None, **read: Any) -> Plan:
        """Return the plan, with those of its tables and its ledger that were read."""
        return Plan(
            table=self.table_plan(folder),
            models=self.build_models(),
            algorithm=self.build_algorithm(),
            suppression=self.suppression,
            seed=self.seed,
            document=self.document(),
            guards=self.build_guards(),
            **read,
        )

    def _side_tables(self, folder: Path | None, *, read: bool) -> SideTables:
        on, bandwidths = self.model().estimated()
        if self.population is None and self.background is None:
            return SideTables(background_on=on, bandwidths=bandwidths)
        from hushtable.policy.objects import read_side_tables

        side_tables = read_side_tables(self, folder, read=read)
        return replace(side_tables, background_on=on, bandwidths=bandwidths) if bandwidths else side_tables

    def _account(self, folder: Path | None) -> Account | None:
        if self.ledger is None:
            return None
        from hushtable.ledger.account import Account

        return Account.of(self.document(), folder)

    def _folder(self, base_dir: str | os.PathLike[str] | None) -> Path | None:
        return self._base_dir if base_dir is None else Path(base_dir)

    def document(self) -> dict[str, Any]:
        """Return the policy as plain data, as in YAML and in a release.

        Examples
        --------
        >>> Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}]).document()["columns"]
        {'age': {'role': 'quasi'}}
        """
        document = super().document()
        if self.guard:
            document["guard"] = named_alone(document["guard"])
        return document

    def _canonical(self) -> str:
        return canonical_json(self.document())

    @classmethod
    def _python_only(cls, data: Mapping[str, Any]) -> list[Fault]:
        return python_only(data)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a policy file, with every registered model, algorithm and hierarchy.

        Examples
        --------
        >>> Policy.json_schema()["title"]
        'hushtable policy'
        """
        from hushtable.policy.schema import policy_schema

        return policy_schema(cls)


def _signature() -> inspect.Signature:
    """Signature for ``help(Policy)`` and editors: every setting by name, those about columns first."""
    fields = Policy.model_fields
    kind = inspect.Parameter.KEYWORD_ONLY
    named = "str | Sequence[str] | Mapping[str, Any]"
    first = [inspect.Parameter(word, kind, default=(), annotation=named) for word in SUGAR]
    last = [inspect.Parameter("hierarchies", kind, default=None, annotation="Mapping[str, Any] | None")]
    order = ["rest", "models", "algorithm", "columns"]
    rest = [
        inspect.Parameter(name, kind, default=fields[name].get_default(call_default_factory=True))
        for name in [*order, *(name for name in fields if name not in order)]
    ]
    return inspect.Signature([*first, *rest, *last])


Policy.__signature__ = _signature()


def _known_settings(place: Place) -> list[str]:
    if not place:
        return [*Policy.model_fields, *SUGAR]
    if place[0] == "columns":
        return list(ColumnPolicy.model_fields)
    parts: dict[Any, type[StrictModel]] = {
        "background": BackgroundPolicy,
        "ledger": LedgerPolicy,
        "output": OutputPolicy,
        "engine": EnginePolicy,
    }
    return list(parts[place[0]].model_fields) if place[0] in parts else []
