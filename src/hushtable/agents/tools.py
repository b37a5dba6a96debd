"""The tools: profile, draft, check, run, audit, explain and compare. Each returns a ``Reply`` and nothing else.

Error messages may quote a policy or name a file, so only the code of an error, its lines and the columns that it names
are returned. Policies are shown without the values that they list: groups of values are in the file, for people to
read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushtable.about import definition_of, describe
from hushtable.agents.access import AllowedFolders
from hushtable.agents.reply import Column, Count, Item, PolicyNumber, Prose, Share, Word, columns_of
from hushtable.errors import Cancelled, DataError, HushtableError, UsageError
from hushtable.registry import algorithms, hierarchies, measures, models
from hushtable.schema.columns import Kind

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.params import Parametrised
    from hushtable.policy.policy import Policy
    from hushtable.registry import Registry
    from hushtable.release.cautions import Caution

_MOST_SETTINGS = 60
_SUBSETS = 5
_TEXT: dict[str, Any] = {"type": "string"}
_NAMES: dict[str, Any] = {"type": "array", "items": _TEXT}
_NUMBERS: dict[str, Any] = {"type": "array", "items": {"type": "number"}}
_DATA = {**_TEXT, "description": "The table: a file below the folders of the server."}
_POLICY = {**_TEXT, "description": "The policy: a YAML file below the folders of the server."}


@dataclass(frozen=True)
class Tool:
    """A tool: what it does, what it takes, and whether it writes."""

    description: str
    takes: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    writes: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object", "properties": dict(self.takes), "required": list(self.required),
            "additionalProperties": False,
        }  # fmt: skip


TOOLS: dict[str, Tool] = {
    "profile": Tool(
        "Look at a table: columns with likely roles and kinds, rounded counts, and which columns single people out.",
        {"data": _DATA},
        ("data",),
    ),
    "draft": Tool(
        "Write a starter policy. Give roles or models to change the suggestions. Values that the policy lists are in "
        "the file, not in the reply.",
        {
            "data": _DATA,
            "policy": {**_TEXT, "description": "Where to write it: a new file below the folder for writing."},
            "roles": {"type": "object", "description": "Column -> identifier, quasi, sensitive, insensitive or drop."},
            "models": {"type": "array", "items": {"type": "object"},
                       "description": "Such as [{\"k-anonymity\": {\"k\": 5}}]. 'explain' lists and describes them."},
            "algorithm": _TEXT,
            "suppression": {"type": "number", "description": "Share of people that may be suppressed, from 0 to 1."},
        },
        ("data", "policy"),
        writes=True,
    ),
    "check": Tool(
        "Find problems that prevent a run of a policy on a table, and warn about what it does not protect.",
        {"data": _DATA, "policy": _POLICY},
        ("data", "policy"),
    ),
    "run": Tool(
        "Anonymize a table under a policy, verify the result, and write the release.",
        {"data": _DATA, "policy": _POLICY,
         "release": {**_TEXT, "description": "Where to write it: a new folder below the folder for writing."}},
        ("data", "policy", "release"),
        writes=True,
    ),
    "audit": Tool(
        "Measure the protection of any generalized table: k, l, t and risks.",
        {"data": _DATA, "quasi": _NAMES, "sensitive": _NAMES, "entity": _TEXT},
        ("data", "quasi"),
    ),
    "explain": Tool(
        "Describe a model, an algorithm or another topic; or judge a release, given its folder and its original.",
        {"topic": {**_TEXT, "description": "A name such as k-anonymity, or a list of names such as models."},
         "release": {**_TEXT, "description": "The folder of a release."}, "data": _DATA},
        (),
    ),
    "compare": Tool(
        "Try several settings on a table: what each protects and what it costs.",
        {"data": _DATA, "policy": _POLICY, "algorithms": _NAMES, "suppression": _NUMBERS,
         "vary": {"type": "object", "description": "Parameter -> numbers, such as {\"k-anonymity.k\": [2, 5, 10]}."}},
        ("data", "policy"),
    ),
}  # fmt: skip


class Desk:
    """Answers tool calls.

    Parameters
    ----------
    access : AllowedFolders
    floor : int
        Numbers of people below it are not shown.
    canceled : callable
        Checked now and then; returns whether to stop.

    Examples
    --------
    >>> desk = Desk(AllowedFolders(()), 5)
    >>> desk.answer("explain", {"topic": "k-anonymity"})[0]["summary"]
    'Every class has at least k people.'
    >>> desk.answer("profile", {"data": "/etc/passwd"})
    ({'error': 'refused', 'code': 'outside', 'columns': [], 'lines': []}, True)
    """

    def __init__(self, access: AllowedFolders, floor: int, canceled: Callable[[], bool] = lambda: False) -> None:
        self._access = access
        self._floor = floor
        self._cancelled = canceled
        self._columns: tuple[str, ...] = ()

    def answer(self, name: str, arguments: Mapping[str, Any] | None) -> tuple[Item, bool]:
        """Return the reply to a call, and whether it is an error."""
        self._columns = ()
        try:
            if name not in TOOLS:
                raise UsageError("There is no such tool.", code="unknown-tool")
            given = _checked(TOOLS[name], arguments or {})
            return getattr(self, f"_{name}")(**given), False
        except HushtableError as error:
            return self._refusal(error), True
        except Exception:  # the message of an internal error may contain anything, so none of it is returned
            return {"error": Word("internal"), "code": Word("internal"), "columns": [], "lines": []}, True

    def _refusal(self, error: HushtableError) -> Item:
        faults = getattr(error, "faults", ())
        lines = [PolicyNumber(fault.line) for fault in faults if fault.line]
        kind = {"Infeasible": "infeasible", "NotFound": "not-found", "VerificationError": "violated"}
        codes = {Word.code(fault) for fault in faults}
        return {
            "error": Word(kind.get(type(error).__name__, "refused")),
            "code": sorted(codes)[0] if codes else Word.code(error),
            "columns": columns_of(error.message, self._columns),
            "lines": lines,
        }

    def _progress(self, share: float, what: str) -> None:
        if self._cancelled():
            raise Cancelled("Canceled.")

    def _table(self, given: str) -> pa.Table:
        """Read a table; refuse one whose first line may be a record, since its cells would become column names."""
        from hushtable.io.files import read_table

        table = read_table(self._access.file(given))
        if any(_may_be_a_cell(name, table.column(name)) for name in table.column_names):
            raise UsageError("The first line of the table may be a record.", code="header")
        self._columns = tuple(table.column_names)
        return table

    def _loaded(self, given: str) -> Policy:
        from hushtable.policy.files import load_policy, policy_text
        from hushtable.policy.text import read_yaml

        path = self._access.file(given)
        # the files that it names are checked before they are used
        self._access.check_policy(read_yaml(policy_text(path)).data, path.parent)
        return load_policy(path)

    def _people(self, value: float) -> Count:
        return Count.people(value, self._floor)

    def _share_of_people(self, share: float, people: float) -> Share | None:
        """A share of the people; not shown for fewer than the floor, whom it would count if multiplied by all."""
        return None if 0 < round(share * people) < self._floor else Share.of(share)

    def _profile(self, data: str) -> Item:
        from hushtable.schema.profile import profile

        found = profile(self._table(data))
        return {
            "rows": self._people(found.rows),
            "repeated": self._people(found.duplicates),
            "entity": Column(found.entity) if found.entity else None,
            "columns": [
                {
                    "name": Column(c.name),
                    "role": Word(c.role),
                    "kind": None if c.kind is None else Word(c.kind),
                    "distinct": Count.of(c.distinct),
                    "unique": self._people(c.unique),
                    "missing": self._people(c.missing),
                    "suspicious": Count.of(len(c.tokens)),
                    "usable": not c.problem,
                }
                for c in found.columns
            ],
            "subsets": [
                {
                    "columns": [Column(name) for name in s.columns],
                    "unique_share": self._share_of_people(s.unique_share, found.rows),
                }
                for size in (1, 2, 3)
                for s in [s for s in found.subsets if len(s.columns) == size][:_SUBSETS]
            ],
        }

    def _draft(
        self, data: str, policy: str, roles: Mapping[str, str] | None = None,
        models: Sequence[Mapping[str, Any]] | None = None, algorithm: str | None = None,
        suppression: float | None = None,
    ) -> Item:  # fmt: skip
        from hushtable.io.atomic import atomic_write_text
        from hushtable.policy.policy import Policy
        from hushtable.policy.starter import starter_policy
        from hushtable.schema.profile import profile

        target = self._access.target(policy)
        table = self._table(data)
        text = starter_policy(profile(table), "the table")
        made = Policy.from_yaml(text)
        for name, role in (roles or {}).items():
            made = made.with_column(name, role=role)
        changes = {"models": models, "algorithm": algorithm, "suppression": suppression}
        made = made.changed(**{name: value for name, value in changes.items() if value is not None})
        self._access.check_policy(made.document(), target.parent)
        atomic_write_text(target, text if made == Policy.from_yaml(text) else made.to_yaml())
        return {
            "written": True,
            "policy": self._policy_without_values(made),
            "cautions": self._warned(made.cautions(table)),
        }

    def _check(self, data: str, policy: str) -> Item:
        from hushtable.policy.preflight import check_table

        table, loaded = self._table(data), self._loaded(policy)
        found = check_table(table, loaded)
        return {
            "ok": found.ok,
            "policy": self._policy_without_values(loaded),
            "problems": [
                {
                    "code": Word.code(p),
                    "columns": columns_of(p.where, self._columns) or columns_of(p.message, self._columns),
                    "infeasible": p.infeasible,
                }
                for p in found.problems
            ],
            "models": [{"model": Word.named(models[m.model]), "feasible": m.feasible} for m in found.models],
            "cautions": self._warned(found.cautions),
        }

    def _warned(self, found: Sequence[Caution]) -> Item:
        return [{"code": Word.code(c), "columns": columns_of(c.where, self._columns)} for c in found]

    def _run(self, data: str, policy: str, release: str) -> Item:
        from hushtable.api import run

        target = self._access.target(release)
        table, loaded = self._table(data), self._loaded(policy)
        made = run(table, loaded, target, progress=self._progress)
        return {
            "written": True,
            "verified": made.verification.ok,
            "rows": self._people(made.records),
            "suppressed": self._people(made.n_suppressed),
            "classes": Count.of(made.verification.classes),
            "models": [
                {"model": Word.named(models[e.model]), "achieved": self._achieved(models[e.model], e.achieved)}
                for e in made.verification.evidence
            ],
            "measures": {Word.named(measures[name]): Share.of(value) for name, value in made.measures().items()},
        }

    def _achieved(self, model: type[Any], value: float | None) -> Count | Share | None:
        from hushtable.models.base import Stat

        if value is None or Stat.HISTOGRAM in model.needs or value <= 1:
            return Share.of(value)
        return self._people(value)

    def _audit(self, data: str, quasi: Sequence[str], sensitive: Sequence[str] = (), entity: str | None = None) -> Item:
        from hushtable.auditing import audit

        found = audit(self._table(data), list(quasi), list(sensitive), entity=entity)
        return {
            "people": self._people(found.rows),
            "classes": Count.of(found.classes),
            "smallest": self._people(found.k),
            "readings": [
                {
                    "model": Word.named(models[r.model.name]),
                    "on": None if r.column is None else Column(r.column),
                    "value": self._achieved(type(r.model), r.value),
                }
                for r in found.readings
            ],
            "risks": {
                "average": Share.of(found.risks["prosecutor"].average),
                "share_at_risk": self._share_of_people(found.risks["prosecutor"].share_at_risk, found.rows),
                "unique_share": self._share_of_people(found.exposure.share(found.exposure.unique), found.rows),
            },
        }

    def _explain(self, topic: str | None = None, release: str | None = None, data: str | None = None) -> Item:
        if release is not None:
            return self._judged(release, data)
        lists = _lists()
        if topic is None or topic in lists:
            shown = lists if topic is None else {topic: lists[topic]}
            return {name: [Word.named(known) for known in found.values()] for name, found in shown.items()}
        for found in lists.values():
            if topic in found:
                return _described(found[topic])
        raise UsageError("There is no such topic.", code="unknown-topic")

    def _judged(self, release: str, data: str | None) -> Item:
        from hushtable.api import open_release
        from hushtable.release.companion import COMPANION, companion_of, load_evidence

        if data is None:
            raise UsageError("To judge a release, its original is required.", code="needs-original")
        folder = self._access.folder(release)
        # no file that the folder refers to may be outside of it
        self._access.file(str(folder / str(load_evidence(folder / "release.json").get("file"))))
        self._access.file(str(companion_of(folder) / COMPANION))
        self._loaded(str(folder / "policy.yaml"))
        found = open_release(folder, self._table(data)).verdict
        return {
            "grade": Word(found.grade.replace(" ", "-")),
            "suppressed": Share.of(found.suppressed),
            "silent": columns_of(", ".join(found.silent), self._columns),
            **{name: Share.of(value) for name, value in found.numbers.as_dict().items()},
            "changes": [
                {
                    "kind": Word(change.kind),
                    "columns": columns_of(change.what, self._columns),
                    "before": Share.of(change.before.ncp),
                    "after": Share.of(change.after.ncp),
                }
                for change in found.changes
            ],
        }

    def _compare(
        self, data: str, policy: str, algorithms: Sequence[str] = (), vary: Mapping[str, Any] | None = None,
        suppression: Sequence[float] = (),
    ) -> Item:  # fmt: skip
        from hushtable.comparison.run import compare
        from hushtable.comparison.spec import Spec

        table, spec = self._table(data), Spec(self._loaded(policy))
        spec = spec.with_lists(algorithms=algorithms or None, suppression=suppression or None)
        for name, values in (vary or {}).items():
            if not _fits(values, _NUMBERS):
                raise UsageError("An argument has the wrong type.", code="argument")
            spec = spec.varying(f"{name}={','.join(map(repr, values))}")
        settings = spec.grid.settings(spec.policy.for_columns(self._columns))
        if len(settings) > _MOST_SETTINGS:
            raise UsageError("There are too many settings.", code="too-many")
        found = compare(table, spec.policy, spec.grid, progress=lambda done, of: self._progress(done / of, ""))
        best = set(found.frontier)
        return {
            "settings": [
                {
                    "policy": None if setting.policy is None else self._settings(setting.policy),
                    "status": Word(str(row["status"]).replace(" ", "-")),
                    "risk": self._risk(row["values"].get(found.privacy)),
                    "cost": Share.of(row["values"].get(found.utility)),
                    "frontier": i in best,
                }
                for i, (setting, row) in enumerate(zip(settings, found.rows, strict=True))
            ]
        }

    def _risk(self, value: float | None) -> Share | None:
        """The highest risk, 1 / (people in the smallest class); not shown if these are too few."""
        return None if value is None or value > 1 / self._floor else Share.of(value)

    def _policy_without_values(self, policy: Policy) -> Item:
        """A policy without values of the table: roles, kinds, names of recipes, models and their numbers."""
        return {
            "columns": {
                Column(name): {
                    "role": Word(column.role),
                    **({} if column.kind is None else {"kind": Word(column.kind)}),
                    **({} if column.hierarchy is None else {"hierarchy": _recipe(column.hierarchy)}),
                }
                for name, column in policy.columns.items()
                if name in self._columns
            },
            "settings": self._settings(policy),
        }

    def _settings(self, policy: Policy) -> Item:
        return {
            "models": [
                {Word.named(models[name]): self._parameters(models[name], values)}
                for choice in policy.models
                for name, values in choice.items()
            ],
            "algorithm": [Word.named(algorithms[name]) for name in policy.algorithm],
            "suppression": PolicyNumber(policy.suppression),
            "missing": Word(policy.missing),
            "missing_values": Count.of(len(policy.missing_values)),
            "entity": Column(policy.entity) if policy.entity in self._columns else None,
        }

    def _parameters(self, known: type[Parametrised], values: Mapping[str, Any]) -> Item:
        """Numbers and columns; other parameters are not shown."""
        return {
            Word.parameter(known, name): PolicyNumber(value)
            if isinstance(value, int | float) and not isinstance(value, bool)
            else Column(value)
            if value in self._columns
            else Word("hidden")
            for name, value in values.items()
        }


def _recipe(hierarchy: Any) -> Word:
    name = next(iter(hierarchy), "") if isinstance(hierarchy, Mapping) else hierarchy
    if name == "tree":
        return Word("tree")
    return Word.named(hierarchies[name]) if name in hierarchies else Word("file")


def _lists() -> dict[str, Registry[Any]]:
    from hushtable import registry

    names = ("models", "algorithms", "hierarchies", "forms", "measures", "risks", "attacks", "guards", "treatments")
    return {name: getattr(registry, name) for name in names}


def _described(known: type[Parametrised]) -> Item:
    found = describe(known)
    return {
        "name": Word.named(known),
        "summary": Prose(found["summary"]),
        "definition": Prose(definition_of(known)),
        "parameters": [
            {
                "name": Word.parameter(known, p["name"]),
                "expected": Prose(p["expected"]),
                "required": bool(p["required"]),
                "description": Prose(p["description"]),
            }
            for p in found["parameters"]
        ],
    }


def _may_be_a_cell(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column's name could be a value of the column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from hushtable.io.dictionaries import encode
    from hushtable.io.text import to_labels
    from hushtable.schema.parse import infer_kind
    from hushtable.schema.prepare import prepare

    kind, _ = infer_kind(pa.array([name]))
    try:
        if kind in (Kind.NUMERIC, Kind.DATE):
            return prepare(column, name=name).kind is kind
        values = to_labels(encode(column).dictionary)
    except (DataError, pa.ArrowException):
        return False
    return bool(pc.any(pc.equal(values.cast(pa.string()), name)).as_py())


def _checked(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, checked for the types that the tool takes, since clients are not trusted."""
    if not isinstance(given, Mapping) or set(given) - set(tool.takes) or set(tool.required) - set(given):
        raise UsageError("The arguments do not match the tool.", code="argument")
    for name, value in given.items():
        if not _fits(value, tool.takes[name]):
            raise UsageError("An argument has the wrong type.", code="argument")
    return dict(given)


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kinds: dict[str, Any] = {"string": str, "number": (int, float), "array": list, "object": dict}
    if not isinstance(value, kinds[schema["type"]]) or isinstance(value, bool):
        return False
    return schema["type"] != "array" or all(_fits(one, schema["items"]) for one in value)
