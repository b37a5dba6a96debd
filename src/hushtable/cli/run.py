"""``hushtable run``."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.cli.options import AsJson, Data, Folder, PolicyFile, Query, Seed, SqlTable

if TYPE_CHECKING:
    from rich.console import Console

    from hushtable.engines.stream import Streamed
    from hushtable.release.release import Release

__all__ = ["Engine", "Format", "run"]


class Format(StrEnum):
    """File formats of a release."""

    CSV = "csv"
    PARQUET = "parquet"


class Engine(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    SPARK = "spark"


def run(
    policy_file: PolicyFile,
    data: Data,
    output: Folder = Path("release"),
    file_format: Annotated[
        Format | None, typer.Option("--format", help="csv or parquet, instead of the policy's.", show_default=False)
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="Publish the table here too: a table of a database, or Parquet in a store.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier release in that folder, and what --to names.")
    ] = False,
    table: SqlTable = None,
    query: Query = None,
    seed: Seed = None,
    engine: Annotated[Engine, typer.Option("--engine", help="local, or spark for tables in Parquet or CSV.")] = (
        Engine.LOCAL
    ),
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="URL", help="Spark's master, for example local[2].", show_default=False),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Do not hold the table in memory. Left out: from 50 million cells, or 256 MiB of text.",
            show_default=False,
        ),
    ] = None,
    part_rows: Annotated[
        int | None,
        typer.Option(
            "--part-rows",
            metavar="N",
            min=1,
            help="Stream, and write the table as a folder with parts of N rows.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Anonymize a table, verify the result and write it.

    The folder gets the published table, the policy and release.json, all or nothing. Ctrl-C leaves nothing behind.
    With --to, a database gets the table in the same transaction.
    """
    from hushtable.api import anonymize
    from hushtable.cli.output import deliver, put
    from hushtable.cli.progress import announce_compiling, progress_bar
    from hushtable.cli.signals import nearly_done
    from hushtable.cli.spark import spark_table
    from hushtable.cli.streaming import streams
    from hushtable.cli.summary import print_summary
    from hushtable.cli.tables import read_tables
    from hushtable.cli.targets import check_target
    from hushtable.engines.stream import run_files
    from hushtable.errors import UsageError
    from hushtable.io.urls import shown, source_of
    from hushtable.policy.files import load_policy
    from hushtable.release.places import check_address, writing_release

    policy = load_policy(policy_file)
    if seed is not None:
        policy = policy.changed(seed=seed)
    wanted = file_format.value if file_format else policy.output.format
    if wanted != policy.output.format:
        policy = policy.changed(output={"format": wanted})
    check_target(output, overwrite=overwrite)
    sources = [source_of(source, table=table, query=query) for source in data]
    if address is not None:
        check_address(address, overwrite=overwrite, inputs=sources)
    if engine is not Engine.SPARK and master is not None:
        raise UsageError("--master is Spark's.", code="master", hint="Add --engine spark.")
    streaming = streams(sources, policy, asked=stream, part_rows=part_rows, spark=engine is Engine.SPARK)
    announce_compiling()
    release: Release | Streamed
    with progress_bar() as progress, ExitStack() as session:
        if streaming:
            release = run_files(
                sources,
                policy.plan(),
                output,
                format=wanted,
                part_rows=part_rows,
                to=address,
                overwrite=overwrite,
                progress=progress,
            )
        else:
            if engine is Engine.SPARK:
                source = session.enter_context(spark_table(data, master, elsewhere=address or table or query))
            else:
                source = read_tables(sources)
            release = made = anonymize(source, policy, progress=progress)
            progress(1.0, "writing")
            elsewhere = writing_release(made, address, overwrite=overwrite) if address else nullcontext()
            with elsewhere:
                made.save(output, format=wanted, overwrite=overwrite)
    nearly_done()
    summary = release.summary()
    files = {
        "table": output / f"release.{wanted}",
        "sensitive": output / f"release-sensitive.{wanted}",
        "patterns": output / "patterns.csv",
        "policy": output / "policy.yaml",
        "evidence": output / "release.json",
    }
    # sensitive values and patterns are files of their own for some algorithms only
    files = {kind: path for kind, path in files.items() if path.exists()}

    def text(to: Console) -> None:
        print_summary(to, summary)
        put(to, f"Verified from the published cells and written to {output}:")
        for kind, meaning in (
            ("table", "the table to publish"),
            ("sensitive", "the sensitive values to publish beside it, by group"),
            ("patterns", "its patterns, each once, with their records"),
            ("policy", "the policy it was made under"),
            ("evidence", "what verifying it later needs; no record's values"),
        ):
            if kind in files:
                put(to, f"  {files[kind].name:<16} {meaning}", wrap=False)
        if address is not None:
            put(to, f"Published at {shown(address)}.")

    published = {} if address is None else {"published": shown(address)}
    deliver({**summary, "files": files, **published}, as_json, text)
