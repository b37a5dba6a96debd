"""``hushtable migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import Console, bullet, deliver, grid, put
from hushtable.errors import DataError, OutputError, counted

if TYPE_CHECKING:
    from hushtable.io.versions import WrittenFile


def migrate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Policies, release folders, evidence, ledgers, or folders of these.")
    ],
    write: Annotated[bool, typer.Option("--write", help="Change the files. Without it, only show what would change.")]
    = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Bring files of earlier versions up to date. Shows what would change; --write makes the changes.

    Every file is replaced as a whole, and the original is kept next to it as NAME.format-N. The original of a
    release.json is kept next to the release folder: it reveals suppressed records and must not be handed over.
    Published tables are not changed; what those of 0.1 may disclose is listed.
    """
    from hushtable.io.versions import FORMATS, migrated

    plans: list[tuple[Path, WrittenFile, str, list[str], str, Path]] = []
    for path, found in _files(paths):
        text, changes = migrated(found)
        kept, backup = _part_of_a_release(path, found), _backup(path, found)
        if kept or not changes:
            reason = kept or ("up to date" if found.format == FORMATS[found.kind] else "read as it is")
            plans.append((path, found, "", [], reason, backup))
        else:
            plans.append((path, found, text, changes, f"to format {FORMATS[found.kind]}", backup))
    pending = [plan for plan in plans if plan[3]]
    if write:
        for path, found, text, _, _, backup in pending:
            _check(path, found, text, backup)
        for path, _, text, _, _, backup in pending:
            _replace(path, text, backup)
    files: list[dict[str, Any]] = [
        {"file": path, "kind": found.kind, "format": found.format, "newest": FORMATS[found.kind], "changes": changes,
         "backup": backup if changes else None, "cautions": _cautions(path, found)}
        for path, found, _, changes, _, backup in plans
    ]  # fmt: skip

    def print_plans(to: Console) -> None:
        rows = [[str(path), found.kind, str(found.format), said] for path, found, _, _, said, _ in plans]
        to.print(grid(["file", "kind", "format", ""], rows, right=["format"], fold=["file"]))
        for path, _, _, changes, _, backup in pending:
            put(to, f"{path}{f' (original kept as {backup})' if write else ''}:", wrap=False)
            for change in changes:
                bullet(to, change)
        if pending:
            changed = f"{len(pending)} of {counted(len(plans), 'file', 'files')} changed."
            put(to, changed if write else "Nothing was written. Add --write.")
        else:
            put(to, "Nothing to do.")
        for one in (one for one in files if one["cautions"]):
            put(to, f"Do not hand over {one['file'].absolute().parent}:", wrap=False)
            for caution in one["cautions"]:
                bullet(to, caution)

    deliver({"written": write and bool(pending), "files": files}, as_json, print_plans)


def _files(paths: list[Path]) -> list[tuple[Path, WrittenFile]]:
    """Return hushtable's files, each once; any other path is an error."""
    from hushtable.io.versions import look_at

    found: dict[Path, WrittenFile] = {}
    for path in paths:
        inside = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
        try:
            known = {file: what for file in inside if (what := look_at(file)) is not None}
        except OSError as error:
            raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.", code="no-file") from None
        if not known:
            raise DataError(
                f"{str(path)!r} is not a policy, release, evidence file or ledger of hushtable.",
                code="not-ours",
                hint="Name the file, or the folder that it is in.",
            )
        found |= known
    return list(found.items())


def _part_of_a_release(path: Path, found: WrittenFile) -> str:
    if found.kind == "policy" and path.with_name("release.json").exists():
        return "part of a release: unchanged"
    return ""


def _backup(path: Path, found: WrittenFile) -> Path:
    name = f"{path.name}.format-{found.format}"
    # what goes with a release folder is handed over
    return path.absolute().parent.with_name(f"{path.absolute().parent.name}.{name}") if found.kind == "release" else (
        path.with_name(name)
    )  # fmt: skip


def _cautions(path: Path, found: WrittenFile) -> list[str]:
    """Return why the folder of a file must not be handed over, even once it is migrated."""
    from hushtable.io.versions import disclosed_by_0_1

    if found.kind == "evidence" and path.with_name("release.json").exists():
        return ["a report compares with the original: move it out of the folder of the release"]
    if found.kind != "release":
        return []
    policy = path.with_name("policy.yaml")
    text = policy.read_text(encoding="utf-8", errors="replace") if policy.is_file() else ""
    said = disclosed_by_0_1(found, text)
    return [*said, "make the release again, and see CHANGELOG.md"] if said else []


def _check(path: Path, found: WrittenFile, text: str, backup: Path) -> None:
    """Refuse changes that would lose something, before any file is changed."""
    from hushtable.policy.files import load_policy
    from hushtable.policy.policy import Policy

    if found.kind == "policy":
        # a policy that could be read must be readable afterwards, and mean the same
        before = load_policy(path)
        after = Policy.from_yaml(text, file=path.name)
        if before.changed(cells=after.cells) != after:
            raise OutputError(f"{str(path)!r} would change its meaning.", code="migrate", hint="Edit it by hand.")
    if backup.exists() and backup.read_bytes() != path.read_bytes():
        raise OutputError(
            f"{str(backup)!r} exists with different content.", code="exists", hint="Move it away. Nothing was changed."
        )


def _replace(path: Path, text: str, backup: Path) -> None:
    """Keep the original, then replace the file in one step."""
    from hushtable.io.atomic import atomic_file, atomic_write_text

    with atomic_file(backup, mode=0o600) as out:
        out.write(path.read_bytes())
    atomic_write_text(path, text)
