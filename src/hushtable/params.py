"""Parameters as data: one declaration gives validation, one error sentence, JSON Schema and documentation.

A parametrised class is a frozen dataclass whose fields are annotated with a constraint and a sentence::

    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]

Everything else (the message when it is violated, what the CLI lists, what the studio draws, the JSON Schema of
the policy) is derived from that line.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from hushtable.errors import ParameterError, did_you_mean

__all__ = ["AtLeast", "Between", "Constraint", "OfValues", "Param", "Parametrised", "Positive"]


class Constraint:
    """What a value must fulfil beyond its type. Subclasses are frozen dataclasses."""

    def holds(self, value: Any) -> bool:
        """Whether ``value`` fulfils the constraint."""
        raise TypeError(f"{type(self).__name__} does not define holds")

    def sentence(self) -> str:
        """The constraint in words, to stand after the type's name."""
        raise TypeError(f"{type(self).__name__} does not define sentence")

    def schema(self) -> dict[str, Any]:
        """The constraint in JSON Schema."""
        return {}


@dataclass(frozen=True)
class AtLeast(Constraint):
    """The number is not below ``low``.

    Examples
    --------
    >>> AtLeast(2).holds(1)
    False
    """

    low: float

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is finite and at least ``low``."""
        return math.isfinite(value) and value >= self.low

    def sentence(self) -> str:
        """Return the words that follow the type's name."""
        return f">= {self.low:g}"

    def schema(self) -> dict[str, Any]:
        """Return ``minimum``."""
        return {"minimum": self.low}


@dataclass(frozen=True)
class Positive(Constraint):
    """The number is above 0."""

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is finite and above 0."""
        return math.isfinite(value) and value > 0

    def sentence(self) -> str:
        """Return the words that follow the type's name."""
        return "> 0"

    def schema(self) -> dict[str, Any]:
        """Return ``exclusiveMinimum``."""
        return {"exclusiveMinimum": 0}


@dataclass(frozen=True)
class Between(Constraint):
    """The number lies between ``low`` and ``high``; ``closed`` says which ends belong.

    Examples
    --------
    >>> Between(0, 1, closed="right").holds(0)
    False
    >>> Between(0, 1, closed="right").sentence()
    'in (0, 1]'
    """

    low: float
    high: float
    closed: Literal["both", "left", "right", "neither"] = "both"

    def holds(self, value: Any) -> bool:
        """Whether ``value`` lies in the interval."""
        above = value >= self.low if self.closed in ("both", "left") else value > self.low
        below = value <= self.high if self.closed in ("both", "right") else value < self.high
        return bool(above and below)

    def sentence(self) -> str:
        """Return the words that follow the type's name."""
        left = "[" if self.closed in ("both", "left") else "("
        right = "]" if self.closed in ("both", "right") else ")"
        return f"in {left}{self.low:g}, {self.high:g}{right}"

    def schema(self) -> dict[str, Any]:
        """Return the two bounds."""
        low = "minimum" if self.closed in ("both", "left") else "exclusiveMinimum"
        high = "maximum" if self.closed in ("both", "right") else "exclusiveMaximum"
        return {low: self.low, high: self.high}


@dataclass(frozen=True)
class OfValues:
    """Marks a parameter that names values of the table: others are told how many, never which."""


@dataclass(frozen=True)
class Param:
    """One declared parameter.

    Attributes
    ----------
    name : str
    type : Any
        The annotation without its constraints.
    constraints : tuple of Constraint
    doc : str
        One sentence for people.
    required : bool
    default : Any
        ``None`` where required.
    of_values : bool
        Whether it names values of the table.
    """

    name: str
    type: Any
    constraints: tuple[Constraint, ...]
    doc: str
    required: bool
    default: Any
    of_values: bool = False

    def expected(self) -> str:
        """What the parameter takes, in words: ``an int >= 2``."""
        words = " ".join([_type_words(self.type), *(c.sentence() for c in self.constraints)])
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"

    def coerce(self, value: Any, owner: str) -> Any:
        """Return the value in the declared type, or raise the one error sentence."""
        ok, coerced = _fit(value, self.type)
        if ok and coerced is not None:
            ok = all(c.holds(coerced) for c in self.constraints)
        if not ok:
            raise ParameterError(
                f"The {self.name!r} parameter of {owner} must be {self.expected()}. "
                f"Got {_value_words(value, of_values=self.of_values)} instead."
            )
        return coerced

    def schema(self) -> dict[str, Any]:
        """The parameter as JSON Schema."""
        schema = _type_schema(self.type)
        for constraint in self.constraints:
            schema |= constraint.schema()
        if self.doc:
            schema["description"] = self.doc
        if not self.required:
            schema["default"] = self.default
        return schema


class Parametrised:
    """Mixin of frozen dataclasses whose annotated fields are their parameters.

    ``name`` is the kebab-case name in policies; it is derived from nothing and must be declared.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Crowd(Parametrised):
    ...     k: Annotated[int, AtLeast(2), "smallest crowd"]
    >>> Crowd(k=1)
    Traceback (most recent call last):
    hushtable.errors.ParameterError: The 'k' parameter of Crowd must be an int >= 2. Got 1 instead.
    >>> Crowd.build({"kk": 5})
    Traceback (most recent call last):
    hushtable.errors.ParameterError: Crowd has no parameter 'kk'. Did you mean 'k'?
    """

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for param in self.params():
            value = param.coerce(getattr(self, param.name), type(self).__name__)
            object.__setattr__(self, param.name, value)

    @classmethod
    @functools.cache
    def params(cls) -> tuple[Param, ...]:
        """Return the declared parameters, in order."""
        hints = get_type_hints(cls, include_extras=True)
        return tuple(_param(f, hints[f.name]) for f in dataclasses.fields(cls) if f.init)  # type: ignore[arg-type]

    @classmethod
    def build(cls, values: Mapping[str, Any] | None = None) -> Self:
        """Build an instance from policy data, with a hint where a name is misspelt."""
        values = dict(values or {})
        known = {p.name: p for p in cls.params()}
        for key in values:
            if key not in known:
                raise ParameterError(f"{cls.__name__} has no parameter {key!r}.", hint=did_you_mean(str(key), known))
        for param in known.values():
            if param.required and param.name not in values:
                raise ParameterError(f"{cls.__name__} needs the parameter {param.name!r} ({param.expected()}).")
        return cls(**values)

    def values(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, as policy data."""
        shown = {p.name: getattr(self, p.name) for p in self.params()}
        return {p.name: _plain(shown[p.name]) for p in self.params() if p.required or shown[p.name] != p.default}

    def told(self) -> dict[str, Any]:
        """Return what ``values`` returns, without values of the table: for messages, reports and logs."""
        hidden = {p.name for p in self.params() if p.of_values}
        return {
            name: f"{len(value)} {'value' if len(value) == 1 else 'values'}" if name in hidden and value else value
            for name, value in self.values().items()
        }

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the parameters."""
        return {
            "type": "object",
            "properties": {p.name: p.schema() for p in cls.params()},
            "required": [p.name for p in cls.params() if p.required],
            "additionalProperties": False,
        }


def _param(field: dataclasses.Field[Any], hint: Any) -> Param:
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        extras = tuple(rest)
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    default = None
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return Param(
        name=field.name,
        type=hint,
        constraints=tuple(e for e in extras if isinstance(e, Constraint)),
        doc=next((e for e in extras if isinstance(e, str)), ""),
        required=required,
        default=default,
        of_values=any(isinstance(e, OfValues) for e in extras),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return value


def _fit(value: Any, wanted: Any) -> tuple[bool, Any]:
    """Tell whether ``value`` is of type ``wanted``, and return it in exactly that type.

    Examples
    --------
    >>> _fit(2, float), _fit(True, int), _fit([1, 2], tuple[int, ...])
    ((True, 2.0), (False, True), (True, (1, 2)))
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return True, value
    if origin is Literal:
        return value in args, value
    if origin in (Union, types.UnionType):
        for arg in args:
            ok, fitted = _fit(value, arg)
            if ok:
                return True, fitted
        return False, value
    if origin is tuple:
        if not isinstance(value, tuple | list):
            return False, value
        fitted_items = [_fit(v, args[0]) for v in value]
        return all(ok for ok, _ in fitted_items), tuple(v for _, v in fitted_items)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False, value
        pairs = [(_fit(k, args[0]), _fit(v, args[1])) for k, v in value.items()]
        return all(a[0] and b[0] for a, b in pairs), {a[1]: b[1] for a, b in pairs}
    if wanted is type(None):
        return value is None, None
    return _fit_scalar(value, wanted)


def _fit_scalar(value: Any, wanted: Any) -> tuple[bool, Any]:
    # NumPy's numbers register with the abstract types; whole numbers beyond 64 bits fit no array
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool) and -(2**63) <= int(value) < 2**63
    if wanted is float:
        number = whole or (isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral))
        return (number and not math.isnan(value)), (float(value) if number else value)
    if wanted is int:
        return whole, int(value) if whole else value
    return isinstance(value, wanted), value


def _type_words(wanted: Any) -> str:
    """Name a type in words.

    Examples
    --------
    >>> _type_words(tuple[str, ...] | None)
    'list of str or None'
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return "value of " + ", ".join(repr(a) for a in args)
    if origin in (Union, types.UnionType):
        return " or ".join(_type_words(a) for a in args)
    if origin is tuple:
        return f"list of {_type_words(args[0])}"
    if origin is not None and issubclass(origin, Mapping):
        return f"mapping of {_type_words(args[0])} to {_type_words(args[1])}"
    if wanted is type(None):
        return "None"
    return "value" if wanted is Any else str(wanted.__name__)


def _value_words(value: Any, *, of_values: bool = False) -> str:
    """Tell a wrong value, without the keys and texts of a mapping, and other values of the table.

    Examples
    --------
    >>> _value_words(["x", 2]), _value_words({"a cell": 7, "another": "cell"})
    ("['x', 2]", 'a mapping to 7, text')
    >>> _value_words(["a cell", 2], of_values=True)
    'a list of text, a number'
    """
    if isinstance(value, Mapping):
        found = [repr(v) if isinstance(v, int | float) else _kind(v) for v in value.values()]
        return f"a mapping to {_some(found)}" if found else "an empty mapping"
    if not of_values:
        return repr(value)
    return f"a list of {_some([_kind(v) for v in value])}" if isinstance(value, list | tuple) else _kind(value)


def _some(words: list[str]) -> str:
    return ", ".join(words[:5] + ["..."] * (len(words) > 5))


def _kind(value: Any) -> str:
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "nothing" if value is None else "something else"


_JSON_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string", type(None): "null"}


def _type_schema(wanted: Any) -> dict[str, Any]:
    """Return a type's JSON Schema.

    Examples
    --------
    >>> _type_schema(tuple[int, ...])
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type_schema(a) for a in args]}
    if origin is tuple:
        return {"type": "array", "items": _type_schema(args[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type_schema(args[1])}
    return {"type": _JSON_TYPES[wanted]} if wanted in _JSON_TYPES else {}
