"""Judge a table that was just published, or has its original: from its cells, and from what they do not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from hushtable.algorithms.base import Problem
from hushtable.arrays import BoolArray, IntArray, first_places
from hushtable.errors import VerificationError
from hushtable.io.text import to_labels
from hushtable.kernels.grouping import number_rows
from hushtable.models.base import PrivacyModel
from hushtable.release.forms.base import escape_member, escape_value
from hushtable.release.reading_back import sensitive_codes
from hushtable.release.recode import Recoded, class_numbers
from hushtable.release.verify import Evidence, Published, Verification, verify
from hushtable.table.coded_columns import QuasiColumn
from hushtable.table.plan import TablePlan
from hushtable.table.stats import GroupStats


def judge(problem: Problem, plan: TablePlan, recoded: Recoded, published: pa.Table, rows: IntArray) -> Verification:
    """Verify a published table from its cells.

    What its cells do not show (which person each row belongs to, which people of the population it covers) comes from
    the encoded table: ``rows`` has the source of each published row (or of its sensitive values, if these are
    separate), and population and background rows are recoded like the others. If records are concealed among others,
    the original's quasi-identifiers show who may have which record. If quasi-identifiers are exact, classes are the
    published groups; if groups have cells and a number, both distinguish classes.
    """
    table = problem.table
    if plan.shown_weight is not None and table.survey is not None:
        from hushtable.release.class_weights import check_class_weights  # most tables are not surveys

        check_class_weights(published, plan, table.survey.weights, rows)
    if recoded.concealed:
        return judge_matching(problem, published, rows)
    hidden = np.flatnonzero(recoded.labels[table.n_sample :] >= 0) + table.n_sample
    everyone = np.concatenate([rows, hidden]) if len(hidden) else rows
    quasi = []
    for j, column in enumerate(table.quasi):
        shown = published.column(column.name)
        if len(hidden):
            cells = recoded.column(j, hidden)
            if pa.types.is_null(shown.type):  # no published cell has a value, and pandas declares no type
                shown = pa.chunked_array([pa.nulls(len(shown), cells.type)])
            shown = pa.chunked_array([*map(_with_wide_indices, shown.chunks), _alike(cells, shown.type)])
        quasi.append(shown)
    if recoded.buckets is not None or recoded.numbers is not None:
        from hushtable.release.bucket import bucket_column

        number = published.column(bucket_column(plan))
        quasi = [number] if recoded.buckets is not None else [*quasi, number]
    kinds = {c.name: c.coded.kind for c in table.sensitive}
    codes = sensitive_codes(published, plan, problem.reference, kinds)
    padding = np.zeros(len(hidden), dtype=np.int64)
    background = np.empty(0, dtype=np.int64)
    if len(table.background_rows):
        within = (everyone >= table.background_rows.start) & (everyone < table.background_rows.stop)
        background = np.flatnonzero(within)
    mass = everyone[background] - table.background_rows.start
    weights = table.row_units
    if len(weights):
        # a counterfeit has no source row; its values count, but the verifier does not count it as a person
        weights = np.where(everyone < 0, table.unit, weights[everyone])
    population = np.empty(0, dtype=np.bool_)
    if len(table.population_rows):
        population = (everyone >= table.population_rows.start) & (everyone < table.population_rows.stop)
    return verify(
        Published(
            quasi=tuple(quasi),
            sensitive={name: np.concatenate([c, padding]) if len(hidden) else c for name, c in codes.items()},
            sizes={c.name: c.coded.size for c in table.sensitive},
            unit=table.unit,
            row_units=weights,
            population=population,
            background_rows=background,
            background_mass=table.background_mass[mass],
            background_codes=table.background_codes[mass],
            background_unit=table.background_unit,
            counterfeits=np.flatnonzero(rows < 0),
            names=tuple(c.name for c in table.quasi) if recoded.buckets is None else (),
        ),
        problem.model,
        problem.reference,
        plan.missing,
    )


def judge_counted(problem: Problem, plan: TablePlan, published: pa.Table, times: IntArray) -> Verification:
    """Verify a published table in which equal rows were counted.

    ``times`` says how many rows each represents; all rows are people of the sample.
    """
    table = problem.table
    kinds = {c.name: c.coded.kind for c in table.sensitive}
    found = verify(
        Published(
            quasi=tuple(published.column(column.name) for column in table.quasi),
            sensitive=sensitive_codes(published, plan, problem.reference, kinds),
            sizes={c.name: c.coded.size for c in table.sensitive},
            row_units=times,
            names=tuple(c.name for c in table.quasi),
        ),
        problem.model,
        problem.reference,
        plan.missing,
    )
    return replace(found, rows=int(times.sum()))


def _alike(cells: pa.DictionaryArray, kind: pa.DataType) -> pa.DictionaryArray:
    """Return cells as they would have been read back: from CSV, numbers come as text."""
    if cells.dictionary.type == kind.value_type:
        return cells
    return pa.DictionaryArray.from_arrays(cells.indices, to_labels(cells.dictionary).cast(kind.value_type))


def _with_wide_indices(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the chunk with the indices of ``Recoded.column``: publishing may have narrowed them."""
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary)


# Which person may have which record, if each record has its own cells: decided by matching people to records.
#
# A person and a record are consistent if the record's cells cover the person. The adversary knows that every record
# belongs to one person and every person has one, so a pair is possible only if it is in a perfect matching of the
# whole graph. One such matching is the truth. Direct every consistent pair from the record to the person, and the
# pairs of the truth back as well: a pair is possible if and only if both ends are in one strongly connected
# component. The reason: along a cycle through the pair, the truth can be exchanged for another matching that contains
# it; and two matchings differ in cycles.
#
# People with equal quasi-identifiers are one node, and so are records with equal cells: what is possible for one of
# them is possible for all. Only the published cells are used, nothing from the algorithm.
#
# References
# ----------
# T. Tassa, A. Mazza, A. Gionis, "k-concealment: an alternative model of k-type anonymity", Transactions on Data
# Privacy 5, 2012. T. Tassa, "Finding all maximally-matchable edges in a bipartite graph", Theoretical Computer
# Science 423, 2012.


Covers: TypeAlias = tuple[IntArray, IntArray]
"""Codes in compressed rows: offsets, then codes."""


def judge_matching(problem: Problem, published: pa.Table, rows: IntArray) -> Verification:
    """Verify a table whose records are concealed among others.

    Models judge the possible records of each person, and the possible people of each record: how many there are, and
    which sensitive values they have.

    Parameters
    ----------
    problem : Problem
    published : pyarrow.Table
    rows : int64 array
        The source row of each published row: one perfect matching, which is checked.

    Raises
    ------
    VerificationError
        If a record's cells do not cover its own person, or the numbers of people and records differ.
    """
    table = problem.table
    quasi = [published.column(column.name) for column in table.quasi]
    classes, n_classes = class_numbers(quasi)
    if not np.array_equal(np.sort(rows), np.arange(table.n_sample)):
        raise VerificationError(
            "Not every person has one published record, so a matching of all cannot be verified.",
            hint="Nothing was published.",
        )
    sizes = [c.coded.size for c in table.quasi]
    people, first = number_rows([c.codes[: table.n_sample] for c in table.quasi], sizes)
    of_class = first_places(classes, n_classes)
    covers = [_covered(c, column.take(pa.array(of_class))) for c, column in zip(table.quasi, quasi, strict=True)]
    pairs = consistent_pairs(covers, [c.codes[first].astype(np.int64) for c in table.quasi])
    truth = np.unique(classes * np.int64(len(first)) + people[rows])
    possible = possible_pairs(*pairs, truth // len(first), truth % len(first), n_classes, len(first))
    record, person = pairs[0][possible], pairs[1][possible]
    # equal people, and records with equal cells, each with their sensitive values
    keys = problem.model.histogram_keys()
    row_class, row_person = np.full((2, table.n_rows), -1, dtype=np.int64)
    row_class[rows], row_person[: len(people)] = classes, people
    alike, equal = table.stats_of(row_class, n_classes, keys), table.stats_of(row_person, len(first), keys)
    by_person, by_record = alike.take(record).merge(person, len(first)), equal.take(person).merge(record, n_classes)
    return Verification(
        rows=len(rows),
        classes=n_classes,
        people=float(len(rows)),
        evidence=tuple(_judged(m, by_person, by_record, problem) for m in problem.model.members),
        labels=classes,
        stats=alike,
    )


def _covered(column: QuasiColumn, cells: pa.ChunkedArray) -> Covers:
    """Which codes of a column each cell covers. A label that the column does not have covers nobody."""
    text = to_labels(cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells)
    if pa.types.is_dictionary(text.type):
        text = text.dictionary_decode()
    from hushtable.release.forms.reading import split_sets

    parts = split_sets(text.cast(pa.string()))
    labels = column.coded.labels[0]
    known = {escape_value(label): code for code, label in enumerate(labels) if label is not None}
    known |= {"{" + escape_member(label): code for code, label in enumerate(labels)}
    gap = next((code for code, label in enumerate(labels) if label is None), column.coded.size)
    code_of = np.array([known.get(name, column.coded.size) for name in parts.names] + [gap], dtype=np.int64)
    return parts.offsets, code_of[parts.codes]


def consistent_pairs(covers: Sequence[Covers], codes: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return all pairs of a record and a person whom its cells cover.

    Parameters
    ----------
    covers : sequence of pairs of int64 arrays
        For each column: the codes that each record covers, in compressed rows.
    codes : sequence of int64 arrays
        For each column: the code of each person.

    Examples
    --------
    >>> cells = np.array([0, 2, 3]), np.array([0, 1, 1])
    >>> [side.tolist() for side in consistent_pairs([cells], [np.array([0, 1])])]
    [[0, 0, 1], [0, 1, 1]]
    """
    n = len(codes[0])
    # the people who have each value, as bits; the last row is for no value
    bits = [
        np.stack([np.packbits(own == value) for value in range(max(int(own.max()), int(shown.max())) + 2)])
        for (_, shown), own in zip(covers, codes, strict=True)
    ]
    ends = [offsets.tolist() for offsets, _ in covers]
    records, people = [], []
    for record in range(len(ends[0]) - 1):
        inside = np.full(-(-n // 8), 255, dtype=np.uint8)
        for end, (_, shown), own in zip(ends, covers, bits, strict=True):
            inside &= np.bitwise_or.reduce(own[shown[end[record] : end[record + 1]]], axis=0)
        # most bytes are empty
        filled = np.flatnonzero(inside)
        at, bit = np.nonzero(np.unpackbits(inside[filled].reshape(-1, 1), axis=1))
        found = filled[at] * 8 + bit
        people.append(found[found < n])
        records.append(np.full(len(people[-1]), record, dtype=np.int64))
    return np.concatenate(records), np.concatenate(people).astype(np.int64)


def possible_pairs(
    record: IntArray, person: IntArray, true_record: IntArray, true_person: IntArray, n_records: int, n_people: int
) -> BoolArray:
    """Return which consistent pairs are in some perfect matching, given the pairs of one.

    Raises
    ------
    VerificationError
        If a pair of the matching is not consistent.

    Examples
    --------
    Record 0 covers persons 0 and 1, record 1 only person 1: so person 1 has record 1, and person 0 has record 0.

    >>> possible_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.arange(2), np.arange(2), 2, 2).tolist()
    [True, False, True]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    key, truth = record * np.int64(n_people) + person, true_record * np.int64(n_people) + true_person
    true = np.isin(key, truth)
    if np.count_nonzero(true) < len(truth):
        raise VerificationError("The cells of a record do not cover its own person.", hint="Nothing was published.")
    n = n_records + n_people
    ends = np.concatenate([record, n_records + true_person]), np.concatenate([n_records + person, true_record])
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n)).tocsr()
    _, component = connected_components(graph, connection="strong")
    return np.asarray((component[record] == component[n_records + person]) | true)


def _judged(model: object, by_person: GroupStats, by_record: GroupStats, problem: Problem) -> Evidence:
    assert isinstance(model, PrivacyModel)
    sides = [by_person, by_record]
    worst = [model.achieved(side, problem.reference) for side in sides]
    return Evidence(
        model.name, model.public_values(), model.sense, float(model.bound),
        min(worst) if model.sense == ">=" else max(worst),
        sum(int((~model.satisfied(side, problem.reference)).sum()) for side in sides),
    )  # fmt: skip
