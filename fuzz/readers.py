"""Bytes that nobody should have written, given to every reader: a clear error or a table, never anything else.

    python -m fuzz.readers csv|parquet|yaml|...|all [--seconds 60]

Coverage-guided (atheris) mutations of small valid files. A finding is an exception that is not hushtable's own, an
error that shows a cell, an input that takes long or much memory, or the end of the process. Each is printed once, with
the bytes in hexadecimal. Exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from fuzz.formats import CANARY, FORMATS

__all__ = ["Finding", "mutated", "read"]

PATIENCE = 5.0
"""Seconds of work for an input of at most ``LONGEST`` bytes."""

LONGEST = 20_000
MEMORY = 1 << 28
"""Bytes that one input may take."""

_READING = ("io", "schema", "hierarchy", "policy", "params", "release", "ledger", "comparison")


class Finding(Exception):
    """A reader did what none should."""


def read(name: str, data: bytes, folder: Path) -> None:
    """Give bytes to a reader; raises whatever is not one of hushtable's own errors, and ``Finding`` for a bad one."""
    from hushtable.errors import HushtableError

    path = folder / f"input{FORMATS[name].ending}"
    path.write_bytes(data)
    started, held = time.process_time(), _peak()
    try:
        FORMATS[name].reader(path)
    except HushtableError as error:
        if CANARY in str(error) and not _names_show(path):
            raise Finding(f"a message shows a cell: {error}") from error
    if time.process_time() - started > PATIENCE:
        raise Finding(f"took {time.process_time() - started:.1f} s")
    if _peak() - held > MEMORY:
        raise Finding(f"took {(_peak() - held) >> 20} MiB")


def _peak() -> int:
    """The most bytes that this process had at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _names_show(path: Path) -> bool:
    """Whether the damage made a column's name of the cell, or of a part of the policy that is no value."""
    from hushtable.errors import HushtableError
    from hushtable.io.files import column_names, is_table_file

    if not is_table_file(path):
        return False
    try:
        return any(CANARY in name for name in column_names(path))
    except HushtableError as error:
        return CANARY in str(error) and "column" in str(error)


def mutated(data: bytes, r: random.Random) -> bytes:
    """Return the bytes with a few of them changed, removed, doubled or cut off."""
    out = bytearray(data)
    for _ in range(r.choice([1, 1, 2, 5])):
        at = r.randrange(len(out) + 1)
        what = r.randrange(5)
        if what == 0 and at < len(out):
            out[at] = r.randrange(256)
        elif what == 1:
            del out[at : at + r.randint(1, 8)]
        elif what == 2:
            out[at:at] = bytes(r.randrange(256) for _ in range(r.randint(1, 4)))
        elif what == 3:
            out[at:at] = out[at : at + r.randint(1, 40)]
        else:
            del out[at:]
    return bytes(out)


def _place(error: BaseException) -> str:
    """Where an exception came from: the same place is reported once."""
    cause = error.__cause__ or error
    frames = [f for f in traceback.extract_tb(cause.__traceback__) if "hushtable" in f.filename]
    where = f"{frames[-1].filename.rpartition('hushtable/')[2]}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}"


def _fuzz(name: str, seconds: int, corpus: Path | None) -> None:
    """Fuzz in this process; libFuzzer ends it when the time is over."""
    import atheris

    folder = Path(tempfile.mkdtemp())
    known: set[str] = set()
    with atheris.instrument_imports(include=[f"hushtable.{part}" for part in _READING]):
        # what a reader imports when it is called is instrumented too
        valid = FORMATS[name].valid()
        (folder / f"valid{FORMATS[name].ending}").write_bytes(valid)
        FORMATS[name].reader(folder / f"valid{FORMATS[name].ending}")
    seeds = corpus or folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    (seeds / "valid").write_bytes(valid)

    def one(data: bytes) -> None:
        try:
            read(name, data, folder)
        except Exception as error:
            place = _place(error)
            if place not in known:
                known.add(place)
                print(f"FINDING in {name}: {place}: {str(error)[:200]!r}: {data.hex()}", flush=True)

    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-rss_limit_mb=4096", "-timeout=60"]
    atheris.Setup(["fuzz", *limits, f"-artifact_prefix={folder}/", str(seeds)], one)
    atheris.Fuzz()


def _child(name: str, seconds: int, corpus: str | None) -> list[str]:
    """Fuzz in a process of its own, which a finding in native code ends; return what was found."""
    command: list[Any] = [sys.executable, "-m", "fuzz.readers", name, "--seconds", str(seconds), "--here"]
    command += ["--corpus", f"{corpus}/{name}"] if corpus else []
    with tempfile.TemporaryFile() as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    found = [line for line in lines if line.startswith("FINDING")]
    if code:
        found += [f"FINDING in {name}: the process ended with {code}", *lines[-40:]]
    runs = next((line for line in reversed(lines) if line.startswith("Done ")), "")
    print(f"{name:<10} {'FINDING' if found else 'clean'}  {runs}", flush=True)
    print("\n".join(found), end="\n" if found else "", flush=True)
    return found


def main() -> int:
    """Fuzz one reader, or all of them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=[*FORMATS, "all"])
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--corpus", help="folder that keeps inputs that reach new code, to go on from another day")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        _fuzz(options.reader, options.seconds, Path(options.corpus) if options.corpus else None)
        return 0
    names = list(FORMATS) if options.reader == "all" else [options.reader]
    findings = [found for name in names for found in _child(name, options.seconds, options.corpus)]
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
