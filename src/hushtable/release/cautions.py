"""What a release under a policy would not protect, although it can be made.

Problems stop a run (``policy.preflight``); cautions do not. They say what users should know before they sign.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hushtable.arrays import IntArray
from hushtable.errors import HushtableError, counted
from hushtable.io.dictionaries import encode, to_codes, value_type
from hushtable.io.figures import share
from hushtable.io.text import is_text
from hushtable.models.compose import AllOf
from hushtable.release.plan import Plan
from hushtable.release.released import Released
from hushtable.schema.columns import Format, Kind, Role
from hushtable.schema.formats import fitting_formats, format_question, has_times
from hushtable.schema.infer import MANY
from hushtable.schema.parse import standard
from hushtable.schema.prepare import check_type, prepare
from hushtable.schema.subsets import count_alone, regroup, unique_rows
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference

_ROWS = 200_000
_UNIQUE = 0.05
_NAMED = 3
_RARE = 0.1


@dataclass(frozen=True)
class Caution:
    """Something to know before a release is made or signed.

    Attributes
    ----------
    code : str
        Topic, for programs.
    where : str
        The column or the part of the policy; several columns are separated by commas.
    message : str
    hint : str
        Remedy.
    """

    code: str
    where: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message} {self.hint}"


def cautions(plan: Plan, table: pa.Table | None = None) -> tuple[Caution, ...]:
    """Return what a plan does not protect; given a table, also what its values reveal.

    Parameters
    ----------
    plan : Plan
    table : pyarrow.Table, optional
        The original. In large tables, evenly spaced rows are examined.

    Examples
    --------
    >>> from hushtable.policy.policy import Policy
    >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}])
    >>> [c.code for c in policy.cautions()]
    ['no-sensitive']
    >>> people = pa.table({"age": [30, 31, 32], "job": ["Smith", "smith ", "baker"]})
    >>> policy = policy.changed(sensitive=["job"], models=[{"k-anonymity": {"k": 2}}, {"distinct-l": {"l": 3}}])
    >>> for caution in policy.cautions(people):
    ...     print(caution.code)
    all-values
    spellings
    """
    columns, model = plan.table, plan.model()
    found = [*_of_policy(columns, model, plan.document.get("publish") or ()), *_of_side_tables(plan)]
    found += _of_algorithm(plan, model)
    if table is not None and table.num_rows:
        n = table.num_rows
        rows = np.arange(min(n, _ROWS)) * n // min(n, _ROWS)
        looked_at = table if n <= _ROWS else table.take(pa.array(rows))
        usable = [c.name for c in columns.columns if _usable(c.name, table)]
        found += _of_table(columns, model, looked_at.select(usable))
    return tuple(found)


def _usable(name: str, table: pa.Table) -> bool:
    """Whether a column exists and can be examined; otherwise, it is a problem, not a caution."""
    if name not in table.column_names:
        return False
    try:
        check_type(name, table.schema.field(name).type)
    except HushtableError:
        return False
    return True


def _of_policy(plan: TablePlan, model: AllOf, publish: Sequence[str]) -> Iterator[Caution]:
    sensitive, quasi = plan.named(Role.SENSITIVE), plan.named(Role.QUASI)
    if not sensitive:
        yield Caution(
            "no-sensitive", "columns",
            "No column is sensitive, so nothing limits what others can learn about the people in a class.",
            "Give the role 'sensitive' to columns that must stay secret, such as diagnoses or incomes.",
        )  # fmt: skip
    bare = _unjudged(plan, model)
    if bare:
        these, them = ("these sensitive columns", "them") if len(bare) > 1 else ("this sensitive column", "it")
        yield Caution(
            "unprotected", ", ".join(bare), f"No model limits what others can learn from {these}.",
            f"Add a model for {them}, such as distinct-l, t-closeness or value-bounds.",
        )  # fmt: skip
    if len(quasi) > MANY:
        yield Caution(
            "many-quasi", "columns",
            f"The policy has {len(quasi)} quasi-identifiers; with more than {MANY}, releases are of little use.",
            "Drop those that others are unlikely to know or that analysts do not need.",
        )  # fmt: skip
    # names are public, cells are not: a rule that trimmed cells could depend on a suppressed record
    blanks = sum(column.name.startswith(" ") for column in plan.columns)
    if blanks and " " not in plan.missing_values:
        yield Caution(
            "blanks", "columns",
            f"{counted(blanks, 'column name begins', 'column names begin')} with a blank, so in the file a blank seems "
            "to follow each separator. Labels keep it, and a cell with only a blank counts as a value.",
            "Remove these blanks from the file, or set 'format: any-spelling' for columns of text, and "
            "'missing_values: [\" \"]'.",
        )  # fmt: skip
    for column in plan.columns:
        for treatment in column.treatments:
            yield Caution(
                treatment.name if treatment.name == "pseudonym" else "treated", column.name,
                f"Its values are treated by {treatment.name}, and all models are verified on the treated values.",
                treatment.promise,
            )  # fmt: skip
    if publish:
        yield Caution(
            "publish", "publish", f"release.json publishes: {', '.join(publish)}.",
            "This includes values of suppressed records. Remove 'publish' unless that is harmless.",
        )  # fmt: skip


def _of_side_tables(plan: Plan) -> Iterator[Caution]:
    for table in ("population", "background"):
        if table in plan.document:
            yield Caution(
                "side-table", table,
                "Published cells also cover the people of this table, so they can list values that only they have.",
                "Use a table whose values are no secret.",
            )  # fmt: skip


def of_release(release: Released, table: pa.Table | None = None) -> tuple[Caution, ...]:
    """Return what a release does not protect; given its original, also what its values reveal."""
    found = cautions(release.plan, table)
    return (*found, *frequent_values(release.model, release.reference)) if release.n_suppressed else found


def frequent_values(model: AllOf, reference: Reference) -> Iterator[Caution]:
    """Warn if a value is so frequent that only suppressing records that have it can satisfy a model."""
    whole = reference.whole()
    for member in model.members:
        columns = sorted({name for key in member.histogram_keys() for name in key})
        if columns and not bool(member.table_satisfied(whole, reference)[0]):
            yield Caution(
                "frequent-values", ", ".join(columns),
                f"Even the whole table violates {member.name}, so records with frequent values are suppressed. Anyone "
                "who notices that a person was suppressed can guess the person's value.",
                "Relax the model, or choose one that compares with the whole table, such as t-closeness or "
                "beta-likeness.",
            )  # fmt: skip


def _of_algorithm(plan: Plan, model: AllOf) -> Iterator[Caution]:
    """Warn of a public rule that reads values which models promise to protect."""
    algorithm = plan.algorithm
    blind = any(guard.answers == "minimality" for guard in plan.guards)
    if algorithm.chooses_publicly and model.histogram_keys() and not blind:
        yield Caution(
            "public-rule", "algorithm",
            f"{algorithm.name} chooses records by their sensitive values, and its rule is public. In tests, people who "
            f"know it guessed right for up to {share(algorithm.reads_sensitive.excess)} more of the records than the "
            "models promise.",
            "Add 'guard: [minimality]', or choose an algorithm that only checks sensitive values, such as mondrian.",
        )  # fmt: skip


def _unjudged(plan: TablePlan, model: AllOf) -> list[str]:
    """Return sensitive columns that no model covers."""
    judged = {name for member in model.members for key in member.histogram_keys() for name in key}
    return [name for name in plan.named(Role.SENSITIVE) if name not in judged]


def _of_table(plan: TablePlan, model: AllOf, table: pa.Table) -> Iterator[Caution]:
    yield from _nearly_all(model, table)
    if model.histogram_keys() and plan.entity in table.column_names and _repeated(table.column(plan.entity)):
        yield Caution(
            "several-records", plan.entity or "",
            "People have several records, and models bound the shares of records: a value may look rare although "
            "everybody in a class has it in one of their records.",
            "If that reveals too much, publish one record per person, or all values of a person as one value.",
        )  # fmt: skip
    for column in (c for c in plan.columns if c.name in table.column_names):
        name = column.name
        if column.role in (Role.QUASI, Role.SENSITIVE) and column.kind in (None, Kind.NOMINAL) and not column.format:
            yield from _text(name, table.column(name))
        if column.role is Role.INSENSITIVE and has_times(table.column(name)):
            yield Caution(
                "times", name, "Times of day are published unchanged.",
                "Few people share a minute. Drop the column, or make it a quasi-identifier.",
            )  # fmt: skip
    exact = {*plan.named(Role.INSENSITIVE), *_unjudged(plan, model)}
    yield from _unique(exact - {column.name for column in plan.columns if column.treatments}, table)


def _nearly_all(model: AllOf, table: pa.Table) -> Iterator[Caution]:
    """Yield models that require nearly all values of a column in every class."""
    for member in model.members:
        needed, on = member.values_needed(), getattr(member, "on", None)
        if not needed or not isinstance(on, str) or on not in table.column_names:
            continue
        occurring = np.sort(np.bincount(_codes(table.column(on).drop_null()))[1:])[::-1]
        distinct = len(occurring)
        rare = needed <= distinct and occurring[needed - 1] < _RARE * occurring.sum()
        if (needed == distinct > 2) or (needed >= distinct - 1 and rare):
            yield Caution(
                "all-values", on,
                f"{member.name} requires {needed} of the column's {distinct} values in every class.",
                "Classes become very large. Require fewer, or use beta-likeness or value-bounds.",
            )  # fmt: skip


def _repeated(column: pa.ChunkedArray) -> bool:
    known = column.drop_null()
    return len(known.unique()) < len(known)


def _text(name: str, column: pa.ChunkedArray) -> Iterator[Caution]:
    if not is_text(value_type(column.type)) and not pa.types.is_integer(value_type(column.type)):
        return
    values = pc.cast(encode(column).dictionary, pa.string()).drop_null()
    try:
        kind = prepare(pa.chunked_array([values]), name=name).kind
    except HushtableError:
        return
    text = kind is Kind.NOMINAL
    formats = () if kind is Kind.DATE else fitting_formats(values)
    if formats:
        named = " or ".join(f"format: {f}" for f in formats)
        held = format_question(formats).partition(": set")[0]  # the hint says what to set
        read = "text" if text else "numbers"
        yield Caution("format", name, f"It is read as {read}, but contains {held}.", f"Set {named}.")
        return
    joined = len(values) - len(standard(values, Format.ANY_SPELLING).unique()) if text else 0
    if joined:
        yield Caution(
            "spellings", name,
            f"{joined:,} of its {len(values):,} values differ from others only in case, spaces or invisible "
            "characters, and count as different values.",
            "Set format: any-spelling to merge them, or correct them in the table.",
        )  # fmt: skip


def _unique(exact: Collection[str], table: pa.Table) -> Iterator[Caution]:
    """Yield people who are unique on columns that are published unchanged."""
    names = [name for name in table.column_names if name in exact]
    codes = {name: _codes(table.column(name)) for name in names}
    if not codes:
        return
    alone = float(unique_rows(list(codes.values())).mean())
    if alone < _UNIQUE:
        return
    which = _most_revealing(codes)
    yield Caution(
        "unique", ", ".join(which),
        f"{share(alone)} of the records are unique on columns that are published unchanged; "
        f"{' and '.join(map(repr, which))} {'contribute' if len(which) > 1 else 'contributes'} most.",
        "Anyone who knows these cells finds the row. Make the columns quasi-identifiers, or drop them.",
    )  # fmt: skip


def _most_revealing(codes: dict[str, IntArray]) -> Sequence[str]:
    """Return the columns that make most records unique, the most revealing first."""
    left = list(codes)
    chosen: list[str] = []
    groups = np.zeros(len(codes[left[0]]), dtype=np.int64)
    most = 0
    while left and len(chosen) < _NAMED:
        counts = {name: count_alone(groups, codes[name]) for name in left}
        best = max(left, key=lambda name: (counts[name], len(np.unique(codes[name]))))
        if chosen and counts[best] <= most:
            break
        most = counts[best]
        chosen.append(best)
        left.remove(best)
        groups = regroup(groups, codes[best])[0]
    return chosen


def _codes(column: pa.ChunkedArray) -> IntArray:
    return to_codes(encode(column)) + 1
