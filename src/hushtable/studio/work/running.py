"""Runs and their examination: risks, attacks, verification, and the evidence report."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hushtable import registry
from hushtable.api import open_release
from hushtable.api import run as run_policy
from hushtable.engines.release import Release
from hushtable.engines.verdict import LARGE
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.io.atomic import atomic_folder
from hushtable.io.json_values import plain
from hushtable.linked.attacks import ATTACKS
from hushtable.linked.release import open_linked
from hushtable.policy.policy import Policy
from hushtable.release.written import Written
from hushtable.studio.policies import confined
from hushtable.studio.projects import Project
from hushtable.studio.runs import Run, next_number, run_of
from hushtable.studio.tasks import Report
from hushtable.studio.work.details import keep_details
from hushtable.studio.work.tables import source_of

__all__ = ["attack", "release_of_run", "report", "risk", "run", "verify_again"]


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
    from hushtable.api import verify

    kept = run_of(project, run)
    report(0.2, "verifying")
    policy = kept.policy
    try:
        if project.linked:
            opened = open_linked(kept.release, files=project.folder / "files")
            models = [one.as_dict() for one in opened.evidence()]
            found = {**opened.verification.as_dict(), "models": models}
        else:
            found = verify(kept.release / f"release.{policy.output.format}", policy).as_dict()
    except HushtableError as error:
        # some promises can only be checked where the input is, as the run did; a file that cannot be read keeps none
        untold = isinstance(error, UsageError) and not isinstance(error, DataError)
        found = {"satisfied": None if untold else False, "reason": str(error)}
    kept.keep("verified", plain(found))
    return {"run": run}


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

    ``origin`` is the run of whose solutions this is one.
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
            **_judged(release, ready, report),
            **shown,
        }
        (folder / "run.json").write_text(json.dumps(plain(facts), allow_nan=False), encoding="utf-8")
    project.note(last_run=number)
    _last.clear()
    _last[project.id, number] = release
    return {"run": number}


def _judged(release: Release, policy: Policy, report: Report) -> dict[str, Any]:
    """Return what the release is still good for, and what is not protected; not for large tables."""
    if release.records > LARGE:
        return {"warnings": [str(caution) for caution in policy.cautions()]}
    report(1.0, "assessing the release")
    warned = [str(caution) for caution in policy.cautions(release.original())]
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
