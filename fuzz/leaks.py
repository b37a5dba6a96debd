"""Canaries: every command, with every output, ending well and badly; no cell is where the release does not publish it.

    python -m fuzz.leaks [--only WORD] [--spark] [--seconds 1200]

Names, notes, towns and postcodes (see ``fuzz.canaries``) may be nowhere. Insensitive values may be in the published
table alone, sensitive ones there and in ``companion.json``, which is not handed over. Looked at are stdout, stderr
and every file below the working, home and temporary folders. Exits 1 where a word is anywhere else.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.canaries import Search, words_in
from fuzz.canary_inputs import prepare, tampered
from fuzz.workbench import Bench

__all__ = ["CALLS", "SPARK", "Call", "audit"]

# where sensitive and insensitive words may be
_PUBLISHED = re.compile(r"(release|release-sensitive|patterns|part-\d+)\.(csv|parquet)|out\.(db|duckdb)")
_NAMED = re.compile(r"companion\.json")
_DEBUG = (("HUSHTABLE_DEBUG", "1"),)


@dataclass(frozen=True)
class Call:
    """A call of the command line.

    Attributes
    ----------
    arguments : str
        Separated by spaces.
    ends : tuple of int
        Exit codes that are right.
    labels : bool
        Whether the user asked to see values of the published table.
    env : tuple of (str, str)
    interrupt : int
        A signal to send after half a second.
    """

    arguments: str
    ends: tuple[int, ...] = (0,)
    labels: bool = False
    env: tuple[tuple[str, str], ...] = ()
    interrupt: int = 0


def _failing(*arguments: str, ends: tuple[int, ...] = (2,)) -> list[Call]:
    """A call that fails, told in every way."""

    ways: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (("", ()), (" --json", ()), ("", _DEBUG))
    return [Call(f"{text}{more}", ends, env=env) for text in arguments for more, env in ways]


_RUN = "run policy.yaml --data people.csv --overwrite"
CALLS: list[Call] = [
    Call("init people.csv --output starter.yaml --force"),
    Call("init people.parquet --output starter.yaml --force --json"),
    Call("check policy.yaml --data people.csv"),
    Call("check policy.yaml --data people.csv --json"),
    Call(_RUN),
    Call(f"{_RUN} --json"),
    Call(f"{_RUN} --format parquet --output parquet"),
    Call("run policy.yaml --data people.parquet --stream --output streamed"),
    Call("run policy.yaml --data people.parquet --part-rows 50 --output parts --format parquet"),
    Call("run policy.yaml --data people.csv --output sql --to sqlite:///out.db?table=people"),
    Call("run policy.yaml --data people.csv --output duck --to duckdb:///out.duckdb?table=people"),
    Call("run policy.yaml --data sqlite:///in.db?table=people --output from_sql"),
    Call("run anatomy.yaml --data people.csv --output anatomy"),
    Call("run optimal.yaml --data people.csv --output optimal"),
    Call("run guarded.yaml --data people.csv --output guarded"),
    Call("verify release/release.csv --policy release/policy.yaml"),
    Call("verify release/release.csv --policy release/policy.yaml --json"),
    Call("explore optimal.yaml --data people.csv --top 3"),
    Call("explore optimal.yaml --data people.csv --top 3 --json"),
    Call("compare policy.yaml --data people.csv --algorithms mondrian,datafly --k 2,4,500 --jobs 1 --fresh"),
    Call("compare policy.yaml --data people.csv --algorithms mondrian --k 2 --jobs 1 --json"),
    Call("suggest comparison --force"),
    Call("suggest comparison --force --json"),
    *(
        Call(f"{command}{more}")
        for command in (
            "measure release --data people.csv --files .",
            "risk release --data people.csv --files .",
            "risk people.csv --policy policy.yaml",
            "attack release --data people.csv --files .",
            "attack release --data people.csv --files . --external others.csv --control others.csv",
            "attack release --data people.csv --files . --external bad/town.csv",
            "explain release 0 1 239 --data people.csv --files .",
            "price guarded --data people.csv --files .",
        )
        for more in ("", " --json")
    ),
    *(
        Call(f"report release --data people.csv --files . --template {name} --output {name}.html --overwrite")
        for name in ("general", "wp216", "ema", "nist-800-188")
    ),
    Call("report release --data people.csv --files . --labels --output labels.html --overwrite", labels=True),
    Call("report release --data people.csv --files . --no-attacks --output plain.html --overwrite --json"),
    Call("ledger add release --ledger ledger --data people.csv --person name --files ."),
    Call("ledger check release --ledger ledger --data people.csv --person name --files . --json"),
    Call("ledger list --ledger ledger --json"),
    Call("increment release --data others.csv --earlier people.csv --files .", (0, 1, 3)),
    # what fails, for each kind of reason
    *_failing(
        "run nowhere.yaml --data people.csv",
        "run policy.yaml --data nowhere.csv",
        *(
            f"run policy.yaml --data bad/{name} --output bad_out"
            for name in (
                "ragged.csv",
                "latin.csv",
                "quote.csv",
                "nul.csv",
                "columns.csv",
                "age.csv",
                "day.csv",
                "town.csv",
                "twice.csv",
                "half.parquet",
                "half.csv.gz",
                "mixed.xlsx",
                "empty.csv",
                "types.parquet",
            )
        ),
        *(
            f"run policy.yaml --data bad/{name} --output bad_out --stream"
            for name in ("ragged.csv", "age.csv", "day.csv", "town.csv", "half.parquet")
        ),
        *(f"check policy.yaml --data bad/{name}" for name in ("age.csv", "day.csv", "town.csv", "ragged.csv")),
        *(
            f"run bad/{name} --data people.csv --output bad_out"
            for name in (
                "ragged-towns.yaml",
                "nested-towns.yaml",
                "double-towns.yaml",
                "order.yaml",
                "categories.yaml",
                "missing.yaml",
                "yaml.yaml",
                "tree.yaml",
            )
        ),
        "run policy.yaml --data people.csv --output bad_out --to sqlite:///in.db?table=people",
        "run policy.yaml --data duckdb:///in.duckdb --query SELECT~CAST(name~AS~INT)~AS~name~FROM~people --output x",
        "run policy.yaml --data duckdb:///in.duckdb --query SELECT~error(name)~AS~name~FROM~people --output x",
        "run policy.yaml --data sqlite:///in.db --query SELECT~zqname0001~FROM~people --output x",
        "measure release --data others.csv --files . --only query-error",
        "attack release --data people.csv --files . --external bad/ragged.csv",
        "attack release --data people.csv --files . --external bad/age.csv",
        "ledger add release --ledger ledger --data people.csv --person name --files .",
        "ledger add release --ledger bad/ledger --data people.csv --person name --files .",
        "explain release 99999 --data people.csv --files .",
    ),
    *_failing(
        "run infeasible.yaml --data people.csv --output bad_out",
        "check infeasible.yaml --data people.csv",
        ends=(3,),
    ),
    *_failing("verify tampered/release.csv --policy release/policy.yaml", ends=(1, 2)),
    *(
        Call(f"run policy.yaml --data {data} --output killed {more}", (0, 130, 143, -9), interrupt=number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
        for data, more in (("people.csv", ""), ("people.parquet", "--stream"))
    ),
]
"""What is called, in this order."""

SPARK = [
    Call("run policy.yaml --data people.parquet --engine spark --master local[1] --output spark"),
    *(
        Call(f"run policy.yaml --data bad/{name} --engine spark --master local[1] --output spark_bad", (2,), env=env)
        for name in ("age.csv", "day.csv", "town.csv", "types.parquet", "ragged.csv")
        for env in ((), _DEBUG)
    ),
]
"""The same with Spark, which keeps files and a log of its own."""


def _allowed(place: str, call: Call) -> set[str]:
    """The columns whose words may be in a file."""
    name = Path(place).name
    if "/bad/" in place:
        return set()
    if ".killed" in place:  # a run that was killed leaves what it worked with; docs/limits.md says so
        return {"name", "note", "town", "post", "site", "ill"}
    if place.endswith("anatomy/release.csv"):  # Anatomy publishes exact quasi-identifiers
        return {"town", "post", "site"}
    if _PUBLISHED.fullmatch(name):
        return {"site", "ill"}
    if _NAMED.fullmatch(name) or (call.labels and name.startswith("labels.")):
        return {"ill"}
    return set()


def audit(bench: Bench, calls: Sequence[Call], search: Search) -> Iterator[tuple[Call, int, list[str]]]:
    """Make every call; yield how it ended and what was found where it should not be."""
    for call in calls:
        if call.arguments.startswith("verify tampered"):
            search.inputs |= tampered(bench)
        arguments = [word.replace("~", " ") for word in call.arguments.split()]
        code, said = _ended(bench, call, arguments)
        found = []
        # what the caller wrote on the command line is the caller's
        given = {word for word in arguments if "zq" in word}
        for word in sorted(said if not given else set()):
            found.append(f"said a cell of {word}")
        for path, words in search.new_files():
            place = str(path.relative_to(bench.folder))
            found += [f"a cell of {word} in {place}" for word in sorted(words - _allowed(place, call))]
        if code not in call.ends:
            found.append(f"ended with {code}, not {call.ends}")
        yield call, code, found


def _ended(bench: Bench, call: Call, arguments: list[str]) -> tuple[int, set[str]]:
    if not call.interrupt:
        with tempfile.NamedTemporaryFile() as said:
            process = bench.fork(*arguments, said=said.name, **dict(call.env))
            process.join()
            return process.exitcode, words_in(said.read())
    process = bench.start(*arguments)
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None and not list(bench.work.glob(".killed*")):
        time.sleep(0.001)
    process.send_signal(call.interrupt)
    said, _ = process.communicate()
    return process.returncode, words_in(said)


def main() -> int:
    """Make all calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="calls that contain this word")
    parser.add_argument("--spark", action="store_true", help="with Spark too")
    parser.add_argument("--seconds", type=float, default=1200)
    options = parser.parse_args()
    until, done, wrong = time.monotonic() + options.seconds, 0, 0
    with tempfile.TemporaryDirectory(prefix="hushtable-leaks-") as folder:
        bench = Bench(Path(folder))
        search = prepare(bench)
        calls = [call for call in [*CALLS, *(SPARK if options.spark else [])] if options.only in call.arguments]
        for call, _, found in audit(bench, calls, search):
            done += 1
            wrong += bool(found)
            for sentence in found:
                print(f"{call.arguments} {dict(call.env) or ''}: {sentence}", flush=True)
            if time.monotonic() > until:
                break
    print(f"leaks      {done} of {len(calls)} calls, {wrong} WRONG" if wrong else f"leaks      {done} calls, fine")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
