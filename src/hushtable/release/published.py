"""A published table read from disk, and verified from its cells and from what the release says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.io.coded import read_coded
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.release.bucket import bucket_column, join_tables
from hushtable.release.companion import COMPANION
from hushtable.release.files import sensitive_path
from hushtable.release.reread import check_published_columns, published_cells, sensitive_codes
from hushtable.release.saved_reference import row_references, saved_reference, stated_counts
from hushtable.release.stated import check_counts, check_sizes, class_counts, described
from hushtable.release.verify import Published, Verification, verify
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.encode import no_rows
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

__all__ = ["read_published", "verify_published"]

_WHERE_THE_INPUT_IS = "It was verified when it was made; where the input is, 'hushtable verify --data' repeats that."


def read_published(path: Path, linked: TablePlan | None = None) -> pa.Table:
    """Read a published file; the guard against spreadsheet formulas is taken off again.

    Parameters
    ----------
    path : path
    linked : TablePlan, optional
        Given where the sensitive values are in a file of their own, which is read too.
    """
    table = read_coded(path, unescape_formulas=True)
    if linked is None:
        return table
    return join_tables(table, read_coded(sensitive_path(path), unescape_formulas=True), linked)


def verify_published(
    table: pa.Table,
    plan: TablePlan,
    model: AllOf,
    evidence: Mapping[str, Any] | None,
    *,
    recoding: Recoding = Recoding.LOCAL,
    suppression: float | None = None,
) -> Verification:
    """Verify a published table from its cells.

    Parameters
    ----------
    table : pyarrow.Table
        As published.
    plan : TablePlan
        Roles and the meaning of missing values.
    model : AllOf
    evidence : mapping, optional
        What the private companion says, or else ``release.json``. Models are refused if they compare with the whole
        input table, count people instead of rows, or count a population, and neither it nor the rows tell.
    recoding : Recoding
        What tells classes apart: the cells of the quasi-identifiers, the number of the group where those are exact, or
        both.
    suppression : float, optional
        The policy's limit: ``release.json`` may not speak of more suppressed people.
    """
    groups = (bucket_column(plan),) if recoding.by_number else ()
    check_published_columns(table, plan, *groups)
    if not table.num_rows:
        # of nothing every model holds
        raise no_rows()
    shown = groups if recoding is Recoding.BUCKET else (*plan.named(Role.QUASI), *groups)
    quasi = tuple(published_cells(table.column(name)) for name in shown)
    if evidence is None or "reference" not in evidence:
        return _from_rows(table, plan, model, evidence, quasi, recoding, suppression)
    with _understood(evidence):
        published, reference = _stated(table, plan, model, evidence, quasi)
        known = described(table, plan, reference, _kinds(evidence))
    verification = verify(published, model, known, plan.missing)
    with _understood(evidence):
        # counts that a model is violated by need not be held against it
        if verification.ok:
            check_counts(published, known, _counterfeits(evidence, recoding), suppression)
        elif known is not reference and verify(published, model, reference, plan.missing).ok:
            raise UsageError(
                "release.json has another hierarchy of a sensitive column than the policy makes of the published "
                "values, and with theirs a model is violated.",
                code="needs-input",
                hint=_WHERE_THE_INPUT_IS,
            )
    return verification


@contextmanager
def _understood(evidence: Mapping[str, Any] | None) -> Iterator[None]:
    """Whatever a damaged file trips, say that it is damaged, and call the companion by its name."""
    try:
        yield
    except HushtableError as error:
        if evidence is not None and "seal" in evidence:
            error.message = error.message.replace("release.json", COMPANION)
            error.args = (f"{error.message} {error.hint}".rstrip(),)
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        if evidence is None:
            raise
        raise DataError(
            "release.json is damaged: it does not say what it should.",
            code="bad-release-json",
            hint="Take the file that was written with the release, or run the policy again.",
        ) from None


def _from_rows(
    table: pa.Table,
    plan: TablePlan,
    model: AllOf,
    told: Mapping[str, Any] | None,
    quasi: tuple[Any, ...],
    recoding: Recoding,
    suppression: float | None,
) -> Verification:
    """Verify without the private companion: from the rows, the policy and what ``release.json`` tells everybody.

    Where these leave something open (how many rows are counterfeits, where values lie that are not published), every
    model has to give one answer whatever it is.
    """
    if plan.entity is not None:
        raise _needs_companion("The policy counts people, and the published file does not tell whose a row is.")
    for member in model.members:
        if Stat.POPULATION in member.stats_needed():
            raise _needs_companion(f"{member.name} counts a population, which the published file does not tell.")
    numbered = recoding is Recoding.NUMBERED
    with _understood(told):
        references = [*row_references(table, plan, model, {} if numbered else told or {})]
        readings = [(Published(quasi, sensitive_codes(table, plan, r, {}), _sizes(r)), r) for r in references]
    found = [verify(published, model, reference, plan.missing) for published, reference in readings]
    if numbered:
        # every row may be a person, or all but one of each class counterfeits
        lonely = replace(readings[0][0], class_units=np.ones(len(found[0].stats), dtype=np.int64))
        found.append(verify(lonely, model, references[0], plan.missing))
    open_question = "how many rows are counterfeits" if numbered else "where values lie that are not published"
    for first, *others in zip(*(one.evidence for one in found), strict=True):
        same = np.isclose([e.achieved for e in others], first.achieved, rtol=1e-9, equal_nan=True)
        if not same.all() or any(e.violations != first.violations for e in others):
            raise _needs_companion(f"What {first.model} achieves depends on {open_question}.")
    if told is not None and found[0].ok:
        with _understood(told):
            check_sizes(told, table.num_rows, suppression, numbered=numbered)
            if "whole_table" in told:
                check_counts(*readings[0], 0, suppression)
    return found[0]


def _needs_companion(message: str) -> UsageError:
    return UsageError(message, code="needs-companion", hint="Verify where the private companion is, or pass --data.")


def _sizes(reference: Reference) -> dict[str, int]:
    return {key[0]: a.n_values for key, a in reference.attributes.items() if len(key) == 1}


def _stated(
    table: pa.Table, plan: TablePlan, model: AllOf, evidence: Mapping[str, Any], quasi: tuple[Any, ...]
) -> tuple[Published, Reference]:
    """Put what was published, and what the companion or a release.json of 0.1.0 says, into the verifier's words."""
    classes = evidence.get("class_counts")
    unit = int(evidence["reference"]["unit"])
    # where every person has one row, rows are people and need not be counted
    if plan.entity is not None and classes is None and unit != 1:
        raise _needs_companion("The policy counts people, and the published file does not tell whose a row is.")
    if plan.entity is not None and unit > 1:
        _refuse_histograms(model)
    if plan.missing is Missing.WILDCARD:
        _refuse_population(model)
    reference = saved_reference(evidence, model)
    codes = sensitive_codes(table, plan, reference, _kinds(evidence))
    units = population = None
    if classes is not None:
        fakes = (evidence.get("counterfeits") or {}).get("classes")
        units, population = class_counts(quasi, classes, fakes, shared=plan.entity is not None)
    published = Published(
        quasi=quasi,
        sensitive=codes,
        sizes=_sizes(reference),
        unit=int(classes["unit"]) if classes else 1,
        class_units=units,
        class_population=population,
    )
    return published, reference


def _kinds(evidence: Mapping[str, Any]) -> dict[str, Kind]:
    return {name: Kind(kind) for name, kind in evidence.get("kinds", {}).items()}


def _counterfeits(evidence: Mapping[str, Any], recoding: Recoding) -> int:
    claimed = evidence.get("counterfeits")
    if claimed is None:
        return 0
    if recoding is not Recoding.NUMBERED or evidence.get("class_counts") is None:
        raise DataError("release.json speaks of counterfeits, and the policy makes none.", code="mismatch")
    return int(stated_counts(claimed["classes"]).sum())


def _refuse_histograms(model: AllOf) -> None:
    """Refuse models that would have to know whose value a row's is.

    ``release.json`` could only tell by giving every value of a class its weight, and weights such as 1/7 would link
    the rows of one person across classes.
    """
    looking = sorted({m.name for m in model.members if m.histogram_keys()})
    if looking:
        raise UsageError(
            "The policy counts people, and a published file does not tell whose value a row's is: "
            f"{', '.join(looking)} can only be verified where the input is.",
            code="needs-input",
            hint=_WHERE_THE_INPUT_IS,
        )


def _refuse_population(model: AllOf) -> None:
    """Refuse models that count a population where an empty cell may stand for any value.

    It may then stand for people of the population who are in no published class, and ``release.json`` counts those of
    the published ones alone.
    """
    counting = sorted({m.name for m in model.members if Stat.POPULATION in m.stats_needed()})
    if counting:
        raise UsageError(
            "With 'missing: wildcard' an empty cell may stand for people of the population whom no published class "
            f"covers: {', '.join(counting)} can only be verified where the input is.",
            code="needs-input",
            hint=_WHERE_THE_INPUT_IS,
        )
