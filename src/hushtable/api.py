"""The two calls that most people need: ``anonymize`` and ``verify``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.algorithms.base import Progress, Recoding
from hushtable.arrays import IntArray
from hushtable.engines import local
from hushtable.engines.plan import Plan
from hushtable.errors import IncompatibleError, UsageError
from hushtable.io.frames import is_spark_frame, to_arrow
from hushtable.io.urls import Url, is_url
from hushtable.policy.policy import Policy
from hushtable.release.release import Release
from hushtable.release.verify import Verification

if TYPE_CHECKING:
    from hushtable.schema.profile import Profile

__all__ = ["anonymize", "draft_policy", "increment", "profile", "release_of", "run_plan", "verify"]


def profile(data: Any, missing_values: Sequence[str] = ()) -> Profile:
    """Look at a table before a policy is written: counts, likely roles with reasons, and how unique people are.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
    missing_values : sequence of str
        Texts already known to stand for missing values.

    Returns
    -------
    Profile
        It shows itself as a table, and holds no cell of the data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> ht.profile(pa.table({"age": [30, 31, 31], "disease": ["flu", "flu", "gout"]}))
    3 rows, 2 columns, 0 repeated rows
    column   kind     distinct  unique  missing  likely role
    age      numeric  2         1       0        quasi: its name suggests age, which others may know
    disease  nominal  2         1       0        sensitive: its name suggests health
    """
    from hushtable.schema.profile import profile as profile_table

    return profile_table(to_arrow(data), missing_values)


def draft_policy(data: Any) -> Policy:
    """Return a policy to begin with, as ``hushtable init`` writes it: a suggestion that a person corrects.

    Roles, kinds and hierarchies are guessed from names and counts; ``profile`` says why. The models are 5-anonymity and
    three different values of every sensitive column.

    Parameters
    ----------
    data : pandas, polars or pyarrow table

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> policy = ht.draft_policy(pa.table({"age": [30, 31], "note": ["a", "b"], "disease": ["flu", "gout"]}))
    >>> {name: str(column.role) for name, column in policy.columns.items()}
    {'age': 'quasi', 'note': 'identifier', 'disease': 'sensitive'}
    >>> policy = policy.with_column("note", role="insensitive").changed(models=[ht.KAnonymity(k=2)])
    """
    from hushtable.policy.starter import starter_policy

    return Policy.from_yaml(starter_policy(profile(data), "the table"))


def anonymize(data: Any, policy: Policy, *, progress: Progress | None = None) -> Any:
    """Anonymize a table under a policy.

    Parameters
    ----------
    data : pandas, polars, pyarrow or Spark table
        One row per record. Its index and its row order do not matter. A Spark DataFrame is worked on by Spark.
    policy : Policy
    progress : callable, optional
        Called with (share done, what is being done); may raise ``Cancelled``.

    Returns
    -------
    Release
        Verified: a release that violates a model is never returned. For a Spark DataFrame a ``SparkRelease``, with
        the same cells in a Spark DataFrame.

    Raises
    ------
    Infeasible
        If provably no release of this table satisfies the models.
    NotFound
        If the algorithm found none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"name": list("abcd"), "zip": ["14248", "14249", "13053", "13068"], "pay": [1, 2, 3, 4]})
    >>> policy = ht.Policy(identifiers=["name"], quasi={"zip": {"hierarchy": {"prefix": "*"}, "cells": "nodes"}},
    ...                    sensitive=["pay"], models=[ht.KAnonymity(k=2)])
    >>> ht.anonymize(people, policy).frame.to_pydict()
    {'zip': ['130**', '130**', '1424*', '1424*'], 'pay': [3, 4, 1, 2]}
    """
    if not isinstance(policy, Policy):
        raise UsageError(
            f"The second argument must be a Policy, not {type(policy).__name__}.",
            code="not-a-policy",
            hint="Write ht.Policy(quasi=[...], models=[...]), ht.load_policy(file) or ht.draft_policy(data).",
        )
    if is_spark_frame(data):
        from hushtable.engines.spark.release import SparkRelease

        return SparkRelease.of_plan(data, policy.plan(), progress)
    return run_plan(data, policy.plan(), progress)


def run_plan(data: Any, plan: Plan, progress: Progress | None = None) -> Release:
    """Run a resolved plan on this machine."""
    plan = plan.pinned()
    return release_of(local.run(to_arrow(data), plan, progress), plan, data)


def increment(data: Any, policy: Policy, earlier: Release, *, progress: Progress | None = None) -> Release:
    """Publish a new batch of records beside an earlier release of other people.

    New records join published classes where they are enough of them, and make new classes otherwise, such that the
    batch on its own, and old and new records together, satisfy the models. Of several batches in turn, all together
    satisfy models of single classes (k-anonymity, l-diversity); for models that compare with the whole table
    (t-closeness), each batch is held against the one release that it is given.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
        The new records alone.
    policy : Policy
        With the columns of the earlier release.
    earlier : Release
        Made of the earlier original, in this process.
    progress : callable, optional

    Returns
    -------
    Release
        Of the new records alone; its notes say how many joined.

    Raises
    ------
    Infeasible, NotFound
        If the batch is too small to stand on its own: keep it for the next.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> def people(ages):
    ...     return pa.table({"age": ages, "disease": ["flu", "gout"] * (len(ages) // 2)})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> first = ht.anonymize(people([20, 24, 50, 58]), policy)
    >>> ht.increment(people([21, 23, 70, 71]), policy, first).frame["age"].to_pylist()
    ['[20, 24]', '[20, 24]', '[70, 71]', '[70, 71]']
    """
    from hushtable.engines.increment import increment as publish_beside

    plan = policy.plan().pinned()
    made = release_of(publish_beside(to_arrow(data), plan, earlier, progress), plan, data)
    # run again without the earlier release, it would be another one
    return replace(made, rerun=None, reguard=None)


def release_of(outcome: local.Outcome, plan: Plan, source: Any) -> Release:
    """Wrap what an engine produced for its user."""
    return replace(
        local.wrapped(outcome, plan, source),
        verifier=lambda r: local.judge(outcome.problem, plan, r.recoded, r.table, _told(outcome, r)),
        linked=None if outcome.value_rows is None else lambda r: _split(r, plan),
        rerun=lambda parameters: run_plan(source, _changed(plan, parameters)),
        reguard=lambda names: run_plan(source, _guarded(plan, names)),
    )


def _split(release: Release, plan: Plan) -> tuple[Any, Any]:
    from hushtable.release.bucket import split_table

    return split_table(release.table, plan.table)


def _told(outcome: local.Outcome, release: Release) -> IntArray:
    """The source rows of the sensitive values, which may be apart from their people."""
    return release.source_rows if outcome.value_rows is None else outcome.value_rows


def _changed(plan: Plan, parameters: Mapping[str, Any]) -> Plan:
    """The plan with other parameters of its algorithm, in the policy that travels with the release too."""
    algorithm = plan.algorithm
    unknown = [name for name in parameters if name not in {p.name for p in algorithm.params()}]
    if unknown:
        raise IncompatibleError(
            f"{algorithm.name} does not search a space of levels.",
            hint="Use an algorithm that generalises whole columns, such as optimal.",
        )
    changed = algorithm.build({**algorithm.values(), **parameters})
    return replace(plan, algorithm=changed, document={**plan.document, "algorithm": {changed.name: changed.values()}})


def _guarded(plan: Plan, names: Sequence[str]) -> Plan:
    """The plan with some of its guards only, in the policy that travels with the release too."""
    document = {name: value for name, value in plan.document.items() if name != "guard"}
    guards = tuple(guard for guard in plan.guards if guard.name in names)
    if guards:
        document["guard"] = [{g.name: g.values()} if g.values() else g.name for g in guards]
    return replace(plan, guards=guards, document=document)


def verify(
    published: Any, policy: Policy, evidence: str | Path | None = None, companion: str | Path | None = None
) -> Verification:
    """Verify a published table from its cells, the policy and, where a model needs it, the private companion.

    Parameters
    ----------
    published : path, address or table
        The published file, the address of a table in a database or a store, or a DataFrame with its contents. Where
        sensitive values are apart from their people (anatomy), they are read from the file beside it,
        ``...-sensitive``, or from the table ``..._sensitive``.
    policy : Policy
    evidence : path, optional
        ``release.json``. Defaults to the one next to the published file, if there is one.
    companion : path, optional
        The folder of the private companion. Defaults to ``<release folder>.private`` next to the release folder, if
        there is one. Its keyed hashes have to hold.

    Returns
    -------
    Verification
        ``ok`` says whether every model holds.
    """
    from hushtable.release.companion import companion_of, load_evidence, read_companion
    from hushtable.release.places import read_address
    from hushtable.release.published import read_published, verify_published

    plan = policy.table_plan()
    algorithm = policy.build_algorithm()
    linked = plan if algorithm.recoding is Recoding.BUCKET else None
    given = Path(evidence) if evidence else None
    folder = given.parent if given else None
    if isinstance(published, str) and is_url(published) and not published.lower().startswith("file:"):
        table = read_address(published, linked)
    elif isinstance(published, str | Path):
        path = Url.of(published).path if isinstance(published, str) and is_url(published) else Path(published)
        table, folder = read_published(path, linked), path.parent
    else:
        table = to_arrow(published)
    found: dict[str, Any] | None = None
    if given or (folder is not None and (folder / "release.json").exists()):
        found = load_evidence(given or Path(folder or "") / "release.json")
    # whoever may not look into it verifies without it
    if companion is None and folder is not None and os.access(companion_of(folder), os.R_OK | os.X_OK):
        companion = companion_of(folder)
    if companion is not None:
        if folder is None:
            raise UsageError(
                "A companion is checked with the files of its release.", code="companion", hint="Give release.json too."
            )
        found = read_companion(Path(companion), folder, given)
    return verify_published(
        table,
        plan,
        policy.model(),
        found,
        recoding=algorithm.recoding,
        suppression=policy.suppression,
    )
