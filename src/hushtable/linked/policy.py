"""The policy of linked tables: one table of people, and tables of what happened to them.

Its setting ``tables`` distinguishes it from the policy of one table. Columns, hierarchies and models have the same
form.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from hushtable.errors import HushtableError, ParameterError, a_kind, did_you_mean
from hushtable.models.base import Monotone, PrivacyModel, Stat
from hushtable.models.compose import AllOf
from hushtable.params import typed
from hushtable.policy.checks import column_faults
from hushtable.policy.columns import ColumnPolicy, Labels, OutputPolicy, StrictModel, freeze, thaw
from hushtable.policy.faults import Fault, InvalidPolicy, Place, faults_of, without_format
from hushtable.policy.files import is_linked, load_policy, policy_text
from hushtable.policy.normalise import normalise, python_only
from hushtable.policy.policy import Policy, WrittenPolicy
from hushtable.registry import models
from hushtable.release.forms.base import DEFAULT_FORM, build_form
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.plan import TablePlan

MOST_KNOWN = 4
"""Maximum number of events in a combination: the number of combinations grows with every additional event."""

_FOR_EVENTS = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE, Role.IDENTIFIER, Role.DROP)


def _names(given: Any) -> Any:
    """Allow a single name without a list."""
    return (given,) if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_names, json_schema_input_type=str | tuple[str, ...])]


def _number_of_events(given: Any) -> Any:
    """Refuse anything but a valid number of events, in one sentence."""
    if isinstance(given, str) and given == "all":
        return given
    if type(given) is not int or not 1 <= given <= MOST_KNOWN:
        got = f"Got {given!r} instead." if type(given) is int else f"Got {a_kind(given)} instead."
        raise ParameterError(
            f"It must be a whole number from 1 to {MOST_KNOWN}, or all. {got}",
            hint=f"More than {MOST_KNOWN} known events have too many combinations to count.",
        )
    return given


Known = Annotated[int | Literal["all"], BeforeValidator(_number_of_events, json_schema_input_type=int | Literal["all"])]


class TablePolicy(StrictModel):
    """The settings of one table.

    Examples
    --------
    >>> TablePolicy(of="people", by="patient", columns={"code": {"role": "quasi"}}).by
    ('patient',)
    """

    columns: Annotated[Mapping[str, ColumnPolicy], AfterValidator(freeze)]
    """every column but the keys, with its role"""
    key: Names = ()
    """columns that identify a row; published as random numbers. Required for people and parents of other tables"""
    of: str | None = None
    """the table that the rows belong to. The table of people has none"""
    by: Names = ()
    """columns that name a row of that table. Defaults to the columns of its key"""
    knows: Known | None = None
    """how many events of this table an adversary may know about a person, or all. Defaults to the policy's 'knows'"""
    counts: Annotated[bool, Field(strict=True)] = False
    """whether others may know how many events of this table a person has"""
    weight: Annotated[float, Field(gt=0, le=1e6, strict=True, allow_inf_nan=False)] = 1.0
    """how much the detail of this table matters compared with the others"""
    relative: Annotated[Mapping[str, str], AfterValidator(freeze)] = Field(default_factory=dict)
    """date columns to publish as days since a date of the person: {admitted: born}"""

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role, in order."""
        return tuple(name for name, column in self.columns.items() if column.role is role)

    def read_as(self) -> dict[str, ColumnPolicy]:
        """Return the columns as they are read: dates relative to a date of the person are numbers of days."""
        days = {"format": None, "kind": Kind.NUMERIC}
        return {
            name: column.model_copy(update=days) if name in self.relative else column
            for name, column in self.columns.items()
        }


class LinkedPolicy(WrittenPolicy):
    r"""The policy for people and their events. Immutable, and equivalent to a YAML file with ``tables``.

    Parameters
    ----------
    tables : mapping of str to settings
        One table without ``of``: the people, one row each. The others belong to it, directly or through each other.
    knows : int or "all"
        How many events of a person an adversary may know, over all tables.
    models : list
        Models that hold for the people who match what the adversary knows.
    suppression : float
        Share of the events that may be suppressed, from 0 to 1.
    crowd : int, optional
        Smallest number of people with equal published attributes. Defaults to the size with the least loss.
    algorithm : {"greedy", "exact"}
        ``exact`` finds the levels and suppressed events with the least loss by exhaustive search, for very small
        tables.
    missing : {"own_category", "error"}
    missing_values : list of str
    seed : int
        Of what attacks draw. It changes no release.
    output : mapping

    Raises
    ------
    InvalidPolicy
        Names every fault, its place and the remedy.

    Examples
    --------
    >>> policy = LinkedPolicy(
    ...     tables={"people": {"key": "id", "columns": {"age": {"role": "quasi"}}},
    ...             "visits": {"of": "people", "by": "id", "columns": {"reason": {"role": "quasi"}}}},
    ...     knows=2, models=[{"k-anonymity": {"k": 5}}])
    >>> print(policy.to_yaml())
    format: 2
    tables:
      people: {columns: {age: {role: quasi}}, key: [id]}
      visits: {columns: {reason: {role: quasi}}, of: people, by: [id]}
    knows: 2
    models:
    - k-anonymity: {k: 5}
    <BLANKLINE>
    >>> LinkedPolicy.from_yaml(policy.to_yaml()).digest() == policy.digest()
    True
    >>> LinkedPolicy.from_yaml("tables: {people: {columns: {age: {role: quasi}}}}\nmodels: [k-anonymity: {k: 2}]")
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: line 1: tables.people: The table of people needs 'key'. Name
    the columns that identify a row.
    """

    always_written: ClassVar[tuple[str, ...]] = ("knows", "models")

    tables: Annotated[Mapping[str, TablePolicy], AfterValidator(freeze)]
    """the people and their events"""
    knows: Known = 2
    """how many events of a person an adversary may know, over all tables, or all"""
    models: tuple[Annotated[Mapping[str, Mapping[str, Any]], AfterValidator(freeze)], ...] = ()
    """what holds for the people who match what the adversary knows"""
    suppression: Annotated[float, Field(ge=0, le=1, strict=True)] = 0.2
    """share of the events that may be suppressed"""
    crowd: Annotated[int, Field(ge=2, strict=True)] | None = None
    """smallest number of people with equal published attributes. Defaults to the size with the least loss"""
    algorithm: Literal["greedy", "exact"] = "greedy"
    """greedy for tables of any size; exact, an exhaustive search, for very small ones"""
    missing: Literal["own_category", "error"] = "own_category"
    """what an empty quasi-identifier cell means: a separate value, or an error"""
    missing_values: Labels = ()
    """texts that stand for a missing value"""
    seed: Annotated[int, Field(ge=0, lt=2**64, strict=True)] = 0
    """the start of all randomness that need not be secret"""
    output: OutputPolicy = OutputPolicy()
    """how the release is written"""

    def __init__(self, /, **settings: Any) -> None:
        data, faults = _plain(without_format(settings))
        try:
            super().__init__(**data)
        except ValidationError as error:
            faults += faults_of(error, _known_settings)
        if not faults:
            faults += _contradictions(self)
        if faults:
            raise InvalidPolicy(faults)

    @property
    def people(self) -> str:
        """The name of the table of people."""
        return next(name for name, table in self.tables.items() if table.of is None)

    @property
    def events(self) -> tuple[str, ...]:
        """The names of the other tables, each after the one that it belongs to."""
        done = [self.people]
        while len(done) < len(self.tables):
            done += [n for n, t in self.tables.items() if n not in done and t.of in done]
        return tuple(done[1:])

    def by(self, name: str) -> tuple[str, ...]:
        """Return the columns that name the row of another table that a row belongs to."""
        table = self.tables[name]
        return table.by or (self.tables[table.of].key if table.of else ())

    @property
    def counted(self) -> tuple[str, ...]:
        """The tables for which others may know how many events a person has."""
        return tuple(name for name in self.events if self.tables[name].counts)

    def parents(self) -> frozenset[str]:
        """Return the tables that others belong to."""
        return frozenset(table.of for table in self.tables.values() if table.of is not None)

    def known_events(self, name: str) -> int | str:
        """Return how many events of one table an adversary may know."""
        own = self.tables[name].knows
        return self.knows if own is None else own

    def model(self) -> AllOf:
        """Return all models as one, bound to sensitive columns: ``pay`` of people, ``labs.result`` of events."""
        built: list[PrivacyModel] = [
            models.build(name, thaw(values)) for choice in self.models for name, values in choice.items()
        ]
        return AllOf.bound_to(built, self.sensitive())

    def sensitive(self) -> tuple[str, ...]:
        """Return the sensitive columns of all tables; those of events as ``table.column``."""
        own = self.tables[self.people].named(Role.SENSITIVE)
        return (
            *own,
            *(f"{name}.{column}" for name in self.events for column in self.tables[name].named(Role.SENSITIVE)),
        )

    def of_people(self, crowd: int) -> Policy:
        """Return the policy of the table of people on its own, with classes of at least ``crowd``."""
        table = self.tables[self.people]
        own = set(table.named(Role.SENSITIVE))
        kept = [m for m in self.model().members if all(set(key) <= own for key in m.histogram_keys())]
        chosen: list[Any] = [{"k-anonymity": {"k": crowd}}, *(m for m in kept if m.histogram_keys())]
        return Policy(
            columns={name: column.settings() for name, column in table.columns.items()},
            models=chosen,
            missing=self.missing,
            missing_values=list(self.missing_values),
            seed=self.seed,
        ).based_in(self._base_dir)

    def table_plan(self, name: str) -> TablePlan:
        """Return the columns of a table with their hierarchies as objects."""
        columns = self.tables[name].read_as().items()
        return TablePlan(
            tuple(column.plan(key, self._base_dir) for key, column in columns),
            Missing(self.missing),
            self.missing_values,
            build_form(DEFAULT_FORM),
        )


@typed
def read_policy(path: str | os.PathLike[str]) -> Policy | LinkedPolicy:
    """Read a policy of one table or of linked tables from a YAML file."""
    file = Path(path)
    if not is_linked(file):
        return load_policy(file)
    return LinkedPolicy.from_yaml(policy_text(file), file=file.name).based_in(file.parent)


def _plain(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the settings in their plain form, and what is wrong with their columns and models."""
    data, faults = dict(settings), []
    if "models" in data:
        own, found = normalise({"models": data["models"]})
        data, faults = {**data, **own}, found
    if isinstance(data.get("tables"), Mapping):
        tables = {}
        for name, table in data["tables"].items():
            given = table.settings() if isinstance(table, TablePolicy) else table
            if isinstance(given, Mapping) and isinstance(given.get("columns"), Mapping):
                own, found = normalise({"columns": given["columns"]})
                found += python_only({"columns": given["columns"]})
                faults += [_below(fault, name) for fault in found]
                given = {**given, **own}
            tables[str(name)] = given
        data["tables"] = tables
    return data, faults


def _below(fault: Fault, table: Any) -> Fault:
    return Fault(("tables", str(table), *fault.place), fault.sentence, fault.hint, fault.code)


def _known_settings(place: Place) -> list[str]:
    if not place:
        return list(LinkedPolicy.model_fields)
    if place[0] == "output":
        return list(OutputPolicy.model_fields)
    return list((TablePolicy if len(place) == 2 else ColumnPolicy).model_fields)


def _contradictions(policy: LinkedPolicy) -> Iterator[Fault]:
    """Yield every setting that contradicts another one."""
    faults = list(_structure(policy))
    yield from faults
    if faults:
        return
    for name, table in policy.tables.items():
        columns = (*table.columns.items(), *table.read_as().items())
        yield from dict.fromkeys(_below(f, name) for key, column in columns for f in column_faults(key, column))
        yield from _table(policy, name, table)
    if policy.knows == "all" and any(t.knows not in (None, "all") for t in policy.tables.values()):
        yield Fault(("knows",), "With 'knows: all' for the policy, no table can have a smaller 'knows'.",
                    "Write a number here, and 'knows: all' only for the tables that need it.", "knows")  # fmt: skip
    yield from _models(policy)


def _structure(policy: LinkedPolicy) -> Iterator[Fault]:
    """Yield what is wrong with how the tables are joined."""
    roots = [name for name, table in policy.tables.items() if table.of is None]
    if len(roots) != 1:
        said = "No table is the table of people." if not roots else f"{len(roots)} tables belong to no other one."
        yield Fault(("tables",), said, "Every other table needs 'of': the table that its rows belong to.", "of")
        return
    for name, table in policy.tables.items():
        if not name or not name.replace("_", "").replace("-", "").isalnum():
            yield Fault(("tables", name), "A table's name is made of letters, digits, '-' and '_'.",
                        "Rename the table: its name becomes the name of a file.", "name")  # fmt: skip
        if table.of is None:
            continue
        if table.of not in policy.tables:
            yield Fault(("tables", name, "of"), f"There is no table {table.of!r}.",
                        did_you_mean(table.of, policy.tables), "unknown-table")  # fmt: skip
            continue
        seen = [name]
        above: str | None = table.of
        while above is not None and above in policy.tables and above not in seen:
            seen.append(above)
            above = policy.tables[above].of
        if above in seen:
            yield Fault(("tables", name, "of"), "The tables belong to each other in a cycle.",
                        "Every table must lead to the table of people.", "cycle")  # fmt: skip
        key = policy.tables[table.of].key
        if table.by and key and len(table.by) != len(key):
            yield Fault(("tables", name, "by"), f"{len(table.by)} columns, but the key of {table.of!r} has {len(key)}.",
                        "Name one column for each, in the same order.", "key")  # fmt: skip
    for name in {roots[0], *policy.parents() & policy.tables.keys()}:
        if not policy.tables[name].key:
            what = "The table of people" if name == roots[0] else "A table that others belong to"
            yield Fault(("tables", name), f"{what} needs 'key'.", "Name the columns that identify a row.", "no-key")


def _table(policy: LinkedPolicy, name: str, table: TablePolicy) -> Iterator[Fault]:
    """Yield what is wrong with one table."""
    place: Place = ("tables", name)
    for part in (*table.key, *policy.by(name)):
        if part in table.columns:
            yield Fault((*place, "columns", part), "A column of a key has no role.",
                        "Remove it here: keys are published as fresh random numbers.", "key")  # fmt: skip
    if name == policy.people:
        if not table.named(Role.QUASI):
            yield Fault((*place, "columns"), "The table of people has no quasi-identifier.",
                        "Give at least one column the role 'quasi'.", "no-quasi")  # fmt: skip
        for setting in ("by", "knows", "counts", "relative"):
            if setting in table.model_fields_set:
                yield Fault((*place, setting), f"{setting!r} is for tables of events.", "Remove it.", "not-for-people")
        return
    for key, column in table.columns.items():
        if column.role not in _FOR_EVENTS:
            yield Fault((*place, "columns", key, "role"), f"The role {column.role} is for the table of people.",
                        "Choose quasi, sensitive, insensitive, identifier or drop.", "not-for-events")  # fmt: skip
        for setting in ("treatment", "cells"):
            if getattr(column, setting) is not None:
                yield Fault((*place, "columns", key, setting), f"{setting!r} is for columns of people.", "Remove it.",
                            "not-for-events")  # fmt: skip
    people = policy.tables[policy.people]
    for key, anchor in table.relative.items():
        if key not in table.columns:
            yield Fault(
                (*place, "relative", key), "There is no such column.", did_you_mean(key, table.columns), "column"
            )
        if anchor not in people.columns:
            yield Fault((*place, "relative", key), f"The table of people has no column {anchor!r}.",
                        did_you_mean(anchor, people.columns), "column")  # fmt: skip
    if isinstance(table.knows, int) and isinstance(policy.knows, int) and table.knows > policy.knows:
        yield Fault((*place, "knows"), f"{table.knows} events of one table are more than the {policy.knows} that "
                    "'knows' allows over all tables.", f"Write 'knows: {table.knows}' for the policy, or less here.",
                    "knows")  # fmt: skip
    above = table.of
    if (
        above != policy.people
        and above is not None
        and (policy.known_events(name) == "all") != (policy.known_events(above) == "all")
    ):
        yield Fault((*place, "knows"), f"'knows: all' must cover a table and those below it; {above!r} differs.",
                    "Write it at both tables.", "knows")  # fmt: skip


def _models(policy: LinkedPolicy) -> Iterator[Fault]:
    named = policy.sensitive()
    for twice in sorted({name for name in named if named.count(name) > 1}):
        yield Fault(("tables", policy.people, "columns", twice), "A sensitive column of events has the same name for "
                    "models: its table, a dot and its column.", "Rename the column of people.", "name")  # fmt: skip
        return
    if not policy.models:
        yield Fault(
            ("models",), "The policy has no privacy model.", "Add one, for example k-anonymity: {k: 5}.", "no-model"
        )
        return
    try:
        members = policy.model().members
    except HushtableError as error:
        yield Fault.of(("models",), error)
        return
    for model in members:
        other = model.stats_needed() - {Stat.SIZE, Stat.HISTOGRAM}
        if model.table_level or other or any(len(key) > 1 for key in model.histogram_keys()) or model.drawing():
            yield Fault(("models",), f"{model.name} judges more than one group of people, so it cannot be promised for "
                        "everything that an adversary may know about events.", "Choose a model of single classes.",
                        "model")  # fmt: skip
        elif Monotone.MERGE not in model.monotone:
            yield Fault(("models",), f"{model.name} may hold for two groups and fail for both together, and an "
                        "adversary may have to consider several classes.", "Choose a model that survives merging.",
                        "model")  # fmt: skip
    if policy.model().min_group_size() < 2:
        yield Fault(("models",), "No model requires a number of people.", "Add k-anonymity: {k: 5}.", "no-model")
