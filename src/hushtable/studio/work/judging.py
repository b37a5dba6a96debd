"""What a release still gives away: risks, attacks, verifying again, and the evidence report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hushtable import registry
from hushtable.errors import DataError, HushtableError, UsageError
from hushtable.io.json_values import plain
from hushtable.studio.projects import Project
from hushtable.studio.runs import run_of
from hushtable.studio.tasks import Report
from hushtable.studio.work.running import release_of_run

__all__ = ["attack", "report", "risk", "verify_again"]


def risk(project: Project, report: Report, run: int, fraction: float | None = None) -> dict[str, Any]:
    """Assess every risk that is part of a summary, before and after."""
    kept = run_of(project, run)
    release = release_of_run(kept, report)
    report(0.5, "assessing risks")
    found = plain(release.risk(None, **({} if fraction is None else {"fraction": fraction})).as_dict())
    kept.keep("risk", found)
    return {"run": run}


def attack(project: Project, report: Report, run: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """Play the named attacks, or all of them; those that lack something are told with the reason."""
    kept = run_of(project, run)
    wanted = list(names) or list(registry.attacks)
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
