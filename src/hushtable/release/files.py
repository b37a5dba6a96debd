"""A release on disk: the table, the policy, and ``release.json`` with what verifying later needs, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.arrays import IntArray
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.io.atomic import atomic_folder
from hushtable.io.coded import read_coded
from hushtable.io.files import write_table
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.release.bucket import bucket_column, join_tables
from hushtable.release.evidence import write_documents
from hushtable.release.pattern import PatternCells
from hushtable.release.reread import check_published_columns, published_cells, sensitive_codes
from hushtable.release.rules import patterns
from hushtable.release.saved_reference import saved_reference, stated_counts
from hushtable.release.stated import check_counts, class_counts, described
from hushtable.release.verify import Published, Verification, verify
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.encode import no_rows
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

if TYPE_CHECKING:
    from hushtable.release.release import Release

__all__ = ["OWNED", "load_evidence", "read_published", "save_release", "sensitive_path", "verify_published"]

OWNED = (
    "release.csv", "release.parquet", "patterns.csv", "release-sensitive.csv", "release-sensitive.parquet",
)  # fmt: skip
"""What an earlier release in the same folder may have left there."""

_WHERE_THE_INPUT_IS = "It was verified when it was made; where the input is, 'hushtable verify --data' repeats that."


def save_release(
    release: Release, folder: Any, *, format: str = "csv", overwrite: bool = False, together: ExitStack | None = None
) -> Path:
    """Write ``release.csv`` (or ``.parquet``), ``policy.yaml`` and ``release.json``, all or nothing.

    A release made of patterns also gets ``patterns.csv``: each of them once, as a rule. Where sensitive values are
    apart from their people, they are in ``release-sensitive.csv``, and ``release.csv`` has none. What ``together``
    holds is completed with the folder; see ``hushtable.io.atomic.atomic_folder``.
    """
    if format not in ("csv", "parquet"):
        raise UsageError(f"A release is saved as csv or parquet. Got {format!r} instead.", code="format")
    with atomic_folder(folder, overwrite=overwrite, owned=OWNED, together=together) as target:
        name = f"release.{format}"
        people = release.table
        if release.linked is not None:
            people, values = release.linked(release)
            write_table(values, sensitive_path(target / name))
        write_table(people, target / name)
        if any(isinstance(cells, PatternCells) for cells in release.recoded.cells):
            write_table(patterns(release), target / "patterns.csv")
        write_documents(release, target, name, lambda: _shown_classes(release))
    return Path(folder)


def _shown_classes(release: Release) -> IntArray:
    """The verifier's classes, in the order in which the published file shows them."""
    labels = release.verification.labels[: release.table.num_rows]
    shown, first = np.unique(labels, return_index=True)
    if release.linked is not None:
        first = release.table.column(release.table.num_columns - 1).to_numpy()[first]
    return shown[np.argsort(first, kind="stable")]


def sensitive_path(path: Path) -> Path:
    """Where the sensitive values of a published file are, if they are apart.

    Examples
    --------
    >>> sensitive_path(Path("release.csv")).name
    'release-sensitive.csv'
    """
    return path.with_name(f"{path.stem}-sensitive{path.suffix}")


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


def load_evidence(path: Path) -> dict[str, Any]:
    """Read a ``release.json``."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"There is no {path.name} in {str(path.parent)!r}.",
            code="no-release-json",
            hint="Give the folder as 'hushtable run' wrote it, or run the policy again.",
        ) from None
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is not a release.json: it is not JSON.", code="bad-release-json") from None
    if not isinstance(data, dict) or "reference" not in data:
        raise DataError(f"{path.name} is not a release.json: it has no 'reference'.", code="bad-release-json")
    return data


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
        What ``release.json`` says. Without it, models that compare with the whole input table, count people instead
        of rows, or count a population are refused.
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
    with nullcontext() if evidence is None else _understood():
        published, reference = _stated(table, plan, model, evidence, shown)
    if evidence is None:
        return verify(published, model, reference, plan.missing)
    with _understood():
        known = described(table, plan, reference, _kinds(evidence))
    verification = verify(published, model, known, plan.missing)
    with _understood():
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
def _understood() -> Iterator[None]:
    """Whatever a damaged release.json trips, say that it is damaged."""
    try:
        yield
    except HushtableError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise DataError(
            "release.json is damaged: it does not say what it should.",
            code="bad-release-json",
            hint="Take the file that was written with the release, or run the policy again.",
        ) from None


def _stated(
    table: pa.Table, plan: TablePlan, model: AllOf, evidence: Mapping[str, Any] | None, shown: tuple[str, ...]
) -> tuple[Published, Reference]:
    """Put what was published and what release.json says of it into the verifier's words."""
    # where every person has one row, rows are people and release.json need not count them
    counted = evidence is not None and ("class_counts" in evidence or int(evidence["reference"]["unit"]) == 1)
    if plan.entity is not None and not counted:
        raise UsageError(
            "The policy counts people, and the published file does not tell whose a row is.",
            code="needs-release-json",
            hint="Keep release.json beside the published file.",
        )
    if plan.entity is not None and evidence is not None and int(evidence["reference"]["unit"]) > 1:
        _refuse_histograms(model)
    if plan.missing is Missing.WILDCARD:
        _refuse_population(model)
    kinds = _kinds(evidence or {})
    reference = saved_reference(table, plan, evidence, model)
    codes = sensitive_codes(table, plan, reference, kinds)
    classes = (evidence or {}).get("class_counts")
    quasi = tuple(published_cells(table.column(name)) for name in shown)
    units = population = None
    if classes is not None:
        fakes = ((evidence or {}).get("counterfeits") or {}).get("classes")
        units, population = class_counts(quasi, classes, fakes, shared=plan.entity is not None)
    published = Published(
        quasi=quasi,
        sensitive=codes,
        sizes={key[0]: a.n_values for key, a in reference.attributes.items() if len(key) == 1},
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
    if recoding is not Recoding.NUMBERED or "class_counts" not in evidence:
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
