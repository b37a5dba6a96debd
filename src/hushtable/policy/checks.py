"""Settings of a policy that contradict each other; what cannot be combined in a run, its plan refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hushtable.errors import PolicyError, did_you_mean
from hushtable.models.compose import AllOf
from hushtable.policy.columns import ColumnPolicy
from hushtable.policy.faults import Fault
from hushtable.schema.columns import Kind, Role

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy

ONLY_FOR = {
    "categories": ((Role.SENSITIVE,), "they say how sensitive a value is"),
    "hierarchy": ((Role.QUASI, Role.SENSITIVE), "other columns are not generalized"),
    "weight": ((Role.QUASI,), "other columns are not generalized"),
    "cells": ((Role.QUASI,), "other columns are not generalized"),
    "publish": ((Role.WEIGHT,), "the role of other columns says whether they are published"),
    "same_as": ((Role.SENSITIVE, Role.INSENSITIVE), "the ledger does not track other columns"),
    "changes": ((Role.SENSITIVE,), "the ledger does not track changes of other columns"),
}
"""The roles that a column's setting is for, and why."""


def contradictions(policy: Policy) -> Iterator[Fault]:
    """Yield every setting that contradicts another one."""
    for name, column in policy.columns.items():
        yield from column_faults(name, column)
    if not policy.named(Role.QUASI) and policy.rest != "quasi":
        hint = "Give at least one column the role 'quasi': what others may know about a person."
        yield Fault(("columns",), "The policy has no quasi-identifier.", hint, "no-quasi")
    if not policy.models:
        yield Fault(
            ("models",), "The policy has no privacy model.", "Add one, for example k-anonymity: {k: 5}.", "no-model"
        )
    yield from _entity(policy)
    yield from _survey(policy)
    yield from _models(policy)
    yield from _background(policy)
    yield from _ledger(policy)
    names = [name for choice in policy.guard for name in choice]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield Fault(("guard", i), f"The guard {name!r} is listed twice.", "Name it once.", "declared-twice")


def column_faults(name: str, column: ColumnPolicy) -> Iterator[Fault]:
    """Yield every setting of a column that contradicts another one."""
    role = column.role

    def refused(setting: str, wanted: str, why: str) -> Fault:
        sentence = f"The column's role is {role}, but {setting!r} is for {wanted} columns: {why}."
        return Fault(("columns", name, setting), sentence, "Remove it, or change the role.", "not-for-role")

    given = column.settings()
    for setting, (roles, why) in ONLY_FOR.items():
        if setting in given and role not in roles:
            yield refused(setting, " and ".join(roles), why)
    for treatment in column.treatments():
        if role not in treatment.roles:
            yield refused("treatment", " and ".join(sorted(treatment.roles)), f"{treatment.name} is only for those")
    if column.format is not None and role not in (Role.QUASI, Role.SENSITIVE) and not column.treatments():
        yield refused("format", "quasi and sensitive", "the values of other columns are not read")
    if column.format is not None and (column.order or column.kind not in (None, column.format.kind)):
        sentence = f"The format {column.format} is for {column.format.kind} columns."
        yield Fault(("columns", name, "format"), sentence, "Remove it or change 'kind'.", "other-kind")
    if column.order and column.kind not in (None, Kind.ORDINAL):
        sentence = f"The column's kind is {column.kind}, but 'order' is for ordinal columns."
        yield Fault(("columns", name, "order"), sentence, "Remove it or write 'kind: ordinal'.", "not-ordinal")
    if column.kind is Kind.ORDINAL and not column.order and role in (Role.QUASI, Role.SENSITIVE):
        hint = "List its values from low to high: order: [low, medium, high]."
        yield Fault(("columns", name, "kind"), "An ordinal column needs 'order'.", hint, "no-order")


def _entity(policy: Policy) -> Iterator[Fault]:
    entity = policy.entity
    if entity is None:
        return
    if entity not in policy.columns:
        hint = did_you_mean(entity, policy.columns)
        yield Fault(("entity",), f"The policy has no column {entity!r}.", hint, "unknown-column")
    elif policy.columns[entity].role is not Role.IDENTIFIER:
        sentence = f"{entity!r} identifies each row's person; if published, it would link the rows of a person."
        yield Fault(("entity",), sentence, "Give the column the role 'identifier'.", "entity-role")


def _survey(policy: Policy) -> Iterator[Fault]:
    for role, what in ((Role.WEIGHT, "weights"), (Role.CLUSTER, "households")):
        for name in policy.named(role)[1:]:
            hint = f"Choose one, and give the others the role '{Role.DROP}'."
            yield Fault(("columns", name), f"The policy already has a column of {what}.", hint, "declared-twice")
    if policy.named(Role.CLUSTER) and policy.entity is not None:
        sentence = "Household risk counts every record as a member, but with an entity, people have several records."
        hint = "Remove 'entity', or give the column of households the role 'drop'."
        yield Fault(("columns", policy.named(Role.CLUSTER)[0]), sentence, hint, "cluster-entity")


def _models(policy: Policy) -> Iterator[Fault]:
    sensitive = policy.named(Role.SENSITIVE)
    for i, model in enumerate(policy.build_models()):
        try:
            AllOf.bound_to([model], sensitive)
        except PolicyError as error:
            yield Fault.of(("models", i), error)


def _background(policy: Policy) -> Iterator[Fault]:
    if policy.background is None:
        return
    on, sensitive = policy.background.on, policy.named(Role.SENSITIVE)
    if on not in sensitive:
        hint = did_you_mean(on, sensitive) or "Give a column the role 'sensitive'."
        yield Fault(("background", "on"), f"{on!r} is not a sensitive column.", hint, "not-sensitive")


def _ledger(policy: Policy) -> Iterator[Fault]:
    if policy.ledger is None:
        return
    named = policy.ledger.person or policy.entity
    identifiers = policy.named(Role.IDENTIFIER)
    hint = "Name an identifier: ledger: {file: releases.ledger, person: patient}."
    if named is None and len(identifiers) != 1:
        sentence = (
            f"The policy has {len(identifiers)} identifiers, so the ledger does not know which one identifies people."
        )
        yield Fault(("ledger",), sentence, hint, "no-person")
    elif named is not None and named not in identifiers:
        yield Fault(("ledger", "person"), f"{named!r} is not an identifier.", hint, "not-identifier")
