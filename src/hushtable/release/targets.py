"""Checks whether a result can be written, before any work is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hushtable.errors import OutputError
from hushtable.io.atomic import check_access, check_replaceable
from hushtable.io.sources import is_address, table_sources
from hushtable.io.urls import Source
from hushtable.release.companion import OWNED, PRIVATE, check_outside, companion_of, owned_in

OURS = frozenset({*OWNED, "policy.yaml", "release.json"})
"""The files that a release may have in its folder."""


def check_apart(target: Path, inputs: Sequence[Source]) -> None:
    """Refuse an input file, or a folder that contains one, as the target of a result: it would be lost.

    Examples
    --------
    >>> check_apart(Path("people.csv"), ["./people.csv"])
    Traceback (most recent call last):
    hushtable.errors.OutputError: 'people.csv' is an input, and would be lost. Choose another place.
    """
    place = Path(os.path.realpath(target))
    for source in (s for given in inputs for s in table_sources([given]) if not is_address(s)):
        if Path(os.path.realpath(source)).is_relative_to(place):
            holds = "is an input" if not target.is_dir() else f"contains the input {str(source)!r}"
            raise OutputError(
                f"{str(target)!r} {holds}, and would be lost.", code="is-input", hint="Choose another place."
            )


def written_by_hand(policy_file: Path) -> list[Source]:
    """Return the policy file as an input, unless it was saved with a release, which writes it again.

    Examples
    --------
    >>> written_by_hand(Path("policy.yaml")) == [Path("policy.yaml")]
    True
    """
    return [] if (policy_file.parent / "release.json").is_file() else [policy_file]


def check_target(folder: Path, *, overwrite: bool, inputs: Sequence[Source] = ()) -> None:
    """Refuse a folder that the result could not be written to.

    Writing repeats the check completely; this one saves the user the wait.

    Parameters
    ----------
    folder : path
    overwrite : bool
    inputs : sequence of path or address
        Inputs, which a result never replaces.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     _ = Path(base, "old.csv").write_text("x")
    ...     check_target(Path(base), overwrite=False)
    Traceback (most recent call last):
    hushtable.errors.OutputError: The folder '...' is not empty. Choose another folder, or add --overwrite.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{str(folder)!r} is a file, not a folder.", hint="Choose another folder.")
    check_replaceable(folder)
    check_outside(folder, "another release", replace=True)
    for place, ours in ((folder, OURS.union(owned_in(folder))), (companion_of(folder), PRIVATE)):
        there = sorted(p.name for p in place.iterdir()) if place.is_dir() else []
        if there and not overwrite:
            raise OutputError(
                f"The folder {str(place)!r} is not empty.",
                code="not-empty",
                hint="Choose another folder, or add --overwrite.",
            )
        check_apart(place, inputs)
        foreign = [name for name in there if name not in ours]
        if foreign:
            some = ", ".join(repr(name) for name in foreign[:3]) + (" and others" if len(foreign) > 3 else "")
            raise OutputError(
                f"The folder {str(place)!r} contains files that are not part of a release and would be lost: {some}.",
                code="not-empty",
                hint="Choose another folder, or move them away.",
            )
    parent = Path(os.path.realpath(folder)).parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise OutputError(f"{str(parent)!r} is a file, not a folder.", hint="Choose another folder.")
    check_access(parent, folder, os.W_OK | os.X_OK)
