"""A real Spark cluster on this machine: how a run scales with executors, and what happens when parts of it are killed.

    python benchmarks/spark_cluster.py [--rows 3000000] [--executors 1,2,4] [--insensitive] [--faults] [--json]

A master and two workers are started as processes of their own, and stopped at the end. Executors have one core and
1 GiB each. The table is the generated one of ``scale.py``; k = 5, Mondrian. Every run is compared with the release of
the local engine, cell by cell: the hash of the published file is printed.

With ``--faults`` an executor is killed in every stage of a run, then a worker, then the driver. The first two have to
end in the same release; the last one in no output at all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from scale import generate, policy_text, tree

HOME = Path(pyspark.__file__).parent

RUN = """
import json, os, signal, sys, time
from pathlib import Path
from pyspark.sql import SparkSession
from hushtable.engines.spark.release import run_frame
from hushtable import load_policy

master, executors, folder, stage, victim = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4], sys.argv[5]
settings = {
    "spark.cores.max": executors, "spark.executor.cores": "1", "spark.executor.memory": "1g",
    "spark.driver.memory": "3g", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false",
}
spark = SparkSession.builder.master(master).config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
seen = []

def told(share, what):
    if what not in seen:
        seen.append(what)
        if what == stage:
            os.kill(int(Path(victim).read_text()) if victim != "self" else os.getpid(), signal.SIGKILL)

spark.range(10**6).repartition(8).count()  # executors are there
if victim not in ("none", "self"):
    import subprocess
    found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend.*" + spark.sparkContext.applicationId],
                           capture_output=True, text=True).stdout.split()
    if Path(victim).name == "executor":
        Path(victim).write_text(found[0])
start = time.perf_counter()
release = run_frame(spark.read.parquet(str(folder / "t.parquet")), load_policy(folder / "policy.yaml").plan(), told)
release.save(folder / "release", format="parquet", overwrite=True)
print(json.dumps({"seconds": time.perf_counter() - start, "stages": seen}))
spark.stop()
"""


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(folder: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a daemon of Spark; it logs into the folder."""
    own = {"SPARK_HOME": HOME, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": folder / name}
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, **{key: str(value) for key, value in own.items()}}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [HOME / "bin" / "spark-class", *words], env=environment, stdout=log, stderr=log, start_new_session=True
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a daemon with all that it started."""
    for pid in list(tree(process.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master and two workers of two cores and 3 GiB each; yield the master's address and the workers."""
    port = free_port()
    master = started(
        folder, "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
        "--webui-port", str(free_port()),
    )  # fmt: skip
    address = f"spark://127.0.0.1:{port}"
    time.sleep(4)
    workers = [worker(folder, address, number) for number in (1, 2)]
    time.sleep(4)
    try:
        yield address, workers
    finally:
        for process in [*workers, master]:
            stop(process)


def worker(folder: Path, address: str, number: int) -> subprocess.Popen[bytes]:
    """Start a worker."""
    return started(
        folder, f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--cores", "2", "--memory", "3g",
        "--webui-port", str(free_port()), address,
    )  # fmt: skip


def content(folder: Path) -> str:
    """A hash of the published rows, whatever files hold them."""
    from pyarrow import csv
    from pyarrow import parquet as pq

    sink = hashlib.sha256()
    path = folder / "release.parquet"
    csv.write_csv(pq.read_table(path), folder.parent / "plain.csv")
    sink.update((folder.parent / "plain.csv").read_bytes())
    (folder.parent / "plain.csv").unlink()
    return sink.hexdigest()[:16]


def run(master: str, executors: int, folder: Path, stage: str = "", victim: str = "none") -> dict[str, Any]:
    """Anonymize on the cluster in a process of its own, killing something when a stage begins."""
    environment = {**os.environ, "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    words = [sys.executable, "-c", RUN, master, str(executors), str(folder), stage, victim]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"executors": executors, "failed": done.returncode, "error": done.stderr.strip().splitlines()[-1:]}
    return {"executors": executors, **json.loads(done.stdout.splitlines()[-1]), "hash": content(folder / "release")}


def faults(
    master: str, workers: list[subprocess.Popen[bytes]], folder: Path, stages: list[str]
) -> Iterator[dict[str, Any]]:
    """Kill an executor in every stage, a worker, and the driver."""
    for stage in stages:
        found = run(master, 2, folder, stage, str(folder / "executor"))
        yield {"killed": "executor", "stage": stage, **found}
    java = [pid for pid in tree(workers[0].pid) if "java" in Path(f"/proc/{pid}/comm").read_text()]
    (folder / "worker").write_text(str(java[0]))
    yield {"killed": "worker", "stage": stages[1], **run(master, 4, folder, stages[1], str(folder / "worker"))}
    for name in ("release", "release.private"):
        shutil.rmtree(folder / name)
    found = run(master, 2, folder, stages[-1], "self")
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("release"))
    yield {"killed": "driver", "stage": stages[-1], **found, "left": left}


def main(words: list[str] | None = None) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="Spark on a cluster of this machine.")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--executors", default="1,2,4")
    parser.add_argument("--insensitive", action="store_true", help="one more column, which executors look up and sort")
    parser.add_argument("--faults", action="store_true", help="kill executors, a worker and the driver")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    import hushtable as ht

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(options.rows, folder / "t.parquet", options.insensitive)
        (folder / "policy.yaml").write_text(policy_text("mondrian", options.insensitive), encoding="utf-8")
        ht.run(folder / "t.parquet", folder / "policy.yaml", folder / "local")
        want = content(folder / "local")
        with cluster(folder) as (master, workers):
            found = [run(master, int(n), folder) for n in options.executors.split(",")]
            broken = list(faults(master, workers, folder, found[0]["stages"])) if options.faults else []
    first, last = found[0], found[-1]
    times = last["executors"] / first["executors"]
    slope = math.log(first["seconds"] / last["seconds"]) / math.log(times) if times > 1 else math.nan
    wrong = [r for r in [*found, *broken] if r["hash" if "hash" in r else "left"] not in (want, [])] if found else []
    if options.json:
        print(json.dumps({"rows": options.rows, "runs": found, "faults": broken, "slope": slope, "same": not wrong}))
    else:
        for row in [*found, *broken]:
            print(row)
        same = "every release is that of the local engine" if not wrong else f"NOT the same: {wrong}"
        print(f"{options.rows:,} rows: slope {slope:.2f} (1: twice the executors, half the time); {same}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
