"""The parts of a policy that have their own settings: a column, the background table, the ledger, the output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from hushtable.errors import PolicyError
from hushtable.io.text import label_text
from hushtable.registry import treatments
from hushtable.release.forms.base import build_form
from hushtable.schema.columns import Format, Kind, Role
from hushtable.table.plan import ColumnPlan

if TYPE_CHECKING:
    from hushtable.hierarchy.base import Hierarchy
    from hushtable.treatments.base import Treatment


class Frozen(dict[str, Any]):
    """A dict that refuses every change, so that a frozen policy is frozen all the way down.

    Examples
    --------
    >>> Frozen(k=5)["k"] = 2
    Traceback (most recent call last):
    TypeError: a policy cannot be changed; make another one with policy.changed(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("a policy cannot be changed; make another one with policy.changed(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        # the default way of copying and pickling a dict subclass fills it item by item
        return Frozen, (dict(self),)


def freeze(data: Any) -> Any:
    """Return the data with every mapping frozen, under text keys, and every list as a tuple.

    Examples
    --------
    >>> freeze({"a": [1, {"b": 2}]})
    {'a': (1, {'b': 2})}
    """
    if isinstance(data, Mapping):
        return Frozen({str(key): freeze(value) for key, value in data.items()})
    if isinstance(data, list | tuple):
        return tuple(freeze(value) for value in data)
    return data


def thaw(data: Any) -> Any:
    """Return the data as plain dicts and lists, ready for YAML and JSON.

    Examples
    --------
    >>> thaw(freeze({"a": [1, {"b": 2}]}))
    {'a': [1, {'b': 2}]}
    """
    if isinstance(data, Mapping):
        return {key: thaw(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [thaw(value) for value in data]
    return data


class StrictModel(BaseModel):
    """A frozen group of settings without unknown ones."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    always_written: ClassVar[tuple[str, ...]] = ()
    """Settings that are written even if they have their default."""

    def settings(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, as plain data."""
        found = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            written = name in self.always_written or field.is_required()
            if written or value != field.get_default(call_default_factory=True):
                found[name] = _plain(value)
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, StrictModel):
        return value.settings()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    # an enumeration's member is text, but YAML would write its class
    return str(value) if isinstance(value, str) else thaw(value)


def _labels(values: Any) -> Any:
    """Values of the table as text; a single one needs no list."""
    if isinstance(values, str | int | float):
        values = [values]
    return tuple(label_text(v) for v in values) if isinstance(values, list | tuple) else values


def _categories(categories: Any) -> Any:
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        return categories
    found = {}
    for name, values in categories.items():
        if isinstance(values, list | tuple):
            # a missing value is written as null or ""
            values = ["" if v is None else v for v in values]
        found[label_text(name)] = _labels([] if values is None else values)
    return found


def _each_once(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) < len(values):
        raise PolicyError(
            f"{len(values) - len(set(values))} of the {len(values)} values are listed twice.",
            code="value-twice",
            hint="List each value once.",
        )
    return values


def _one_category_each(categories: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    _each_once(tuple(value for values in categories.values() for value in values))
    frozen: Mapping[str, tuple[str, ...]] = freeze(categories)
    return frozen


Labels = Annotated[tuple[str, ...], BeforeValidator(_labels), AfterValidator(_each_once)]
"""Values of the table, each once: text, or numbers that become text."""


class SameAs(StrictModel):
    """The name of a column in earlier releases of the same people."""

    column: str
    """its name there"""
    map: str | None = None
    """a file of two columns: values of this release, and their names in earlier ones"""


Earlier = Annotated[
    SameAs | Literal[False] | None,
    BeforeValidator(
        lambda given: {"column": given} if isinstance(given, str) else given,
        json_schema_input_type=str | SameAs | Literal[False] | None,
    ),
]
"""A column of earlier releases, or ``false`` if there is none."""


class ColumnPolicy(StrictModel):
    """The settings of one column.

    Examples
    --------
    >>> ColumnPolicy(role="quasi", kind="numeric", weight=2).role.value
    'quasi'
    """

    role: Role
    """identifier (never published), quasi (generalized), sensitive (must not become known), insensitive (published
    unchanged), pseudonym (an identifier under a keyed name), weight (survey weight; for risks and measures), cluster
    (household; for risks) or drop (not published)"""
    kind: Kind | None = None
    """how the values relate. Inferred from the data by default"""
    format: Format | None = None
    """how values are written: day-first (31/12/1999), month-first (12/31/1999), compact (19991231), thousands
    (1,234.56) or any-spelling (labels that differ only in case, spaces or invisible characters are the same)"""
    hierarchy: Any = None
    """coarser and coarser labels: a file, a recipe's name, or a recipe with its parameters"""
    weight: Annotated[float, Field(gt=0, le=1e6, strict=True, allow_inf_nan=False)] = 1.0
    """how much the column's detail matters, relative to other columns"""
    categories: Annotated[
        Mapping[str, tuple[str, ...]], BeforeValidator(_categories), AfterValidator(_one_category_each)
    ] = Field(default_factory=Frozen)
    """sensitivity categories and their values, the most sensitive first"""
    order: Labels = ()
    """the values of an ordinal column, from low to high"""
    cells: Any = None
    """how the column is published, if different from the table's form"""
    treatment: Any = None
    """changes the values before records are grouped: a treatment, or several in order"""
    publish: bool = False
    """for survey weights: whether every record shows the mean weight of its class"""
    same_as: Earlier = None
    """for the ledger: the column's name in earlier releases, or false if none of them had it"""

    changes: bool = False
    """for the ledger: whether most people's values may differ from those of earlier releases"""

    def treatments(self) -> tuple[Treatment, ...]:
        """Return the treatments as objects, in order; a pseudonym is one."""
        chosen = thaw(self.treatment)
        if chosen is None:
            chosen = "pseudonym" if self.role is Role.PSEUDONYM else []
        several = chosen if isinstance(chosen, list) else [chosen]
        named = [next(iter({one: None}.items() if isinstance(one, str) else one.items())) for one in several]
        return tuple(treatments.build(name, values) for name, values in named)

    def plan(self, name: str, folder: Path | None) -> ColumnPlan:
        """Return the column with its hierarchy, form and treatments as objects. Reads no file."""
        pseudonym = self.role is Role.PSEUDONYM
        return ColumnPlan(
            name=name,
            # a keyed name is published as it is
            role=Role.INSENSITIVE if pseudonym else self.role,
            kind=self.kind or (Kind.NOMINAL if pseudonym else None),
            hierarchy=None if self.hierarchy is None else _hierarchy(self.hierarchy, name, folder),
            weight=self.weight,
            order=self.order,
            categories=dict(self.categories),
            cells=None if self.cells is None else build_form(self.cells),
            format=self.format,
            treatments=tuple(treatment.based_in(folder) for treatment in self.treatments()),
            publish=self.publish,
        )

    def given(self) -> dict[str, Any]:
        """The given settings, as stored."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        return {name: v.settings() if isinstance(v, StrictModel) else v for name, v in given.items()}


def _hierarchy(spec: Any, name: str, folder: Path | None) -> Hierarchy:
    from hushtable.hierarchy.spec import parse_hierarchy

    return parse_hierarchy(thaw(spec), name, folder)


class BackgroundPolicy(StrictModel):
    """An adversary's prior beliefs: a table of quasi-identifiers, a sensitive column and a probability."""

    file: str
    """the table's file"""
    on: str
    """its sensitive column"""
    probability: str = "probability"
    """its column of probabilities"""


class LedgerPolicy(StrictModel):
    """The ledger of earlier releases of the same people; a release that breaks a promise with them is refused."""

    file: str
    """the ledger"""
    person: str | None = None
    """column that identifies each row's person; defaults to the entity, or the only identifier"""
    key: str | None = None
    """the ledger's key, if it is not next to the ledger"""
    new: bool = False
    """whether the ledger is new; otherwise, a missing ledger is an error"""
    expect_new_people: bool = False
    """whether a release may have nobody in common with any earlier one"""
    case: Literal["ignore"] | None = None
    """ignore: people and values that differ only in case are the same"""
    records: Annotated[int, Field(ge=0, strict=True)] | None = None
    """number of its releases to use, from the first; recorded with a release so that it can be reproduced"""


LedgerFile = Annotated[
    LedgerPolicy,
    BeforeValidator(
        lambda given: {"file": given} if isinstance(given, str) else given, json_schema_input_type=str | LedgerPolicy
    ),
]
"""A ledger with its settings, or only its file."""


class EnginePolicy(StrictModel):
    """Settings of the computation; the release does not depend on them."""

    device: Literal["auto", "cpu", "gpu"] = "auto"
    """where distances between records are computed: auto takes a graphics card if there is one and it is faster"""


class OutputPolicy(StrictModel):
    """Settings of the written release."""

    format: Literal["csv", "parquet"] = "csv"
    """the published table's file format"""
    reader: Literal["any", "spreadsheet"] = "any"
    """spreadsheet: text in CSV files that a spreadsheet would run gets a leading apostrophe"""
