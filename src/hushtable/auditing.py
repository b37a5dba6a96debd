"""Audit: what any table achieves, in one line. Only the names of its columns are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray
from hushtable.errors import DataError, UsageError, VerificationError, did_you_mean
from hushtable.io.figures import html_grid, number, text_grid
from hushtable.io.frames import to_arrow
from hushtable.io.plots import class_sizes
from hushtable.io.urls import can_count
from hushtable.models.base import PrivacyModel, compare
from hushtable.models.beta_likeness import BetaLikeness
from hushtable.models.recursive_cl import RecursiveCL
from hushtable.params import typed
from hushtable.registry import models, risks
from hushtable.release.exposure import Exposure
from hushtable.release.recode import class_numbers
from hushtable.schema.columns import Role
from hushtable.table.encode import encode_rest, encode_values, no_rows
from hushtable.table.encoded import EncodedTable
from hushtable.table.people import PERSON_UNITS, ambiguous_names, missing_names
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram, Key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RISKS = ("prosecutor", "marketer", "sample-uniqueness")
"""Risks that depend only on class sizes."""
_SMALLEST = 5
_SENSES = {">=": "at least", "<=": "at most", "<": "below"}


class AuditReading(NamedTuple):
    """One number of an audit: its name, the sensitive column, the model that computes it, and its worst value."""

    key: str
    column: str | None
    model: PrivacyModel
    value: float


@dataclass(frozen=True, repr=False)
class Audit:
    """What a table achieves. Contains counts, and no cell of the table.

    Attributes
    ----------
    quasi, sensitive : tuple of str
    stats : GroupStats
        The classes: rows with equal cells in all quasi-identifiers.
    reference : Reference
        The whole table, which models compare classes with.
    exposure : Exposure
        The same classes, for risks. For a table that its database counted, it has sizes and no cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "disease": ["flu", "gout", "flu", "flu"]})
    >>> found = ht.audit(table, quasi=["age"], sensitive=["disease"])
    >>> found.k, found["l"]
    (2, 1)
    >>> found.check(k=2, l=2)
    Traceback (most recent call last):
    hushtable.errors.VerificationError: The table fails 1 of 2 checks: l of 'disease' is 1, but must be at least 2: 1
    of 2 classes with 2 of 4 people fail. ...
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    stats: GroupStats
    reference: Reference
    exposure: Exposure

    @cached_property
    def readings(self) -> tuple[AuditReading, ...]:
        """Every number that a registered model computes from the classes, for each sensitive column."""
        return tuple(self._read())

    def _read(self) -> Iterator[AuditReading]:
        for name, column, key, parameter, values in self._wanted():
            model = _built(models[name], values, column)
            yield AuditReading(key, column, model, _worst(model, parameter, self.stats, self.reference))

    def _wanted(self) -> Iterator[tuple[str, str | None, str, str, dict[str, Any]]]:
        """Model, column, key, bounding parameter and parameters of each number."""
        for name, cls in models.items():
            for one in cls.audits:
                columns = self.sensitive if "on" in {p.name for p in cls.params()} else (None,)
                for column in columns:
                    ordered = column is not None and self.reference.attribute((column,)).ordered
                    if one.ordered is None or one.ordered == ordered:
                        yield name, column, one.key, one.parameter, dict(one.values)

    @typed
    def __getitem__(self, key: str) -> float:
        """Return one number, the worst of all sensitive columns."""
        found = [r for r in self.readings if r.key == key]
        if not found:
            known = [r.key for r in self.readings]
            hint = did_you_mean(str(key), known) if self.sensitive else "Name a sensitive column for the others: k."
            raise UsageError(f"The audit has no {key!r}.", code="unknown-reading", hint=hint)
        least = found[0].model.sense == ">="
        shrunk = any(q.sense != ">=" for q in found[0].model.quantities(self.stats, self.reference)[:1])
        value = (min if least and not shrunk else max)(r.value for r in found)
        return int(value) if float(value).is_integer() else value

    @property
    def k(self) -> float:
        """People in the smallest class."""
        return self["k"]

    @property
    def rows(self) -> int:
        """Rows of the table; people, if it was audited with an ``entity``."""
        return int(self.exposure.people)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.exposure)

    @property
    def smallest(self) -> dict[int, int]:
        """The smallest class sizes, and how many classes have each."""
        sizes, counts = self.exposure.frequencies()
        return dict(zip(sizes[:_SMALLEST].tolist(), counts[:_SMALLEST].tolist(), strict=True))

    @cached_property
    def risks(self) -> dict[str, Any]:
        """Re-identification risks from class sizes, by name of the risk."""
        return {name: risks.build(name).compute(self.exposure) for name in RISKS}

    def holds(self, **bounds: float) -> bool:
        """Return whether the table meets all bounds: ``holds(k=5, l=3)``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> audit(pa.table({"age": ["3*", "3*"]}), quasi="age").holds(k=2)
        True
        """
        return not self._failures(bounds)

    def check(self, **bounds: float) -> Self:
        """Return the audit if the table meets all bounds; otherwise, raise an error with the counts of failures.

        Parameters
        ----------
        **bounds
            By the keys of the readings: ``k=5``, ``l=3``, ``t=0.2``, ``entropy_l=2``, ``alpha=0.5``, ``beta=1``,
            ``delta=1``. They hold for every sensitive column.

        Raises
        ------
        VerificationError
            If a class does not meet a bound.
        """
        failures = self._failures(bounds)
        if failures:
            raise VerificationError(
                f"The table fails {len(failures)} of {len(bounds)} checks: {'; '.join(failures)}.",
                code="audit",
                hint="Generalize the quasi-identifiers further, or remove the rows of these classes.",
            )
        return self

    def _failures(self, bounds: dict[str, float]) -> list[str]:
        known = sorted({key for _, _, key, _, _ in self._wanted()})
        unknown = [key for key in bounds if key not in known]
        if unknown:
            hint = did_you_mean(unknown[0], known) if self.sensitive else "Without a sensitive column, there is only k."
            raise UsageError(f"The audit has no {unknown[0]!r}.", code="unknown-reading", hint=hint)
        found = []
        for name, column, key, parameter, values in self._wanted():
            if key not in bounds:
                continue
            model = _built(models[name], {**values, parameter: bounds[key]}, column)
            good, sense = _holding(model, parameter, self.stats, self.reference)
            if not good.all():
                worst = _worst(model, parameter, self.stats, self.reference)
                people = int(self.stats.units[~good].sum()) / self.stats.unit
                found.append(
                    f"{key}{'' if column is None else f' of {column!r}'} is {number(worst)}, but must be "
                    f"{_SENSES[sense]} {number(bounds[key])}: {int((~good).sum()):,} of {len(good):,} classes with "
                    f"{number(people)} of {self.rows:,} people fail"
                )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data; undefined or unbounded numbers are None."""
        return {
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "people": self.exposure.people,
            "classes": self.classes,
            "smallest_classes": [{"size": size, "classes": many} for size, many in self.smallest.items()],
            "readings": [
                {
                    "reading": r.key,
                    "column": r.column,
                    "model": r.model.name,
                    "value": r.value if np.isfinite(r.value) else None,
                }
                for r in self.readings
            ],
            "risks": {name: found.as_dict() for name, found in self.risks.items()},
        }

    def table_rows(self) -> list[list[str]]:
        """Return the numbers in human-readable form: name, value and meaning."""
        from hushtable.about import summary_of

        found = [[r.key, r.column or "", number(r.value), summary_of(type(r.model))] for r in self.readings]
        found.sort(key=lambda row: (row[0] != "k", row[1], row[0]))
        risk, unique = self.risks["prosecutor"], self.exposure.share(self.exposure.unique)
        found.append(["highest risk", "", number(risk.highest), "Chance of finding the person of the worst record."])
        found.append(["average risk", "", number(risk.average), "The same, on average over all records."])
        found.append(["unique", "", f"{100 * unique:.1f}%", "Share of people who are alone in their class."])
        return found

    @property
    def heading(self) -> str:
        """Sizes, in a sentence."""
        sizes = ", ".join(f"{many:,} of size {size:,}" for size, many in self.smallest.items())
        return f"Audit: {self.rows:,} people in {self.classes:,} classes; smallest: {sizes}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the number of people in classes of each size; returns matplotlib axes."""
        return class_sizes(*self.exposure.frequencies(), ax=ax)

    def __repr__(self) -> str:
        return f"{self.heading}\n{text_grid(['reading', 'column', 'value', 'meaning'], self.table_rows())}"

    def _repr_html_(self) -> str:
        return f"<p>{self.heading}</p>{html_grid(['reading', 'column', 'value', 'meaning'], self.table_rows())}"


def _built(cls: type[PrivacyModel], values: dict[str, Any], column: str | None) -> PrivacyModel:
    return cls.build({**values, **({} if column is None else {"on": column})})


def _worst(model: PrivacyModel, parameter: str, stats: GroupStats, table: Reference) -> float:
    """Return the worst class's value of the quantity that a parameter bounds."""
    own = next((q for q in model.quantities(stats, table) if q.symbol == parameter), None)
    return model.achieved(stats, table) if own is None else own.worst


def _holding(model: PrivacyModel, parameter: str, stats: GroupStats, table: Reference) -> tuple[BoolArray, str]:
    own = next((q for q in model.quantities(stats, table) if q.symbol == parameter), None)
    if own is None:
        return model.satisfied(stats, table), model.sense
    return compare(own.values, own.sense, own.bound), own.sense


@typed
def audit(
    data: Any,
    quasi: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    *,
    entity: str | None = None,
) -> Audit:
    """Measure what a table achieves, whichever tool made it: k, l, t, beta, delta, risks and the smallest classes.

    Rows are in one class if their cells are equal in all quasi-identifiers: numbers, text, ``*``, categories, intervals
    of ``pd.cut``, or missing values. No policy, no bounds and no roles of other columns are needed.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, path, or address of a database
        DuckDB and PostgreSQL count the rows themselves, so that no row leaves them.
    quasi : str or list of str
        The columns that others might know about people.
    sensitive : str or list of str
        The columns that others should not learn. Without one, only k and the risks are available.
    entity : str, optional
        Column that identifies each row's person, to count people instead of rows.

    Returns
    -------
    Audit
        ``.k``, ``["t"]``, ``.check(k=5, l=3)``, ``.risks``, ``.as_dict()``.

    Examples
    --------
    >>> import pandas as pd
    >>> import hushtable as ht
    >>> people = pd.DataFrame({"age": [31, 35, 52, 58, 59], "disease": ["flu", "gout", "flu", "flu", "gout"]})
    >>> people["age"] = pd.cut(people["age"], [30, 40, 60])
    >>> found = ht.audit(people, quasi=["age"], sensitive=["disease"])
    >>> found.k, found.smallest, found["t"]
    (2, {2: 1, 3: 1}, 0.09999999999999998)
    """
    known, wanted = _names(quasi), _names(sensitive)
    if not known:
        raise UsageError("The audit has no quasi-identifier.", code="no-quasi", hint="Name at least one column.")
    people = () if entity is None else (entity,)
    if isinstance(data, str) and can_count(data):
        return _counted(data, known, wanted, entity)
    table = _table(data)
    _check_names(table.column_names, known, wanted, people)
    if not table.num_rows:
        raise no_rows()
    roles = [(wanted, Role.SENSITIVE), (people, Role.IDENTIFIER)]
    columns = tuple(ColumnPlan(name, role) for names, role in roles for name in names)
    encoded = encode_rest(table.select([*wanted, *people]), TablePlan(columns, entity=entity), ())
    labels, n = class_numbers([table.column(name) for name in known])
    keys = [(name,) for name in wanted]
    stats = encoded.stats_of(labels, n, keys)
    first = np.zeros(n, dtype=np.int64)
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
    numbered = [class_numbers([table.column(name).take(pa.array(first))]) for name in known]
    exposure = Exposure(known, tuple(c for c, _ in numbered), tuple(s for _, s in numbered), stats.units, stats.unit)
    return Audit(known, wanted, stats, encoded.reference(keys), exposure)


def _counted(address: str, quasi: tuple[str, ...], sensitive: tuple[str, ...], entity: str | None) -> Audit:
    """Return the audit of a table that its database groups and counts, so that no row leaves it."""
    from hushtable.io.sql import sql_names
    from hushtable.io.sql_tally import tally

    _check_names(sql_names(address), quasi, sensitive, () if entity is None else (entity,))
    found = tally(address, quasi, sensitive, entity, PERSON_UNITS)
    if entity is not None and found.nobody:
        raise missing_names(entity, found.nobody)
    if entity is not None and found.ambiguous:
        raise ambiguous_names(entity)
    histograms: dict[Key, Histogram] = {}
    attributes: dict[Key, Attribute] = {}
    for name, own in found.sensitive.items():
        plan = TablePlan((ColumnPlan(name, Role.SENSITIVE),))
        _, columns = encode_values(plan, {name: own.values}, {name: own.times})
        values = EncodedTable((), columns, len(own.times), len(own.times), unit=found.unit, row_units=own.times)
        attributes[(name,)] = values.attribute((name,))
        codes = columns[0].codes.astype(np.int64)[own.codes]
        histograms[(name,)] = Histogram.from_pairs(own.classes, codes, own.units, len(found.units), found.unit)
    stats = GroupStats(found.units, found.unit, histograms)
    exposure = Exposure(quasi, (), (), stats.units, stats.unit)
    return Audit(quasi, sensitive, stats, Reference(int(stats.units.sum()), stats.unit, attributes), exposure)


def _table(data: Any) -> pa.Table:
    if isinstance(data, str | os.PathLike):
        from hushtable.io.sources import read_tables

        return read_tables([data])
    return to_arrow(data)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))


def _check_names(columns: Sequence[str], *groups: Sequence[str]) -> None:
    names = [name for group in groups for name in group]
    absent = [name for name in names if name not in columns]
    if absent:
        raise DataError(
            f"The table has no column {absent[0]!r}.",
            code="absent-columns",
            hint=did_you_mean(absent[0], columns),
        )
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise UsageError(f"The column {twice[0]!r} has two roles.", code="declared-twice", hint="Name it once.")


@typed
def k_anonymity(data: Any, quasi: str | Sequence[str], *, entity: str | None = None) -> int:
    """Return k: the number of people in the smallest class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> k_anonymity(pa.table({"age": ["3*", "3*", "*"]}), ["age"])
    1
    """
    return int(audit(data, quasi, entity=entity).k)


@typed
def l_diversity(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> int:
    """Return l: the smallest number of different sensitive values in a class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["3*", "3*"], "disease": ["flu", "gout"]})
    >>> l_diversity(table, ["age"], ["disease"])
    2
    """
    return int(_one(data, quasi, sensitive, "l"))


@typed
def entropy_l_diversity(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> float:
    """Return the l of entropy l-diversity: exp(entropy) of the least diverse class, unrounded.

    Examples
    --------
    >>> import pyarrow as pa
    >>> entropy_l_diversity(pa.table({"age": ["3*"] * 4, "disease": ["flu", "flu", "gout", "gout"]}), "age", "disease")
    2
    """
    return _one(data, quasi, sensitive, "entropy_l")


@typed
def recursive_c_l_diversity(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str], l: int = 2) -> float:
    """Return the c of recursive (c, l)-diversity: every larger c holds; infinite if a class has fewer values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> recursive_c_l_diversity(pa.table({"age": ["3*"] * 3, "disease": ["flu", "flu", "gout"]}), "age", "disease")
    2.0
    """
    found = audit(data, quasi, sensitive)
    _needs_sensitive(found)
    scores = (RecursiveCL(c=1.0, l=l, on=name).achieved(found.stats, found.reference) for name in found.sensitive)
    return max(scores)


@typed
def alpha_k_anonymity(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> tuple[float, int]:
    """Return alpha and k of (alpha, k)-anonymity: the largest share of a value in a class, and the smallest class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> alpha_k_anonymity(pa.table({"age": ["3*"] * 4, "disease": ["flu", "flu", "flu", "gout"]}), "age", "disease")
    (0.75, 4)
    """
    found = audit(data, quasi, sensitive)
    _needs_sensitive(found)
    return float(found["alpha"]), int(found.k)


@typed
def t_closeness(
    data: Any,
    quasi: str | Sequence[str],
    sensitive: str | Sequence[str],
    *,
    distance: Literal["equal", "ordered"] | None = None,
) -> float:
    """Return t: the largest distance of a class's values from those of the whole table.

    Parameters
    ----------
    data, quasi, sensitive
        See ``audit``.
    distance : {"equal", "ordered"}, optional
        Defaults to ordered for numbers and dates, and equal for other values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "disease": ["flu", "gout", "flu", "flu"]})
    >>> t_closeness(table, "age", "disease")
    0.25
    """
    if distance is None:
        return _one(data, quasi, sensitive, "t")
    found = audit(data, quasi, sensitive)
    _needs_sensitive(found)
    built = (models.build("t-closeness", {"t": 1.0, "distance": distance, "on": name}) for name in found.sensitive)
    return max(float(model.achieved(found.stats, found.reference)) for model in built)


@typed
def basic_beta_likeness(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> float:
    """Return beta of basic beta-likeness: the largest relative gain of a value's share in a class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "disease": ["flu", "gout", "flu", "flu"]})
    >>> basic_beta_likeness(table, "age", "disease")
    1
    """
    return _one(data, quasi, sensitive, "beta")


@typed
def enhanced_beta_likeness(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> float:
    """Return the smallest beta of enhanced beta-likeness, or infinity if a value gains more than -ln of its share.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "disease": ["flu", "gout", "flu", "flu"]})
    >>> enhanced_beta_likeness(table, "age", "disease")
    inf
    """
    found = audit(data, quasi, sensitive)
    beta = float(found["beta"]) if found.sensitive else _needs_sensitive(found)
    if beta <= 0:
        return 0.0
    if not np.isfinite(beta):
        return beta
    stretched = (BetaLikeness(beta=beta, variant="enhanced", on=name) for name in found.sensitive)
    return beta if all(m.satisfied(found.stats, found.reference).all() for m in stretched) else float("inf")


@typed
def delta_disclosure(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str]) -> float:
    """Return delta: the largest |ln(share in a class / share in the table)|; infinite if a value is absent.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["3*", "3*", "4*", "4*"], "disease": ["flu", "gout", "flu", "flu"]})
    >>> delta_disclosure(table, "age", "disease")
    inf
    """
    return _one(data, quasi, sensitive, "delta")


def _one(data: Any, quasi: Any, sensitive: Any, key: str) -> float:
    found = audit(data, quasi, sensitive)
    _needs_sensitive(found)
    return found[key]


def _needs_sensitive(found: Audit) -> float:
    if not found.sensitive:
        raise UsageError("No sensitive column is named.", code="no-sensitive", hint="Write sensitive=['disease'].")
    return 0.0
