"""How cost grows with the number of rows: files to verified files, from 10^4 to 10^9 rows, on one core and on more.

    python benchmarks/scale.py [--rows 10000,100000,...,1e9] [--engine local,spark] [--algorithm mondrian,optimal]
                               [--cores 1,2,all] [--insensitive] [--plot scale.svg] [--json]

Generated tables with the shape of Adult (8 quasi-identifiers, 1 sensitive column) are written as Parquet, batch by
batch, and each is anonymized by ``hushtable run`` in a process of its own: k = 5, reading, verifying and writing
included. With ``--insensitive`` there is a tenth column, of a thousand texts, that is published as it is. ``seconds``
and ``peak_mib`` are of that process with all that it started (the start of a Spark session is told apart, as
``session_s``; memory that two processes share counts twice), ``cpu_s`` is processor time. Kernels are compiled before.
With ``--cores`` the local engine runs on so many cores (the process may use no others), by default on all; the speed-up
over one core is printed. Tables that are streamed are timed by stage, and ``limits`` says how fast this machine writes
and reads the disk and copies memory.
The slope is that of processor time over the largest decade of rows, on logarithmic axes: 1 is linear, n log n lies
just above. Exact MDAV is quadratic, and is not measured here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROWS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
MOST_SPARK_ROWS = 10_000_000
"""Where a single machine is the wrong place to measure Spark."""

BATCH = 1 << 20

WARM_ROWS = 20_000
"""Rows of the run that compiles the kernels."""

STAGES = {
    "read": ("reading",),
    "encode": ("counting", "encoding", "ranking"),
    "cut": ("partitioning", "searching the lattice", "recoding"),
    "write": ("publishing", "sorting", "writing"),
    "verify": ("verifying",),
    "measure": ("measuring",),
    "keep": ("keeping",),
}
"""What a run reports, under the names that are printed: "keep" is the private companion."""

OTHER = "ward"

CHILD = """
import json, sys, time
facts, words = sys.argv[1], sys.argv[2:]
session = 0.0
if "spark" in words:
    from contextlib import contextmanager
    from hushtable.engines.spark import session as sessions
    start_session = sessions.spark_session
    @contextmanager
    def timed(*given, **more):
        global session
        begun = time.perf_counter()
        with start_session(*given, **more) as spark:
            session = time.perf_counter() - begun
            yield spark
    sessions.spark_session = timed
stages, marks = {}, []
def told(progress):
    def report(share, what):
        if not marks or marks[-1][0] != what:
            now = time.perf_counter(), time.process_time()
            if marks:
                spent = stages.setdefault(marks[-1][0], [0.0, 0.0])
                spent[0] += now[0] - marks[-1][1][0]
                spent[1] += now[1] - marks[-1][1][1]
            marks.append((what, now))
        if progress is not None:
            progress(share, what)
    return report
if "spark" not in words:
    from hushtable.engines import stream
    run_files = stream.run_files
    def timed_files(*given, progress=None, **more):
        report = told(progress)
        release = run_files(*given, progress=report, **more)
        report(1.0, "done")
        return release
    stream.run_files = timed_files
try:
    from hushtable.cli.main import main
    sys.argv[1:] = words
    main()
finally:
    peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
    json.dump({"session_s": session, "peak_mib": peak, "stages": stages}, open(facts, "w"))
"""


def generate(rows: int, path: Path, insensitive: bool = False) -> None:
    """Write a generated table as Parquet, without ever holding it."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet as pq

    from hushtable.datasets.adult_like import adult_like_codes, adult_like_labels
    from hushtable.parallel import each

    labels = {name: pa.array(values) for name, values in adult_like_labels().items()}
    writer = None

    def batch_from(start: int) -> pa.Table:
        columns = {}
        for name, codes in adult_like_codes(min(BATCH, rows - start), start=start).items():
            coded = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), labels[name])
            columns[name] = coded if pa.types.is_string(labels[name].type) else coded.dictionary_decode()
        if insensitive:
            codes = pa.array(np.arange(start, min(start + BATCH, rows)) * 7919 % 1000, pa.int32())
            columns[OTHER] = pa.DictionaryArray.from_arrays(codes, pa.array([f"ward {i}" for i in range(1000)]))
        return pa.table(columns)

    for batch in each(batch_from, range(0, rows, BATCH)):
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()


def policy_text(algorithm: str, insensitive: bool = False) -> str:
    """The policy of a run; global recoding may leave out 2 % of the records, as is usual."""
    from hushtable.datasets.adult_like import adult_policy
    from hushtable.policy.policy import Policy

    settings = adult_policy()
    settings["models"] = [{"k-anonymity": {"k": 5}}]
    settings["algorithm"] = {algorithm: {}}
    if insensitive:
        settings["columns"] = {**settings["columns"], OTHER: {"role": "insensitive"}}
    settings["suppression"] = 0.0 if algorithm == "mondrian" else 0.02
    return Policy(**settings, output={"format": "parquet"}).to_yaml()


class Watch(threading.Thread):
    """Looks at a process and all that it started: the memory they have together, and the processor time of each."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._done = threading.Event()
        self._cpu: dict[int, float] = {}
        self.peak_mib = 0.0

    def run(self) -> None:
        while not self._done.wait(0.05):
            resident = 0.0
            for pid in tree(self._pid):
                try:
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    status = Path(f"/proc/{pid}/statm").read_text().split()
                except OSError:
                    continue
                self._cpu[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                resident += int(status[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            self.peak_mib = max(self.peak_mib, resident)

    def stop(self) -> float:
        """Stop watching; return the processor time of all that was seen."""
        self._done.set()
        self.join()
        return sum(self._cpu.values())


def tree(pid: int) -> Iterator[int]:
    """The process and its descendants."""
    yield pid
    try:
        children = [c for task in Path(f"/proc/{pid}/task").iterdir() for c in (task / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield from tree(int(child))


def cores_of(word: str) -> list[int]:
    """The numbers of cores that ``--cores`` names, of those that this process may use."""
    allowed = len(os.sched_getaffinity(0))
    return sorted({allowed if one == "all" else min(int(one), allowed) for one in word.split(",")})


def measure(
    engine: str,
    rows: int,
    folder: Path,
    policy: str,
    options: Sequence[str] = (),
    cores: int | None = None,
    name: str = "",
) -> dict[str, Any]:
    """Anonymize the table of so many rows, or of that name, in a process of its own, on so many cores."""
    chosen = sorted(os.sched_getaffinity(0))[:cores]
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    facts, output = folder / "facts.json", folder / "release"
    words = [
        "run",
        folder / "policy.yaml",
        "--data",
        folder / f"{name or rows}.parquet",
        "-o",
        output,
        "--overwrite",
        "--json",
    ]
    if engine == "spark":
        words += ["--engine", "spark", "--master", "local[2]"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(facts), *map(str, words), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HUSHTABLE_THREADS": str(len(chosen))},
        preexec_fn=lambda: os.sched_setaffinity(0, chosen),
    )
    watch = Watch(process.pid)
    watch.start()
    out, err = process.communicate()
    seconds = time.perf_counter() - start
    cpu_s = watch.stop()
    if process.returncode:
        raise SystemExit(f"{engine} {rows:,} rows: {(out + err).strip()}")
    told, said = json.loads(facts.read_text()), json.loads(out)
    return {
        "engine": engine,
        "rows": rows,
        "cores": len(chosen),
        "seconds": round(seconds - told["session_s"], 3),
        "cpu_s": round(cpu_s, 3),
        "peak_mib": round(max(watch.peak_mib, told["peak_mib"]), 1),
        "session_s": round(told["session_s"], 3),
        "classes": said["classes"],
        "satisfied": said["satisfied"],
        "stages": {
            name: [round(sum(told["stages"].get(one, [0, 0])[i] for one in own), 3) for i in (0, 1)]
            for name, own in STAGES.items()
        }
        if told["stages"]
        else {},
        "load": round(os.getloadavg()[0], 1),
    }


def limits(folder: Path, size: int = 1 << 28) -> dict[str, float]:
    """How fast this machine writes a file, reads it back, and copies memory, in GB a second."""
    import numpy as np

    block = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    file = folder / "limits"
    found = {}
    start = time.perf_counter()
    with file.open("wb") as out:
        out.write(block.data)
        out.flush()
        os.fsync(out.fileno())
    found["disk_write"] = time.perf_counter() - start
    with file.open("rb") as source:
        # what was just written would come from memory
        os.posix_fadvise(source.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        source.read()
        found["disk_read"] = time.perf_counter() - start
    file.unlink()
    other = np.zeros_like(block)
    start = time.perf_counter()
    np.copyto(other, block)
    found["memory_copy"] = time.perf_counter() - start
    return {name: round(size / 1e9 / seconds, 2) for name, seconds in found.items()}


def speed_ups(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times as fast the local engine is on several cores as on one."""
    one = {(r["algorithm"], r["rows"]): r["seconds"] for r in runs if r["engine"] == "local" and r["cores"] == 1}
    return [
        {
            "algorithm": r["algorithm"],
            "rows": r["rows"],
            "cores": r["cores"],
            "times": round(one[r["algorithm"], r["rows"]] / r["seconds"], 2),
        }
        for r in runs
        if r["engine"] == "local" and r["cores"] > 1 and (r["algorithm"], r["rows"]) in one
    ]


def slopes(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The slope of processor time over the largest decade of rows, for every engine and algorithm."""
    found = []
    for engine, algorithm in dict.fromkeys((r["engine"], r["algorithm"]) for r in runs):
        own = sorted((r for r in runs if (r["engine"], r["algorithm"]) == (engine, algorithm)), key=lambda r: r["rows"])
        decade = [r for r in own if 10 * r["rows"] >= own[-1]["rows"]]
        first, last = decade[0], decade[-1]
        slope = None
        if first["rows"] < last["rows"]:
            slope = math.log(last["cpu_s"] / first["cpu_s"]) / math.log(last["rows"] / first["rows"])
        found.append(
            {
                "engine": engine,
                "algorithm": algorithm,
                "slope": None if slope is None else round(slope, 3),
                "from_rows": first["rows"],
                "to_rows": last["rows"],
            }
        )
    return found


def plot(runs: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw seconds and memory against rows, on logarithmic axes, beside n and n log n."""
    import matplotlib

    matplotlib.use("Agg")
    # neither the time nor chance shows in the drawing
    matplotlib.rcParams["svg.hashsalt"] = "scale"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for axis, key, title in zip(axes, ("seconds", "peak_mib"), ("seconds", "peak memory, MiB"), strict=True):
        for engine, algorithm in dict.fromkeys((r["engine"], r["algorithm"]) for r in runs):
            own = sorted((r["rows"], r[key]) for r in runs if (r["engine"], r["algorithm"]) == (engine, algorithm))
            axis.plot(*zip(*own, strict=True), marker="o", label=f"{engine}: {algorithm}")
        axis.set(xscale="log", yscale="log", xlabel="rows", title=title)
        axis.grid(True, which="both", alpha=0.3)
    rows = sorted({r["rows"] for r in runs})
    top = max((r for r in runs if r["rows"] == rows[-1]), key=lambda r: r["seconds"])
    scale = top["seconds"] / (rows[-1] * math.log(rows[-1]))
    axes[0].plot(rows, [scale * n * math.log(n) for n in rows], color="grey", linestyle=":", label="n log n")
    axes[0].legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="sizes, separated by commas")
    parser.add_argument("--engine", default="local,spark", help="local, spark or both")
    parser.add_argument("--algorithm", default="mondrian,optimal", help="algorithms, separated by commas")
    parser.add_argument("--cores", default="all", help="how many cores the local engine may use, such as 1,2,all")
    parser.add_argument("--insensitive", action="store_true", help="publish one more column, as it is")
    parser.add_argument("--plot", type=Path, default=Path("scale.svg"), help="where to draw (.svg or .png)")
    parser.add_argument("--folder", type=Path, default=None, help="where to keep tables meanwhile")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    sizes = sorted({int(float(n)) for n in options.rows.split(",")})
    engines = options.engine.split(",")
    unknown = sorted(set(engines) - {"local", "spark"})
    if unknown or not sizes or sizes[0] < 100:
        parser.error(f"no such engine: {', '.join(unknown)}" if unknown else "at least 100 rows")
    if "spark" in engines and importlib.util.find_spec("pyspark") is None:
        engines.remove("spark")
        print("pyspark is not installed; only the local engine is measured.", file=sys.stderr)
        if not engines:
            raise SystemExit("Install it with: pip install 'hushtable[spark]'.")
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        for rows in sizes:
            generate(rows, folder / f"{rows}.parquet", options.insensitive)
            for engine in engines:
                for algorithm in options.algorithm.split(","):
                    if engine == "spark" and rows > MOST_SPARK_ROWS:
                        continue
                    policy = policy_text(algorithm, options.insensitive)
                    if rows == sizes[0] and engine == "local":
                        generate(min(rows, WARM_ROWS), folder / "warm.parquet", options.insensitive)
                        measure(engine, rows, folder, policy, ["--stream"], name="warm")
                        (folder / "warm.parquet").unlink()
                    for count in cores_of(options.cores) if engine == "local" else [None]:
                        runs.append({"algorithm": algorithm, **measure(engine, rows, folder, policy, cores=count)})
                        if not options.json:
                            print(sentence(runs[-1]), flush=True)
            (folder / f"{rows}.parquet").unlink()
        possible = limits(folder)
    most = [r for r in runs if r["engine"] == "spark" or r["cores"] == max(cores_of(options.cores))]
    result = {"runs": runs, "slopes": slopes(most), "speed_ups": speed_ups(runs), "limits": possible}
    plot(most, options.plot)
    if options.json:
        print(json.dumps(result))
        return
    for row in result["slopes"]:
        if row["slope"] is not None:
            print(
                f"{row['engine']} {row['algorithm']}: slope {row['slope']:.2f} "
                f"from {row['from_rows']:,} to {row['to_rows']:,} rows"
            )
    for row in result["speed_ups"]:
        print(f"{row['algorithm']} {row['rows']:,} rows: {row['times']:.2f}x on {row['cores']} cores over one")
    print(
        f"Limits: disk writes {possible['disk_write']} and reads {possible['disk_read']} GB/s; "
        f"memory copies {possible['memory_copy']} GB/s."
    )
    print(f"Drawn in {options.plot}.")


def sentence(run: dict[str, Any]) -> str:
    stages = "".join(f"  {name} {wall:.1f}/{cpu:.1f}" for name, (wall, cpu) in run["stages"].items())
    return (
        f"{run['engine']:6} {run['algorithm']:10} {run['rows']:>13,} rows  {run['cores']} cores  "
        f"{run['seconds']:8.1f} s  {run['cpu_s']:8.1f} s CPU  {run['peak_mib']:8.0f} MiB  "
        f"{run['classes']:>10,} classes  load {run['load']}"
        + (f"\n       wall/CPU: {stages.strip()}" if stages else "")
    )


if __name__ == "__main__":
    main()
