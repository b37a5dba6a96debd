"""Compare: every setting of a grid on one table, in parallel, resuming an earlier run."""

from __future__ import annotations

import inspect
import json
import logging
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable._version import __version__
from hushtable.comparison.evaluate import Row, SettingTask, Wanted, evaluate, failed, is_row
from hushtable.comparison.outcomes import Outcomes, spelt
from hushtable.comparison.spec import Grid, Setting
from hushtable.errors import DataError, OutputError, ParameterError, UsageError, did_you_mean
from hushtable.io.frames import to_arrow
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.io.urls import is_url
from hushtable.params import typed
from hushtable.policy.files import policy_files
from hushtable.policy.policy import Policy
from hushtable.registry import algorithms, measures, models

_log = logging.getLogger(__package__)

_UNUSABLE = "unusable"

Report = Callable[[int, int], None]
"""Called often with (settings finished, settings in total); may raise ``Cancelled``."""


@typed
def compare(
    data: Any,
    policy: Policy,
    grid: Grid | Mapping[str, Any],
    *,
    wanted: Wanted | None = None,
    privacy: str = "prosecutor",
    utility: str = "ncp",
    results: str | Path | None = None,
    jobs: int = 1,
    progress: Report | None = None,
) -> Outcomes:
    """Anonymize a table under many settings, and measure what each protects and what it costs.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
    policy : Policy
        The base: columns, hierarchies and everything that the grid does not vary.
    grid : Grid or mapping
        ``algorithms``, ``models``, ``suppression``, ``cells``; see ``Grid``.
    wanted : Wanted, optional
        What to measure in addition to the measures of every summary.
    privacy, utility : str
        The two quantities of the frontier.
    results : path, optional
        A file that keeps every finished setting, so that an interrupted comparison can resume. Keyed by the table, the
        setting, the measures and the version; other results are ignored.
    jobs : int
        Number of processes. A script with several needs the usual ``if __name__ == "__main__":``. With classes from
        ``hushtable.register``, or hierarchies that are functions, there is one process, since others do not know them.
    progress : callable, optional

    Returns
    -------
    Outcomes
        The same rows in the same order, regardless of jobs and interruptions; only ``seconds`` differ.

    Raises
    ------
    UsageError If no setting can be used, with the reason for the first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 52, 53, 70, 71, 72, 73], "pay": [1, 2, 3, 4, 5, 6, 7, 8]})
    >>> base = Policy(quasi=["age"], sensitive=["pay"], models=[{"k-anonymity": {"k": 2}}])
    >>> found = compare(people, base, {"models": [{"k-anonymity": {"k": [2, 4, 9]}}]})
    >>> [(row["models"], row["status"], row["values"].get("prosecutor")) for row in found.rows]
    [('k-anonymity k=2', 'ok', 0.5), ('k-anonymity k=4', 'ok', 0.25), ('k-anonymity k=9', 'infeasible', None)]
    """
    if jobs < 1:
        raise ParameterError(f"The number of jobs must be an int >= 1. Got {jobs!r} instead.")
    table = to_arrow(data)
    policy = policy.for_columns(table.column_names)
    wanted = (wanted or Wanted.of()).including(spelt(privacy), spelt(utility))
    settings = _grid(grid).settings(policy)
    kept = Results(None if results is None else Path(results))
    keys = _keys(table, policy, settings, wanted) if results is not None else [str(i) for i in range(len(settings))]
    rows: dict[int, Row] = {}
    for place, (setting, key) in enumerate(zip(settings, keys, strict=True)):
        row = kept.get(key) if setting.refusal is None else failed(setting.refusal)
        if row is not None:
            rows[place] = row
    reused = sum(kept.get(key) is not None for key in keys)

    def tick() -> None:
        if progress is not None:
            progress(len(rows), len(settings))

    tasks = [
        SettingTask(place, setting.policy.document(), policy.base_dir, wanted, dict(policy.tables))
        for place, setting in enumerate(settings)
        if place not in rows and setting.policy is not None
    ]
    several = 1 if _only_here(policy) else min(jobs, len(tasks))
    kept.check_writable()
    work = in_parallel(table, tasks, several, tick) if several > 1 else in_turn(table, tasks, tick)
    # always closed, so that no process continues after an error
    with closing(work) as finished:
        for place, row in finished:
            rows[place] = row
            _log.info("Setting %d of %d: %s", len(rows), len(settings), row["status"],
                      extra={"finished": len(rows), "settings": len(settings), "status": row["status"]})  # fmt: skip
            if row["status"] != _UNUSABLE:
                kept.add(keys[place], row)
            tick()
    _check_usable(rows)
    ordered = tuple(_whole(setting, rows[place]) for place, setting in enumerate(settings))
    found = Outcomes(ordered, privacy, utility, policy.base_dir, reused)
    if found.quantities:
        # a misspelled name is reported now, not when the chart is drawn
        found.quantity(privacy), found.quantity(utility)
    return found


def _grid(given: Grid | Mapping[str, Any]) -> Grid:
    if isinstance(given, Grid):
        return given
    known = list(inspect.signature(Grid.of).parameters)
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ParameterError(
            f"A grid can vary {', '.join(known)}, but not {str(unknown[0])!r}.",
            hint=close
            if (close := did_you_mean(str(unknown[0]), known)).startswith("Did")
            else "Write, for example, {'models': [{'k-anonymity': {'k': [5, 10]}}]}.",
        )
    return Grid.of(**given)


def _only_here(policy: Policy) -> bool:
    """Whether other processes lack something: classes that this one registered, or functions as hierarchies."""
    functions = any(isinstance(c.hierarchy, Mapping) and "function" in c.hierarchy for c in policy.columns.values())
    return functions or bool(models.added or algorithms.added or measures.added)


def _keys(table: Any, policy: Policy, settings: list[Setting], wanted: Wanted) -> list[str]:
    secret = load_secret()
    key = input_key(table, policy, secret)
    return ["" if s.policy is None else setting_key(key, s.policy, wanted, secret) for s in settings]


def _check_usable(rows: Mapping[int, Row]) -> None:
    """Raise a fault of the table or the policy that affects every setting: an error, not a table of errors."""
    unusable = [row["reason"] for row in rows.values() if row["status"] == _UNUSABLE]
    if unusable and all(row["status"] in (_UNUSABLE, "refused") for row in rows.values()):
        raise UsageError(unusable[0], code="unusable")


def _whole(setting: Setting, row: Row) -> dict[str, Any]:
    return {
        "algorithm": setting.algorithm,
        "models": setting.models,
        "suppression limit": float(setting.changes["suppression"]),
        "cells": str(setting.changes["cells"]),
        **row,
        "policy": None if setting.policy is None else setting.policy.document(),
    }


# What a stored result belongs to: keyed hashes of the table, the files of the policy, the setting and the version.


def input_key(table: pa.Table, base: Policy, secret: bytes) -> str:
    """Return the keyed hash of the table and of every file that the policy names, including its ledger.

    Examples
    --------
    >>> policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 5}}])
    >>> one, other = pa.table({"age": [1, 2]}), pa.table({"age": [1, 3]})
    >>> input_key(one, policy, b"x") == input_key(one, policy, b"x"), input_key(one, policy, b"x") == input_key(
    ...     other, policy, b"x")
    (True, False)
    """
    document = base.document()
    files = [_content(base.base_dir, name) for name in policy_files(document)]
    if document.get("ledger"):
        # what was released before decides what may be; before the first release there is no file
        ledger = (base.base_dir or Path()) / document["ledger"]["file"]
        files.append(_content(None, str(ledger)) if ledger.exists() else b"")
    return keyed_hash((*_bytes(table), *files), secret, "comparison input")


def setting_key(table_key: str, policy: Policy, wanted: Wanted, secret: bytes) -> str:
    """Return the key of one result: the table, the setting's policy, the measures, and hushtable's version."""
    measured = json.dumps(wanted.as_data(), sort_keys=True)
    parts = (table_key, policy.digest(), measured, __version__)
    return keyed_hash((part.encode() for part in parts), secret, "comparison setting")


def _bytes(table: pa.Table) -> Iterator[bytes]:
    """Yield the table column by column, independent of its chunks."""
    for name in sorted(table.column_names):
        column = table.column(name).combine_chunks()
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        sink = pa.BufferOutputStream()
        batch = pa.record_batch([array], names=[name])
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def _content(folder: Path | None, name: str) -> bytes:
    if is_url(name):
        return secrets.token_bytes(32)  # it may have changed since
    path = Path(name) if folder is None else folder / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"The file {str(path)!r} that the policy names cannot be read: {error.strerror}.", code="no-file"
        ) from None


# Settings in parallel: processes that each hold the table and take one setting after the other.
#
# Processes are started afresh (spawn): a fork would copy threads and locks of libraries in an unknown state. Each works
# on one core. They ignore Ctrl-C, which is for the parent to answer, and end when the parent is gone, however it went.


# every library that would start as many threads as there are cores
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
_PATIENCE = 0.2
_held: list[pa.Table] = []

Tick = Callable[[], None]
"""Called often while waiting; raises to stop."""


def in_turn(data: pa.Table, tasks: Sequence[SettingTask], tick: Tick) -> Generator[tuple[int, Row], None, None]:
    """Yield the position and row of every task, one after the other, in this process."""
    for task in tasks:
        tick()
        yield task.place, evaluate(data, task, lambda share, what: tick())


def in_parallel(
    data: pa.Table, tasks: Sequence[SettingTask], jobs: int, tick: Tick
) -> Generator[tuple[int, Row], None, None]:
    """Yield the position and row of every task as it finishes, from this many processes.

    Raises
    ------
    UsageError
        If a process died; finished rows have been yielded before.
    """
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    with _single_threaded():
        executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare, initargs=(data,))
        waiting: set[Future[tuple[int, Row]]] = set()
        try:
            waiting = {executor.submit(_work, task) for task in tasks}
            while waiting:
                tick()
                done, waiting = wait(waiting, timeout=_PATIENCE, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            raise UsageError(
                "A process of the comparison was killed, perhaps because memory ran out.",
                code="worker",
                hint="Use fewer jobs. Finished settings are kept; run the same command again to resume.",
            ) from None
        finally:
            if any(not future.done() for future in waiting):
                for process in set(multiprocessing.active_children()) - before:
                    process.terminate()
            executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that are started inside the block use one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _prepare(data: pa.Table) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    # each process would announce that it compiles
    logging.getLogger("hushtable").setLevel(logging.ERROR)
    _held.append(data)


def _end_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _work(task: SettingTask) -> tuple[int, Row]:
    return task.place, evaluate(_held[0], task)


# Finished settings on disk, one line each, so that an interrupted comparison can resume.
#
# A line is written in one piece and flushed to the disk when its setting is finished. Remains of an unfinished line
# after a power cut or a kill are skipped when reading. Lines contain settings and numbers, no value of a record.


_FORMAT = 1


class Results:
    """The results file; without a path, results are only kept in memory.

    Parameters
    ----------
    path : Path, optional

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     row = {"status": "ok", "reason": "", "values": {"ncp": 0.5}, "seconds": 1.0}
    ...     Results(Path(folder, "results.jsonl")).add("a1", row)
    ...     Results(Path(folder, "results.jsonl")).get("a1") == row
    True
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._rows: dict[str, Row] = {}
        if path is not None and path.exists():
            self._read(path)

    def check_writable(self) -> None:
        """Refuse a file that cannot be written, before any work is done.

        Raises
        ------
        OutputError
        """
        if self.path is not None:
            self._append("")

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: str) -> Row | None:
        """Return the stored row, or None."""
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Store a row, on the disk first; the first row of a key is kept.

        Raises
        ------
        OutputError
        """
        if key in self._rows:
            return
        if self.path is not None:
            self._append(json.dumps({"format": _FORMAT, "key": key, "row": row}, allow_nan=False))
        self._rows[key] = row

    def _read(self, path: Path) -> None:
        try:
            text = path.read_bytes()
        except OSError as error:
            raise DataError(f"The results {str(path)!r} cannot be read: {error.strerror}.", code="results") from None
        for line in text.split(b"\n"):
            entry = _entry(line)
            if entry is not None:
                self._rows.setdefault(entry["key"], entry["row"])
        if text.strip() and not self._rows and not text.lstrip().startswith(b'{"format"'):
            raise DataError(
                f"{str(path)!r} is not a results file of hushtable.",
                code="results",
                hint="Choose another folder, or move the file away.",
            )

    def _append(self, line: str) -> None:
        assert self.path is not None
        try:
            with self.path.open("ab+") as stream:
                torn = b""
                if stream.seek(0, os.SEEK_END):
                    stream.seek(-1, os.SEEK_END)
                    torn = b"" if stream.read(1) == b"\n" else b"\n"
                if line:
                    stream.write(torn + line.encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"{str(self.path)!r} cannot be written: {os.strerror(error.errno or 0)}.") from None


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line; None for the remains of an unfinished one."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(entry, dict) and entry.get("format") == _FORMAT and is_row(entry.get("row"))
    return entry if whole and isinstance(entry.get("key"), str) else None
