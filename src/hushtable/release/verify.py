"""The independent verifier: classes recomputed from the published cells alone, judged by the models' own scores.

Nothing is released that did not pass through here. Class keys are exact (codes of dictionaries, no hashes), and the
algorithm's group labels are not used.

With ``missing: wildcard``, an empty cell may be any value. That is not transitive, so there are no classes to
judge: every distinct published row is judged with the union of all classes it is compatible with. Unions overlap, so
they are not a table: models of whole tables judge the classes themselves, which is stricter.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.arrays import AnyArray, BoolArray, IntArray, first_places, joined_ranges, summed
from hushtable.errors import VerificationError, counted
from hushtable.kernels.grouping import group_rows, histogram, number_rows
from hushtable.models.base import Stat
from hushtable.models.compose import AllOf
from hushtable.release.recode import class_numbers
from hushtable.schema.columns import Missing, Role
from hushtable.table.plan import TablePlan
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram, Key


@dataclass(frozen=True)
class Published:
    """A table as an adversary sees it, and what is needed to count people.

    Attributes
    ----------
    quasi : tuple of pyarrow arrays
        The published quasi-identifier columns.
    names : tuple of str
        Their names, for models that judge cells. Without names, these models judge classes.
    sensitive : mapping of str to integer array
        Codes of the sensitive columns in the reference's attributes.
    sizes : mapping of str to int
        How many codes each sensitive column has.
    unit : int
    row_units : int64 array
        Weight of each row; empty if every row is a person. Population rows weigh 0.
    population : bool array
        Which rows belong to the population; empty if there is none.
    class_units, class_population : int64 arrays
        Instead of ``row_units`` and ``population``: people and population of each class, in the order of the classes'
        first rows, as a saved release states them.
    background_rows, background_mass, background_codes : int64 arrays
        An adversary's background table: its rows, their mass and their ``q * S + s``.
    counterfeits : int64 array
        Rows that belong to nobody: their values are published, but they do not count as people.
    """

    quasi: tuple[pa.Array | pa.ChunkedArray, ...]
    sensitive: Mapping[str, AnyArray]
    sizes: Mapping[str, int]
    unit: int = 1
    row_units: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    population: BoolArray = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    class_units: IntArray | None = None
    class_population: IntArray | None = None
    background_rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    background_mass: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    background_codes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    background_unit: int = 1
    counterfeits: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What one model achieved.

    Attributes
    ----------
    model : str
        The model's name.
    parameters : mapping
    sense : str
    bound : float
    achieved : float
        The worst class's score.
    violations : int
        Classes that violate it.
    shown : tuple of (str, str, float, float)
        Symbol, sense, bound and worst value of the model's own quantities, if the score is a margin over several.
    """

    model: str
    parameters: Mapping[str, Any]
    sense: str
    bound: float
    achieved: float
    violations: int
    shown: tuple[tuple[str, str, float, float], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model holds."""
        return self.violations == 0

    def sentence(self) -> str:
        """The evidence in words."""
        given = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        verdict = "holds" if self.ok else f"violated by {counted(self.violations, 'class', 'classes')}"
        needed, achieved = needed_and_achieved(self.as_dict())
        return f"{self.model}({given}): achieved {achieved}, required {needed}: {verdict}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form; ``quantities`` only if there are several."""
        found = {
            "model": self.model,
            "parameters": dict(self.parameters),
            "comparison": self.sense,
            "bound": self.bound,
            "achieved": self.achieved,
            "violations": self.violations,
            "satisfied": self.ok,
        }
        if self.shown:
            names = ("quantity", "comparison", "bound", "achieved")
            found["quantities"] = [dict(zip(names, one, strict=True)) for one in self.shown]
        return found


def needed_and_achieved(
    entry: Mapping[str, Any],
    number: Callable[[Any], str] = "{:.6g}".format,
    senses: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, str]:
    """Return what a model requires and what it achieved, from its entry in a summary: by its own quantities, if any.

    Parameters
    ----------
    entry : mapping
        In the form of ``Evidence.as_dict``.
    number : callable
        Number -> text.
    senses : mapping of str to str
        Words for ``>=`` and similar signs.

    Examples
    --------
    >>> needed_and_achieved(Evidence("k-anonymity", {"k": 5}, ">=", 5, 6, 0).as_dict())
    ('>= 5', '6')
    >>> shown = (("alpha", "<=", 0.6, 0.5), ("k", ">=", 5, 6))
    >>> needed_and_achieved(Evidence("alpha-k", {}, ">=", 1, 1.2, 0, shown).as_dict())
    ('alpha <= 0.6, k >= 5', 'alpha 0.5, k 6')
    """

    def needed(one: Mapping[str, Any]) -> str:
        return f"{senses.get(one['comparison'], one['comparison'])} {number(one['bound'])}"

    several = entry.get("quantities")
    if not several:
        return needed(entry), number(entry["achieved"])
    return (
        ", ".join(f"{one['quantity']} {needed(one)}" for one in several),
        ", ".join(f"{one['quantity']} {number(one['achieved'])}" for one in several),
    )


@dataclass(frozen=True, repr=False)
class Verification:
    """The verifier's findings.

    Attributes
    ----------
    rows : int
        Published rows.
    classes : int
    people : float
    evidence : tuple of Evidence
    labels : int64 array
        The class of each row that was judged.
    stats : GroupStats
        The classes' statistics.
    from_original : bool
        Whether a saved release was verified with its original.
    """

    rows: int
    classes: int
    people: float
    evidence: tuple[Evidence, ...]
    labels: IntArray
    stats: GroupStats
    from_original: bool = False

    def __repr__(self) -> str:
        people = "" if self.people == self.rows else f" of {counted(round(self.people), 'person', 'people')}"
        verdict = "verified" if self.ok else "violated"
        rows, classes = counted(self.rows, "row", "rows"), counted(self.classes, "class", "classes")
        heading = f"Verification: {verdict}; {rows}{people} in {classes}"
        return "\n".join([heading, *(f"  {e.sentence()}" for e in self.evidence)])

    def _repr_html_(self) -> str:
        from hushtable.io.figures import html_grid

        heading = repr(self).splitlines()[0]
        rows = [[e.model, *reversed(needed_and_achieved(e.as_dict())), "holds" if e.ok else "violated"]
                for e in self.evidence]  # fmt: skip
        return f"<p>{html.escape(heading)}</p>{html_grid(['model', 'achieved', 'required', ''], rows)}"

    @property
    def ok(self) -> bool:
        """Whether every model holds."""
        return all(e.ok for e in self.evidence)

    def raise_if_violated(self) -> None:
        """Raise ``VerificationError`` with every violated model; return silently otherwise."""
        bad = [e.sentence() for e in self.evidence if not e.ok]
        if bad:
            raise VerificationError(
                f"The release violates {len(bad)} of {len(self.evidence)} models: {'; '.join(bad)}.",
                hint="Nothing was published.",
            )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        return {
            "satisfied": self.ok,
            "rows": self.rows,
            "people": self.people,
            "classes": self.classes,
            "models": [e.as_dict() for e in self.evidence],
        }


def check_unlinked(table: pa.Table, plan: TablePlan) -> None:
    """Refuse a published table in which a pseudonym links the rows of a person, since models judge rows one by one.

    Raises
    ------
    VerificationError

    Examples
    --------
    >>> from hushtable.policy.policy import Policy
    >>> plan = Policy(columns={"who": {"role": "pseudonym"}, "age": {"role": "quasi"}},
    ...               models=[{"k-anonymity": {"k": 2}}]).table_plan()
    >>> check_unlinked(pa.table({"who": ["8c", "8c"], "age": [30, 30]}), plan)
    Traceback (most recent call last):
    hushtable.errors.VerificationError: 1 published row repeats a pseudonym of column 'who', which links the rows of...
    """
    for column in plan.columns:
        if not any(Role.PSEUDONYM in treatment.roles for treatment in column.treatments):
            continue
        shown = table.column(column.name).drop_null()
        repeated = len(shown) - len(shown.unique())
        if repeated:
            raise VerificationError(
                f"{counted(repeated, 'published row repeats', 'published rows repeat')} a pseudonym of column "
                f"{column.name!r}, which links the rows of a "
                "person across classes.",
                code="linked-rows",
                hint="Publish one row per person, or give the column the role 'identifier'.",
            )


def verify(published: Published, model: AllOf, reference: Reference, missing: Missing) -> Verification:
    """Judge a published table.

    Parameters
    ----------
    published : Published
    model : AllOf
        The models, bound to their columns.
    reference : Reference
        The whole input table.
    missing : Missing
        Meaning of an empty quasi-identifier cell.
    """
    labels, n_classes = class_numbers(published.quasi)
    # having no class that covers a background row differs from having no background table
    stats = _stats(published, labels, n_classes, model.histogram_keys(), background=reference.background is not None)
    if Stat.CELLS in model.stats_needed() and published.names:
        stats = replace(stats, cells=_cells(published, labels, n_classes))
    # a class with only population rows is not in the release
    real = stats.units > 0
    classes = judged = stats.take(real)
    if missing is Missing.WILDCARD:
        judged = _with_compatible(published.quasi, labels, stats, real)
    evidence = tuple(_judge(m, classes if m.table_level else judged, reference) for m in model.members)
    rows = int(np.count_nonzero(published.row_units)) if len(published.row_units) else len(labels)
    return Verification(
        rows=rows,
        classes=int(real.sum()),
        people=int(stats.units.sum()) / stats.unit,
        evidence=evidence,
        labels=labels,
        stats=stats,
    )


def _judge(model: Any, groups: GroupStats, reference: Reference) -> Evidence:
    violations = int((~model.satisfied(groups, reference)).sum())
    if not violations and not bool(model.table_satisfied(groups, reference)[0]):
        violations = len(groups)
    shown = tuple((q.symbol, q.sense, float(q.bound), q.worst) for q in model.quantities(groups, reference))
    return Evidence(
        model.name,
        model.public_values(),
        model.sense,
        float(model.bound),
        model.achieved(groups, reference),
        violations,
        shown,
    )


def _stats(
    published: Published, labels: IntArray, n_classes: int, keys: frozenset[Key], *, background: bool
) -> GroupStats:
    histograms = {}
    if keys:
        rows, offsets = group_rows(labels, n_classes)
        starts, ends = offsets[:-1], offsets[1:]
    for key in sorted(keys):
        codes, size = joint_codes([published.sensitive[n] for n in key], [published.sizes[n] for n in key])
        parts = histogram(rows, starts, ends, codes, published.row_units, size)
        histograms[key] = Histogram(*parts, published.unit)
    units = np.bincount(labels, minlength=n_classes).astype(np.int64)
    if len(published.row_units):
        units = summed(published.row_units, labels, n_classes)
    elif published.class_units is not None:
        units = published.class_units
    if len(published.counterfeits):
        units = units - np.bincount(labels[published.counterfeits], minlength=n_classes) * published.unit
    population = published.class_population
    if len(published.population):
        population = np.bincount(labels[published.population], minlength=n_classes).astype(np.int64)
    beliefs = None
    if background:
        beliefs = Histogram.from_pairs(
            labels[published.background_rows], published.background_codes, published.background_mass,
            n_classes, published.background_unit,
        )  # fmt: skip
    return GroupStats(units, published.unit, histograms, population, beliefs)


def _cells(published: Published, labels: IntArray, n_classes: int) -> dict[str, IntArray]:
    """Number the cells of each class in every quasi-identifier."""
    first = first_places(labels, n_classes)
    shown = (column.take(pa.array(first)) for column in published.quasi)
    return {name: class_numbers([cells])[0] for name, cells in zip(published.names, shown, strict=False)}


def joint_codes(columns: Sequence[AnyArray], sizes: Sequence[int]) -> tuple[AnyArray, int]:
    """Return the codes of several columns taken jointly, and how many there may be.

    Examples
    --------
    >>> joint_codes([np.array([0, 1]), np.array([2, 0])], [2, 3])
    (array([2, 3]), 6)
    """
    codes, total = columns[0], sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        codes = codes.astype(np.int64) * size + column
        total *= size
    return codes, total


def _with_compatible(
    quasi: Sequence[pa.Array | pa.ChunkedArray], labels: IntArray, stats: GroupStats, real: BoolArray
) -> GroupStats:
    """Return, for every real class, the statistics of all compatible classes."""
    first = first_places(labels, len(stats))
    codes, empty = [], []
    for column in quasi:
        one = column.take(pa.array(first))
        one = one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one
        encoded = one if pa.types.is_dictionary(one.type) else one.dictionary_encode()
        codes.append(encoded.indices.fill_null(0).to_numpy(zero_copy_only=False))
        empty.append(encoded.is_null().to_numpy(zero_copy_only=False))
    gaps = np.column_stack(empty)
    pattern, _ = number_rows([g.astype(np.int64) for g in empty], [2] * len(empty))
    pairs = []
    for p in np.unique(pattern):
        for q in np.unique(pattern):
            mine, theirs = np.flatnonzero(pattern == p), np.flatnonzero(pattern == q)
            known = np.flatnonzero(~(gaps[mine[0]] | gaps[theirs[0]]))
            pairs.append(_join([codes[j] for j in known], mine, theirs))
    owner, member = (np.concatenate(side) for side in zip(*pairs, strict=True))
    place = np.append(np.cumsum(real) - 1, -1)
    keep = real[owner]
    return stats.take(member[keep]).merge(place[owner[keep]], int(real.sum()))


def _join(columns: Sequence[IntArray], mine: IntArray, theirs: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs of classes, one from each side, that agree in these columns."""
    both = np.concatenate([mine, theirs])
    sizes = [int(c.max()) + 1 for c in columns]
    key = number_rows([c[both] for c in columns], sizes)[0] if columns else np.zeros(len(both), dtype=np.int64)
    left, right = key[: len(mine)], key[len(mine) :]
    order = np.argsort(right, kind="stable")
    start, end = np.searchsorted(right[order], left), np.searchsorted(right[order], left, side="right")
    return np.repeat(mine, end - start), theirs[order[joined_ranges(start, end - start)]]
