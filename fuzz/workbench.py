"""What the attacks on the running program share: a folder with people in it, and commands in their own processes."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Bench", "people"]


def people(rows: int, seed: int) -> Any:
    """Return patients, as Arrow; their names are their own."""
    from hushtable.datasets.patients import patients

    found = patients(rows, seed)
    return found.drop_columns(["patient_id"]).set_column(0, "name", found["patient_id"])


def _call(arguments: list[str], folder: Path, environment: dict[str, str], said: str) -> None:
    os.chdir(folder)
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)
    sys.argv = ["hushtable", *arguments]
    runpy.run_module("hushtable", run_name="__main__")


@dataclass(frozen=True)
class Bench:
    """A folder to work in, with nothing of this machine's in it.

    Attributes
    ----------
    folder : path
        Home, temporary folder and everything else is below it.
    """

    folder: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("home", "tmp", "work"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        found = {k: v for k, v in os.environ.items() if not k.startswith(("HUSHTABLE", "XDG_"))}
        found |= {"HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"), "NO_COLOR": "1"}
        # compiled code is no trace of anybody, and compiling takes longer than the work
        found.setdefault("NUMBA_CACHE_DIR", str(Path.home() / ".cache" / "hushtable-fuzz-numba"))
        object.__setattr__(self, "environment", found)

    @property
    def work(self) -> Path:
        """Where commands run."""
        return self.folder / "work"

    def command(self, *arguments: Any) -> list[str]:
        """Return a call of hushtable."""
        return [sys.executable, "-m", "hushtable", *map(str, arguments)]

    def start(self, *arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        """Start hushtable; whatever it starts is in one group with it."""
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment,
            start_new_session=True,
            **{**quiet, **options},
        )

    def fork(self, *arguments: Any, said: str = os.devnull, **env: str) -> Any:
        """Start hushtable in a process that has imported it already: all its time is work.

        Parameters
        ----------
        arguments
        said : str
            The file that gets stdout and stderr.
        env
            More of its environment.
        """
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["fuzz.preloaded"])
        given = (list(map(str, arguments)), self.work, {**self.environment, **env}, said)
        process = context.Process(target=_call, args=given)
        process.start()
        return process

    def write_policy(self, name: str, columns: dict[str, Any] | None = None, **changes: Any) -> Path:
        """Write the patients' policy, with some columns and settings changed."""
        from hushtable.datasets.patients import patients_policy
        from hushtable.policy.policy import Policy

        document = {**patients_policy(), **changes}
        document["columns"] = {k: v for k, v in document["columns"].items() if k != "patient_id"} | (columns or {})
        path = self.work / name
        path.write_text(Policy(**document).to_yaml())
        return path

    def finish(self, *arguments: Any) -> None:
        """Run hushtable in such a process to its end, which has to be a good one."""
        process = self.fork(*arguments)
        process.join()
        if process.exitcode:
            raise RuntimeError(f"{arguments} ended with {process.exitcode}")
