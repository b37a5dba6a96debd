"""Faults of a policy: each with its place, one sentence and a remedy.

pydantic finds most of them; its reports are written for programmers and are rephrased here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from hushtable.errors import DataError, HushtableError, PolicyError, a_kind, did_you_mean
from hushtable.io.versions import check_format

Place = tuple[str | int, ...]
"""Place in the policy: ``("columns", "age", "role")``."""

_SIMPLE = re.compile(r"[\w-]+")
# nothing of these may be shown: they hold values of the table
_VALUES = frozenset({"categories", "order", "missing_values", "tree", "rows"})


@dataclass(frozen=True)
class Fault:
    """One fault of a policy.

    Attributes
    ----------
    place : Place
    sentence : str
    hint : str
    code : str
    line : int, optional
        Line of the policy's file, if it was read from one.

    Examples
    --------
    >>> Fault(("columns", "post code", "rolle"), "There is no such setting.", "Did you mean 'role'?", line=3).text()
    "line 3: columns.'post code'.rolle: There is no such setting."
    """

    place: Place
    sentence: str
    hint: str = ""
    code: str = "policy"
    line: int | None = None

    @classmethod
    def of(cls, place: Place, error: HushtableError) -> Fault:
        """Return an error raised elsewhere as a fault at this place."""
        return cls(place, error.message, error.hint, error.code)

    def where(self) -> str:
        """Return the place in words: ``columns.age.role``, ``models[0]``."""
        words = ""
        for part in self.place:
            if isinstance(part, int):
                words += f"[{part}]"
            else:
                words += f"{'.' if words else ''}{part if _SIMPLE.fullmatch(part) else repr(part)}"
        return words

    def text(self) -> str:
        """Return the fault without its hint: line, place and sentence."""
        line = "" if self.line is None else f"line {self.line}"
        return ": ".join(part for part in (line, self.where(), self.sentence) if part)


class InvalidPolicy(PolicyError):
    """A policy that cannot be used, with all its faults.

    Parameters
    ----------
    faults : iterable of Fault
    file : str
        The policy's file, if it was read from one.

    Examples
    --------
    >>> raise InvalidPolicy([Fault(("seed",), "It must be a whole number.")], "policy.yaml")
    Traceback (most recent call last):
    hushtable.policy.faults.InvalidPolicy: policy.yaml: seed: It must be a whole number.
    """

    def __init__(self, faults: Iterable[Fault], file: str = "") -> None:
        self.faults = tuple(faults)
        prefix = f"{file}: " if file else ""
        if len(self.faults) == 1:
            (fault,) = self.faults
            super().__init__(prefix + fault.text(), code=fault.code, hint=fault.hint)
            return
        lines = [f"\n- {fault.text()} {fault.hint}".rstrip() for fault in self.faults]
        super().__init__(f"{prefix}The policy has {len(lines)} faults:{''.join(lines)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.faults,)

    def at_lines(self, lines: Mapping[Place, int], file: str = "") -> InvalidPolicy:
        """Return the same faults with the line of the nearest place that the file has."""
        found = []
        for fault in self.faults:
            prefixes = (fault.place[:n] for n in range(len(fault.place), 0, -1))
            line = next((lines[p] for p in prefixes if p in lines), None)
            found.append(replace(fault, line=line))
        return InvalidPolicy(found, file)


def faults_of(error: ValidationError, known: Callable[[Place], Iterable[str]]) -> list[Fault]:
    """Rephrase pydantic's report.

    Parameters
    ----------
    error : ValidationError
    known : callable
        Returns the settings that exist below a place, for hints.
    """
    return [_fault(entry["loc"], entry, known) for entry in error.errors(include_url=False)]


def _fault(place: Place, entry: Any, known: Callable[[Place], Iterable[str]]) -> Fault:
    kind, got, context = entry["type"], entry.get("input"), entry.get("ctx", {})
    if isinstance(context.get("error"), HushtableError):
        return Fault.of(place, context["error"])
    if kind == "extra_forbidden":
        hint = did_you_mean(str(place[-1]), known(place[:-1]))
        return Fault(place, f"There is no setting {place[-1]!r}.", hint, "unknown-key")
    if kind == "missing":
        return Fault(place[:-1], f"The setting {place[-1]!r} is required.", code="missing-key")
    wanted = _WORDS.get(kind, "").format(**context)
    if kind in ("enum", "literal_error"):
        # the values stand in quotes in pydantic's own list
        values = re.findall(r"'([^']*)'", str(context["expected"]))
        hint = did_you_mean(got, values) if isinstance(got, str) else ""
        wanted = f"one of {', '.join(values)}"
        return Fault(place, f"It must be {wanted}. {_got(place, got)}", "" if "Known" in hint else hint, "bad-value")
    if not wanted:
        return Fault(place, f"{entry['msg']}. {_got(place, got)}", code="bad-value")
    # where settings were to be, a slip of the indentation makes one text of them, values and all
    slipped = kind in _COLLECTIONS and isinstance(got, str) and not _SIMPLE.fullmatch(got) and _VALUES.isdisjoint(place)
    shown = "Got text instead." if slipped else _got(place, got)
    share = _PERCENT.fullmatch(got) if kind in ("float_type", "float_parsing") and isinstance(got, str) else None
    hint = f"Write {float(share[1]) / 100:g}." if share else ""
    return Fault(place, f"It must be {wanted}. {shown}", hint, "bad-value")


_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_COLLECTIONS = ("model_type", "model_attributes_type", "dict_type", "mapping_type", "tuple_type", "list_type")
_WORDS = {
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "model_type": "a mapping of settings",
    "model_attributes_type": "a mapping of settings",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le:g}",
}


def _got(place: Sequence[str | int], value: Any) -> str:
    if isinstance(value, Mapping):
        return "Got a mapping instead."
    if isinstance(value, list | tuple | set):
        return "Got a list instead."
    if value is None:
        return "Got nothing instead."
    if not isinstance(value, str | int | float) or not _VALUES.isdisjoint(place) or len(str(value)) > 60:
        return f"Got {a_kind(value)} instead."
    return f"Got {value!r} instead."


def without_format(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a policy's settings without the format of its file, which must be one that this version reads.

    Raises
    ------
    InvalidPolicy
    """
    if "format" not in settings:
        return settings
    try:
        check_format("policy", settings["format"], "The policy")
    except DataError as error:
        raise InvalidPolicy([Fault.of(("format",), error)]) from None
    return {name: value for name, value in settings.items() if name != "format"}
