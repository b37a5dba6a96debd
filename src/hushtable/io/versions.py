"""Formats of files: which ones this version writes, which it refuses, and how older ones are migrated.

A format has the number of the hushtable version that first wrote it: format 2 came with hushtable 0.2, format 100 would
come with 1.0. A file of a newer format can therefore always name the version that reads it. Older formats are read; the
steps here rewrite what an older version meant, or published, differently.

A policy without a ``format`` was written by hand, or by hushtable 0.1: it is read by the current rules. ``migrate``
treats it as one of 0.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hushtable._version import __version__
from hushtable.errors import DataError

FORMATS = {"policy": 2, "release": 2, "companion": 1, "evidence": 2, "ledger": 1}
"""The formats that this version writes, by kind of file."""

_EVIDENCE = "hushtable-report/"
_LEDGER = re.compile(rb"hushtable ledger (\d+)\n")
_BARE = 1
"""The format of files without a stated one."""


class WrittenFile(NamedTuple):
    """A file that hushtable wrote: its kind and its format."""

    kind: str
    format: int
    text: str = ""


def first_reader(format: int) -> str:
    """Return the first version of hushtable that reads a format.

    Examples
    --------
    >>> first_reader(2), first_reader(103)
    ('0.2', '1.3')
    """
    return f"{format // 100}.{format % 100}"


def check_format(kind: str, found: object, where: str) -> int:
    """Return a file's format; refuse one that is newer than this version, or missing.

    Parameters
    ----------
    kind : str
        A key of ``FORMATS``.
    found : object
        The format in the file.
    where : str
        The subject of the error sentence: ``"The policy"``.

    Raises
    ------
    DataError

    Examples
    --------
    >>> check_format("release", 1, "It")
    1
    >>> check_format("policy", 7, "The policy")
    Traceback (most recent call last):
    hushtable.errors.DataError: The policy was written by a newer hushtable: its format is 7, and this version (...)
    reads formats up to 2. Install hushtable 0.7 or later to read it.
    """
    if isinstance(found, str) and kind == "evidence" and found.startswith(_EVIDENCE):
        found = int(number) if (number := found.removeprefix(_EVIDENCE)).isdecimal() else found
    if type(found) is not int or found < 1:
        raise DataError(
            f"{where} does not say which format it has.",
            code="bad-format",
            hint=f"This version writes format {FORMATS[kind]}.",
        )
    if found > FORMATS[kind]:
        raise DataError(
            f"{where} was written by a newer hushtable: its format is {found}, and this version ({__version__}) reads "
            f"formats up to {FORMATS[kind]}.",
            code=f"newer-{kind}",
            hint=f"Install hushtable {first_reader(found)} or later to read it.",
        )
    return found


def look_at(path: Path) -> WrittenFile | None:
    """Return the kind and format of a file; None for a file that hushtable did not write.

    Raises
    ------
    DataError
        If it is newer than this version.
    """
    with path.open("rb") as stream:
        start = stream.read(64)
        if match := _LEDGER.match(start):
            return WrittenFile("ledger", check_format("ledger", int(match[1]), repr(str(path))))
        if path.suffix not in (".json", ".yaml", ".yml"):
            return None
        raw = start + stream.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if path.suffix != ".json":
        keys = _top_level(text)
        if "models" not in keys or not {"columns", "tables"} & keys.keys():
            return None
        # 0.1 had no policies of several tables
        unsaid = _BARE if "columns" in keys else FORMATS["policy"]
        return WrittenFile("policy", check_format("policy", keys.get("format", unsaid), repr(str(path))), text)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    kind = (
        "evidence" if str(data.get("format", "")).startswith(_EVIDENCE)
        else "companion" if "seal" in data and "private_files" in data
        else "release" if "rows" in data and "hushtable" in data
        else None
    )  # fmt: skip
    if kind is None:
        return None
    format = check_format(kind, data.get("format", _BARE), repr(str(path)))
    if kind == "release" and format == _BARE:
        _check_shape(data, path)
    return WrittenFile(kind, format, text)


def _check_shape(data: dict[str, Any], path: Path) -> None:
    """Refuse a ``release.json`` that hushtable 0.1 cannot have written."""
    wrong = [name for name, kind in _SHAPE.items() if not isinstance(data.get(name, kind()), kind)]
    wrong += [] if wrong or all(isinstance(one, dict) for one in data.get("models", ())) else ["models"]
    if wrong:
        raise DataError(
            f"{str(path)!r} is not a release.json: its {wrong[0]!r} has the wrong type.",
            code="bad-release-json",
            hint="Use the release as it was written.",
        )


def _top_level(text: str) -> dict[str, Any]:
    """The keys of a YAML mapping, with their values if these are plain. Nothing else is constructed."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return {}
    if not isinstance(node, yaml.MappingNode):
        return {}
    plain = {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    return {
        key: int(value.value) if isinstance(value, yaml.ScalarNode) and value.value.isdecimal() else value.value
        for key, value in plain.items()
    }


def migrated(found: WrittenFile) -> tuple[str, list[str]]:
    r"""Return a file's text in the format that this version writes, and the changes in words.

    Ledgers, whose records form a checked chain, and evidence, which may be signed, are not changed.

    Examples
    --------
    >>> old = "# ours\ncolumns: {age: {role: quasi}}\nmodels: [k-anonymity: {k: 2}]\n"
    >>> text, changes = migrated(WrittenFile("policy", 1, old))
    >>> print(text)
    # ours
    format: 2
    columns: {age: {role: quasi}}
    models: [k-anonymity: {k: 2}]
    # the default of hushtable 0.1
    cells: intervals
    <BLANKLINE>
    """
    text, changes = found.text, []
    for format in range(found.format, FORMATS[found.kind]):
        if step := _STEPS.get((found.kind, format)):
            text, said = step(text)
            changes += said
    return text, changes


def _policy_2(text: str) -> tuple[str, list[str]]:
    keys = _top_level(text)
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if re.match(r"[^\s#%-]", line))
    lines.insert(first, "format: 2")
    changes = ["add 'format: 2'"]
    if "cells" not in keys:
        lines += ["# the default of hushtable 0.1", "cells: intervals"]
        changes.append("add 'cells: intervals', the default of hushtable 0.1; the default is 'regions' now")
    done = "\n".join(lines) + "\n"
    if _top_level(done).keys() != keys.keys() | {"format", "cells"}:
        raise DataError(
            "The policy is written in a way that cannot be edited line by line.",
            code="bad-format",
            hint=f"Edit it by hand: {'; '.join(changes)}.",
        )
    return done, changes


_SHAPE: dict[str, type] = {"columns": list, "models": list, "notes": dict, "algorithm": dict}
_MODEL = ("model", "parameters", "comparison", "bound", "violations", "satisfied")
_PUBLIC = ("hushtable", "columns", "algorithm", "satisfied", "rows", "classes", "file")
_COUNTS = ("records", "released", "suppressed")


def _release_2(text: str) -> tuple[str, list[str]]:
    """Remove what hushtable 0.1 revealed: counts of the whole table and numbers that suppressed records changed."""
    data = json.loads(text)
    public: dict[str, Any] = {"format": 2, **{key: data[key] for key in _PUBLIC if key in data}}
    if data.get("counterfeits") or "m-invariant" in data.get("algorithm", {}):
        public["rows_may_be_counterfeits"] = True
    else:
        public |= {key: data[key] for key in _COUNTS if key in data}
    public["models"] = [
        {**{key: found[key] for key in _MODEL if key in found}, "achieved": None} for found in data.get("models", ())
    ]
    public["notes"] = {key: value for key, value in data.get("notes", {}).items() if key == "increment"}
    gone = [key for key in data if key not in public]
    changes = ["add 'format: 2'", "remove what each model achieved: verifying computes it again"]
    if gone:
        changes.append(f"remove what reveals suppressed records: {', '.join(gone)}")
    return json.dumps(public, indent=1, ensure_ascii=False) + "\n", changes


_STEPS: dict[tuple[str, int], Callable[[str], tuple[str, list[str]]]] = {
    ("policy", 1): _policy_2,
    ("release", 1): _release_2,
}


_BUILT = re.compile(r"\b(frequency|quantiles|prefix)\b")
_GUARDED = re.compile(r"^guard:(?! *\[\])", re.MULTILINE)
_PREDICTABLE = ("anatomy", "m-invariant")


def disclosed_by_0_1(found: WrittenFile, policy: str) -> list[str]:
    """Return what a release of hushtable 0.1 may disclose in its table, which migrating does not change.

    Parameters
    ----------
    found : WrittenFile
        Its ``release.json``, migrated or not.
    policy : str
        The text of its ``policy.yaml``.

    Examples
    --------
    >>> old = '{"hushtable": "0.1.0", "rows": 9, "suppressed": 1, "algorithm": {"anatomy": {}}}'
    >>> disclosed_by_0_1(WrittenFile("release", 1, old), "hierarchy: prefix")
    ['anyone who knows the code of 0.1 can find most values in a table made by anatomy', 'labels of its hierarchies
    (prefix) may show values of suppressed records']
    """
    data = json.loads(found.text)
    if not str(data["hushtable"]).startswith("0.1."):
        return []
    algorithm = data.get("algorithm") or {}
    said = [
        f"anyone who knows the code of 0.1 can find most values in a table made by {name}"
        for name in _PREDICTABLE
        if name in algorithm
    ]
    if _GUARDED.search(policy):
        said.append("its guards can be undone by anyone with another guarded release of the same seed")
    if built := sorted(set(_BUILT.findall(policy))) if data.get("suppressed") else []:
        said.append(f"labels of its hierarchies ({', '.join(built)}) may show values of suppressed records")
    return said
