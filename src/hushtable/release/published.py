"""Verification of a published table from its cells and from the release's own files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.models.base import PrivacyModel, Stat
from hushtable.models.compose import AllOf
from hushtable.release.bucket import bucket_column
from hushtable.release.reading_back import check_published_columns, published_cells, sensitive_codes
from hushtable.release.recode import check_cells, class_numbers
from hushtable.release.saved_reference import row_references, saved_reference, stated_counts
from hushtable.release.verify import Published, Verification, check_unlinked, joint_codes, verify
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.encode import no_rows
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

_WHERE_THE_INPUT_IS = (
    "The run verified it. Whoever has the original can repeat that with 'hushtable verify --data ORIGINAL'."
)

_ONLY_ITS_PUBLISHER = (
    "The run verified it. Its publisher can repeat that with the private companion, or with the original (--data)."
)


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
        Contents of the private companion, or else of ``release.json``. The companion is trusted, since its keyed hash
        was checked. Only what rows cannot show is read from ``release.json``. Models that compare with the whole input
        table, count people instead of rows, or count a population are refused without a trusted source.
    recoding : Recoding
        What defines classes: the cells of the quasi-identifiers, the number of the group if those are exact, or both.
    suppression : float, optional
        The policy's limit, which ``release.json`` must not exceed.
    whole : Reference, optional
        The whole table's counts, taken from the original.
    """
    if recoding is Recoding.CONCEALED:
        raise UsageError(
            "Who may be which record depends on the cells and on everybody's quasi-identifiers: this can only be "
            "verified with the original.",
            code="needs-input",
            hint=_WHERE_THE_INPUT_IS,
        )
    _refuse(
        model,
        lambda m: Stat.BACKGROUND in m.stats_needed(),
        "A published file does not contain an adversary's beliefs about people",
    )
    groups = (bucket_column(plan),) if recoding.by_number else ()
    check_published_columns(table, plan, *groups)
    check_unlinked(table, plan)
    if plan.shown_weight is not None and table.num_rows:
        from hushtable.release.class_weights import check_class_weights  # most tables are not surveys

        check_class_weights(table, plan)
    if not table.num_rows:
        # every model holds for an empty table
        raise no_rows()
    shown = groups if recoding is Recoding.BUCKET else (*plan.named(Role.QUASI), *groups)
    quasi = tuple(published_cells(table.column(name)) for name in shown)
    if evidence is not None and "seal" in evidence:
        # its keyed hash was checked when it was read
        found = verify(*_kept(table, plan, model, evidence, quasi), plan.missing)
    else:
        found, reading = _from_rows(table, plan, model, evidence, quasi, recoding, whole)
        if evidence is not None and found.ok:
            with _understood(evidence):
                uncounted = recoding is Recoding.NUMBERED or any(m.drawing() is not None for m in model.members)
                check_sizes(evidence, table.num_rows, suppression, numbered=uncounted)
                if "whole_table" in evidence and whole is None:
                    check_counts(*reading, suppression)
    if found.ok and recoding is not Recoding.BUCKET:
        check_cells(quasi, plan, recoding, found.labels[: table.num_rows])
    return found


@contextmanager
def _understood(evidence: Mapping[str, Any] | None) -> Iterator[None]:
    """Report any error of a damaged file as damage."""
    try:
        yield
    except HushtableError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        if evidence is None:
            raise
        raise DataError(
            "release.json is damaged.",
            code="bad-release-json",
            hint="Use the file that was written with the release, or run the policy again.",
        ) from None


def _from_rows(
    table: pa.Table,
    plan: TablePlan,
    model: AllOf,
    evidence: Mapping[str, Any] | None,
    quasi: tuple[Any, ...],
    recoding: Recoding,
    whole: Reference | None,
) -> tuple[Verification, tuple[Published, Reference]]:
    """Verify without the private companion: from the rows, the policy and the public ``release.json``.

    If these leave something open (how many rows are counterfeits, the positions of unpublished values), every model
    must give the same answer in all cases.
    """
    if plan.entity is not None:
        raise _needs_companion(
            "The policy counts people, but the published file does not say which person each row belongs to."
        )
    for member in model.members:
        if Stat.POPULATION in member.stats_needed():
            raise _needs_companion(f"{member.name} counts a population, which is not in the published file.")
    numbered = recoding is Recoding.NUMBERED
    with _understood(evidence):
        references = [whole] if whole else [*row_references(table, plan, model, {} if numbered else evidence or {})]
        names = plan.named(Role.QUASI)
        readings = [
            (Published(quasi, sensitive_codes(table, plan, r, {}), _sizes(r), names=names), r) for r in references
        ]
    found = [verify(published, model, reference, plan.missing) for published, reference in readings]
    if numbered:
        # every row may be a person, or all but one of each class counterfeits
        lonely = replace(readings[0][0], class_units=np.ones(len(found[0].stats), dtype=np.int64))
        found.append(verify(lonely, model, references[0], plan.missing))
    open_question = "the number of counterfeits" if numbered else "the positions of values that are not published"
    for first, *others in zip(*(one.evidence for one in found), strict=True):
        same = np.isclose([e.achieved for e in others], first.achieved, rtol=1e-9, equal_nan=True)
        if not same.all() or any(e.violations != first.violations for e in others):
            raise _needs_companion(f"What {first.model} achieves depends on {open_question}.")
    return found[0], readings[0]


def _needs_companion(message: str) -> UsageError:
    return UsageError(message, code="needs-companion", hint=_ONLY_ITS_PUBLISHER)


def _sizes(reference: Reference) -> dict[str, int]:
    return {key[0]: a.n_values for key, a in reference.attributes.items() if len(key) == 1}


def _kept(
    table: pa.Table, plan: TablePlan, model: AllOf, kept: Mapping[str, Any], quasi: tuple[Any, ...]
) -> tuple[Published, AllOf, Reference]:
    """Convert the published rows and the companion's contents into the verifier's form."""
    classes = kept["class_counts"]
    if plan.entity is not None and int(kept["reference"]["unit"]) > 1:
        # only weights of single values could show it, and weights such as 1/7 would link a person's rows across classes
        _refuse(
            model,
            lambda m: m.histogram_keys(),
            "The policy counts people, but a published file does not say which person each value belongs to",
        )
    if plan.missing is Missing.WILDCARD:
        # release.json counts only people of the population who are in published classes
        _refuse(
            model,
            lambda m: Stat.POPULATION in m.stats_needed(),
            "With 'missing: wildcard', an empty cell may match people of the population whom no published class covers",
        )
    reference = saved_reference(kept, model)
    kinds = {name: Kind(kind) for name, kind in kept["kinds"].items()}
    published = Published(
        quasi=quasi,
        sensitive=sensitive_codes(table, plan, reference, kinds),
        sizes=_sizes(reference),
        names=plan.named(Role.QUASI),
    )
    if classes is not None:
        labels, _ = class_numbers(quasi)
        # counts are in the order of the published classes
        order = np.argsort(np.argsort(np.unique(labels, return_index=True)[1]))
        units, population = (classes[name] and np.array(classes[name])[order] for name in ("units", "population"))
        published = replace(published, unit=int(classes["unit"]), class_units=units, class_population=population)
    return published, model, reference


def _refuse(model: AllOf, looking: Callable[[PrivacyModel], object], why: str) -> None:
    """Refuse models that look at what no published file shows."""
    names = sorted({m.name for m in model.members if looking(m)})
    if names:
        raise UsageError(
            f"{why}: {', '.join(names)} can only be verified with the original.",
            code="needs-input",
            hint=_WHERE_THE_INPUT_IS,
        )


# Checks of what ``release.json`` states about the whole table against the published rows and the policy.
#
# Recipients must trust the counts that a policy publishes, but only as far as the rows allow: every published value is
# in the whole table too, any excess was suppressed, and the policy limits suppression.


def check_sizes(evidence: Mapping[str, Any], rows: int, suppression: float | None, *, numbered: bool) -> None:
    """Refuse a ``release.json`` with a wrong number of rows, or with more suppressed records than the policy allows.

    Examples
    --------
    >>> check_sizes({"rows": 3, "records": 4, "suppressed": 1}, 3, 0.0, numbered=False)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json has more suppressed people than the policy allows. ...
    """
    if evidence["rows"] != rows:
        raise _mismatch(f"The published file has {rows} rows, but release.json has a different number.")
    if numbered:
        return
    records, suppressed = stated_counts([evidence["records"], evidence["suppressed"]]).tolist()
    if records != rows + suppressed:
        raise _mismatch("The counts of records in release.json do not match the published and the suppressed ones.")
    if suppression is not None and suppressed > int(np.floor(suppression * records + 1e-9)):
        raise _mismatch("release.json has more suppressed people than the policy allows.")


def check_counts(published: Published, reference: Reference, suppression: float | None) -> None:
    """Refuse counts of the whole table that the published rows contradict.

    Parameters
    ----------
    published : Published
    reference : Reference
        The stated counts.
    suppression : float, optional
        The share of people that the policy allows to be suppressed. Defaults to any.

    Examples
    --------
    >>> import pyarrow as pa
    >>> published = Published((pa.array(["a", "a"]),), {"pay": np.array([0, 1])}, {"pay": 2})
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [1, 1])), 0.0)
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [2, 0])), 0.0)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json counts fewer values of 'pay' in the whole table than are published. ...
    """
    rows = len(published.quasi[0])
    if rows > reference.units:
        raise _mismatch("release.json claims more people in the classes than in the whole table.")
    if suppression is not None and reference.units - rows > int(np.floor(suppression * reference.units + 1e-9)):
        raise _mismatch("release.json has more suppressed people than the policy allows.")
    for key, attribute in reference.attributes.items():
        if not attribute.whole:
            continue
        name = "+".join(key)
        if int(attribute.units.sum()) != reference.units:
            raise _mismatch(f"release.json counts {name!r} over a different number of people than the whole table has.")
        if _beyond(published, key, attribute):
            raise _mismatch(f"release.json counts fewer values of {name!r} in the whole table than are published.")


def _beyond(published: Published, key: Key, attribute: Attribute) -> int:
    """Number of published values in excess of the stated counts of the whole table."""
    codes, size = joint_codes([published.sensitive[n] for n in key], [published.sizes[n] for n in key])
    shown, count = np.unique(codes, return_counts=True)
    assert size == len(attribute.units)
    return int(np.maximum(count - attribute.units[shown], 0).sum())


def check_statements(evidence: Mapping[str, Any], found: Verification, columns: Iterable[str], algorithm: str) -> None:
    """Refuse a ``release.json`` with statements that the published rows or the policy contradict.

    What it does not state is not checked: an ``achieved`` that the rows alone do not show, for example.

    Parameters
    ----------
    evidence : mapping
    found : Verification
        What the policy in the same folder achieves.
    columns : iterable of str
        The published columns.
    algorithm : str
        The name of the policy's algorithm.

    Raises
    ------
    DataError
    """
    own = json.loads(json.dumps([one.as_dict() for one in found.evidence], default=str))
    with _understood(evidence):
        people = [evidence[name] for name in ("records", "suppressed", "released") if name in evidence]
        wrong = {
            "satisfied": evidence["satisfied"] is not True,
            "classes": evidence["classes"] != found.classes,
            "columns": {*evidence["columns"]} != {*columns},
            "algorithm": [*evidence["algorithm"]] != [algorithm],
            "released": len(people) == 3 and people[0] - people[1] != people[2],
            "models": len(own) != len(evidence["models"]) or not all(map(_agree, evidence["models"], own)),
        }
    for name in (name for name, is_wrong in wrong.items() if is_wrong):
        raise _mismatch(f"{name!r} in release.json contradicts the published rows or the policy.")


def _agree(stated: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    same = all(stated[name] == own[name] for name in ("model", "parameters", "comparison", "violations", "satisfied"))
    numbers = [(stated[name], own[name]) for name in ("bound", "achieved") if stated[name] is not None]
    return same and all(np.isclose(a, b, rtol=1e-9, equal_nan=True) for a, b in numbers)


def _mismatch(message: str) -> DataError:
    return DataError(message, code="mismatch", hint="Use the release.json that was written with this release.")
