"""The evidence file of a linked release: the same page, templates and JSON format as for one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hushtable._version import __version__, code_digest
from hushtable.io.canonical import digest
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.linked.attacks import ATTACKS, chosen_attacks, play_linked
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import LinkedRelease
from hushtable.linked.risk import MEANINGS, Exposed, exposed
from hushtable.registry import templates
from hushtable.report.content import (
    Adversary,
    ColumnEvidence,
    Depth,
    Facts,
    Handling,
    MeasureEvidence,
    NotRun,
    Provenance,
    Report,
    RiskEvidence,
    Rules,
    Usefulness,
    finite,
    read_about,
)
from hushtable.report.gather.privacy import banded, evidence_of, models_found, risk_numbers, tried_out
from hushtable.report.gather.provenance import MISSING, files_in, input_hash, report_time
from hushtable.report.numbers import count, percent
from hushtable.schema.columns import Missing, Role

_KNOWS = {
    "events": "attributes and the most revealing events that the policy lets an adversary know, and that the person is "
    "in the tables",
    "attributes": "attributes, and that the person is in the tables",
}
_RECODING = (
    "people are divided into classes by their attributes; within a class, events are generalized along their "
    "hierarchies, and events that would still identify someone are suppressed"
)
_ALGORITHMS = {
    "greedy": "Tries class sizes and levels on a sample, and drops the rarest event of each failing combination.",
    "exact": "Tries all levels and all sets of events to suppress, and takes the choice with the least loss.",
}
_LIMITS = (
    "Number of events: the promise covers up to as many events as 'knows' says. An adversary who knows how many "
    "events a person has may find the person, except in tables with 'counts: true' or 'knows: all'.",
    "The code is public. With a model of sensitive values, the choice of suppressed events depends on those values. "
    "Secret coins break ties between equally rare events, but no guard covers linked tables.",
)
_USEFUL = ((0.5, "useful"), (0.2, "coarse"), (0.0, "nearly empty"))
"""Grades of a release, by the smallest share of the detail of events that is left."""


def report_linked(
    release: LinkedRelease,
    template: str,
    parameters: Mapping[str, Any],
    *,
    attacks: bool | Sequence[str] = True,
    about: Any = None,
    progress: Callable[[float, str], object] | None = None,
) -> Report:
    """Gather the evidence about a linked release; ``LinkedRelease.report`` has the parameters.

    Raises
    ------
    UsageError
        If the release was opened without its original.
    """
    chosen = templates.build(template, dict(parameters))
    said = read_about(about)
    chosen_attacks(attacks)
    step = progress or (lambda share, what: None)
    step(0.0, "assessing risks")
    before, after = exposed(release.original()), exposed(release.published())
    results, refused = play_linked(release, attacks, progress=lambda share, what: step(0.3 + 0.6 * share, what))
    tried = tuple(evidence_of(result, ATTACKS[result.name].learns) for result in results)
    step(0.9, "writing the report")
    policy = release.policy
    shown = {c.name for c in _columns(release)} | set(policy.sensitive())
    facts = Facts(
        provenance=_provenance(release),
        treatment=_treatment(release, after),
        models=models_found(policy.model().members, release.evidence(), shown),
        adversaries=(
            *(Adversary(name=n, knows=k, wants="find this person's rows", evidence="risk") for n, k in _KNOWS.items()),
            *tried_out(tried),
        ),
        risks=tuple(_risks(before, after, chosen.threshold, chosen.comparison)),
        bands=banded((before.crowds, np.ones(len(before.crowds))), (after.crowds, np.ones(len(after.crowds)))),
        attacks=tried,
        attacks_not_run=tuple(NotRun(name=name, reason=reason) for name, reason in refused.items()),
        columns=tuple(_columns(release)),
        associations=(),
        measures=tuple(_measures(release)),
        accuracy=(),
        rules=_rules(policy.model().min_group_size()),
        files=() if release.folder is None else files_in(release.folder),
        usefulness=_usefulness(release),
    )
    return _worded(chosen.answered(facts, said), release, before, after)


def _worded(report: Report, release: LinkedRelease, before: Exposed, after: Exposed) -> Report:
    """Add what is specific to linked tables."""
    policy, rows = release.policy, {name: table.num_rows for name, table in release.tables.items()}
    people = rows.pop(policy.people)
    knows = "all" if policy.knows == "all" else f"up to {policy.knows}"
    parts = ", ".join(f"{count(n)} rows of {name}" for name, n in rows.items())
    what = (
        f"{len(release.tables)} linked tables about {count(people)} people ({parts}), made with {policy.algorithm}: "
        f"{_RECODING}."
    )
    summary = report.summary.model_copy(
        update={
            "what": what,
            "figures": (
                *report.summary.figures,
                (count(after.unique), "combinations of known events that only one person has",
                 f"before: {count(before.unique)} of {count(before.combinations)}"),
            ),
            "assumptions": (
                f"What an adversary may know about a person is the attributes and {knows} of the person's events.",
                *report.summary.assumptions[1:],
            ),
            "not_promised": (
                *report.summary.not_promised, *_uncounted(policy),
            ),
        }
    )  # fmt: skip
    return report.model_copy(update={"summary": summary, "limits": (*_LIMITS, *report.limits)})


def _uncounted(policy: LinkedPolicy) -> Iterator[str]:
    names = [n for n in policy.events if not policy.tables[n].counts and policy.known_events(n) != "all"]
    if names:
        yield f"That others have as many events as a person: {', '.join(names)}."


def _risks(before: Exposed, after: Exposed, threshold: float, comparison: str) -> Iterator[RiskEvidence]:
    for name in _KNOWS:
        one, other = (
            side.linkage(side.crowds if name == "events" else side.classes, threshold, comparison)
            for side in (before, after)
        )
        yield RiskEvidence(
            name=name, summary=MEANINGS[name], basis=other.basis, threshold=threshold, comparison=comparison,
            before=risk_numbers(one), after=risk_numbers(other),
        )  # fmt: skip


def _provenance(release: LinkedRelease) -> Provenance:
    policy, tables, secret = release.policy, release.original().tables, load_secret()
    parts = [f"{name}:{input_hash(table, secret)}".encode() for name, table in sorted(tables.items())]
    given = {"knows": str(policy.knows), "crowd": "chosen by loss" if policy.crowd is None else str(policy.crowd)}
    given |= {f"{name}.knows": str(t.knows) for name, t in policy.tables.items() if t.knows is not None}
    made_by, code = release.made_by if release.made_by[0] else (__version__, code_digest())
    return Provenance(
        created=report_time(),
        hushtable=__version__,
        code_sha256=code_digest(),
        made_by=made_by,
        made_by_code_sha256=code,
        policy_sha256=digest(policy.document()),
        input_hmac_sha256=keyed_hash(parts, secret, "linked tables"),
        input_rows=sum(table.num_rows for table in tables.values()),
        input_columns=sum(table.num_columns for table in tables.values()),
        seed=policy.seed,
        algorithm=policy.algorithm,
        algorithm_summary=_ALGORITHMS[policy.algorithm],
        algorithm_parameters=given,
        recoding=_RECODING,
        guards=(),
        notes={"people in a class, at least": str(release.measures["crowd"])},
    )


def _treatment(release: LinkedRelease, after: Exposed) -> Handling:
    policy, tables = release.policy, release.tables
    share, people = float(release.measures["suppressed"]), release.verification.people
    missing = Missing(policy.missing)
    gone = sum(release.original().tables[name].num_rows - tables[name].num_rows for name in policy.events)
    return Handling(
        released=sum(table.num_rows for table in tables.values()),
        counterfeits=0,
        suppressed=gone,
        suppressed_share=share,
        suppression_limit=policy.suppression,
        suppression_meaning="Suppressed events are removed with everything that belongs to them; no person is removed. "
        f"The policy allows up to {policy.suppression:.2%} of the events to be suppressed.",
        people=people,
        classes=release.verification.classes,
        smallest=float(after.classes.min()),
        median=float(np.median(after.classes)),
        largest=float(after.classes.max()),
        columns=tuple(c.name for c in _columns(release) if c.role not in ("identifier", "drop")),
        missing=str(missing),
        missing_meaning=MISSING[missing],
        can_draw=True,
    )


def _columns(release: LinkedRelease) -> Iterator[ColumnEvidence]:
    policy = release.policy
    done = {
        Role.IDENTIFIER: "removed", Role.DROP: "removed", Role.SENSITIVE: "published as in the input",
        Role.INSENSITIVE: "published as in the input", Role.QUASI: "generalized within classes of people",
    }  # fmt: skip
    for name, table in policy.tables.items():
        for key in dict.fromkeys((*table.key, *policy.by(name))):
            yield _column(f"{name}.{key}", "identifier", None, "replaced by random numbers, or removed")
        levels = release.measures["tables"].get(name, {}).get("levels", {})
        for column, settings in table.columns.items():
            shares = levels.get(column, [])
            words = done.get(settings.role, "published as the policy says")
            if shares and sum(shares):
                of_kept = [share / sum(shares) for share in shares]
                listed = ", ".join(
                    f"{percent(s)} {'exact' if i == 0 else f'{i} up'}" for i, s in enumerate(of_kept) if s
                )
                words = f"generalized along its hierarchy: {listed}"
                yield _column(f"{name}.{column}", str(settings.role), settings.kind, words, of_kept)
            else:
                yield _column(f"{name}.{column}", str(settings.role), settings.kind, words)


def _column(name: str, role: Any, kind: Any, words: str, shares: Sequence[float] = ()) -> ColumnEvidence:
    return ColumnEvidence(
        name=name, role=role, kind=None if kind is None else str(kind), treatment=words, distinct=None, missing=None,
        height=len(shares) - 1 if shares else None, covered=None, shift=None, bars=(), caption="", nodes=bool(shares),
        depths=tuple(Depth(level=i, share=share) for i, share in enumerate(shares) if share),
    )  # fmt: skip


def _measures(release: LinkedRelease) -> Iterator[MeasureEvidence]:
    words = {
        "kept": ("share of the events that are published", "higher"),
        "generality": ("how general published events are: 0 is exact, 1 says nothing", "lower"),
        "order_kept": ("share of a person's consecutive events whose order is still known", "higher"),
    }
    lost = release.measures
    yield MeasureEvidence(name="people: ncp", summary="share of the detail of attributes that is lost",
                   value=finite(lost["people"]["ncp"]), better="lower")  # fmt: skip
    for name, entry in lost["tables"].items():
        for key, (summary, better) in words.items():
            if key in entry:
                yield MeasureEvidence.model_validate(
                    {"name": f"{name}: {key.replace('_', ' ')}", "summary": summary, "value": finite(entry[key]),
                     "better": better}
                )  # fmt: skip


def _usefulness(release: LinkedRelease) -> Usefulness:
    tables = release.measures["tables"]
    left = {name: entry["kept"] * (1 - entry.get("generality", 0.0)) for name, entry in tables.items()}
    mean = sum(left.values()) / len(left) if left else 1.0
    grade = next(word for least, word in _USEFUL if mean >= least)
    parts = ", ".join(f"{name} {percent(share)}" for name, share in left.items())
    return Usefulness.model_validate({
        "grade": grade, "changes": (),
        "words": f"The release is {grade}: {percent(mean)} of the detail of events is left (share kept x share of "
                 f"detail kept, averaged over tables; useful from 50%, coarse from 20%). By table: {parts}.",
    })  # fmt: skip


def _rules(least: int) -> Rules:
    return Rules(
        least=least, rounding=1, labels=False,
        sentences=(
            "No value of the tables is named, and no histogram of values is drawn.",
            "The input is named by a keyed hash: without the publisher's secret, nobody can identify it by trial and "
            "error.",
        ),
    )  # fmt: skip
