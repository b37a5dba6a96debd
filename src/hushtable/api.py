"""The most common functions: ``anonymize``, ``run``, ``open_release`` and ``verify``."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from hushtable.algorithms.base import Progress, Recoding, quietly
from hushtable.engines import local
from hushtable.engines.release import Release
from hushtable.errors import DataError, UsageError
from hushtable.io.files import column_names
from hushtable.io.frames import frame_names, is_spark_frame, to_arrow
from hushtable.io.sources import read_tables, same_columns, table_sources
from hushtable.io.urls import Source, Url, is_url
from hushtable.params import typed
from hushtable.policy.files import is_linked, load_policy
from hushtable.policy.policy import Policy
from hushtable.release.companion import load_evidence, own_companion, read_companion, stored_coins
from hushtable.release.files import save_release
from hushtable.release.original import Files
from hushtable.release.plan import Plan
from hushtable.release.targets import check_target
from hushtable.release.verify import Verification
from hushtable.release.written import Written, check_nothing_else, files_of, folder_hint, read_published, table_file

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from hushtable.schema.profile import Profile

_log = logging.getLogger("hushtable.engines")


@typed
def profile(data: Any, missing_values: Sequence[str] = ()) -> Profile:
    """Profile a table before writing a policy: counts, likely roles with reasons, and how unique people are.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
    missing_values : sequence of str
        Texts already known to represent missing values.

    Returns
    -------
    Profile
        Displays itself as a table, and contains no cell of the data.

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


@typed
def draft_policy(data: Any) -> Policy:
    """Return a starter policy, as ``hushtable init`` writes it: a suggestion to correct.

    Roles, kinds and hierarchies are guessed from names and counts; ``profile`` gives the reasons. The models are
    5-anonymity and, for sensitive columns, three different values in every class or a bound on rare values.

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


@overload
def anonymize(data: pd.DataFrame, policy: Policy, *, progress: Progress | None = None) -> Release[pd.DataFrame]: ...


@overload
def anonymize(
    data: pl.DataFrame | pl.LazyFrame, policy: Policy, *, progress: Progress | None = None
) -> Release[pl.DataFrame]: ...


@overload
def anonymize(data: pa.Table, policy: Policy, *, progress: Progress | None = None) -> Release[pa.Table]: ...


# where Arrow has no types, the one above takes everything
@overload
def anonymize(  # type: ignore[overload-cannot-match]
    data: Any, policy: Policy, *, progress: Progress | None = None
) -> Release[Any]: ...


@typed
def anonymize(data: Any, policy: Policy, *, progress: Progress | None = None) -> Release[Any]:
    """Anonymize a table under a policy.

    Parameters
    ----------
    data : pandas, polars, pyarrow or Spark table
        One row per record. Its index and its row order do not matter. A Spark DataFrame is processed by Spark.
    policy : Policy
    progress : callable, optional
        Called with (share done, what is being done); may raise ``Cancelled``.

    Returns
    -------
    Release
        Verified: a release that violates a model is never returned. For a Spark DataFrame, its ``frame`` is one too.

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
    plan = _suited(policy, data).plan()
    _check_ready(plan)
    if is_spark_frame(data):
        return _on_spark(data, plan, progress)
    return run_plan(data, plan, progress)


def run_plan(data: Any, plan: Plan, progress: Progress | None = None) -> Release:
    """Run a resolved plan on this machine and log it. Trials call the engine directly, so they are not logged."""
    table, algorithm = to_arrow(data), plan.algorithm.name
    names = ", ".join(model.name for model in plan.models)
    _log.info(
        "Anonymizing %d rows with %s under %s", table.num_rows, algorithm, names,
        extra={"rows": table.num_rows, "algorithm": algorithm, "models": names},
    )  # fmt: skip
    release = local.run(table, plan, progress, source=data)
    made = release.verification
    _log.info(
        "%s: %d of %d records in %d classes; verified", algorithm, made.rows, table.num_rows, made.classes,
        extra={"released": made.rows, "records": table.num_rows, "classes": made.classes, "satisfied": made.ok},
    )  # fmt: skip
    return release


def _check_ready(plan: Plan) -> None:
    """Refuse a run whose treatments of columns lack an input, such as a key, before anything is read."""
    if plan.table.treated:
        from hushtable.treatments.treating import ready

        ready(plan.table)


def _suited(policy: Policy, data: Any) -> Policy:
    """Return the policy with a role for each column of a table, reading names only if some roles are open."""
    return policy if policy.rest is None else policy.for_columns(frame_names(data))


def _suited_to_files(policy: Policy, sources: list[Source]) -> Policy:
    if policy.rest is None:
        return policy

    files = table_sources(sources)
    return policy.for_columns(same_columns(files, [column_names(file) for file in files]))


def _on_spark(data: Any, plan: Plan, progress: Progress | None) -> Release:
    from hushtable.engines.spark.release import run_frame

    return run_frame(data, plan, progress)


@typed
def run(
    source: Any,
    policy: Policy | str | os.PathLike[str],
    target: str | os.PathLike[str] | None = None,
    *,
    engine: str = "auto",
    to: str | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
    master: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """Anonymize a table from any source, and write the release, all or nothing.

    Parameters
    ----------
    source : DataFrame, path or address, or several paths and addresses
        A table of pandas, polars, pyarrow or Spark; or files, folders, patterns, databases and stores that each contain
        some of its rows.
    policy : Policy or path
    target : path, optional
        Folder for the release; it is checked before the work starts. The private companion goes into the folder
        ``<target>.private`` next to it.
    engine : {"auto", "local", "stream", "spark"}
        In memory, from disk to disk, or on Spark. Defaults to the one that suits the table.
    to : str, optional
        Address of a database table, or of Parquet in a store, that also gets the published rows.
    overwrite : bool
        Whether to replace an earlier release in the target, and the target of ``to``.
    part_rows : int, optional
        Stream, and write the table as a folder with parts of this many rows.
    master : str, optional
        Spark master, for example ``local[2]``.
    progress : callable, optional
        Called with (share done, what is being done); may raise ``Cancelled``.

    Returns
    -------
    Release
        Verified, and written if there is a target.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ht.run(people, policy, pathlib.Path(folder, "release"))
    ...     sorted(file.name for file in pathlib.Path(folder, "release").iterdir())
    ['policy.yaml', 'release.csv', 'release.json']
    """
    chosen = load_policy(policy) if isinstance(policy, str | os.PathLike) else policy
    sources = _sources(source)
    chosen = _suited(chosen, source) if sources is None else _suited_to_files(chosen, sources)
    plan, format = chosen.plan(), chosen.output.format
    _check_ready(plan)
    if target is not None:
        check_target(Path(target), overwrite=overwrite, inputs=sources or ())
    elif to is not None:
        raise UsageError("A release with 'to' also needs a folder.", code="no-target", hint="Give 'target'.")
    if to is not None:
        from hushtable.release.addresses import check_address

        check_address(to, overwrite=overwrite, inputs=sources or ())
    if sources is None:
        _check_files_only(part_rows, master)
        return _written(_run_frame(source, plan, engine, progress), target, format, to, overwrite, progress)
    from hushtable.engines.choose import choose

    used = choose(engine, sources, plan, part_rows=part_rows)
    if master is not None and used != "spark":
        raise UsageError("A master needs the Spark engine.", code="master", hint="Choose the engine spark.")
    if used == "local":
        return _written(run_plan(read_tables(sources), plan, progress), target, format, to, overwrite, progress)
    if target is None:
        raise UsageError(
            f"The engine {used!r} writes its release into a folder.", code="no-target", hint="Give 'target'."
        )
    if used == "stream":
        from hushtable.engines.stream import run_files

        return run_files(
            sources, plan, target, format=format, part_rows=part_rows, to=to, overwrite=overwrite, progress=progress
        )
    plan.refuse_in("The Spark engine")
    if importlib.util.find_spec("pyspark") is None:
        raise UsageError(
            "The Spark engine needs pyspark, which is not installed.",
            code="no-spark",
            hint="Install it with: pip install 'hushtable[spark]'.",
        )
    from hushtable.engines.spark.files import run_on_spark

    run_on_spark(
        sources, plan, Path(target), format=format, master=master, to=to, overwrite=overwrite,
        progress=progress or quietly,
    )  # fmt: skip
    # the files that the policy names are where they were, not in the folder that was written
    return replace(_opened(Path(target), chosen, sources, None), plan=plan)


def _sources(source: Any) -> list[Source] | None:
    """Return the given paths and addresses; None if it is a table."""
    if isinstance(source, str | os.PathLike):
        return [source]
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return list(source)
    return None


def _check_files_only(part_rows: int | None, master: str | None) -> None:
    if part_rows is not None or master is not None:
        raise UsageError(
            "'part_rows' and 'master' apply only to tables in files.",
            code="engine",
            hint="Omit them, or pass files.",
        )


def _run_frame(source: Any, plan: Plan, engine: str, progress: Progress | None) -> Release:
    spark = is_spark_frame(source)
    if engine not in ("auto", "spark" if spark else "local"):
        raise UsageError(
            f"A {'Spark ' if spark else ''}DataFrame cannot be processed by the engine {engine!r}.",
            code="engine",
            hint="Omit the engine, or pass files.",
        )
    return _on_spark(source, plan, progress) if spark else run_plan(source, plan, progress)


def _written(
    release: Release, target: Any, format: str, to: str | None, overwrite: bool, progress: Progress | None
) -> Release:
    if target is None:
        return release
    on_spark = getattr(release.published, "outcome", None)  # the rows stay with the executors, which write them
    if on_spark is not None:
        from hushtable.engines.spark.write import save_parts

        save_parts(release, on_spark, target, format=format, overwrite=overwrite, to=to)
        return release
    (progress or quietly)(1.0, "writing")
    with ExitStack() as elsewhere:
        if to is not None:
            from hushtable.release.addresses import writing_release

            elsewhere.enter_context(writing_release(release, to, overwrite=overwrite))
        measured = release.measures()
        save_release(release, target, measured, format=format, overwrite=overwrite, together=elsewhere)
    return replace(release, origin=replace(release.made, measured=measured))


@typed
def open_release(
    folder: str | os.PathLike[str],
    original: Any = None,
    *,
    companion: str | os.PathLike[str] | None = None,
    files: str | os.PathLike[str] | None = None,
    population: Any = None,
    background: Any = None,
) -> Release | Any:
    """Open a saved release to verify, measure, assess, attack, explain or report it, without running it again.

    Parameters
    ----------
    folder : path
        Folder that ``Release.save``, ``hushtable.run`` or ``hushtable run`` wrote, with any engine.
    original : DataFrame, path or address, or several paths and addresses; optional
        Exactly the data that were released. Only the necessary columns are read. Without it, the published table, its
        verification and its measures are available. For linked tables: a mapping of names to tables, or the folder,
        files or database that they are in.
    companion : path, optional
        The private companion. Defaults to the folder ``<folder>.private`` next to it, if it exists.
    files : path, optional
        Base folder for files that the policy refers to. Defaults to the release's folder.
    population, background : DataFrame, optional
        The tables, if the policy got them in Python instead of from files.

    Returns
    -------
    Release or LinkedRelease
        The latter if the folder holds linked tables.

    Raises
    ------
    DataError
        If the folder does not hold a complete release, a file was changed, or the companion belongs to another release.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = ht.anonymize(people, policy).save(pathlib.Path(place, "release"))
    ...     release = ht.open_release(pathlib.Path(place, "release"), people)
    ...     release.measure("ncp"), release.risk("prosecutor").after.highest
    (0.333..., 0.5)
    """
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"{str(place)!r} is not a folder.", code="no-release", hint=folder_hint(place))
    load_evidence(place / "release.json")  # where there is none, there is no release
    if (place / "policy.yaml").is_file() and is_linked(place / "policy.yaml"):
        from hushtable.linked.release import open_linked

        _check_one_table({"companion": companion, "population": population, "background": background})
        return open_linked(place, original=original, files=files)
    given = {"population": population, "background": background}
    tables = {name: table for name, table in given.items() if table is not None}
    policy = load_policy(place / "policy.yaml").based_in(files or place).holding(tables)
    return _opened(place, policy, original, companion)


def _check_one_table(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name!r} is for releases of one table, and this one is of linked tables.",
                             code="linked", hint="Leave it out.")  # fmt: skip


def _opened(place: Path, policy: Policy, original: Any, companion: str | os.PathLike[str] | None) -> Release:
    from hushtable.engines.saved import Saved

    public = load_evidence(place / "release.json")
    table = table_file(place)
    if not table.exists():
        raise DataError(
            f"The published table {str(table)!r} does not exist.",
            code="no-release",
            hint="Give the folder that 'hushtable run' wrote, with everything in it.",
        )
    private = own_companion(place) if companion is None else Path(companion)
    # without permission to read it, the release is opened without it
    kept = None
    if companion is not None or os.access(private, os.R_OK | os.X_OK):
        kept = read_companion(private, place)
    plan = replace(policy.plan(read=original is not None), coins=stored_coins(place))
    sources = _sources(original)
    source = original if sources is None else Files(tuple(sources))
    linked = plan.table if plan.algorithm.recoding is Recoding.BUCKET else None
    written = Written(table, tuple(public.get("columns") or ()), linked)
    origin = Saved(written, plan, public, None if kept is None else private, kept, source)
    return Release(written, plan, origin, source, repeatable=not dict(public.get("notes") or {}).get("increment"))


@typed
def increment(data: Any, policy: Policy, earlier: Release, *, progress: Progress | None = None) -> Release:
    """Publish a new batch of records as an addition to an earlier release of other people.

    New records join published classes if there are enough of them, and form new classes otherwise. Both the batch on
    its own and the old and new records together satisfy the models. After several batches, all of them together
    satisfy models of single classes (k-anonymity, l-diversity); for models that compare with the whole table
    (t-closeness), each batch is only checked together with the release that it is given.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
        Only the new records.
    policy : Policy
        With the columns of the earlier release.
    earlier : Release
        With its original: made in this process, or opened with it.
    progress : callable, optional

    Returns
    -------
    Release
        Of the new records only; its notes say how many joined.

    Raises
    ------
    Infeasible, NotFound
        If the batch is too small on its own: keep it for the next one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> def people(ages):
    ...     return pa.table({"age": ages, "disease": ["flu", "gout"] * (len(ages) // 2)})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> first = ht.anonymize(people([20, 24, 50, 58]), policy)
    >>> ht.increment(people([21, 23, 70, 71]), policy, first).frame["age"].to_pylist()
    ['< 50', '< 50', '>= 50', '>= 50']
    """
    from hushtable.engines.increment import increment as publish_beside

    return publish_beside(to_arrow(data), _suited(policy, data).plan().pinned(), earlier, progress, source=data)


@typed
def verify(
    published: Any,
    policy: Policy,
    evidence: str | Path | None = None,
    companion: str | Path | None = None,
    original: Any = None,
) -> Verification:
    """Verify a published table from its cells, the policy and, if a model needs it, the private companion.

    Parameters
    ----------
    published : path, address or table
        The published file or its folder, the address of a table in a database or a store, or a DataFrame. If
        sensitive values are published separately (anatomy), they are read from the file ``...-sensitive`` next to it,
        or from the table ``..._sensitive``.
    policy : Policy
    evidence : path, optional
        ``release.json``. Defaults to the one next to the published file, if there is one.
    companion : path, optional
        The folder of the private companion. Defaults to ``<release folder>.private`` next to the release folder, if
        there is one. Its keyed hashes must match.
    original : DataFrame, path or address, or several paths and addresses; optional
        Exactly the data that were released, for models that depend on which person each value belongs to.

    Returns
    -------
    Verification
        ``ok`` says whether every model holds.
    """
    from hushtable.release.addresses import read_address
    from hushtable.release.files import check_patterns
    from hushtable.release.published import verify_published

    algorithm = policy.build_algorithm()
    linked = policy.table_plan() if algorithm.recoding is Recoding.BUCKET else None
    rules = False
    given = Path(evidence) if evidence else None
    folder = given.parent if given else None
    addressed = isinstance(published, str) and is_url(published) and not published.lower().startswith("file:")
    if original is not None and (addressed or not isinstance(published, str | Path)):
        raise UsageError(
            "With the original, a release can only be verified from its folder.",
            code="not-a-file",
            hint="Verify the table in the folder that 'run' wrote.",
        )
    if addressed:
        table = read_address(published, linked)
    elif isinstance(published, str | Path):
        path = Url.of(published).path if isinstance(published, str) and is_url(published) else Path(published)
        whole, path = path, table_file(path)
        table, folder = read_published(path, linked), path.parent
        if whole != path:
            check_nothing_else(whole, files_of(path, algorithm.recoding))
            rules = algorithm.recoding is Recoding.PATTERN
    else:
        table = to_arrow(published)
    given_policy, policy = policy, policy.for_columns(table.column_names)
    plan = policy.table_plan()
    found: dict[str, Any] | None = None
    if given or (folder is not None and (folder / "release.json").exists()):
        found = load_evidence(given or Path(folder or "") / "release.json")
    # without permission to read it, verification does without it
    if companion is None and folder is not None and os.access(own_companion(folder), os.R_OK | os.X_OK):
        companion = own_companion(folder)
    if companion is not None:
        if folder is None:
            raise UsageError(
                "Checking a companion needs the files of its release.", code="companion", hint="Give release.json too."
            )
        found = read_companion(Path(companion), folder, given)
        own = load_policy(folder / "policy.yaml")
        _check_columns_alike(given_policy.for_columns(own.columns), own)
    if original is not None and folder is not None:
        checked = _opened(folder, policy, original, companion).verification
    else:
        checked = verify_published(
            table, plan, policy.model(), found, recoding=algorithm.recoding, suppression=policy.suppression
        )
    if rules:
        check_patterns(path.with_name("patterns.csv"), table, checked.labels, plan, algorithm.apart)
    return checked


_ALIKE = ("columns", "missing", "missing_values", "entity", "population", "background")


def _check_columns_alike(policy: Policy, own: Policy) -> None:
    """Refuse a policy that interprets values differently from the one that the companion was written under."""
    one, other = policy.document(), own.document()
    differing = [name for name in _ALIKE if one.get(name) != other.get(name)]
    if differing:
        raise UsageError(
            f"The policy differs in {differing[0]!r} from the policy of the release, so the private companion does "
            "not match it.",
            code="other-policy",
            hint="Verify with the policy.yaml of the release, or move the companion away.",
        )
