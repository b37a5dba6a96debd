"""The Spark session of the command line, and the tables it reads."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from hushtable.engines.spark.jobs import if_there, spark_errors
from hushtable.errors import DataError, UsageError
from hushtable.io.partitions import PartitionFile
from hushtable.io.sniff import read_head
from hushtable.io.sources import same_columns, table_files
from hushtable.io.urls import DELTA, Url, redacted

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which has its own settings."""

_LOG = "HUSHTABLE_SPARK_LOG"
"""Environment variable: log level of the command line's own session, such as ``ERROR``, for the terminal."""

_LEVELS = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG")

_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
"""What Spark writes into the footer of a Parquet file: its own schema, with collations and other metadata."""

_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}
_LOCAL = {
    # a local driver need not be reachable
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "16",
}


@contextmanager
def spark_session(master: str | None) -> Iterator[SparkSession]:
    """Start a session, or use that of spark-submit; a session started here ends with the block.

    Parameters
    ----------
    master : str, optional
        ``local[2]``, ``spark://host:7077``, ``yarn``, ... Defaults to that of spark-submit, or else all local cores.

    Raises
    ------
    UsageError
        If there is no Java, or Spark does not start.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise UsageError(
            "The Spark engine needs Java 17 or later, which is not installed.",
            code="no-java",
            hint="Install a JDK, or use the local engine.",
        )
    session = _start(master)
    try:
        yield session
    finally:
        with if_there():
            session.stop()


def _start(master: str | None) -> SparkSession:
    level = os.environ.get(_LOG, "OFF").upper()
    if level not in _LEVELS:
        raise UsageError(f"{_LOG} must be one of {', '.join(_LEVELS)}.", code="log-level", hint="Correct or unset it.")
    builder = SparkSession.builder.appName("hushtable")
    if not os.environ.get(_SUBMITTED):
        wanted = master or "local[*]"
        settings: dict[str, bool | float | int | str | None] = {
            **_SETTINGS,
            **(_LOCAL if wanted.startswith("local") else {}),
        }
        builder = builder.master(wanted).config(map=settings)
        if wanted.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    elif master is not None:
        builder = builder.master(master)
    try:
        with warnings.catch_warnings():
            # pyspark warns about pandas 3, which this engine does not use
            warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
            session = builder.getOrCreate()
        if not os.environ.get(_SUBMITTED):
            # Spark's messages about failed tasks may quote rows; for submitted jobs, the user configured the log
            session.sparkContext.setLogLevel(level)
        return session
    except Exception as error:
        if not isinstance(error, PySparkException) and not type(error).__module__.startswith("py4j"):
            raise
    raise UsageError(
        f"Spark does not start{'' if master is None else f' with --master {master}'}.",
        code="no-spark",
        hint="Check the master and the Java version (17 or later); see Spark's own log.",
    )


def read_frame(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read a table from Parquet or CSV files, folders of them, patterns, or addresses that Spark supports.

    CSV is read as by the other engines: as text, with a header and a detected delimiter.

    Raises
    ------
    DataError
        If files have another format, do not have the same columns, or cannot be read.
    """
    alike: dict[tuple[str, str, tuple[str, ...], str], list[str]] = {}
    paths = [os.fspath(Url.of(path).path) if path.startswith(f"{DELTA}://") else path for path in paths]
    for path in paths:
        if "://" in path:
            alike.setdefault((_kind(path), ",", (), ""), []).append(path)
    files = table_files([path for path in paths if "://" not in path])
    for file in files:
        kind = _kind(str(file))
        # folders named column=value below this one are columns
        base = to_write(Path(file.base)) if isinstance(file, PartitionFile) else ""
        how: tuple[str, str, tuple[str, ...], str] = (kind, ",", (), base)
        if kind != "parquet":
            head = read_head(file, "\t" if kind == "tsv" else None)
            how = (kind, head.delimiter, head.names, base)
        # files with other delimiters, or columns in another order, are read separately
        alike.setdefault(how, []).append(to_read(file))
    own = _declared(parquet_files(paths))
    frames = [_read(spark, addresses, own, *how) for how, addresses in alike.items()]
    same_columns([Path(addresses[0]) for addresses in alike.values()], [frame.columns for frame in frames])
    with spark_errors("reading the table"):
        whole = reduce(lambda one, other: one.unionByName(other), frames)
        for name, texts in _misread(files).items():
            whole = whole.replace(texts, subset=[name])
        return whole


def parquet_files(paths: Sequence[str]) -> list[str]:
    """Return the files that ``read_frame`` reads; none if they are not all Parquet files of this machine's folders."""
    if any("://" in path for path in paths):
        return []
    files = table_files(paths)
    plain = all(_kind(str(file)) == "parquet" and not isinstance(file, PartitionFile) for file in files)
    return [os.path.abspath(file) for file in files] if plain else []


def _declared(files: Sequence[str]) -> StructType | None:
    """Return the schema that Spark would infer from Parquet files in a job of its own; None if it might differ."""
    found: pa.Schema | None = None
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (OSError, pa.ArrowException):
            return None  # Spark says what is wrong with it
        if _SPARK_SCHEMA in (schema.metadata or {}):
            return None
        plain = pa.schema([pa.field(field.name, stored_type(field.type)) for field in schema])
        if not all(reads_alike(type_) for type_ in plain.types) or found not in (None, plain):
            return None
        found = plain
    return None if found is None else from_arrow_schema(found)


def stored_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, which Arrow may store as a dictionary or with long offsets."""
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return pa.string() if pa.types.is_large_string(type_) else type_


def reads_alike(type_: pa.DataType) -> bool:
    """Whether Spark and Arrow read the same values of this type from every Parquet file."""
    numbers = pa.types.is_signed_integer(type_) or pa.types.is_float32(type_) or pa.types.is_float64(type_)
    return bool(numbers or pa.types.is_string(type_) or pa.types.is_boolean(type_))


def _misread(files: Sequence[Path]) -> dict[str, dict[Any, Any]]:
    """By column, how Spark misreads folder names in UTF-8, and the correct values.

    Spark decodes every percent-encoded byte as one character.
    """
    found: dict[str, dict[Any, Any]] = {}
    for file in (file for file in files if isinstance(file, PartitionFile)):
        for part in file.parts:
            name, _, value = part.partition("=")
            if unquote(name) in file.values and (text := unquote(value, "latin-1")) != unquote(value):
                found.setdefault(unquote(name), {})[text] = unquote(value)
    return found


@contextmanager
def _folders_as_text(spark: SparkSession) -> Iterator[None]:
    """Read the values of folders named column=value as text, like the other engines, without type inference."""
    before = spark.conf.get(_INFERENCE, "true")
    spark.conf.set(_INFERENCE, "false")
    try:
        yield
    finally:
        spark.conf.set(_INFERENCE, before or "true")


def _kind(path: str) -> str:
    name = path.lower().rstrip("/").removesuffix(".gz")
    if "://" in path and "." not in name.rpartition("/")[2]:
        return "parquet"  # a folder of a store: Spark's default format
    for ending, kind in (
        (".parquet", "parquet"),
        (".pq", "parquet"),
        (".csv", "csv"),
        (".txt", "csv"),
        (".tsv", "tsv"),
    ):
        if name.endswith(ending):
            return kind
    raise DataError(
        f"The Spark engine reads Parquet and CSV, but {path!r} has another suffix.",
        code="unknown-format",
        hint="Convert it, or use the local engine.",
    )


def _check_plain(spark: SparkSession, address: str) -> None:
    """Refuse a Delta table in a store: read as plain Parquet, it would include deleted rows.

    For one in a local folder, its log selects the files.
    """
    if address.startswith("file:") or glob.has_magic(address):
        return
    with spark_errors("looking for the table"):
        hadoop = spark._jvm.org.apache.hadoop.fs.Path(address.rstrip("/") + "/_delta_log")  # type: ignore[union-attr]
        found = hadoop.getFileSystem(spark._jsc.hadoopConfiguration()).exists(hadoop)
    if found:
        raise DataError(
            f"{redacted(address)!r} is a Delta table in a store.",
            code="lake",
            hint="Read it with Delta's own Spark reader, and give hushtable.run the DataFrame.",
        )


def _read(
    spark: SparkSession,
    addresses: Sequence[str],
    own: StructType | None,
    kind: str,
    delimiter: str,
    names: Sequence[str],
    base: str,
) -> DataFrame:
    for address in addresses:
        _check_plain(spark, address)
    with spark_errors("reading the table"), _folders_as_text(spark):
        reader = spark.read.option("basePath", base) if base else spark.read
        if kind == "parquet":
            return (reader if own is None else reader.schema(own)).parquet(*addresses)
        reader = reader.options(
            header=True, sep="\t" if kind == "tsv" else delimiter, quote='"', escape='"', multiLine=True,
            mode="FAILFAST", enforceSchema=True, columnPruning=False, maxCharsPerColumn=-1,
        )  # fmt: skip
        if names:
            reader = reader.schema(StructType([StructField(name, StringType()) for name in names]))
        return reader.csv(list(addresses))


_PATTERN = re.compile(r"([\\*?\[\]{}])")


def to_write(path: Path) -> str:
    """Return the address of a file or folder for Spark to write.

    Examples
    --------
    >>> to_write(Path("/srv/my data[1]"))
    'file:///srv/my data[1]'
    """
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    r"""Return the address of a file or folder for Spark to read, with pattern characters escaped.

    Examples
    --------
    >>> print(to_read(Path("/srv/my data[1]")))
    file:///srv/my data\[1\]
    """
    return _PATTERN.sub(r"\\\1", to_write(path))
