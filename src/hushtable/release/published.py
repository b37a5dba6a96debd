"""A published table, verified from its cells and from what the release says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.release.bucket import bucket_column
from hushtable.release.recode import check_cells, class_numbers
from hushtable.release.reread import check_published_columns, published_cells, sensitive_codes
from hushtable.release.saved_reference import row_references, saved_reference
from hushtable.release.stated import check_counts, check_sizes
from hushtable.release.verify import Published, Verification, check_unlinked, verify
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.encode import no_rows
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

__all__ = ["verify_published"]

_WHERE_THE_INPUT_IS = "It was verified when it was made; where the input is, 'hushtable verify --data' repeats that."


def verify_published(
    table: pa.Table,
    plan: TablePlan,
    model: AllOf,
    evidence: Mapping[str, Any] | None,
    *,
    recoding: Recoding = Recoding.LOCAL,
    suppression: float | None = None,
    whole: Reference | None = None,
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
        What the private companion says, or else ``release.json``. The companion is believed: its keyed hash was
        checked. Of ``release.json``, only what no row can tell is read. Models are refused if they compare with the
        whole input table, count people instead of rows, or count a population, and nothing believable tells.
    recoding : Recoding
        What tells classes apart: the cells of the quasi-identifiers, the number of the group where those are exact, or
        both.
    suppression : float, optional
        The policy's limit: ``release.json`` may not speak of more suppressed people.
    whole : Reference, optional
        The whole table's counts, taken from the original.
    """
    if recoding is Recoding.CONCEALED:
        raise UsageError(
            "Who may be which record follows from the cells and from everybody's quasi-identifiers: it can only be "
            "verified where the input is.",
            code="needs-input",
            hint=_WHERE_THE_INPUT_IS,
        )
    _refuse_beliefs(model)
    groups = (bucket_column(plan),) if recoding.by_number else ()
    check_published_columns(table, plan, *groups)
    check_unlinked(table, plan)
    if plan.shown_weight is not None and table.num_rows:
        from hushtable.release.class_weights import check_class_weights  # most tables are no surveys

        check_class_weights(table, plan)
    if not table.num_rows:
        # of nothing every model holds
        raise no_rows()
    shown = groups if recoding is Recoding.BUCKET else (*plan.named(Role.QUASI), *groups)
    quasi = tuple(published_cells(table.column(name)) for name in shown)
    if evidence is not None and "seal" in evidence:
        # its keyed hash holds, or it would not have been read
        found = verify(*_kept(table, plan, model, evidence, quasi), plan.missing)
    else:
        found = _from_rows(table, plan, model, evidence, quasi, recoding, suppression, whole)
    if found.ok and recoding is not Recoding.BUCKET:
        check_cells(quasi, plan, recoding, found.labels[: table.num_rows])
    return found


@contextmanager
def _understood(evidence: Mapping[str, Any] | None) -> Iterator[None]:
    """Whatever a damaged file trips, say that it is damaged."""
    try:
        yield
    except HushtableError:
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
    whole: Reference | None,
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
        references = [whole] if whole else [*row_references(table, plan, model, {} if numbered else told or {})]
        names = plan.named(Role.QUASI)
        readings = [
            (Published(quasi, sensitive_codes(table, plan, r, {}), _sizes(r), names=names), r) for r in references
        ]
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
            uncounted = numbered or any(member.drawing() is not None for member in model.members)
            check_sizes(told, table.num_rows, suppression, numbered=uncounted)
            if "whole_table" in told and whole is None:
                check_counts(*readings[0], suppression)
    return found[0]


def _needs_companion(message: str) -> UsageError:
    return UsageError(message, code="needs-companion", hint="Verify where the private companion is, or pass --data.")


def _sizes(reference: Reference) -> dict[str, int]:
    return {key[0]: a.n_values for key, a in reference.attributes.items() if len(key) == 1}


def _kept(
    table: pa.Table, plan: TablePlan, model: AllOf, kept: Mapping[str, Any], quasi: tuple[Any, ...]
) -> tuple[Published, AllOf, Reference]:
    """Put what was published, and what the companion says, into the verifier's words."""
    classes = kept["class_counts"]
    if plan.entity is not None and int(kept["reference"]["unit"]) > 1:
        _refuse_histograms(model)
    if plan.missing is Missing.WILDCARD:
        _refuse_population(model)
    reference = saved_reference(kept, model)
    kinds = {name: Kind(kind) for name, kind in kept["kinds"].items()}
    published = Published(
        quasi=quasi, sensitive=sensitive_codes(table, plan, reference, kinds), sizes=_sizes(reference),
        names=plan.named(Role.QUASI),
    )
    if classes is not None:
        labels, _ = class_numbers(quasi)
        # counts are kept in the order in which classes are shown
        order = np.argsort(np.argsort(np.unique(labels, return_index=True)[1]))
        units, population = (classes[name] and np.array(classes[name])[order] for name in ("units", "population"))
        published = replace(published, unit=int(classes["unit"]), class_units=units, class_population=population)
    return published, model, reference


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


def _refuse_beliefs(model: AllOf) -> None:
    """Refuse models that judge what an adversary believes: no published file tells about whom."""
    judging = sorted({m.name for m in model.members if Stat.BACKGROUND in m.stats_needed()})
    if judging:
        raise UsageError(
            f"A published file does not tell what is believed about people: {', '.join(judging)} can only be "
            "verified where "
            "the input is.",
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
