"""Explaining one record of a release."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import UsageError
from hushtable.release.explain.explanation import ColumnStory, Explanation, people_of
from hushtable.release.explain.finer import Class, cut_reason, level_reason, same_for_all_reason
from hushtable.release.explain.what_if import Verdict, judge, judge_stats, named
from hushtable.release.forms.base import Cells

if TYPE_CHECKING:
    from hushtable.release.released import Released

__all__ = ["explain"]


def explain(release: Released, row: int) -> Explanation:
    """Say why a record was published as it was, or left out.

    Parameters
    ----------
    release : Release
    row : int
        The record's number in the input, from 0.

    Raises
    ------
    UsageError
        If there is no such record.
    """
    n = release.encoded.n_sample
    if isinstance(row, bool) or not isinstance(row, numbers.Integral) or not 0 <= row < n:
        raise UsageError(f"The input has no row {row!r}.", code="no-row", hint=f"Rows are numbered from 0 to {n - 1}.")
    row = int(row)
    if release.recoded.labels[row] < 0:
        return _suppressed(release, row)
    return _released(release, row) if release.recoded.buckets is None else _bucket(release, row)


def _released(release: Released, row: int) -> Explanation:
    labels = release.recoded.labels
    g = int(labels[row])
    own = Class(release.problem, labels, row, np.flatnonzero(np.asarray(labels) == g))
    verdict = _as_verified(release, row)
    return Explanation(
        row=row,
        released=True,
        people=verdict.people,
        sentences=(
            f"Row {row} is in a class of {people_of(verdict.people)}{_counterfeits(release, g)}.",
            *_achieved(verdict),
            *_guarded(release),
        ),
        columns=tuple(_story(own, cells, g) for cells in release.recoded.cells),
    )


def _as_verified(release: Released, row: int) -> Verdict:
    """What the verifier found in the published class of a record."""
    shown = int(np.flatnonzero(release.source_rows == row)[0])
    label = release.verification.labels[shown : shown + 1]
    (verdict,) = judge_stats(release.problem, release.verification.stats.take(label))
    return verdict


def _counterfeits(release: Released, g: int) -> str:
    fakes = release.recoded.counterfeits
    count = 0 if fakes is None else int(np.count_nonzero(fakes.groups == g))
    return f", beside {count} published {'record' if count == 1 else 'records'} of nobody" if count else ""


def _achieved(verdict: Verdict) -> tuple[str, ...]:
    if not verdict.scores:
        return ()
    found = [(named(m), *verdict.told(m, score)) for m, score, _ in verdict.scores]
    told = "; ".join(f"{name}: {has}, needed {needed}" for name, needed, has in found)
    return (f"What the class achieves: {told}.",)


def _guarded(release: Released) -> tuple[str, ...]:
    """Say that cells may be coarser than any model asks."""
    names = " and ".join(release.guards)
    if not names:
        return ()
    subject = f"The guard {names} makes" if len(release.guards) == 1 else f"The guards {names} make"
    return (f"{subject} some cells coarser than the models ask.",)


def _story(own: Class, cells: Cells, g: int) -> ColumnStory:
    column = cells.column
    if cells.is_exact(g):
        return ColumnStory(column.name, "published exactly")
    level = cells.finer(g)
    if level is None:
        why = cut_reason(own, column)
    elif cells.same_for_all:
        why = same_for_all_reason(own, column, level, whole=cells.same_for_all == "column")
    else:
        why = level_reason(own, column, level)
    return ColumnStory(column.name, cells.said(g), why)


def _bucket(release: Released, row: int) -> Explanation:
    verdict = _as_verified(release, row)
    (alone,) = judge(release.problem, [np.array([row])])
    why = "" if alone.ok else f" On its own its sensitive values would be certain: {alone.broken()}."
    return Explanation(
        row=row,
        released=True,
        people=verdict.people,
        sentences=(
            f"Row {row} keeps its exact quasi-identifiers. Its sensitive values are published among those of a group "
            "of "
            f"{people_of(verdict.people)}, and nothing tells which of them are whose.{why}",
            *_achieved(verdict),
        ),
        columns=tuple(ColumnStory(c.name, "published exactly") for c in release.encoded.quasi),
    )


def _suppressed(release: Released, row: int) -> Explanation:
    table = release.encoded
    limit = float(release.policy.get("suppression", 0.0))
    allowed = release.problem.budget / table.unit
    first = (
        f"Row {row} was left out, as {release.n_suppressed} of {table.n_sample} records were; the policy lets "
        f"{100 * limit:.6g}% of the people ({allowed:.6g}) be left out."
    )
    return Explanation(row, False, 0.0, (first, *_why_left_out(release, row)))


def _why_left_out(release: Released, row: int) -> tuple[str, ...]:
    partition, table, problem = release.partition, release.encoded, release.problem
    levels: Any = partition.cuts or partition.levels
    if levels is not None:
        alike = np.ones(table.n_rows, dtype=np.bool_)
        for column, level in zip(table.quasi, levels, strict=True):
            height = int(level) if isinstance(level, int) else int(level[int(column.codes[row])])
            node = column.coded.levels[height]
            alike &= node[column.codes] == node[int(column.codes[row])]
        (verdict,) = judge(problem, [np.flatnonzero(alike)])
        if verdict.ok and release.plan.algorithm.samples:
            return ("It was not drawn: which records are published is decided by chance.",)
        if verdict.ok:
            return (
                "At the published levels its class would keep the models of single classes: it was left out for those "
                "of "
                "the whole table, or to spare others.",
            )
        return (f"At the published levels its class would have {people_of(verdict.people)}: {verdict.broken()}.",)
    said = []
    if release.recoded.buckets is None:
        equal = np.ones(table.n_rows, dtype=np.bool_)
        for column in table.quasi:
            equal &= np.asarray(column.codes == column.codes[row])
        (alone,) = judge(problem, [np.flatnonzero(equal)])
        if not alone.ok:
            said.append(
                f"Its combination of quasi-identifiers belongs to {people_of(alone.people)}; as a class of their own: "
                f"{alone.broken()}."
            )
        said.append(_joining(release, row))
    else:
        (alone,) = judge(problem, [np.array([row])])
        said.append(f"No group could take it without breaking a model; on its own: {alone.broken()}.")
    return tuple(said)


def _joining(release: Released, row: int) -> str:
    """What the published classes that cover the record would say to it."""
    recoded, table = release.recoded, release.encoded
    if any(cells.own_records for cells in recoded.cells):
        return (
            "Joining a class would have changed what is published of all its records, and the algorithm did not do it."
        )
    covering = np.ones(recoded.n_groups, dtype=np.bool_)
    classes = np.arange(recoded.n_groups)
    for cells, column in zip(recoded.cells, table.quasi, strict=True):
        covering &= cells.covers(classes, np.full(len(classes), int(column.codes[row])))
    found = np.flatnonzero(covering)
    if not len(found):
        return "No published class covers it; joining one would have widened the cells of everybody in it."
    labels = np.asarray(recoded.labels)
    verdicts = judge(release.problem, [np.append(np.flatnonzero(labels == g), row) for g in found.tolist()])
    bad = next((v for v in verdicts if not v.ok), None)
    if bad is not None and all(not v.ok for v in verdicts):
        return f"A published class covers it, but with it there: {bad.broken()}."
    return "A published class covers it and could take it; the algorithm left it out all the same."
