"""Random small tables with every kind of column, and everything that any model may need.

A case is a table and its plan: quasi-identifiers that are numbers, dates, ordered and unordered labels (some of them
awkward to publish), with missing values and duplicates; a sensitive column with categories and a hierarchy, a numeric
one, and one that names guarding nodes; people with several rows; a population and an adversary's background table.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.base import Algorithm
from hushtable.arrays import IntArray
from hushtable.errors import IncompatibleError
from hushtable.hierarchy.base import Hierarchy
from hushtable.hierarchy.dates import Dates
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.base import PrivacyModel, Stat
from hushtable.models.compose import AllOf
from hushtable.registry import forms
from hushtable.release.forms.base import DEFAULT_FORM, Form
from hushtable.release.plan import Plan
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.encode import encode
from hushtable.table.encoded import EncodedTable
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan

_COUNTRIES = {"north": ["is, land", "{fin}", "null"], "south": ["*", "spain"], "far": ["[nz]", "\\peru"]}
_SIZES = ("small", "medium", "large", "huge")
_DISEASES = {"grave": ["HIV", "cancer"], "mild": ["cold", "flu"], "other": ["fracture"]}
_CATEGORIES: dict[str, tuple[str, ...]] = {
    "secret": ("HIV", "cancer"),
    "private": ("fracture",),
    "open": ("cold", "flu", ""),
}
_GUARDS = (None, "grave", "mild", "HIV", "flu")

_DOMAINS: dict[str, tuple[Any, ...]] = {
    "age": (21, 22, 25, 29, 34, 35, 48),
    "height": (1.5, 1.62, 1.7, 1.85),
    "postcode": ("14248", "14249", "14153", "13053", "1306"),
    "country": tuple(leaf for leaves in _COUNTRIES.values() for leaf in leaves),
    "size": _SIZES,
    "visit": tuple(datetime.date(2023, 11, 5) + datetime.timedelta(days=d) for d in (0, 1, 20, 60, 500)),
}
_KINDS = {
    "age": Kind.NUMERIC,
    "height": Kind.NUMERIC,
    "postcode": Kind.NOMINAL,
    "country": Kind.NOMINAL,
    "size": Kind.ORDINAL,
    "visit": Kind.DATE,
}
_HIERARCHIES: dict[str, Hierarchy] = {
    "age": Intervals(widths=(5, 10)),
    "postcode": Prefix(),
    "country": Taxonomy(tree=_COUNTRIES),
    "visit": Dates(),
}


@dataclass(frozen=True)
class Case:
    """A table, its plan, and the tables that accompany it.

    Attributes
    ----------
    table : pyarrow.Table
    columns : TablePlan
    population : pyarrow.Table
        The quasi-identifiers of the table's own rows and of others.
    background : pyarrow.Table
        Probabilities of (quasi-identifiers, disease).
    seed : int
    """

    table: pa.Table
    columns: TablePlan
    population: pa.Table
    background: pa.Table
    seed: int

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return self.columns.named(Role.SENSITIVE)

    def bound(self, models: Iterable[PrivacyModel]) -> AllOf:
        """Return the models, bound to the case's columns."""
        return AllOf.bound_to(models, self.sensitive)

    def side_tables_for(self, models: Iterable[PrivacyModel]) -> SideTables:
        """Return only the tables that these models need."""
        chosen = tuple(models)
        needed = frozenset[Stat]().union(*(m.stats_needed() for m in chosen))
        on, bandwidths = self.bound(chosen).estimated()
        believed = Stat.BACKGROUND in needed and not bandwidths
        return SideTables(
            population=self.population if Stat.POPULATION in needed else None,
            background=self.background if believed else None,
            background_on=on if bandwidths else "disease" if believed else "",
            bandwidths=bandwidths,
        )

    def suited(self, algorithm: Algorithm) -> Case:
        """Return the case with columns that the algorithm supports: unchanged, or with one quasi-identifier."""
        if _accepts(algorithm, self.columns):
            return self
        names = self.columns.named(Role.QUASI)
        for ranked in (False, True):
            for name in names:
                columns = tuple(
                    _ranked(c, self.table) if ranked and c.name == name else c
                    for c in self.columns.columns
                    if c.name == name or c.name not in names
                )
                if _accepts(algorithm, replace(self.columns, columns=columns)):
                    others = [n for n in names if n != name]
                    return replace(
                        self,
                        table=self.table.drop_columns(others),
                        columns=replace(self.columns, columns=columns),
                        population=self.population.drop_columns(others),
                        background=self.background.drop_columns(others),
                    )
        return self

    def plan(
        self, models: Iterable[PrivacyModel], algorithm: Algorithm, *, suppression: float = 0.0, seed: int = 0
    ) -> Plan:
        """Return the plan of a run; bad combinations are refused here."""
        chosen = tuple(models)
        document = {
            "models": [{m.name: m.values()} for m in chosen],
            "algorithm": {algorithm.name: algorithm.values()},
            "seed": seed,
        }
        return Plan(self.columns, chosen, algorithm, suppression, seed, self.side_tables_for(chosen), document)

    def encoded(self, models: Iterable[PrivacyModel], *, exact: bool = False) -> EncodedTable:
        """Return the table as codes, with the rows that the models need; it is encoded once for all such models."""
        side_tables = self.side_tables_for(models)
        kind = (
            exact,
            side_tables.population is not None,
            side_tables.background is not None,
            side_tables.background_on,
            side_tables.bandwidths,
        )
        if kind not in self._encodings:
            self._encodings[kind] = encode(self.table, self.columns, side_tables, exact=exact)
        return self._encodings[kind]

    @cached_property
    def _encodings(self) -> dict[tuple[bool, bool, bool, str, tuple[float, ...]], EncodedTable]:
        return {}

    @cached_property
    def drawn(self) -> dict[tuple[type[PrivacyModel], int], PrivacyModel | None]:
        """The models that were drawn for this case; see ``model_examples``."""
        return {}

    @cached_property
    def verdicts(self) -> dict[tuple[type[PrivacyModel], str], bool | None]:
        """Whether the whole table satisfies them, by their text; None for those that do not suit it."""
        return {}


def _accepts(algorithm: Algorithm, columns: TablePlan) -> bool:
    try:
        algorithm.check_table(columns)
    except IncompatibleError:
        return False
    return True


def _ranked(column: ColumnPlan, table: pa.Table) -> ColumnPlan:
    """The column with its labels replaced by their ranks in sorted order."""
    values = sorted({v for v in table.column(column.name).to_pylist() if v is not None}) or ["none"]
    return replace(column, kind=Kind.ORDINAL, hierarchy=None, order=tuple(values))


def random_table(seed: int, rows: int = 24, *, gaps: bool = True) -> pa.Table:
    """Return a random table; the same seed gives the same table on any machine.

    Parameters
    ----------
    seed : int
    rows : int
    gaps : bool
        Whether quasi-identifiers have missing values.

    Examples
    --------
    >>> table = random_table(7, 5)
    >>> table.num_rows, "disease" in table.column_names
    (5, True)
    """
    columns: dict[str, list[Any]] = {
        "name": [f"name-{i}" for i in range(rows)],
        "person": [f"person-{i}" for i in rng.integers(seed, "person", rows, 0, max(2 * rows // 3, 1)).tolist()],
    }
    # some rows repeat an earlier one, so that there are equal records
    copied = rng.uniform(seed, "copied", rows) < 0.3
    origin = rng.integers(seed, "origin", rows, 0, max(rows, 1))
    source = np.where(copied, origin, np.arange(rows))
    for name in _quasi_names(seed):
        drawn = _cells(seed, name, rows, _DOMAINS[name], 0.15 if gaps else 0.0)
        columns[name] = [drawn[i] for i in source.tolist()]
    leaves = tuple(leaf for group in _DISEASES.values() for leaf in group)
    columns["disease"] = _cells(seed, "disease", rows, leaves, 0.05)
    columns["income"] = _cells(seed, "income", rows, (10, 11, 12, 20, 21, 40, 41, 80), 0.05)
    columns["guard"] = _cells(seed, "guard", rows, _GUARDS, 0.0)
    columns["note"] = _cells(seed, "note", rows, ("x", "y"), 0.1)
    types = {"guard": pa.string(), "disease": pa.string(), "note": pa.string(), "income": pa.int64()}
    types |= {name: _arrow_type(name) for name in _quasi_names(seed)}
    return pa.table({name: pa.array(cells, types.get(name)) for name, cells in columns.items()})


def chosen_forms() -> list[Form]:
    """Return every form that a policy may choose, with its default parameters; the default one first.

    Examples
    --------
    >>> [form.name for form in chosen_forms()][:2]
    ['regions', 'counts']
    """
    chosen = [form() for form in forms.values() if not form.follows]
    return sorted(chosen, key=lambda form: form.name != DEFAULT_FORM)


def random_case(
    seed: int,
    rows: int = 24,
    *,
    missing: Missing = Missing.OWN_CATEGORY,
    cells: Form | None = None,
    entity: bool = False,
    others: int | None = None,
) -> Case:
    """Return a random table with its plan; the same arguments give the same object, which keeps what it encoded.

    Parameters
    ----------
    seed : int
    rows : int
    missing : Missing
    cells : Form, optional
        Defaults to tight ranges and sets.
    entity : bool
        Whether people are counted instead of rows.
    others : int, optional
        Rows of the population that are not in the table. Defaults to as many as the table has.

    Examples
    --------
    >>> random_case(3, 6).sensitive
    ('disease', 'income', 'guard')
    """
    return _random_case(seed, rows, missing, cells, entity, rows if others is None else others)


@lru_cache(maxsize=256)
def _random_case(seed: int, rows: int, missing: Missing, cells: Form | None, entity: bool, n_others: int) -> Case:
    table = random_table(seed, rows, gaps=missing is not Missing.ERROR)
    quasi = _quasi_names(seed)
    plans = [
        ColumnPlan("name", Role.IDENTIFIER),
        ColumnPlan("person", Role.IDENTIFIER),
        *(
            ColumnPlan(name, Role.QUASI, _KINDS[name], _HIERARCHIES.get(name), order=_SIZES if name == "size" else ())
            for name in quasi
        ),
        ColumnPlan("disease", Role.SENSITIVE, Kind.NOMINAL, Taxonomy(tree=_DISEASES), categories=_CATEGORIES),
        ColumnPlan("income", Role.SENSITIVE, Kind.NUMERIC),
        ColumnPlan("guard", Role.SENSITIVE, Kind.NOMINAL),
        ColumnPlan("note", Role.INSENSITIVE),
    ]
    more = random_table(seed, 2 * rows + n_others).slice(rows, n_others).select(quasi)
    if missing is Missing.ERROR:
        more = more.drop_null()
    population = pa.concat_tables([table.select(quasi), more])
    return Case(
        table=table,
        columns=TablePlan(tuple(plans), missing, (), cells, "person" if entity else None),
        population=population,
        background=_background(seed, table, quasi),
        seed=seed,
    )


def _quasi_names(seed: int) -> list[str]:
    """From one to four quasi-identifiers."""
    wanted = 1 + int(rng.integers(seed, "columns", 1, 0, 4)[0])
    order = np.argsort(rng.uniform(seed, "quasi", len(_DOMAINS)), kind="stable")
    names = list(_DOMAINS)
    return [names[i] for i in order[:wanted].tolist()]


def _arrow_type(name: str) -> pa.DataType:
    return {"age": pa.int64(), "height": pa.float64(), "visit": pa.date32()}.get(name, pa.string())


def _cells(seed: int, name: str, rows: int, domain: tuple[Any, ...], gaps: float) -> list[Any]:
    weights = 0.2 + rng.uniform(seed, f"weights/{name}", len(domain))
    drawn: IntArray = rng.choice(seed, name, rows, weights)
    hole = rng.uniform(seed, f"gaps/{name}", rows) < gaps
    return [None if h else domain[i] for i, h in zip(drawn.tolist(), hole.tolist(), strict=True)]


def _background(seed: int, table: pa.Table, quasi: list[str]) -> pa.Table:
    """The quasi-identifiers of the first third of the rows with each occurring disease; probabilities sum to 1."""
    known = table.select(quasi).slice(0, max(table.num_rows // 3, 1))
    diseases = sorted({d for d in table.column("disease").to_pylist() if d is not None}) or [None]
    index = np.repeat(np.arange(known.num_rows), len(diseases))
    mass = rng.integers(seed, "belief", len(index), 0, 4).astype(np.float64)
    mass[0] += 1
    background = known.take(pa.array(index))
    background = background.append_column("disease", pa.array(diseases * known.num_rows, pa.string()))
    return background.append_column("probability", pa.array(mass / mass.sum()))
