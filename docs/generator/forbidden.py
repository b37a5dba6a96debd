"""Five rows that a privacy model forbids, found by trying small tables and judged by the model itself.

No model is listed by name, so a new one gets its example too. A parameter takes the first simple value with which one
of two small classes violates the model and the other, if possible, satisfies it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
import pyarrow as pa

from hushtable.arrays import BoolArray
from hushtable.errors import UsageError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.base import PrivacyModel, Quantity, SensitiveModel, Stat
from hushtable.schema.columns import Kind, Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.testing.brute import groups_of
from hushtable.testing.cases import Case

__all__ = ["forbidden"]

_CLASSES = (("20-29", "North"), ("30-39", "South"))
_SIZES = ((3, 2), (2, 3), (4, 1), (1, 4))
_DISEASES = ("flu", "HIV", "cold", "cancer", "fracture")
_INCOMES = {"flu": 21, "HIV": 22, "cold": 35, "cancer": 50, "fracture": 80}
_TREE = {"grave": ["HIV", "cancer"], "mild": ["flu", "cold"], "other": ["fracture"]}
_CATEGORIES = {"secret": ("HIV", "cancer"), "private": ("fracture",), "open": ("flu", "cold")}
_GUARDS = {"HIV": "grave", "cancer": "grave", "flu": "flu", "cold": "mild", "fracture": "other"}
_NUMBERS = (0.5, 0.25, 1.0, 0.1, 0.75, 1.5, 2.0, 3.0, 0.01)
_CHOICES = 60
"""Choices of parameters that are tried on each table."""
_TRIES = 400
"""Pairs of a table and parameters that are tried before the plainest example so far is taken."""


class _Found(NamedTuple):
    model: PrivacyModel
    table: pa.Table
    sizes: tuple[int, int]
    bad: BoolArray
    numbers: tuple[Quantity, ...]


def forbidden(model: type[PrivacyModel]) -> str:
    """Return Markdown with five rows that the model forbids; empty if no such table shows it.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> print(forbidden(KAnonymity).splitlines()[0])
    For example, `k-anonymity: {k: 3}` forbids one of these classes:
    """
    found = _plainest(model)
    if found is None:
        return ""
    model_, table = found.model, found.table
    names = ["age", "town", *_sensitive_shown(model_)]
    # the table as a whole is forbidden, or classes of it
    each = np.repeat(found.bad, found.sizes)
    marks = ["" if model_.table_level else "forbidden" if bad else "allowed" for bad in each]
    rows = [
        [*(str(row[name]) for name in names), *filter(None, [mark])]
        for row, mark in zip(table.to_pylist(), marks, strict=True)
    ]
    head = [*names, *(["verdict"] if marks[0] else [])]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    values = ", ".join(f"{name}: {_written(value)}" for name, value in model_.values().items() if name != "on")
    which = "one of these classes" if found.bad.sum() == 1 else "this table" if model_.table_level else "these classes"
    why = _why(found)
    if Stat.POPULATION in model_.stats_needed():
        why.append("The population consists of these five people and one more of the first class.")
    return f"For example, `{model_.name}: {{{values}}}` forbids {which}:\n\n" + "\n".join([*lines, "", *why])


def _why(found: _Found) -> list[str]:
    """A sentence about each number that misses its bound."""
    said = []
    for symbol, sense, bound, values in found.numbers:
        words = {">=": "at least", "<=": "at most", "<": "less than"}[sense]
        for place, value in zip(("first", "second"), values, strict=False):
            good = value >= bound if sense == ">=" else value <= bound if sense == "<=" else value < bound
            if not good:
                whose = "table" if found.model.table_level else f"{place} class"
                said.append(f"The {whose}'s `{symbol}` is {_written(round(float(value), 3))}; {words} "
                            f"{_written(round(float(bound), 3))} is required.")  # fmt: skip
                # one class is enough of an example
                return said
    return said


def _plainest(model: type[PrivacyModel]) -> _Found | None:
    """An example in which one class violates the model and the other does not, if there is one; else any."""
    best: _Found | None = None
    chosen = list(itertools.islice(_instances(model), _CHOICES))
    tables = ((sizes, pattern) for pattern in _patterns() for sizes in _SIZES)
    for (sizes, pattern), one in itertools.islice(itertools.product(tables, chosen), _TRIES):
        found = _judged(one, sizes, pattern)
        if found is None or not found.bad.any():
            continue
        if not found.bad.all() or found.model.table_level:
            return found
        best = best or found
    return best


def _judged(model: PrivacyModel, sizes: tuple[int, int], pattern: tuple[int, ...]) -> _Found | None:
    case = _case(sizes, pattern)
    try:
        bound = case.bound([model]).members[0]
        encoded = case.encoded([model])
        reference = encoded.reference(bound.histogram_keys())
        towns = [*case.table["town"].to_pylist(), *case.population["town"].to_pylist()][: encoded.n_rows]
        groups = [[row for row, town in enumerate(towns) if town == name] for _, name in _CLASSES]
        stats = groups_of(encoded, groups, bound.histogram_keys())
        bound.feasible(reference)
        if bound.table_level:
            bad = np.repeat(~bound.table_satisfied(stats, reference), 2)
        else:
            bad = ~bound.satisfied(stats, reference)
        score = Quantity(_symbol(bound), bound.sense, bound.bound, bound.score(stats, reference))
        return _Found(bound, case.table, sizes, bad, bound.quantities(stats, reference) or (score,))
    except UsageError:
        return None


def _symbol(model: PrivacyModel) -> str:
    """The parameter that bounds the score."""
    numbers = [name for name, value in model.values().items() if isinstance(value, int | float)]
    return numbers[0] if len(numbers) == 1 else "score"


def _patterns() -> Iterator[tuple[int, ...]]:
    """Which rows share a value: restricted growth strings of length five, those with few values first."""
    every = itertools.product(range(5), repeat=5)
    grown = [p for p in every if all(v <= max((-1, *p[:i])) + 1 for i, v in enumerate(p))]
    # a table with only one value shows little
    return iter(sorted(grown, key=lambda p: (max(p) == 0, max(p), p)))


def _instances(model: type[PrivacyModel]) -> Iterator[PrivacyModel]:
    names = [param.name for param in model.params()]
    some = any(param.required for param in model.params())
    every = [_values(p.name, p.type, used=p.required or not some) for p in model.params()]
    for values in itertools.product(*every):
        try:
            yield model.build({n: v for n, v in zip(names, values, strict=True) if v is not None})
        except UsageError:
            continue


def _values(name: str, wanted: Any, *, used: bool) -> list[Any]:
    """Simple values of a parameter, the most readable first."""
    if name == "on":
        return ["disease", "income"]
    if not used:
        return [None]
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return list(args)
    if origin is tuple:
        return [("HIV",)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [{"HIV": bound} for bound in (0.25, 0.5, 1.0)]
    if origin is not None:
        return [value for arg in args for value in _values(name, arg, used=True)]
    if wanted is str:
        return ["guard", "disease"]
    return [2, 3, 1, 4] if wanted is int else list(_NUMBERS) if wanted is float else []


def _sensitive_shown(model: PrivacyModel) -> list[str]:
    if not isinstance(model, SensitiveModel):
        return ["disease"] if Stat.HISTOGRAM in model.stats_needed() else []
    named = [v for v in model.values().values() if isinstance(v, str) and v in ("disease", "income", "guard")]
    return list(dict.fromkeys(named)) or ["disease"]


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if value == math.inf:
        return "infinite"
    return f"{value:g}" if isinstance(value, float) else str(value)


@cache
def _case(sizes: tuple[int, int], pattern: tuple[int, ...]) -> Case:
    diseases = [_DISEASES[i] for i in pattern]
    cells = [c for c, n in zip(_CLASSES, sizes, strict=True) for _ in range(n)]
    table = pa.table(
        {
            "age": [age for age, _ in cells],
            "town": [town for _, town in cells],
            "disease": diseases,
            "income": [_INCOMES[d] for d in diseases],
            "guard": [_GUARDS[d] for d in diseases],
        }
    )
    plan = TablePlan(
        (
            ColumnPlan("age", Role.QUASI, kind=Kind.NOMINAL),
            ColumnPlan("town", Role.QUASI, kind=Kind.NOMINAL),
            ColumnPlan(
                "disease", Role.SENSITIVE, kind=Kind.NOMINAL, hierarchy=Taxonomy(tree=_TREE), categories=_CATEGORIES
            ),
            ColumnPlan("income", Role.SENSITIVE, kind=Kind.NUMERIC),
            ColumnPlan("guard", Role.SENSITIVE, kind=Kind.NOMINAL),
        )
    )
    people = table.select(["age", "town"])
    population = pa.concat_tables([people, people.slice(0, 1)])
    background = pa.table(
        {
            "age": ["20-29", "30-39"] * 5,
            "town": ["North", "South"] * 5,
            "disease": [d for d in _DISEASES for _ in range(2)],
            "probability": [0.2] * 10,
        }
    )
    return Case(table, plan, population, background, 0)
