"""Runs and their examination (risks, attacks, verification, the evidence report), and comparisons of settings."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import registry
from hushtable.api import open_release, verify
from hushtable.api import run as run_policy
from hushtable.arrays import FloatArray, IntArray
from hushtable.comparison.run import compare as compare_settings
from hushtable.engines.release import Release
from hushtable.engines.verdict import LARGE
from hushtable.errors import DataError, HushtableError, IncompatibleError, UsageError
from hushtable.hierarchy.base import Coded
from hushtable.io.atomic import atomic_folder, atomic_write_text
from hushtable.io.canonical import plain
from hushtable.linked.attacks import ATTACKS
from hushtable.linked.release import open_linked
from hushtable.policy.policy import Policy
from hushtable.release.sample.sample import read_columns
from hushtable.release.verify import Verification
from hushtable.release.written import Written
from hushtable.report.gather.columns import binned_columns, column_evidence
from hushtable.report.gather.facts import LEAST
from hushtable.schema.columns import Kind
from hushtable.studio.comparing import FILE
from hushtable.studio.jobs import Report
from hushtable.studio.projects import Project, Run, confined, next_number, run_of
from hushtable.studio.views import write_paged
from hushtable.studio.work.tables import source_of, table_of
from hushtable.table.losses import ncp


def risk(project: Project, report: Report, run: int, fraction: float | None = None) -> dict[str, Any]:
    """Assess every risk of the summary, before and after."""
    kept = run_of(project, run)
    release = release_of_run(kept, report)
    report(0.5, "assessing risks")
    if project.linked and fraction is not None:
        raise UsageError("A share of the population cannot be used with linked tables.", hint="Leave it out.")
    found = (
        plain(release.risk().as_dict())
        if project.linked
        else plain(release.risk(None, **({} if fraction is None else {"fraction": fraction})).as_dict())
    )
    kept.keep("risk", found)
    return {"run": run}


def attack(project: Project, report: Report, run: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """Run the named attacks, or all of them; those that lack an input are listed with the reason."""
    kept = run_of(project, run)
    wanted = list(names) or list(ATTACKS if project.linked else registry.attacks)
    release = release_of_run(kept, report)
    results, refused = {}, {}
    for i, name in enumerate(wanted):
        report(0.5 + i / len(wanted) / 2, f"attacking: {name}")
        try:
            results[name] = release.attack(name).as_dict()
        except UsageError as error:
            refused[name] = str(error)
    before = kept.json("attacks") or {"attacks": {}, "not_run": {}}
    attacks = {**{n: r for n, r in before["attacks"].items() if n not in refused}, **results}
    not_run = {**{n: r for n, r in before["not_run"].items() if n not in results}, **refused}
    kept.keep("attacks", plain({"attacks": attacks, "not_run": not_run}))
    return {"run": run}


def verify_again(project: Project, report: Report, run: int) -> dict[str, Any]:
    """Verify the published file from its cells, its policy and its private companion."""
    kept = run_of(project, run)
    report(0.2, "verifying")
    policy = kept.policy
    try:
        if project.linked:
            opened = open_linked(kept.release, files=project.folder / "files")
            models = [one.as_dict() for one in opened.evidence()]
            found = {**opened.verification.as_dict(), "models": models}
        else:
            found = _verified(kept, policy).as_dict()
    except HushtableError as error:
        # a file that cannot be read keeps no promise
        untold = isinstance(error, UsageError) and not isinstance(error, DataError)
        found = {"satisfied": None if untold else False, "reason": str(error)}
    kept.keep("verified", plain(found))
    return {"run": run}


def _verified(kept: Run, policy: Policy) -> Verification:
    try:
        return verify(kept.release / f"release.{policy.output.format}", policy)
    except UsageError as error:
        if error.code != "needs-input":
            raise
    return open_release(kept.release, source_of(kept.project), files=kept.project.folder).verification


def report(project: Project, report: Report, run: int, template: str = "general") -> dict[str, Any]:
    """Write the evidence report."""
    kept = run_of(project, run)
    release = release_of_run(kept, report, saved=True)
    report(0.6, "writing the report")
    target = kept.folder / "evidence.html"
    release.report(target, template, progress=lambda share, what: report(0.5 + share / 2, what))
    return {"run": run, "file": target.name}


# A run: anonymize, verify, and keep the release with what the pages show of it.


_last: dict[tuple[str, int], Release] = {}


def run(project: Project, report: Report, policy: Mapping[str, Any], origin: int | None = None) -> dict[str, Any]:
    """Anonymize the project's table under a policy, as data, and keep the verified release.

    ``origin`` is the run whose search found this solution.
    """
    if project.linked:
        from hushtable.studio.work.linked import run_tables

        return run_tables(project, report, policy)
    began = time.time()
    ready = confined(project, Policy(**policy))
    report(0.0, "reading")
    number = next_number(project)
    with atomic_folder(project.folder / "runs" / f"{number:04d}") as folder:
        (folder / "policy.yaml").write_text(ready.to_yaml(), encoding="utf-8")
        release = run_policy(source_of(project), ready, folder / "release", progress=report)
        shown = {**keep_details(release, folder), **_solutions_of(project, origin, folder)}
        facts = {
            "number": number,
            "created": began,
            "seconds": round(time.time() - began, 3),
            "rows": release.table.num_rows,
            "summary": release.summary(),
            "drawable": _drawable(release),
            **_judged(release, report),
            **shown,
        }
        (folder / "run.json").write_text(json.dumps(plain(facts), allow_nan=False), encoding="utf-8")
    project.note(last_run=number)
    _last.clear()
    _last[project.id, number] = release
    return {"run": number}


def _drawable(release: Release) -> bool:
    """Whether a sample can be drawn: not if all quasi-identifiers are ``*`` everywhere."""
    try:
        read_columns(release.table, release.plan.table, release.plan.algorithm.recoding)
    except IncompatibleError:
        return False
    return True


def _judged(release: Release, report: Report) -> dict[str, Any]:
    """Return what the release is still good for, except for large tables, and what is not protected."""
    warned = [str(caution) for caution in release.cautions]
    if release.records > LARGE:
        return {"warnings": warned}
    report(1.0, "assessing the release")
    return {"verdict": release.verdict.as_dict(), "warnings": warned}


def _solutions_of(project: Project, origin: int | None, folder: Path) -> dict[str, Any]:
    """Copy the solutions that another run's search examined, since that run may be deleted first."""
    source = None if origin is None else Run(project, origin)
    if source is None or not (source.folder / "space.parquet").is_file():
        return {}
    shutil.copyfile(source.folder / "space.parquet", folder / "space.parquet")
    return {name: source.facts[name] for name in ("space_columns", "solutions")}


def release_of_run(kept: Run, report: Report, *, saved: bool = False) -> Release | Any:
    """Return the release of a run: the last one from memory, others opened with the project's table.

    With ``saved``, it is always read from its files, which the evidence refers to.
    """
    if kept.project.linked:
        report(0.0, "opening")
        return open_linked(kept.release, original=kept.project.tables, files=kept.project.folder / "files")
    key = (kept.project.id, kept.number)
    if key not in _last or (saved and not isinstance(_last[key].published, Written)):
        report(0.0, "opening")
        _last.clear()
        release = open_release(kept.release, source_of(kept.project), files=kept.project.folder)
        _ = release.made  # other data stop the job, not one question after the other
        _last[key] = release
    return _last[key]


def compare(project: Project, report: Report, policy: Mapping[str, Any], grid: Mapping[str, Any]) -> dict[str, Any]:
    """Compare settings; those finished before a cancellation need not be run again."""
    report(0.0, "reading")
    found = compare_settings(
        table_of(project),
        confined(project, Policy(**policy)),
        {name: grid[name] for name in ("algorithms", "models", "suppression") if grid.get(name)},
        results=project.folder / "comparison.jsonl",
        progress=lambda done, total: report(done / max(total, 1), f"{done} of {total} settings"),
    )
    atomic_write_text(project.folder / FILE, json.dumps(plain(found.as_dict()), allow_nan=False))
    return {"settings": len(found.rows)}


# Details of a release for the pages: classes, published rows with their originals, the solution space.
#
# They link published rows to people, so they stay in the project's folder and are never exported.


def keep_details(release: Release, folder: Path) -> dict[str, Any]:
    """Write ``view.parquet``, ``classes.parquet`` and ``space.parquet``; return the names of their columns.

    Columns are numbered, since the combined table may have two columns with the same name.
    """
    order, first, sizes = _by_class(release)
    shades = _shades(release)
    groups = _groups(release)
    view: dict[str, Any] = {f"p{i}": c.take(pa.array(order)) for i, c in enumerate(release.table.columns)}
    view["row"] = pa.array(release.source_rows[order])
    for j, shade in enumerate(shades):
        view[f"s{j}"] = pa.array(shade[groups][order].astype(np.float32))
    write_paged(pa.table(view), folder / "view.parquet")

    classes = release.groups
    boxes = _boxes(release, order, first)
    shown = {f"c{i}": column for i, column in enumerate(classes.columns)}
    write_paged(
        pa.table({**shown, "first": pa.array(first), "rows": pa.array(sizes), **boxes}), folder / "classes.parquet"
    )
    space = release.partition.space
    if space:
        write_paged(pa.table({f"c{i}": pa.array(c) for i, c in enumerate(space.values())}), folder / "space.parquet")
    return {
        "published": release.table.column_names,
        "quasi": [c.name for c in release.encoded.quasi],
        "domains": [c.coded.size for c in release.encoded.quasi],
        "sensitive": [c.name for c in release.encoded.sensitive],
        "class_columns": classes.column_names,
        "classes": classes.num_rows,
        "space_columns": list(space),
        "solutions": len(next(iter(space.values()))) if space else 0,
        "levels": release.partition.levels,
        "heights": [c.coded.height for c in release.encoded.quasi],
        "size_counts": _size_counts(release),
        "losses": _losses(release),
        "level_names": [_level_names(c.coded, c.codes) for c in release.encoded.quasi],
        "marks": [_marks(c.coded) for c in release.encoded.quasi],
        "columns": _evidence(release),
        "counterfeits": release.recoded.counterfeits is not None,
    }


def _groups(release: Release) -> IntArray:
    """Return the group of each published row."""
    labels = release.recoded.labels
    if release.recoded.counterfeits is not None:
        # they are numbered from -1 downwards, so they are last and in reverse order
        labels = np.concatenate([labels, release.recoded.counterfeits.groups[::-1]])
    return np.asarray(labels[release.source_rows], dtype=np.int64)


def _by_class(release: Release) -> tuple[IntArray, IntArray, IntArray]:
    """Return published rows in the order of ``groups``, the start of each class, and its number of rows."""
    labels = np.asarray(release.verification.labels[: release.table.num_rows])
    shown, begin, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(shown), dtype=np.int64)
    rank[np.argsort(begin, kind="stable")] = np.arange(len(shown))
    order = np.argsort(rank[inverse], kind="stable").astype(np.int64)
    sizes = np.bincount(rank[inverse], minlength=len(shown)).astype(np.int64)
    return order, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), sizes


def _shades(release: Release) -> list[FloatArray]:
    """Return how far each group's cell is from the original, from 0 (unchanged) to 1 (no detail)."""
    return [ncp(cells.column.coded, cells.leaves) for cells in release.recoded.cells]


def _boxes(release: Release, order: IntArray, first: IntArray) -> dict[str, pa.Array]:
    """Return the range of codes of each class in each quasi-identifier, for the map of the partition."""
    if release.apart:
        return {}
    groups = _groups(release)[order[first]]
    boxes = {}
    for j, cells in enumerate(release.recoded.cells):
        boxes[f"lo{j}"] = pa.array(cells.low[groups])
        boxes[f"hi{j}"] = pa.array(cells.high[groups])
    return boxes


def _size_counts(release: Release) -> list[list[int]]:
    """Return the number of classes by size; a person's rows count once, and counterfeits do not count."""
    verification = release.verification
    stats = verification.stats.take(np.unique(verification.labels[: release.table.num_rows]))
    values, counts = np.unique(np.maximum(stats.units // stats.unit, 1), return_counts=True)
    return [[int(v), int(c)] for v, c in zip(values, counts, strict=True)]


def _losses(release: Release) -> dict[str, float]:
    """Return the average loss of each quasi-identifier, from 0 (exact) to 1 (no detail)."""
    groups = _groups(release)
    names = [c.name for c in release.encoded.quasi]
    return {name: round(float(s[groups].mean()), 4) for name, s in zip(names, _shades(release), strict=True)}


def _level_names(coded: Coded, codes: Any) -> list[list[Any]]:
    """Return how the most frequent value appears on each level, and the number of labels on that level."""
    held = np.bincount(np.asarray(codes, dtype=np.int64), minlength=coded.size)
    if coded.missing:
        held[0] = 0  # an empty cell shows nothing of a level
    code = int(np.argmax(held))
    return [[str(coded.labels[h][coded.levels[h][code]] or ""), len(coded.labels[h])] for h in range(coded.height + 1)]


def _marks(coded: Coded) -> list[list[Any]]:
    """Return some values of a column with their position in its order, for an axis. Fractions are rounded."""
    some = np.unique(np.linspace(0, coded.size - 1, min(5, coded.size)).astype(np.int64)).tolist()
    exact = [str(coded.labels[0][coded.levels[0][code]] or "") for code in some]
    if coded.kind is not Kind.NUMERIC or not any("." in label for label in exact):
        return [list(mark) for mark in zip(some, exact, strict=True)]
    # four digits, or as many as the whole part has and as keep them apart
    least = max(4, *(len(label.partition(".")[0].lstrip("-")) for label in exact))
    rounded = ([f"{float(label):.{n}g}" if "." in label else label for label in exact] for n in range(least, 18))
    labels = next((shown for shown in rounded if len(set(shown)) == len(shown)), exact)
    return [list(mark) for mark in zip(some, labels, strict=True)]


def _evidence(release: Release) -> list[dict[str, Any]]:
    """Return every column before and after, in the report's bars."""
    comparing = release.made.comparison(release.plan)
    least = max(LEAST, release.model.min_group_size())
    binned = binned_columns(release, comparing, least, named=True)
    return [column.model_dump(mode="json") for column in column_evidence(release, comparing, binned)]
