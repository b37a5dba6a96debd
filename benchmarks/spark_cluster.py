"""A real Spark cluster on this machine: how a run scales with executors, and what happens when parts of it are killed.

    python benchmarks/spark_cluster.py [--rows 3000000] [--executors 1,2,4] [--insensitive] [--share 0.3]
                                       [--java=OPTIONS] [--faults] [--json]

A master and two workers are started as processes of their own, and stopped at the end. Executors have one core and
1 GiB each. The table is the generated one of ``scale.py``; k = 5, Mondrian. Every run is compared with the release of
the local engine, cell by cell: the hash of the published file is printed, with the seconds of every stage.

All of these processes share the cores of this machine, so that four executors cannot be faster than two cores. With
``--share 0.3``, the kernel gives the driver and each executor, with all their processes, at most 0.3 of a core: five
slow machines that do not get in each other's way as long as the shares add up to less than the cores. The processor
time of the driver and of all executors is then printed too. This needs root and the cgroup controllers cpu and cpuacct
(version 1). With few rows, most of that time goes into compiling Java: with 1,000,000 rows, 20 of 30 s of the driver
and 19 of 38 s of an executor. ``--java=-XX:TieredStopAtLevel=1`` switches off the slower of its two compilers.

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
from contextlib import contextmanager, suppress
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

master, executors, folder, stage, victim, java = sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:7]
groups = [Path(group) for group in sys.argv[7:]]

def join(number, pid):
    for controller in ("cpu", "cpuacct"):
        Path("/sys/fs/cgroup", controller, groups[number], "cgroup.procs").write_text(str(pid))

def used(number):
    return int(Path("/sys/fs/cgroup/cpuacct", groups[number], "cpuacct.usage").read_text()) / 1e9

if groups:
    join(0, os.getpid())
settings = {
    "spark.cores.max": executors, "spark.executor.cores": "1", "spark.executor.memory": "1g",
    "spark.driver.memory": "3g", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false",
    **({"spark.driver.extraJavaOptions": java, "spark.executor.extraJavaOptions": java} if java else {}),
}
spark = SparkSession.builder.master(master).config(map=settings).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
seen = {}

def told(share, what):
    if what not in seen:
        seen[what] = time.perf_counter()
        if what == stage:
            os.kill(int(Path(victim).read_text()) if victim != "self" else os.getpid(), signal.SIGKILL)

spark.range(10**6).repartition(8).count()  # executors are there
if groups or victim not in ("none", "self"):
    import subprocess
    found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend.*" + spark.sparkContext.applicationId],
                           capture_output=True, text=True).stdout.split()
    if Path(victim).name == "executor":
        Path(victim).write_text(found[0])
    for number, pid in enumerate(found[: len(groups) - 1], 1):
        join(number, pid)

def run():
    release = run_frame(spark.read.parquet(str(folder / "t.parquet")), load_policy(folder / "policy.yaml").plan(), told)
    release.save(folder / "release", format="parquet", overwrite=True)
    release.unpersist()
before = [used(number) for number in range(len(groups))]
start = time.perf_counter()
run()
end = time.perf_counter()
lasted = [following - begin for begin, following in zip(seen.values(), [*list(seen.values())[1:], end])]
cpu = [used(number) - earlier for number, earlier in enumerate(before)]
print(json.dumps({
    "seconds": round(end - start, 2), "stages": {what: round(one, 2) for what, one in zip(seen, lasted)},
    **({"cpu_driver": round(cpu[0], 2), "cpu_executors": round(sum(cpu[1:]), 2)} if cpu else {}),
}))
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


@contextmanager
def limited(machines: int, share: float) -> Iterator[list[str]]:
    """Groups of processes that get at most a share of a core each; none without a share."""
    if not share:
        yield []
        return
    names = [f"hushtable-{os.getpid()}-{number}" for number in range(machines)]
    folders = [Path("/sys/fs/cgroup", controller, name) for controller in ("cpu", "cpuacct") for name in names]
    try:
        for folder in folders:
            folder.mkdir()
        for folder in folders[:machines]:
            period = int((folder / "cpu.cfs_period_us").read_text())
            (folder / "cpu.cfs_quota_us").write_text(str(int(period * share)))
            (folder / "cpu.shares").write_text("100000")  # other work on this machine waits
        yield names
    except OSError as error:
        raise SystemExit(f"--share needs root and version 1 of the cgroup controllers: {error}") from None
    finally:
        for folder in folders:
            for _ in range(50):
                if not folder.is_dir() or not (folder / "cgroup.procs").read_text():
                    break
                time.sleep(0.2)  # executors are still ending
            with suppress(OSError):
                folder.rmdir()


def run(
    master: str,
    executors: int,
    folder: Path,
    stage: str = "",
    victim: str = "none",
    *,
    share: float = 0.0,
    java: str = "",
) -> dict[str, Any]:
    """Anonymize on the cluster in a process of its own, killing something when a stage begins."""
    environment = {**os.environ, "SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}
    words = [sys.executable, "-c", RUN, master, str(executors), str(folder), stage, victim, java]
    with limited(executors + 1, share) as groups:
        done = subprocess.run([*words, *groups], env=environment, capture_output=True, text=True, check=False)
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
    parser.add_argument("--share", type=float, default=0.0, help="limit of the driver and each executor, in cores")
    parser.add_argument("--java", default="", help="options of every Java, such as -XX:TieredStopAtLevel=1")
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
            found = [
                run(master, int(n), folder, share=options.share, java=options.java)
                for n in options.executors.split(",")
            ]
            broken = list(faults(master, workers, folder, list(found[0]["stages"]))) if options.faults else []
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
