"""The user's actions as plain functions over a studio: pages and REST call only these.

Heavy work is only queued here. Everything that depends on a model, an algorithm or a hierarchy goes through the
registry, so the studio names none.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hushtable import registry
from hushtable.about import describe, summary_of
from hushtable.comparison.outcomes import Outcomes
from hushtable.errors import UsageError, did_you_mean
from hushtable.io.atomic import atomic_file
from hushtable.io.sql_place import SqlPlace, one_select
from hushtable.linked.attacks import ATTACKS
from hushtable.linked.policy import LinkedPolicy
from hushtable.policy.policy import Policy
from hushtable.schema.columns import Kind, Role
from hushtable.studio import comparing, drafts
from hushtable.studio.jobs import Job, Jobs
from hushtable.studio.projects import (
    Project,
    Projects,
    check_title,
    confined,
    confined_linked,
    inside,
    policy_of,
    run_of,
    runs_of,
)
from hushtable.studio.uploads import (
    HIERARCHIES,
    LARGEST,
    check_content,
    check_limit,
    check_unpacked,
    check_upload_name,
)

CATALOGUES = {
    "models": registry.models,
    "algorithms": registry.algorithms,
    "hierarchies": registry.hierarchies,
    "measures": registry.measures,
    "risks": registry.risks,
    "attacks": registry.attacks,
    "templates": registry.templates,
}
"""Everything that can be chosen, by kind."""

_SMALL = 16 * 2**20


@dataclass(frozen=True)
class Studio:
    """A studio: its projects and its jobs.

    Attributes
    ----------
    home : Path
    largest : int
        Largest upload in bytes.
    """

    home: Path
    largest: int = LARGEST
    projects: Projects = field(init=False)
    jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        projects = Projects(self.home)
        projects.tidy()
        object.__setattr__(self, "projects", projects)
        object.__setattr__(self, "jobs", Jobs(self.home))

    # projects

    def create(self, name: str) -> Project:
        """Create an empty project."""
        return self.projects.create(name)

    def rename(self, project: Project, name: str) -> None:
        """Rename a project."""
        project.note(name=check_title(name))

    def limit_unpacked(self, project: Project, mebibytes: int | None) -> None:
        """Set the limit on the unpacked size of a project's upload; None for the studio's own limit."""
        project.note(unpacked=check_limit(mebibytes))

    def delete(self, project: Project) -> None:
        """Delete a project with its uploads and runs, and cancel its jobs."""
        for job in self.jobs.store.jobs(project.id):
            if not job.over:
                self.cancel(job.id)
                self.jobs.wait(job.id, timeout=10)
        self.projects.delete(project.id)
        self.jobs.store.forget(project.id)

    def job_of(self, project: Project, *kinds: str, run: int | None = None) -> Job | None:
        """Return the latest job of these kinds, on this run if given, or None."""
        return next(self.jobs.of(project.id, kinds, run), None)

    def busy(self, project: Project, *kinds: str, run: int | None = None) -> Job | None:
        """Return the queued or running job of these kinds, on this run if given, or None."""
        return next((job for job in self.jobs.of(project.id, kinds, run) if not job.over), None)

    def cancel(self, name: str) -> Job:
        """Cancel a job; one that has not started ends at once, and its input is deleted."""
        job = self.jobs.store.cancel(name)
        if job.state == "cancelled" and job.started is None and "file" in job.arguments:
            inside(self.projects[job.project].folder, job.arguments["file"]).unlink(missing_ok=True)
        return job

    # data

    def new_upload(self, project: Project, name: str) -> Path:
        """Return the path for an upload; ``opened`` takes it from there."""
        self._may_open(project)
        check_upload_name(name)
        return project.folder / "data" / f".{secrets.token_hex(6)}.upload"

    def opened(self, project: Project, path: Path, name: str, origin: str = "upload", sheet: str | None = None) -> Job:
        """Use an upload as the project's table; for a workbook, its first sheet or the named one."""
        try:
            self._may_open(project)
            check_upload_name(name)
            check_content(path, name)
        except UsageError:
            path.unlink(missing_ok=True)
            raise
        given = {"file": f"data/{path.name}", "name": name, "origin": origin}
        return self.jobs.submit(project.id, "open", given if sheet is None else {**given, "sheet": sheet})

    def open_sheet(self, project: Project, sheet: str, *, seen: str | None = None) -> Job:
        """Use another sheet of the project's workbook as its table; roles and models are suggested again."""
        project.check_seen(seen)
        facts = project.facts
        data = project.data
        if data is None or sheet not in facts.get("sheets", []):
            raise UsageError("There is no such sheet.", code="not-there", hint="Upload the workbook again.")
        path = self.new_upload(project, facts["data"])
        shutil.copyfile(data, path)
        return self.opened(project, path, facts["data"], facts["origin"], sheet)

    def example(self, project: Project, rows: int = 5000, seed: int = 7, *, seen: str | None = None) -> Job:
        """Use generated patients as the project's table."""
        project.check_seen(seen)
        self._may_open(project)
        return self.jobs.submit(project.id, "example", {"rows": rows, "seed": seed})

    def query(self, project: Project, source: str, query: str, *, seen: str | None = None) -> Job:
        """Use the result of a database query as the project's table.

        The address may contain a password, so it goes to the worker in a file that is deleted when it is read, not
        through the job, which is kept.
        """
        project.check_seen(seen)
        self._may_open(project)
        check_source(source, query)
        handed = project.folder / "data" / f".{secrets.token_hex(6)}.query"
        handed.touch(mode=0o600)
        handed.write_text(json.dumps({"source": source, "query": query}), encoding="utf-8")
        return self.jobs.submit(project.id, "query", {"file": f"data/{handed.name}"})

    def _may_open(self, project: Project) -> None:
        if runs_of(project):
            raise UsageError(
                "The project has runs, which depend on its data.", code="conflict", hint="Start a new project."
            )
        if self.busy(project, "open", "example", "query", "run"):
            raise UsageError("The project is busy.", code="conflict", hint="Wait for the job to end, or cancel it.")

    # policy

    def faults(self, project: Project) -> list[dict[str, str]]:
        """Return every problem that prevents the policy from being run, in words."""
        if project.linked:
            return []  # a policy with faults is not kept
        faults = drafts.faults_in(project.document())
        return [{"where": f.where(), "message": f.sentence, "hint": f.hint, "code": f.code} for f in faults]

    def set_column(self, project: Project, name: str, changes: Mapping[str, Any], *, seen: str | None = None) -> str:
        """Change role, kind, hierarchy or other settings of a column; return the new revision.

        ``seen``, here and below, is the revision that the change was made for; the change is refused if there is a
        later one.
        """
        return self.set_columns(project, [name], changes, seen=seen)

    def set_columns(
        self, project: Project, names: Sequence[str], changes: Mapping[str, Any], *, seen: str | None = None
    ) -> str:
        """Change the same settings of several columns, all or nothing."""
        project.one_table()

        def change(draft: dict[str, Any]) -> dict[str, Any]:
            for name in names:
                draft = drafts.with_column(draft, name, self._suited(project, draft, name, changes))
            return draft

        whose = names[0] if len(names) == 1 else f"{len(names)} columns"
        return project.edit(change, seen=seen, what=f"{' and '.join(changes)} of {whose}")

    def _suited(
        self, project: Project, draft: Mapping[str, Any], name: str, changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Give a column that becomes a quasi-identifier its likely kind, as the starter policy would."""
        known = draft.get("columns", {}).get(name)
        if known is None or changes.get("role") not in (Role.QUASI, Role.SENSITIVE) or "kind" in {**known, **changes}:
            return changes
        found = next((c for c in (project.profile or {}).get("columns", []) if c["name"] == name), None)
        if found is None or found["kind"] in (None, str(Kind.ORDINAL)):
            return changes
        return {"kind": found["kind"], **changes}

    def set_models(self, project: Project, chosen: Sequence[Mapping[str, Any]], *, seen: str | None = None) -> str:
        """Choose the privacy models."""
        project.one_table()
        return project.edit(lambda draft: drafts.with_models(draft, chosen), seen=seen, what="models")

    def set_algorithm(self, project: Project, chosen: Mapping[str, Any], *, seen: str | None = None) -> str:
        """Choose the algorithm."""
        project.one_table()
        return project.edit(lambda draft: drafts.with_algorithm(draft, chosen), seen=seen, what="algorithm")

    def set_settings(self, project: Project, changes: Mapping[str, Any], *, seen: str | None = None) -> str:
        """Change the settings other than columns, models and algorithm."""
        project.one_table()

        def change(draft: dict[str, Any]) -> dict[str, Any]:
            changed = drafts.with_settings(draft, changes)
            for file in (changed.get("population"), (changed.get("background") or {}).get("file")):
                if file:
                    project.file(file)
            return changed

        return project.edit(change, seen=seen, what=" and ".join(changes))

    def set_policy(self, project: Project, text: str, *, seen: str | None = None) -> str:
        """Replace the whole policy with YAML; it must fit the table's columns."""
        if project.linked:
            tables = confined_linked(project, LinkedPolicy.from_yaml(text))
            if sorted(tables.tables) != sorted(project.facts["tables"]):
                raise UsageError("The policy's tables differ from the project's.", code="columns",
                                 hint="Upload its own tables first.")  # fmt: skip
            return project.rewrite(tables.to_yaml, seen=seen, what="policy")
        policy = confined(project, Policy.from_yaml(text))
        known = project.facts.get("columns", [])
        if sorted(policy.columns) != sorted(known):
            raise UsageError(
                "The policy's columns differ from the table's.",
                code="columns",
                hint="Choose its own table first.",
            )
        return project.rewrite(policy.to_yaml, seen=seen, what="policy")

    def undo(self, project: Project, *, seen: str | None = None) -> str:
        """Undo the last change to the policy."""
        return project.undo(seen=seen)

    # files next to the data: hierarchies, population and background tables

    def files(self, project: Project) -> list[str]:
        """Return the names of the project's files, as a policy refers to them."""
        return sorted(f"files/{p.name}" for p in (project.folder / "files").iterdir() if not p.name.startswith("."))

    def add_file(self, project: Project, name: str, content: bytes) -> str:
        """Store a file of the project; return its name as a policy refers to it."""
        check_upload_name(name, (*HIERARCHIES, ".parquet", ".xlsx"))
        if len(content) > _SMALL:
            raise UsageError("The file is too large.", code="too-large", hint="Hierarchies have at most 16 MiB.")
        with atomic_file(project.folder / "files" / name) as out:
            out.write(content)
            out.flush()
            check_unpacked(Path(out.name), name, project.facts.get("unpacked"))
        return f"files/{name}"

    # jobs

    def check(self, project: Project) -> Job:
        """Find every problem that prevents a run."""
        project.one_table()
        policy_of(project)
        return self.jobs.submit(project.id, "check")

    def look_at(self, project: Project, column: str, hierarchy: Any = None, *, given: bool = False) -> Job:
        """Describe a column and try a hierarchy on it."""
        project.one_table()
        if column not in project.document().get("columns", {}):
            raise UsageError("There is no such column.", code="not-there")
        return self.jobs.submit(project.id, "column", {"column": column, "hierarchy": hierarchy, "given": given})

    def look_at_all(self, project: Project) -> Job:
        """Try the hierarchies of all quasi-identifiers."""
        project.one_table()
        project.document()
        return self.jobs.submit(project.id, "hierarchies")

    def run(self, project: Project, *, seen: str | None = None) -> Job:
        """Run the current policy; later changes do not affect the run."""
        project.check_seen(seen)
        return self.jobs.submit(project.id, "run", {"policy": policy_of(project).document()})

    def compare(self, project: Project, grid: Mapping[str, Any], *, seen: str | None = None) -> Job:
        """Run several settings on the table and measure each; their releases are not kept."""
        project.one_table()
        project.check_seen(seen)
        policy = policy_of(project)
        comparing.check_grid(policy, grid)
        return self.jobs.submit(project.id, "compare", {"policy": policy.document(), "grid": dict(grid)})

    def compared(self, project: Project) -> Outcomes | None:
        """Return the results of the last comparison, if there was one."""
        return comparing.found_in(project)

    def use_setting(self, project: Project, place: int, *, seen: str | None = None) -> str:
        """Use a compared setting as the policy."""
        changes = comparing.setting_of(project, place)
        return project.edit(lambda draft: {**draft, **changes}, seen=seen, what=f"setting {place + 1}")

    def apply(self, project: Project, number: int, levels: Mapping[str, int]) -> Job:
        """Run a run's policy again with other levels: another solution of its search space."""
        project.one_table()
        policy = run_of(project, number).policy
        algorithm = policy.build_algorithm()
        if "fixed" not in {p.name for p in algorithm.params()}:
            raise UsageError(
                f"{algorithm.name} does not search a space of levels.",
                code="no-space",
                hint="Choose an algorithm that generalizes whole columns.",
            )
        fixed = algorithm.build({**algorithm.values(), "fixed": dict(levels)})
        changed = policy.changed(algorithm={fixed.name: fixed.values()})
        return self.jobs.submit(project.id, "run", {"policy": changed.document(), "origin": number})

    def assess(self, project: Project, number: int, fraction: float | None = None) -> Job:
        """Assess the risks of a run."""
        run_of(project, number)
        return self.jobs.submit(project.id, "risk", {"run": number, "fraction": fraction})

    def attack(self, project: Project, number: int, names: Iterable[str] = ()) -> Job:
        """Attack a run's release."""
        run_of(project, number)
        known = self.attacks(project)
        wanted = list(names)
        for name in wanted:
            if name not in known:
                raise UsageError("There is no such attack.", code="not-there", hint=did_you_mean(name, known))
        return self.jobs.submit(project.id, "attack", {"run": number, "names": wanted})

    def attacks(self, project: Project) -> dict[str, str]:
        """Return the attacks that can be run on a project's releases, with a description of each."""
        if project.linked:
            return {name: known.summary for name, known in ATTACKS.items()}
        return {name: summary_of(known) for name, known in registry.attacks.items()}

    def verify(self, project: Project, number: int) -> Job:
        """Verify the published file of a run."""
        run_of(project, number)
        return self.jobs.submit(project.id, "verify", {"run": number})

    def report(self, project: Project, number: int, template: str = "general") -> Job:
        """Write the evidence report of a run with the questions of a template."""
        run_of(project, number)
        chosen = registry.templates[template].name
        return self.jobs.submit(project.id, "report", {"run": number, "template": chosen})

    # what can be chosen

    def catalogue(self, kind: str) -> list[dict[str, Any]]:
        """Describe everything of a kind that can be chosen."""
        if kind not in CATALOGUES:
            raise UsageError("There is no such catalog.", code="not-there", hint=f"Known: {', '.join(CATALOGUES)}.")
        return [describe(known) for known in CATALOGUES[kind].values()]

    def stop(self) -> None:
        """Terminate the workers, and remove unfinished files."""
        self.jobs.stop()
        self.projects.tidy()


# Which databases a page may ask for: servers, which guard themselves; no file of this machine.


_SERVERS = ("postgresql",)


def check_source(source: str, query: str) -> None:
    """Refuse an address that is not a database server, and a query that is not a single SELECT.

    Database files are refused: an address could lead to any file of the machine, and so could a query.

    Examples
    --------
    >>> check_source("sqlite:////etc/clinic.db", "SELECT 1")
    Traceback (most recent call last):
    hushtable.errors.UsageError: The studio queries only database servers, not files. Use 'hushtable studio DATA' ...
    """
    place = SqlPlace.of(source)
    if place.url.scheme not in _SERVERS:
        raise UsageError(
            "The studio queries only database servers, not files.",
            code="source",
            hint="Use 'hushtable studio DATA' with a table exported from it, or upload that.",
        )
    one_select(query)


# Progress of a project: which steps were seen, which have results, and which have problems.


_POLICY = ("columns", "hierarchies", "protect")


def note_visit(project: Project, step: str) -> bool:
    """Record that the user has seen a step once there was something to see; return whether that is new."""
    facts = project.facts
    visited = facts.get("visited", [])
    if step in visited or "data" not in facts:
        return False
    if step not in _POLICY and not (step in ("explore", "compare") and runs_of(project)):
        return False
    project.note(visited=[*visited, step])
    return True


def note_export(project: Project) -> None:
    """Record that something was downloaded."""
    if not project.facts.get("exported"):
        project.note(exported=True)


def done_steps(studio: Studio, project: Project) -> set[str]:
    """Return the steps that get a check mark.

    A step of the policy is done once it was seen and nothing in it prevents a run; Explore and Compare once there was a
    release to see; Attack & risk once either was run; Export once a file was downloaded.
    """
    facts = project.facts
    if project.profile is None and not project.linked:
        return set()
    done = {"data", *facts.get("visited", [])}
    runs = runs_of(project)
    if runs:
        done |= {"run"}
        done |= {"attack"} if any(r.json("risk") or r.json("attacks") for r in runs) else set()
        done |= {"export"} if facts.get("exported") else set()
    return done - _at_fault(studio.faults(project)) - _infeasible(studio, project)


def _infeasible(studio: Studio, project: Project) -> set[str]:
    """The step Protect, if the last check of this policy found a model that cannot hold."""
    last = studio.job_of(project, "check")
    found = last.result if last is not None and last.state == "done" else None
    if found is None or found["revision"] != project.revision():
        return set()
    return {"protect"} if any(model["feasible"] is False for model in found["models"]) else set()


def _at_fault(faults: list[dict[str, Any]]) -> set[str]:
    wrong = set()
    for fault in faults:
        if not fault["where"].startswith("columns"):
            wrong.add("columns" if fault["code"] == "no-quasi" else "protect")
        else:
            wrong.add("hierarchies" if "hierarchy" in fault["where"] else "columns")
    return wrong
