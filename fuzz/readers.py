"""Bytes that nobody should have written, given to every reader: a clear error or a table, never anything else.

    python -m fuzz.readers csv|parquet|yaml|hierarchy|evidence|ledger|all [--seconds 60]

Coverage-guided (atheris) mutations of small valid files. Findings are printed with the bytes, in hexadecimal.
Exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import functools
import io
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["READERS", "mutated", "read"]


def _csv(path: Path) -> None:
    from hushtable.io.files import read_table

    read_table(path)


def _yaml(path: Path) -> None:
    from hushtable.policy.files import load_policy

    load_policy(path).plan()


def _hierarchy(path: Path) -> None:
    import numpy as np
    import pyarrow as pa

    from hushtable.hierarchy.taxonomy import Taxonomy
    from hushtable.schema.columns import Kind

    values = pa.array(["a", "b", "c"])
    Taxonomy(str(path)).code(values, Kind.NOMINAL, missing=False, column="a", counts=np.ones(3, dtype=np.int64))


def _evidence(path: Path) -> None:
    import hushtable as ht

    release = _release()
    ht.verify(release.table, ht.Policy(**release.policy), path)


def _ledger(path: Path) -> None:
    from hushtable.ledger.ledger import Ledger

    key = path.with_name("ledger.key")
    key.write_bytes(_ledger_files()[1])
    key.chmod(0o600)
    Ledger(path, key=key).entries()


@functools.cache
def _release() -> Any:
    import pyarrow as pa

    import hushtable as ht

    people = pa.table({"id": list("abcd"), "age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    policy = ht.Policy(
        identifiers=["id"], quasi=["age"], sensitive=["disease"],
        models=[ht.KAnonymity(k=2), ht.TCloseness(t=0.9)],
    )  # fmt: skip
    return ht.anonymize(people, policy)


@functools.cache
def _ledger_files() -> tuple[bytes, bytes]:
    from hushtable.ledger.ledger import Ledger

    with tempfile.TemporaryDirectory() as folder:
        path, key = Path(folder) / "ledger", Path(folder) / "ledger.key"
        Ledger(path, person="id", key=key).add(_release())
        return path.read_bytes(), key.read_bytes()


def _csv_seed() -> bytes:
    return 'a;b;"c d"\n1;x;"é"\n2;;"q ""r"""\n'.encode()


def _parquet_seed() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2, None], "b": ["x", "y", "z"]}), sink)
    return sink.getvalue()


def _yaml_seed() -> bytes:
    return (
        b"columns:\n  age: {role: quasi, kind: numeric, hierarchy: {intervals: [5, 10]}}\n"
        b"  disease: {role: sensitive, categories: {a: [x], b: [y]}}\n"
        b"models: [{k-anonymity: {k: 5}}, {p-sensitive: {p: 2, on: disease}}]\nalgorithm: {mondrian: {}}\n"
    )


def _evidence_seed() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        _release().save(Path(folder) / "out")
        return (Path(folder) / "out" / "release.json").read_bytes()


READERS: dict[str, tuple[str, Callable[[], bytes], Callable[[Path], None]]] = {
    "csv": (".csv", _csv_seed, _csv),
    "parquet": (".parquet", _parquet_seed, _csv),
    "yaml": (".yaml", _yaml_seed, _yaml),
    "hierarchy": (".csv", lambda: b"a,x,*\nb,x,*\nc,y,*\n", _hierarchy),
    "evidence": (".json", _evidence_seed, _evidence),
    "ledger": (".ledger", lambda: _ledger_files()[0], _ledger),
}


def read(name: str, data: bytes, folder: Path) -> None:
    """Give bytes to a reader; raises whatever is not one of hushtable's own errors."""
    from hushtable.errors import HushtableError

    suffix, _, reader = READERS[name]
    path = folder / f"input{suffix}"
    path.write_bytes(data)
    try:
        reader(path)
    except HushtableError:
        return


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


def _fuzz(name: str, seconds: int) -> None:
    import atheris

    with atheris.instrument_imports(include=["hushtable"]):
        import hushtable  # noqa: F401

    folder = Path(tempfile.mkdtemp())
    seeds = folder / "seeds"
    seeds.mkdir()
    (seeds / "valid").write_bytes(READERS[name][1]())

    def one(data: bytes) -> None:
        try:
            read(name, data, folder)
        except Exception:
            print(f"finding in {name}: {data.hex()}", flush=True)
            raise

    atheris.Setup(["fuzz", f"-max_total_time={seconds}", "-max_len=20000", "-rss_limit_mb=4096", str(seeds)], one)
    atheris.Fuzz()


def main() -> int:
    """Fuzz one reader in this process, or all of them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=[*READERS, "all"])
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    options = parser.parse_args()
    if options.reader != "all":
        _fuzz(options.reader, options.seconds)
        return 0
    worst = 0
    for name in READERS:
        # a finding ends its process
        command = [sys.executable, "-m", "fuzz.readers", name, "--seconds", str(options.seconds)]
        with tempfile.TemporaryFile() as log:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
            log.seek(0)
            lines = log.read().decode(errors="replace").splitlines()
        print(f"{name:<10} {'clean' if code == 0 else 'FINDING'}  {lines[-1] if lines else ''}", flush=True)
        if code:
            print("\n".join(lines[-40:]), flush=True)
        worst = max(worst, int(code != 0))
    return worst


if __name__ == "__main__":
    sys.exit(main())
