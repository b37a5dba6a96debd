"""kill -9 at random moments: what is there afterwards is complete or absent, and the next run is as good as any.

    python -m fuzz.kills [run|stream|parts|replace|sqlite|increment|ledger|all] [--kills 40] [--seconds 600] [--seed 0]

A command is run once to its end; then again and again, and killed: every other time at any moment of its duration, else
as soon as something of it is on the disk. After every kill the folder is looked at, after every tenth one the command
is run to its end. Exits 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import signal
import sqlite3
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.workbench import Bench, people

__all__ = ["SCENES", "Scene", "campaign"]

ROWS = 400
Files = dict[str, bytes]


@dataclass(frozen=True)
class Scene:
    """A command that is killed.

    Attributes
    ----------
    arguments : tuple of str
    prepare : callable
        Sets the folder up for another try.
    state : callable
        Says what is there after a kill, raising where that is neither nothing nor everything.
    """

    arguments: tuple[str, ...]
    prepare: Callable[[Bench], None]
    state: Callable[[Bench], str]


def _files(folder: Path) -> Files:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _whole(bench: Bench, name: str, *references: str) -> str:
    """Whether a release is there and the same, byte for byte, as one of those that were not interrupted."""
    place = bench.work / name
    if not place.exists():
        return "absent"
    found = _files(place)
    for reference in references:
        if found == _files(bench.folder / reference):
            return reference
    raise AssertionError(f"{name} is neither absent nor complete: {sorted(found)}")


def _gone(*names: str) -> Callable[[Bench], None]:
    def prepare(bench: Bench) -> None:
        for name in names:
            shutil.rmtree(bench.work / name, ignore_errors=True)
            shutil.rmtree(bench.work / f"{name}.private", ignore_errors=True)
            (bench.work / name).unlink(missing_ok=True)

    return prepare


def _earlier(bench: Bench) -> None:
    """An earlier release, to be replaced."""
    if not (bench.work / "release").exists():
        bench.finish("run", "other.yaml", "--data", "people.csv")
        if not (bench.folder / "earlier").exists():
            shutil.copytree(bench.work / "release", bench.folder / "earlier")


def _replaced(bench: Bench) -> str:
    found = _whole(bench, "release", "complete", "earlier")
    if found == "absent":
        raise AssertionError("the earlier release is gone")
    if found == "complete":
        _fits(bench)
        _gone("release")(bench)
    return found


def _fits(bench: Bench) -> None:
    """The companion of a release that is complete is its own."""
    kept = json.loads((bench.work / "release.private" / "companion.json").read_bytes())
    told = json.loads((bench.work / "release" / "release.json").read_bytes())
    if kept["release"] != told["release"]:
        raise AssertionError("the release is new, its companion is not")


def _published(bench: Bench) -> str:
    """The table in the database and the folder: each whole or absent."""
    folder, rows = _whole(bench, "release", "complete"), 0
    if (bench.work / "out.db").exists():
        with sqlite3.connect(bench.work / "out.db") as db:
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'people'").fetchone():
                (rows,) = db.execute("SELECT count(*) FROM people").fetchone()
        db.close()
    expected = len((bench.folder / "complete" / "release.csv").read_bytes().splitlines()) - 1
    if rows not in (0, expected):
        raise AssertionError(f"the database has {rows} of {expected} rows")
    return f"folder {folder}, database {'complete' if rows else 'absent'}"


def _ledger(bench: Bench) -> None:
    """A ledger with one release in it, or none, in turn."""
    if not (bench.folder / "pristine").exists():
        bench.finish("run", "policy.yaml", "--data", "people.csv")
        bench.finish("run", "policy.yaml", "--data", "others.csv", "--output", "before")
        (bench.folder / "pristine").mkdir()
        add = ("--ledger", "ledger", "--data", "others.csv")
        bench.finish("ledger", "add", "before", *add)
        for name in ("ledger", "ledger.key"):
            (bench.work / name).rename(bench.folder / "pristine" / name)
    _gone("ledger", "ledger.key")(bench)
    if random.random() < 0.7:
        for name in ("ledger", "ledger.key"):
            shutil.copy(bench.folder / "pristine" / name, bench.work / name)


def _ledger_state(bench: Bench) -> str:
    """The chain is intact, and the release is in it or can be added."""
    from hushtable.ledger.ledger import Ledger

    entries = Ledger(bench.work / "ledger").entries()
    names = [entry.name for entry in entries]
    if names not in ([], ["before"], ["release"], ["before", "release"]):
        raise AssertionError(f"the ledger has {names}")
    return f"ledger of {len(entries)}{' with it' if 'release' in names else ''}"


_RUN = ("run", "policy.yaml", "--data", "people.csv")
SCENES = {
    "run": Scene(_RUN, _gone("release"), lambda b: _whole(b, "release", "complete")),
    "replace": Scene((*_RUN, "--overwrite"), _earlier, _replaced),
    "stream": Scene(
        ("run", "policy.yaml", "--data", "people.parquet", "--stream", "--format", "parquet"),
        _gone("release"),
        lambda b: _whole(b, "release", "complete"),
    ),
    "parts": Scene(
        ("run", "policy.yaml", "--data", "people.parquet", "--part-rows", "50"),
        _gone("release"),
        lambda b: _whole(b, "release", "complete"),
    ),
    "sqlite": Scene((*_RUN, "--to", "sqlite:///out.db?table=people"), _gone("release", "out.db"), _published),
    "increment": Scene(
        ("increment", "first", "--data", "others.csv", "--earlier", "people.csv"),
        _gone("increment"),
        lambda b: _whole(b, "increment", "complete"),
    ),
    "ledger": Scene(
        ("ledger", "add", "release", "--ledger", "ledger", "--data", "people.csv", "--expect-new-people"),
        _ledger,
        _ledger_state,
    ),
}
"""The commands that write."""


def _set_up(bench: Bench, name: str) -> float:
    """Write the inputs, run the command once to its end and return how long it took."""
    from hushtable.io.files import write_table

    everybody = people(2 * ROWS, 7)
    for part, table in (("people", everybody.slice(0, ROWS)), ("others", everybody.slice(ROWS))):
        for ending in ("csv", "parquet"):
            write_table(table, bench.work / f"{part}.{ending}")
    # insensitive columns pass through the external sort of a streamed run
    insensitive = {"income": {"role": "insensitive"}}
    for file, k in (("policy.yaml", 5), ("other.yaml", 9)):
        models = [{"k-anonymity": {"k": k}}, {"distinct-l": {"l": 2, "on": "diagnosis"}}]
        bench.write_policy(file, insensitive, models=models)
    if name == "increment":
        bench.finish("run", "policy.yaml", "--data", "people.csv", "--output", "first")
    SCENES[name].prepare(bench)
    bench.finish(*SCENES[name].arguments)
    for made in ("increment", "release"):
        if (bench.work / made).exists() and name != "ledger":
            shutil.copytree(bench.work / made, bench.folder / "complete")
            break
    SCENES[name].prepare(bench)
    began = time.monotonic()
    bench.finish(*SCENES[name].arguments)
    return time.monotonic() - began


def _kill(bench: Bench, scene: Scene, took: float, r: random.Random) -> bool:
    """Start the command and kill it; return whether it had not ended before."""
    before = _seen(bench)
    process = bench.fork(*scene.arguments)
    if r.random() < 0.5:
        time.sleep(r.uniform(0, took))
    else:
        while process.is_alive() and _seen(bench) == before:
            time.sleep(0.0005)
        time.sleep(r.choice([0, 0.001, 0.003, 0.01, 0.03, 0.1]))
    process.kill()
    process.join()
    return bool(process.exitcode == -signal.SIGKILL)


def _seen(bench: Bench) -> set[tuple[str, int]]:
    """What is in the folder and when it was changed; anything may go while it is looked at."""
    found = set()
    for path in bench.work.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add((path.name, path.lstat().st_mtime_ns))
    return found


def leftovers(bench: Bench) -> list[Path]:
    """What is there that a finished command does not leave."""
    hidden = [p for p in bench.work.iterdir() if p.name.startswith(".")]
    return [*hidden, *(bench.folder / "tmp").iterdir()]


def _check_modes(bench: Bench) -> None:
    """Folders that are left are for their owner alone; so is what may hold people's values."""
    for path in leftovers(bench):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.is_dir() and mode & 0o077:
            raise AssertionError(f"{path.name} is left open to others: {mode:o}")


def campaign(name: str, kills: int, seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """Kill a command so many times, or until the time is over; return the states found, and what was wrong."""
    r = random.Random(f"{name} {seed}")
    random.seed(seed)
    scene, ends, wrong = SCENES[name], Counter[str](), []
    with tempfile.TemporaryDirectory(prefix="hushtable-kills-") as folder:
        bench = Bench(Path(folder))
        took = _set_up(bench, name)
        until = time.monotonic() + seconds
        while ends["kills"] < kills and time.monotonic() < until and not wrong:
            scene.prepare(bench)
            killed = _kill(bench, scene, took, r)
            ends["kills" if killed else "too late"] += 1
            try:
                ends[scene.state(bench)] += killed
                _check_modes(bench)
                if killed and ends["kills"] % 10 == 0:
                    _finish(bench, scene)
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
        if not wrong:
            try:
                _finish(bench, scene)
            except Exception as error:
                wrong.append(f"{name}, afterwards: {type(error).__name__}: {error}")
    return ends, wrong


def _finish(bench: Bench, scene: Scene) -> None:
    """The next run goes to its end and leaves nothing but its result."""
    scene.prepare(bench)
    bench.finish(*scene.arguments)
    scene.state(bench)
    left = leftovers(bench)
    if left:
        raise AssertionError(f"left behind: {[p.name for p in left]}")


def main() -> int:
    """Kill every command in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", choices=[*SCENES, "all"], nargs="?", default="all")
    parser.add_argument("--kills", type=int, default=40, help="of each command")
    parser.add_argument("--seconds", type=float, default=600, help="for each command")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worst = 0
    for name in SCENES if options.scene == "all" else [options.scene]:
        ends, wrong = campaign(name, options.kills, options.seconds, options.seed)
        print(f"{name:<10} {dict(sorted(ends.items()))} {'WRONG' if wrong else 'fine'}", flush=True)
        print("\n".join(wrong), end="\n" if wrong else "", flush=True)
        worst = max(worst, int(bool(wrong)))
    return worst


if __name__ == "__main__":
    sys.exit(main())
