"""A slow recount of a release from the published cells and the source rows, without kernels or code arrays.

Used in addition to the verifier, never instead of it: two programs that agree are harder to fool than one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Recoding
from hushtable.arrays import IntArray
from hushtable.engines.release import Release
from hushtable.release.forms.base import form_of
from hushtable.release.forms.sets import Sets
from hushtable.release.plan import Plan
from hushtable.release.recode import published_in
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.kernel_estimate import with_estimate
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats, Histogram, Key
from hushtable.testing.covers import cell_text, covered
from hushtable.testing.require import require

_Cells = tuple[Any, ...]


@dataclass
class _Recount:
    """A source table, its plan and its release."""

    source: pa.Table
    plan: Plan
    release: Release

    def __post_init__(self) -> None:
        self.encoded = self.release.problem.table
        self.reference: Reference = self.release.problem.reference
        self.names = [c.name for c in self.encoded.quasi]
        levels = self.plan.algorithm.recoding is Recoding.GLOBAL
        blanks = self.plan.algorithm.recoding is Recoding.PATTERN
        self.nodes = [blanks or (levels and not form_of(c).any_groups) for c in self.encoded.quasi]
        self.points = self.plan.algorithm.recoding is Recoding.CENTROID
        shown = self.names
        if self.plan.algorithm.recoding is Recoding.NUMBERED:
            # the group's number is the last cell of a class
            shown = [*self.names, self.release.table.column_names[-1]]
        cells = [self.release.table.column(n).to_pylist() for n in shown]
        self.rows: list[_Cells] = list(zip(*cells, strict=True))
        self.classes: dict[_Cells, list[int]] = defaultdict(list)
        for row, key in enumerate(self.rows):
            self.classes[key].append(row)
        self.cover: dict[tuple[int, Any], set[int] | None] = {}

    def weights(self) -> list[int]:
        """Units of every source row: a person's rows sum to one person."""
        if self.plan.table.entity is None:
            return [1] * self.source.num_rows
        person = self.source.column(self.plan.table.entity).to_pylist()
        rows_of = Counter(person)
        return [self.encoded.unit // rows_of[p] for p in person]

    def covers(self, key: _Cells, record: tuple[Any, ...]) -> bool:
        """Whether the cells of a class may represent a record."""
        for j, (cell, value) in enumerate(zip(key[: len(record)], record, strict=True)):
            if (j, cell) not in self.cover:
                column = self.encoded.quasi[j]
                if self.plan.algorithm.recoding is Recoding.CONCEALED:
                    # sets, regardless of the policy
                    column = replace(column, form=Sets())
                self.cover[j, cell] = covered(cell, column, nodes=self.nodes[j])
            codes = self.cover[j, cell]
            labels = self.encoded.quasi[j].coded.labels[0]
            if codes is not None and cell_text(value) not in {cell_text(labels[c]) for c in codes}:
                return False
        return True

    def owners(self, table: pa.Table, first: int) -> list[_Cells | None]:
        """The class of each row of a population or background table; None if no published class covers it.

        If cells overlap or are midpoints, they do not decide, and the partition's choice is used if it covers the row:
        people outside the range of a midpoint need not count. Nor do people of a suppressed group whom the region of
        another one covers, for models that survive added people.
        """
        owners: list[_Cells | None] = []
        if any(published_in(c, self.plan.algorithm.recoding).own_records for c in self.encoded.quasi):
            require((self.release.recoded.labels[first:] < 0).all(), "a row that is not a record belongs to a class")
            return [None] * table.num_rows
        records = zip(*(table.column(n).to_pylist() for n in self.names), strict=True)
        for place, record in enumerate(records):
            fitting = [key for key in self.classes if self.covers(key, record)]
            group = int(self.release.recoded.labels[first + place])
            chosen = None
            if group >= 0:
                chosen = tuple(column[group].as_py() for column in self.release.recoded.published)
                require(self.covers(chosen, record), "a population row lies in a class whose cells do not cover it")
            left_out = chosen not in self.classes and not self.plan.model().minds_cover
            if len(fitting) > 1 or left_out or None in self.cover.values():
                owners.append(chosen if chosen in self.classes else None)
            else:
                owners.append(fitting[0] if fitting else None)
                require(owners[-1] == (chosen if chosen in self.classes else None), "a population row changed class")
        return owners

    def codes(self, key: Key) -> list[int]:
        """The code of every published row in a sensitive or joint column."""
        total = [0] * len(self.rows)
        for name in key:
            labels = list(self.reference.attribute((name,)).labels)
            column = self.release.table.column(name).to_pylist()
            own = [labels.index(cell_text(v) or "") for v in column]
            total = [t * len(labels) + c for t, c in zip(total, own, strict=True)]
        return total

    def unions(self) -> list[list[_Cells]]:
        """The classes that are judged together: each alone, or with all compatible ones."""
        keys = list(self.classes)
        if self.plan.table.missing is not Missing.WILDCARD:
            return [[key] for key in keys]

        def compatible(a: _Cells, b: _Cells) -> bool:
            return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))

        return [[other for other in keys if compatible(key, other)] for key in keys]

    def stats(self) -> GroupStats:
        """The statistics of the classes that are judged together."""
        unions, weights = self.unions(), self.weights()
        source = self.release.source_rows
        units_of = {key: [weights[int(source[r])] for r in rows] for key, rows in self.classes.items()}
        histograms = {}
        for key in self.release.problem.model.histogram_keys():
            codes = self.codes(key)
            counts = []
            for union in unions:
                count: Counter[int] = Counter()
                for cells in union:
                    for row, weight in zip(self.classes[cells], units_of[cells], strict=True):
                        count[codes[row]] += weight
                counts.append(count)
            histograms[key] = _histogram(counts, self.encoded.unit)
        population = background = None
        if self.plan.side_tables.population is not None:
            owners = Counter(self.owners(self.plan.side_tables.population, self.encoded.population_rows.start))
            population = np.array([sum(owners[cells] for cells in union) for union in unions], dtype=np.int64)
        if self.plan.side_tables.believes:
            background = self.background(unions)
        units = np.array([sum(sum(units_of[cells]) for cells in union) for union in unions], dtype=np.int64)
        return GroupStats(units, self.encoded.unit, histograms, population, background, cells=self.cells())

    def cells(self) -> dict[str, IntArray] | None:
        """The cells of each class in every quasi-identifier, as numbers; classes that are judged together have none."""
        if self.plan.table.missing is Missing.WILDCARD:
            return None
        shown = {name: [key[j] for key in self.classes] for j, name in enumerate(self.names)}
        values = {name: list(dict.fromkeys(own)) for name, own in shown.items()}
        return {name: np.array([values[name].index(v) for v in own]) for name, own in shown.items()}

    def background(self, unions: list[list[_Cells]]) -> Histogram:
        """The background table's mass in the classes that are judged together."""
        known = self.plan.side_tables.background
        if known is None:
            known = with_estimate(self.encoded, self.source, self.plan.side_tables).background
        owners = self.owners(known, self.encoded.background_rows.start)
        mass: dict[_Cells | None, Counter[int]] = defaultdict(Counter)
        rows = zip(owners, self.encoded.background_codes.tolist(), self.encoded.background_mass.tolist(), strict=True)
        for owner, code, units in rows:
            if units:
                mass[owner][code] += units
        return _histogram(
            [sum((mass[cells] for cells in union), Counter()) for union in unions], self.encoded.background_unit
        )


def _histogram(counts: list[Counter[int]], unit: int) -> Histogram:
    offsets = np.cumsum([0, *(len(c) for c in counts)]).astype(np.int64)
    values = [v for c in counts for v in sorted(c)]
    units = [c[v] for c in counts for v in sorted(c)]
    return Histogram(offsets, np.array(values, dtype=np.int64), np.array(units, dtype=np.int64), unit)


def recheck(source: pa.Table, plan: Plan, release: Release) -> GroupStats:
    """Recount a release and judge it; raise ``AssertionError`` if anything is wrong.

    Checks that the release is not empty, publishes no identifiers, changes no record beyond recoding, releases none
    twice, covers every record by its cells or publishes the centroid of its class, and suppresses no more than the
    policy allows; that the whole-table counts of the models are those of the source; and that every model holds.

    Returns
    -------
    GroupStats
        The statistics of the published classes.
    """
    if plan.algorithm.recoding is Recoding.BUCKET:
        return _recheck_buckets(source, plan, release)
    recount = _Recount(source, plan, release)
    published, rows = release.table, release.source_rows.tolist()
    require(published.num_rows > 0, "an empty release")
    shown = [c.name for c in plan.table.columns if c.role.published]
    if plan.algorithm.recoding is Recoding.NUMBERED:
        number = published.column(-1).to_pylist()
        require(sorted(set(number)) == list(range(1, len(set(number)) + 1)), "groups are not numbered 1, 2, ...")
        published = published.drop_columns(published.column_names[-1:])
    require(published.column_names == shown, f"published columns are {published.column_names}, not {shown}")
    require(len(set(rows)) == len(rows), "a record is released twice")
    for name in (n for n in shown if n not in recount.names):
        there = source.column(name).take(pa.array(rows)).to_pylist()
        require(published.column(name).to_pylist() == there, f"the cells of {name!r} were changed")
    records = list(zip(*(source.column(n).to_pylist() for n in recount.names), strict=True))
    for key, row in zip(recount.rows, rows, strict=True):
        require(recount.points or recount.covers(key, records[row]), "a published cell does not cover its record")
    if recount.points:
        check_representatives(release, list(recount.classes.values()))
    weights = recount.weights()
    left_out = sum(weights) - sum(weights[r] for r in rows)
    require(left_out <= plan.suppression * sum(weights) + 1e-6, "more people are suppressed than the budget allows")
    _check_reference(source, recount, weights)
    stats = recount.stats()
    if plan.algorithm.recoding is Recoding.CONCEALED:
        _check_possible(recount, [records[row] for row in rows])
    else:
        _check_models(release, stats)
    return stats


def _check_possible(recount: _Recount, people: list[tuple[Any, ...]]) -> None:
    """Judge which person may have which record, by trying every pair."""
    require(len(people) == recount.source.num_rows, "a person has no record")
    possible = possible_by_force([{i for i, one in enumerate(people) if recount.covers(k, one)} for k in recount.rows])
    crowds = [[record for record, own in enumerate(possible) if person in own] for person in range(len(people))]
    evidence = recount.release.verification.evidence
    for model, found in zip(recount.release.problem.model.members, evidence, strict=True):
        histograms = {}
        for key in model.histogram_keys():
            codes = recount.codes(key)
            histograms[key] = _histogram([Counter(codes[record] for record in own) for own in crowds], 1)
        sides = [GroupStats(np.array([len(own) for own in crowds]), 1, histograms)]
        if not histograms:
            sides.append(GroupStats(np.array([len(own) for own in possible])))
        scores = [model.achieved(side, recount.reference) for side in sides]
        require(all(model.satisfied(side, recount.reference).all() for side in sides), f"{model} does not hold")
        require(min(scores) == found.achieved, f"{model} achieves {min(scores)}, but {found.achieved} is stated")


def _check_models(release: Release, stats: GroupStats) -> None:
    reference = release.problem.reference
    for model in release.problem.model.members:
        good = model.satisfied(stats, reference)
        require(good.all(), f"{model} is violated by {int((~good).sum())} of {len(good)} published classes")
        require(model.table_satisfied(stats, reference).all(), f"{model} is violated by the published table")


def _recheck_buckets(source: pa.Table, plan: Plan, release: Release) -> GroupStats:
    """Recount a release that publishes sensitive values separately from people: its classes are its groups."""
    published, rows = release.table, release.source_rows.tolist()
    require(published.num_rows > 0, "an empty release")
    require(release.made.value_rows is not None, "sensitive values are not separate from their people")
    values: list[int] = release.made.value_rows.tolist() if release.made.value_rows is not None else []
    shown = [c.name for c in plan.table.columns if c.role.published]
    require(published.column_names[:-1] == shown, f"published columns are {published.column_names}, not {shown}")
    require(len(set(rows)) == len(rows), "a record is released twice")
    for name in shown:
        own = values if name in plan.table.named(Role.SENSITIVE) else rows
        there = source.column(name).take(pa.array(own)).to_pylist()
        require(published.column(name).to_pylist() == there, f"the cells of {name!r} were changed")
    people: dict[int, set[int]] = defaultdict(set)
    linked: dict[int, set[int]] = defaultdict(set)
    for group, row, value in zip(published.column(-1).to_pylist(), rows, values, strict=True):
        people[group].add(row)
        linked[group].add(value)
    require(people == linked, "a group has sensitive values of other people")
    require(sorted(people) == list(range(1, len(people) + 1)), "groups are not numbered 1, 2, ...")
    recount = _Recount(source, plan, release)
    weights = recount.weights()
    left_out = sum(weights) - sum(weights[r] for r in rows)
    require(left_out <= plan.suppression * sum(weights) + 1e-6, "more people are suppressed than the budget allows")
    _check_reference(source, recount, weights)
    codes = {key: recount.codes(key) for key in release.problem.model.histogram_keys()}
    place = {row: at for at, row in enumerate(values)}
    histograms = {}
    for key, own_codes in codes.items():
        counts = []
        for group in sorted(linked):
            count: Counter[int] = Counter()
            for row in linked[group]:
                count[own_codes[place[row]]] += weights[row]
            counts.append(count)
        histograms[key] = _histogram(counts, recount.encoded.unit)
    units = np.array([sum(weights[r] for r in people[g]) for g in sorted(people)], dtype=np.int64)
    stats = GroupStats(units, recount.encoded.unit, histograms)
    _check_models(release, stats)
    return stats


def _check_reference(source: pa.Table, recount: _Recount, weights: list[int]) -> None:
    require(recount.reference.units == sum(weights), "the reference miscounts the table's people")
    for key, attribute in recount.reference.attributes.items():
        if len(key) > 1:
            continue
        count: Counter[str] = Counter()
        for value, units in zip(source.column(key[0]).to_pylist(), weights, strict=True):
            count[cell_text(value) or ""] += units
        stated = {label: int(units) for label, units in zip(attribute.labels, attribute.units, strict=True) if units}
        require(stated == dict(count), f"the reference miscounts {key[0]!r}")


# A slow perfect matching: the twin of ``hushtable.release.judge``.


def possible_by_force(covers: Sequence[set[int]]) -> list[set[int]]:
    """Return the possible people of each record: for each one, the others must still have a matching.

    Examples
    --------
    >>> possible_by_force([{0, 1}, {1}])
    [{0}, {1}]
    """

    def fits(record: int, person: int) -> bool:
        owner = {person: record}

        def place(one: int, seen: set[int]) -> bool:
            for candidate in covers[one] - {person}:
                if candidate not in seen:
                    seen.add(candidate)
                    if candidate not in owner or place(owner[candidate], seen):
                        owner[candidate] = one
                        return True
            return False

        return all(place(one, set()) for one in range(len(covers)) if one != record)

    return [{person for person in own if fits(record, person)} for record, own in enumerate(covers)]


# Representatives recomputed record by record, in fractions.


def check_representatives(release: Release, classes: Sequence[Sequence[int]]) -> None:
    """Every cell of every class is the representative of the class's records, without missing values.

    Parameters
    ----------
    release : Release
    classes : sequence of sequences of int
        The published rows of each class.
    """
    whole = release.partition.whole_numbers
    for column in release.problem.table.quasi:
        shown = release.table.column(column.name).to_pylist()
        for rows in classes:
            codes = [int(column.codes[release.source_rows[row]]) for row in rows]
            good = representative(column, codes, whole_numbers=whole)
            cell = shown[rows[0]]
            if isinstance(good, float) and cell is not None:
                require(math.isclose(cell, good, rel_tol=1e-9, abs_tol=1e-9), f"{column.name!r}: not the mean")
            else:
                require(cell == good, f"{column.name!r}: a class does not publish its representative")


def representative(column: QuasiColumn, codes: Sequence[int], *, whole_numbers: bool = False) -> Any:
    """Return the cells that a class with these codes publishes.

    Examples
    --------
    >>> from hushtable.utility.example import example
    >>> age, city = example().table.quasi
    >>> representative(age, [0, 1]), representative(city, [0, 1, 1])
    (30.5, 'Oslo')
    """
    coded = column.coded
    known = sorted(c for c in codes if c >= int(coded.missing))
    if not known:
        return None
    if coded.kind in (Kind.NUMERIC, Kind.DATE):
        values = [coded.values[c - int(coded.missing)].as_py() for c in known]
        if coded.kind is Kind.DATE:
            return type(values[0]).fromordinal(sum(v.toordinal() for v in values) // len(values))
        mean = sum(map(Fraction, values)) / len(values)
        return round(mean) if whole_numbers and all(isinstance(v, int) for v in values) else float(mean)
    if coded.kind is Kind.ORDINAL:
        code = known[(len(known) - 1) // 2]
    else:
        code = max(Counter(known).items(), key=lambda item: (item[1], -item[0]))[0]
    name = cell_text(coded.labels[0][code]) or ""
    return f"\\{name}" if name == "*" or name[:1] in ("{", "[", "\\") else name
