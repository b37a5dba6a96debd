"""A checker that knows only the definitions: rows as dictionaries, exact fractions, no code of hushtable.

Deliberately slow and obvious. ``complaints`` takes what was published and what it was made of, and returns a sentence
for every promise that does not hold: the models, in people where rows share one; the limit of suppression; that every
row is some record's, unchanged but for its quasi-identifiers, and that those cover what the record holds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from fuzz.cells import covers, is_missing, number
from fuzz.definitions import MERGING, MODELS, WHOLE, Class
from fuzz.truth import link, recoding_of, untrue

__all__ = ["complaints", "one_class_would_do"]

Row = Mapping[str, Any]
Cells = tuple[Any, ...]


def complaints(
    published: Sequence[Row],
    source: Sequence[Row],
    policy: Mapping[str, Any],
    population: Sequence[Row] | None = None,
    background: Sequence[Row] | None = None,
    *,
    loose: bool = False,
) -> list[str]:
    """Return what is wrong with a release; ``loose`` where empty text and no value are written alike."""
    if not published:
        return ["nothing was published"]
    found = _wrong_columns(published[0], policy)
    if found:
        return found
    owner = link(published, source, policy, loose=loose)
    if owner is None:
        return ["a published row is no record's, or not as it was"]
    weights = _weights(source, policy)
    total, shown = sum(weights), sum(weights[i] for i in owner)
    if total - shown > Fraction(str(policy.get("suppression", 0))) * total + Fraction(1, 10**6):
        found.append("more was suppressed than allowed")
    classes: dict[Cells, list[int]] = defaultdict(list)
    for place, row in enumerate(published):
        classes[tuple(_plain(row[name]) for name in class_columns(policy))].append(place)
    found += untrue(published, source, owner, policy, list(classes.values()))
    # where people cannot be told apart, the published values stand for themselves
    records = [source[i] for i in owner] if "ticket" in policy["columns"] else published
    groups = {
        cells: _Group([cells], [records[p] for p in places], [weights[owner[p]] for p in places])
        for cells, places in classes.items()
    }
    outside = _Outside(source, weights, population or (), background or ())
    return found + _broken(groups, outside, policy) + _overlapping(list(classes), source, policy)


def one_class_would_do(
    source: Sequence[Row],
    policy: Mapping[str, Any],
    population: Sequence[Row] | None = None,
    background: Sequence[Row] | None = None,
) -> bool:
    """Whether everybody in a single class, with nothing said of them, would keep every promise."""
    weights = _weights(source, policy)
    columns = {name: {**column, "cells": "sets"} for name, column in policy["columns"].items()}
    policy = {**policy, "columns": columns, "recoding": "local"}
    cells = ("*",) * len(class_columns(policy))
    outside = _Outside(source, weights, population or (), background or ())
    return not _broken({cells: _Group([cells], list(source), weights)}, outside, policy)


class _Group(NamedTuple):
    cells: list[Cells]
    rows: list[Row]
    weights: list[Fraction]


@dataclass
class _Outside:
    source: Sequence[Row]
    weights: Sequence[Fraction]
    population: Sequence[Row]
    background: Sequence[Row]
    tables: dict[str, Class] = field(default_factory=dict)

    def whole(self, on: Any, policy: Mapping[str, Any]) -> Class:
        """The whole table, counted once for each column."""
        if repr(on) not in self.tables:
            self.tables[repr(on)] = _class(self.source, self.weights, on, policy)
        return self.tables[repr(on)]


def _broken(groups: Mapping[Cells, _Group], outside: _Outside, policy: Mapping[str, Any]) -> list[str]:
    """The models that do not hold."""
    for union in _judged_together(list(groups), policy):
        parts = [groups[cells] for cells in union]
        one = _Group(union, [r for part in parts for r in part.rows], [w for part in parts for w in part.weights])
        if found := _violated(one, outside, list(groups), policy):
            return found
    found = []
    for name, parameters in _models(policy):
        for on in _columns_of(name, parameters, policy):
            judged = [_class(group.rows, group.weights, on, policy) for group in groups.values()]
            if name in WHOLE and not WHOLE[name](judged, parameters):
                found.append(f"{name} does not hold")
    return found


def _role(policy: Mapping[str, Any], role: str) -> list[str]:
    return [name for name, column in policy["columns"].items() if column["role"] == role]


def class_columns(policy: Mapping[str, Any]) -> list[str]:
    """The published columns that make up a class."""
    quasi = _role(policy, "quasi")
    return {"bucket": ["group"], "numbered": [*quasi, "group"]}.get(recoding_of(policy), quasi)


def _wrong_columns(row: Row, policy: Mapping[str, Any]) -> list[str]:
    wanted = [name for name, column in policy["columns"].items() if column["role"] not in ("identifier", "drop")]
    if any(name in row for name in _role(policy, "identifier")):
        return ["an identifier was published"]
    if recoding_of(policy) in ("bucket", "numbered"):
        wanted.append("group")
    return [] if list(row) == wanted else [f"the published columns are {list(row)}, not {wanted}"]


def _weights(source: Sequence[Row], policy: Mapping[str, Any]) -> list[Fraction]:
    """A person's rows share one person."""
    entity = policy.get("entity")
    if entity is None:
        return [Fraction(1)] * len(source)
    rows = Counter(row[entity] for row in source)
    return [Fraction(1, rows[row[entity]]) for row in source]


def _plain(value: Any) -> Any:
    return None if value != value else value


def _judged_together(classes: list[Cells], policy: Mapping[str, Any]) -> list[list[Cells]]:
    """Each class alone, or with all that an empty cell could make the same."""
    if policy.get("missing") != "wildcard":
        return [[cells] for cells in classes]
    return [
        [other for other in classes if all(a is None or b is None or a == b for a, b in zip(cells, other, strict=True))]
        for cells in classes
    ]


def _models(policy: Mapping[str, Any]) -> list[tuple[str, Row]]:
    return [item for model in policy["models"] for item in model.items()]


def _columns_of(name: str, parameters: Row, policy: Mapping[str, Any]) -> list[Any]:
    """The column that a model is about; all sensitive ones where it does not say, None where it looks at none."""
    if name in ("k-anonymity", "average-risk", "k-map", "delta-presence"):
        return [None]
    return [parameters["on"]] if parameters.get("on") else _role(policy, "sensitive")


def value_of(row: Row, on: Any, policy: Mapping[str, Any]) -> Any:
    """A sensitive value as models see it: a number, a text, or None where there is none."""
    if isinstance(on, list | tuple):
        return tuple(value_of(row, name, policy) for name in on)
    value = row[on]
    if is_missing(value, policy.get("missing_values", ())):
        return None
    return number(value) if policy["columns"][on].get("kind") == "numeric" else value


def _class(rows: Sequence[Row], weights: Sequence[Fraction], on: Any, policy: Mapping[str, Any]) -> Class:
    values = [None if on is None else value_of(row, on, policy) for row in rows]
    columns = policy["columns"]
    settings = columns[on] if isinstance(on, str) else {}
    return Class(rows, values, list(weights), settings)


def _violated(one: _Group, outside: _Outside, classes: list[Cells], policy: Mapping[str, Any]) -> list[str]:
    found = []
    for name, parameters in _models(policy):
        for on in _columns_of(name, parameters, policy):
            if name in WHOLE:
                continue
            group = _class(one.rows, one.weights, on, policy)
            group.table = outside.whole(on, policy)
            believed = outside.background if parameters.get("background") else ()
            known = outside.population if name == "delta-presence" else believed
            if known and not _told_apart(known, classes, policy):
                # somebody whom several classes fit is in one of them, and cells do not say which
                continue
            if name in ("k-map", "delta-presence") and not _blurred(policy):
                group.population = [row for row in outside.population if _fits_any(one.cells, row, policy)]
            group.beliefs = [row for row in believed if _fits_any(one.cells, row, policy)]
            if not MODELS[name](group, parameters):
                found.append(f"{name} does not hold in a class of {len(one.rows)}")
    return found


def _blurred(policy: Mapping[str, Any]) -> bool:
    """Whether cells may not tell what they cover: the middle of a range, a representative."""
    styles = [policy["columns"][n].get("cells") or policy.get("cells") for n in _role(policy, "quasi")]
    return "midpoint" in styles or recoding_of(policy) == "centroid"


def _fits(cells: Cells, row: Row, policy: Mapping[str, Any]) -> bool:
    tokens = policy.get("missing_values", ())
    shown = zip(_role(policy, "quasi"), cells, strict=False)
    return all(covers(cell, row[name], policy["columns"][name], tokens) for name, cell in shown)


def _fits_any(classes: Sequence[Cells], row: Row, policy: Mapping[str, Any]) -> bool:
    return any(_fits(cells, row, policy) for cells in classes)


def _told_apart(rows: Sequence[Row], classes: list[Cells], policy: Mapping[str, Any]) -> bool:
    if _blurred(policy):
        return False
    distinct = {repr(sorted(row.items())): row for row in rows}.values()
    return all(sum(_fits(cells, row, policy) for cells in classes) <= 1 for row in distinct)


def _overlapping(classes: list[Cells], source: Sequence[Row], policy: Mapping[str, Any]) -> list[str]:
    """Where a model does not survive merging, cells of two classes must not fit one and the same person."""
    risky = [name for name, parameters in _models(policy) if name not in MERGING or parameters.get("background")]
    apart = recoding_of(policy) in ("bucket", "numbered")
    if not risky or apart or _blurred(policy) or policy.get("missing") == "wildcard":
        return []
    columns = {name: policy["columns"][name] for name in _role(policy, "quasi")}
    if any("kind" not in columns[n] and isinstance(row[n], str) for row in source for n in columns):
        # digits may be numbers or codes, so that 1 and 01 may or may not be one value
        return []
    masked = [n for n in columns if "prefix" in (columns[n].get("hierarchy") or ())]
    if any(len({len(str(row[n])) for row in source if row[n] is not None}) > 1 for n in masked):
        # a shorter code is filled up with the mask, and then looks as if it stood for longer ones
        return []
    tokens = policy.get("missing_values", ())
    reach: list[list[set[int]]] = []
    for place, name in enumerate(_role(policy, "quasi")):
        domain = list({repr(row[name]): row[name] for row in source}.values())
        column = policy["columns"][name]
        reach.append([_reach(cells[place], domain, column, tokens) for cells in classes])
    for a in range(len(classes)):
        for b in range(a):
            if all(column[a] & column[b] for column in reach):
                return [f"cells overlap, and {risky[0]} does not survive that"]
    return []


def _reach(cell: Any, domain: Sequence[Any], column: Mapping[str, Any], tokens: Sequence[str]) -> set[int]:
    """The values that a cell stands for; one that is written just so is meant itself, even if it looks like a mask."""
    itself = {i for i, value in enumerate(domain) if _written(value) == cell}
    return itself or {i for i, value in enumerate(domain) if covers(cell, value, column, tokens)}


def _written(value: Any) -> Any:
    """How a cell shows a single value: one that could be taken for a set, a range or everything has a backslash."""
    special = isinstance(value, str) and (value[:1] in ("{", "[", "\\") or value == "*")
    return f"\\{value}" if special else value
