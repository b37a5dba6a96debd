"""The private companion of a release: what later verification and measurement need, and which nobody else may have.

A release folder is published; the companion stays private. It is the folder ``out/release.private`` next to
``out/release``, readable only by its owner, and contains what the published rows do not show: counts of the whole
table, the numbers of people and counterfeits in each class, and measures computed with the original. Keyed hashes bind
it to the files that it was written with: they need the local secret, so nobody else can make a matching companion.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from hushtable._version import __version__
from hushtable.errors import DataError, OutputError, UsageError
from hushtable.io.atomic import atomic_file, atomic_folders, check_replaceable
from hushtable.io.canonical import canonical_json
from hushtable.io.secret import SECRET, keyed_hash, load_secret, secret_path
from hushtable.io.versions import FORMATS, check_format
from hushtable.table.coins import Coins

COMPANION = "companion.json"
FOUND = "found.json"
"""Results of attacks on the release, so that they need not be run again."""
PRIVATE = frozenset({COMPANION, FOUND, "rows.arrow", "cells.arrow", "classes.arrow", "space.arrow"})
"""Files that a companion may have in its folder."""
OWNED = (
    "release.csv", "release.parquet", "patterns.csv", "release-sensitive.csv", "release-sensitive.parquet",
)  # fmt: skip
"""Files that an earlier release in the same folder may have left there."""

_PIECE = 1 << 20
_SHAPE: dict[str, type] = {"file": str, "columns": list, "models": list, "notes": dict, "files": dict}
"""Types of what is read from a ``release.json``, which may be forged."""


def companion_of(folder: str | os.PathLike[str]) -> Path:
    """Return the folder of a release folder's companion; links are followed.

    Examples
    --------
    >>> companion_of("/out/release").as_posix()
    '/out/release.private'
    """
    place = Path(os.path.realpath(folder))
    return place.with_name(f"{place.name}.private")


def own_companion(folder: str | os.PathLike[str]) -> Path:
    """Return the companion that belongs to a release as it is now.

    A run that is killed between its two folders leaves the new companion next to the old release. The old companion
    then still exists, under a hidden name, until the next run.
    """
    private = companion_of(folder)
    try:
        mark = load_evidence(Path(folder) / "release.json").get("release")
    except DataError:
        return private
    if _marked(private) in (None, mark) or not private.parent.is_dir():
        return private
    hidden = (p / private.name for p in private.parent.iterdir() if p.name.startswith(f".{private.name}."))
    return next((place for place in hidden if _marked(place) == mark), private)


def _marked(private: Path) -> str | None:
    """Return the mark of the release that a companion was written with, without checking who wrote it."""
    try:
        return str(json.loads((private / COMPANION).read_bytes())["release"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None


def check_outside(path: str | os.PathLike[str], what: str, *, replace: bool = False) -> None:
    """Refuse a place in the folder of a release, which will be published, or in its companion.

    Parameters
    ----------
    path : path
        The file or folder to write.
    what : str
        What it is, as the subject of a sentence.
    replace : bool
        Whether the place may be the release's folder itself.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "release.json").write_text("{}")
    ...     try:
    ...         check_outside(Path(folder, "evidence.html"), "a report")
    ...     except OutputError as error:
    ...         print(str(error).partition("' ")[2])
    is in the folder of a release, but a report is not part of it. Choose another folder.
    """
    place = Path(os.path.realpath(path))
    for folder in place.parents if replace else (place, *place.parents):
        if (folder / "release.json").is_file() or (folder / COMPANION).is_file():
            raise OutputError(
                f"{os.fspath(path)!r} is in the folder of a release, but {what} is not part of it.",
                code="in-release",
                hint="Choose another folder.",
            )


@contextmanager
def release_folders(
    folder: str | os.PathLike[str], *, overwrite: bool = False, together: ExitStack | None = None
) -> Iterator[tuple[Path, Path]]:
    """Fill a release folder and its companion's; both appear when the block ends without an error, or neither does.

    Raises
    ------
    OutputError
        If a folder cannot be written, is in the folder of another release, or the secret cannot be made; in that case,
        nothing is written.
    UsageError
        If the secret cannot be used.
    """
    load_secret()  # without it there is no companion
    check_replaceable(folder)
    check_outside(folder, "another release", replace=True)
    # the companion is renamed first: after a kill in between it does not fit the release that is still there
    paths = [Path(folder), companion_of(folder)]
    owned = [owned_in(Path(folder)), sorted(PRIVATE - {COMPANION})]
    with atomic_folders(paths, overwrite=overwrite, owned=owned, together=together) as (public, private):
        private.chmod(0o700)
        yield public, private


def owned_in(folder: Path) -> tuple[str, ...]:
    """Return what an earlier release may have left in a folder: tables of linked releases are named by the policy."""
    try:
        files = load_evidence(folder / "release.json").get("files")
    except (DataError, OSError):
        return OWNED
    named = [str(name) for name in files.values()] if isinstance(files, Mapping) else []
    return (*OWNED, *(name for name in named if Path(name).name == name and Path(name).suffix in (".csv", ".parquet")))


def release_mark(public: Path) -> str:
    """Return a keyed hash of the current files of a release folder; releases with different rows have different hashes.

    ``release.json`` and the companion both contain it. It depends only on public files, and reveals nothing about
    others.
    """
    secret = load_secret()
    parts = (part.encode() for name, path in _files(public) for part in (name, _hash_of(path, secret)))
    return keyed_hash(parts, secret, "release")[:32]


def write_companion(private: Path, public: Path, content: Mapping[str, Any], *, coins: str | None = None) -> None:
    """Write the companion of the current public files.

    Parameters
    ----------
    private, public : path
        The two folders.
    content : mapping
        Contents, as JSON.
    coins : str, optional
        Source of the release's draws.
    """
    secret = load_secret()
    head = {
        "format": FORMATS["companion"],
        "secret": keyed_hash([], secret, "companion's secret"),
        "files": {name: _hash_of(path, secret) for name, path in _files(public)},
        "private_files": {name: _hash_of(path, secret) for name, path in _files(private)},
        "coins": coins,
    }
    whole = {**head, **content}
    whole["seal"] = _seal(whole, secret)
    with atomic_file(private / COMPANION, mode=0o600) as out:
        out.write(json.dumps(whole, indent=1, ensure_ascii=False).encode("utf-8") + b"\n")


def read_companion(private: Path, public: Path, evidence: Path | None = None) -> dict[str, Any]:
    """Read a companion and check that it belongs to the files of a release as they are now.

    Parameters
    ----------
    private, public : path
        The two folders.
    evidence : path, optional
        ``release.json``, if it is elsewhere.

    Raises
    ------
    UsageError
        If others can read it, or it was made with another secret.
    DataError
        If it does not exist, is damaged or edited, belongs to another release, or a public file was changed.
    """
    path = private / COMPANION
    data = _load(path)
    if not secret_path().exists() or data.get("secret") != keyed_hash([], load_secret(), "companion's secret"):
        raise UsageError(
            f"The companion {str(private)!r} was made with a different secret from the one on this computer.",
            code="other-secret",
            hint=f"Name the file of its secret with {SECRET}. If it is lost, move the companion away: the "
            "published rows can still be verified, and new releases can be made.",
        )
    secret = load_secret()
    if not _sealed(data, secret):
        raise DataError(
            f"The companion {str(private)!r} was edited after it was written.",
            code="edited-companion",
            hint="Restore the companion from a backup, or run the policy again.",
        )
    _check_files(data, public, evidence, secret)
    return data


def check_private(private: Path, kept: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse files of a companion that differ from those that it was written with, before they are read."""
    secret = load_secret()
    for name, known in kept["private_files"].items():
        if name in names and (not (private / name).is_file() or _hash_of(private / name, secret) != known):
            raise DataError(
                f"The companion {str(private)!r} is incomplete: {name!r} is missing, or was changed.",
                code="edited-companion",
                hint="Restore the companion from a backup, or run the policy again.",
            )


def recall(private: Path, name: str) -> dict[str, Any] | None:
    """Return the result stored under a name, if this version of hushtable stored it with this companion."""
    found = _found(private).get(name)
    return found if isinstance(found, dict) else None


def remember(private: Path, name: str, found: Mapping[str, Any]) -> None:
    """Store a result under a name; if nothing can be written, nothing is stored."""
    secret = load_secret()
    content = {"found": {**_found(private), name: dict(found)}, "of": _mark_of(private, secret)}
    try:
        with atomic_file(private / FOUND, mode=0o600) as out:
            out.write(json.dumps({**content, "seal": _seal(content, secret)}, ensure_ascii=False).encode("utf-8"))
    except OutputError:
        return


def _found(private: Path) -> dict[str, Any]:
    """Return the stored results; nothing if they were written by others, for another release, or by another version."""
    try:
        data = json.loads((private / FOUND).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    secret = load_secret()
    if not isinstance(data, dict) or not _sealed(data, secret) or data.get("of") != _mark_of(private, secret):
        return {}
    return dict(data["found"])


def _mark_of(private: Path, secret: bytes) -> str:
    return keyed_hash([__version__.encode(), _hash_of(private / COMPANION, secret).encode()], secret, "found")


def stored_coins(folder: str | os.PathLike[str]) -> Coins | None:
    """Return the coins of a release, if its companion exists and was made with the local secret."""
    try:
        data = _load(own_companion(folder) / COMPANION)
    except (DataError, UsageError):
        return None
    if not data.get("coins") or not secret_path().exists() or not _sealed(data, load_secret()):
        return None
    return Coins(bytes.fromhex(data["coins"]))


def load_evidence(path: Path) -> dict[str, Any]:
    """Read a ``release.json``."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"There is no {path.name} in {str(path.parent)!r}.",
            code="no-release-json",
            hint="Give the folder that 'hushtable run' wrote, or run the policy again.",
        ) from None
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is not a release.json: it is not JSON.", code="bad-release-json") from None
    if not isinstance(data, dict) or "rows" not in data:
        raise DataError(f"{path.name} is not a release.json: it has no 'rows'.", code="bad-release-json")
    check_format("release", data.get("format", 1), repr(str(path)))  # hushtable 0.1 did not say
    wrong = [name for name, kind in _SHAPE.items() if not isinstance(data.get(name, kind()), kind)]
    wrong += [name for name in ("columns", "models") if name not in wrong and not _lists(data, name)]
    # the table is in the folder, whatever a forged file says, and a workbook may have hidden sheets
    file = data.get("file", "release.csv")
    inside = "file" in wrong or (Path(file).name == file and Path(file).suffix in (".csv", ".parquet"))
    wrong += [] if inside else ["file"]
    if wrong:
        raise DataError(f"{path.name} is not a release.json: its {wrong[0]!r} has the wrong type.",
                        code="bad-release-json", hint="Use the release as it was written.")  # fmt: skip
    return data


def _lists(data: Mapping[str, Any], name: str) -> bool:
    return all(isinstance(one, str if name == "columns" else dict) for one in data.get(name, ()))


def _load(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            modes = [os.fstat(stream.fileno()).st_mode, path.parent.stat().st_mode]
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(
            f"There is no {path.name} in {str(path.parent)!r}.",
            code="no-companion",
            hint="Give the folder '....private' that was written with the release.",
        ) from None
    except OSError as error:
        raise UsageError(
            f"The companion {str(path)!r} cannot be read: {os.strerror(error.errno or 0)}.",
            code="companion",
            hint="Ask the person who made the release.",
        ) from None
    # on other systems, the mode does not show who may read a file
    if os.name == "posix" and any(stat.S_IMODE(mode) & 0o077 for mode in modes):
        raise UsageError(
            f"The companion {str(path)!r} can be read by others, but it reveals what the release hides.",
            code="open-companion",
            hint=f"chmod 700 {str(path.parent)!r} && chmod 600 {str(path)!r}",
        )
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise DataError(
            f"{str(path)!r} is not a companion, or is damaged.",
            code="bad-companion",
            hint="Restore the companion from a backup, or run the policy again.",
        )
    check_format("companion", data["format"], repr(str(path)))
    return data


def _check_files(data: Mapping[str, Any], public: Path, evidence: Path | None, secret: bytes) -> None:
    hashes: Mapping[str, str] = data["files"]
    places = {name: evidence if evidence and name == "release.json" else public / name for name in hashes}
    if places["release.json"].is_file() and load_evidence(places["release.json"]).get("release") != data["release"]:
        raise DataError(
            f"The companion does not belong to the release {str(public)!r}: it was written with a different one.",
            code="other-release",
            hint="Give its own companion with --companion. If a run was killed while it wrote, run it again.",
        )
    absent = [name for name, place in places.items() if not place.is_file()]
    if absent:
        raise DataError(
            f"The release {str(public)!r} has no {absent[0]!r}, which its companion was written with.",
            code="no-release-json" if absent == ["release.json"] else "absent-file",
            hint="Restore the file, or name release.json with --evidence.",
        )
    changed = [name for name, place in places.items() if _hash_of(place, secret) != hashes[name]]
    if changed:
        raise DataError(
            f"{changed[0]!r} was changed after the release was made: it does not match the companion.",
            code="changed-file",
            hint="Use the release as it was written, or run the policy again.",
        )


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        yield path.relative_to(folder).as_posix(), path


def _hash_of(path: Path, secret: bytes) -> str:
    with path.open("rb") as stream:
        return keyed_hash(iter(lambda: stream.read(_PIECE), b""), secret, "file of a release")


def _sealed(data: Mapping[str, Any], secret: bytes) -> bool:
    try:
        return bool(data.get("seal") == _seal({k: v for k, v in data.items() if k != "seal"}, secret))
    except RecursionError:
        return False


def _seal(content: Mapping[str, Any], secret: bytes) -> str:
    return keyed_hash([canonical_json(content).encode("utf-8", "surrogatepass")], secret, "companion")
