"""Parameters as data: one declaration gives validation, one error sentence, JSON Schema and documentation.

A parameterized class is a frozen dataclass whose fields are annotated with a constraint and a sentence::

    k: Annotated[int, AtLeast(2), "smallest number of people in a class"]

Everything else (the message when it is violated, what the CLI lists, what the studio draws, the JSON Schema of
the policy) is derived from that line. Arguments of public functions are checked by their annotations: ``typed``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import os
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from hushtable.errors import ArgumentError, ParameterError, counted, did_you_mean

__all__ = ["AtLeast", "Between", "Constraint", "OfValues", "Param", "Parametrised", "Positive", "typed"]


P = ParamSpec("P")
R = TypeVar("R")


class Constraint:
    """A requirement on a value beyond its type. Subclasses are frozen dataclasses."""

    def holds(self, value: Any) -> bool:
        """Return whether ``value`` fulfills the constraint."""
        raise TypeError(f"{type(self).__name__} does not define holds")

    def sentence(self) -> str:
        """Return the constraint in words, to follow the type's name."""
        raise TypeError(f"{type(self).__name__} does not define sentence")

    def schema(self) -> dict[str, Any]:
        """Return the constraint in JSON Schema."""
        return {}


@dataclass(frozen=True)
class AtLeast(Constraint):
    """The number is at least ``low``.

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
    """The number lies between ``low`` and ``high``; ``closed`` says which ends are included.

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
    """Marks a parameter that names values of the table: others see how many, never which."""


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
        A sentence for users.
    required : bool
    default : Any
        ``None`` if required.
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
        """Return what the parameter accepts, in words: ``an int >= 2``."""
        words = " ".join([_type_words(self.type), *(c.sentence() for c in self.constraints)])
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"

    def coerce(self, value: Any, owner: str) -> Any:
        """Return the value in the declared type, or raise the error."""
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
    """Mixin for frozen dataclasses whose annotated fields are their parameters.

    ``name`` is the kebab-case name in policies; it must be declared.

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

    if not TYPE_CHECKING:

        def __new__(cls, *args: Any, **kwargs: Any) -> Self:
            """Refuse misspelled parameters with a hint, before the dataclass refuses them without one."""
            known = [field.name for field in dataclasses.fields(cls) if field.init]
            for name in (name for name in kwargs if name not in known):
                raise ParameterError(
                    f"{cls.__name__} has no parameter {name!r}.", hint=did_you_mean(name, known) or "It takes none."
                )
            return super().__new__(cls)

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
        """Build an instance from policy data, with a hint if a name is misspelled."""
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

    def public_values(self) -> dict[str, Any]:
        """Return ``values`` without values of the table: for messages, reports and logs."""
        hidden = {p.name for p in self.params() if p.of_values}
        return {
            name: counted(len(value), "value", "values") if name in hidden and value else value
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
    """Return whether ``value`` is of type ``wanted``, and the value in exactly that type.

    Examples
    --------
    >>> _fit(2, float), _fit(True, int), _fit([1, 2], tuple[int, ...])
    ((True, 2.0), (False, True), (True, (1, 2)))
    """
    origin, args = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return True, value
    if origin is Literal:
        # other types may not be comparable: an array is equal to nothing and everything
        return any(isinstance(value, type(one)) and value == one for one in args), value
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
    """Describe a wrong value, without the keys and texts of a mapping, and other values of the table.

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


_HINTS = {
    "Policy": "Write ht.Policy(quasi=[...], models=[...]), ht.load_policy(file) or ht.draft_policy(data).",
    "Release": "Use what ht.anonymize, ht.run or ht.open_release returns.",
}
_TEXT = (str, bytes, bytearray)


def typed(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function against its annotations before it is called.

    Annotations with names that only type checkers know are not checked. Messages name the type of a wrong
    argument, never the argument.

    Raises
    ------
    ArgumentError
        If an argument is missing, unknown or of the wrong type.

    Examples
    --------
    >>> @typed
    ... def repeat(text: str, times: int = 2) -> str:
    ...     return text * times
    >>> repeat("a")
    'aa'
    >>> repeat("a", times="b")
    Traceback (most recent call last):
    hushtable.errors.ArgumentError: The 'times' argument of repeat must be an int, not str.
    >>> repeat("a", time=3)
    Traceback (most recent call last):
    hushtable.errors.ArgumentError: repeat has no argument 'time'. Did you mean 'times'?
    """
    signature = inspect.signature(function)
    named = function.__qualname__.removesuffix(".__init__").removesuffix(".__getitem__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = _bound(signature, named, args, kwargs)
        for name, value in bound.arguments.items():
            hint = _argument_hint(function, signature.parameters[name])
            if not _argument_fits(value, hint):
                raise _wrong(named, name, hint, value)
        return function(*args, **kwargs)

    return checked


def _bound(
    signature: inspect.Signature, named: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [name for name in signature.parameters if name != "self"]
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            raise ArgumentError(
                f"{named} has no argument {unknown[0]!r}.", hint=did_you_mean(unknown[0], known)
            ) from None
        raise ArgumentError(
            f"{named} was called with the wrong arguments: {error}.", hint=f"See help(hushtable.{named})."
        ) from None


def _wrong(named: str, name: str, hint: Any, value: Any) -> ArgumentError:
    words = _argument_words(hint)
    article = "an" if words[0] in "aeiou" else "a"
    remedy = next((text for part in _parts(hint) if (text := _HINTS.get(getattr(part, "__name__", "")))), "")
    code = "not-a-policy" if any(getattr(part, "__name__", "") == "Policy" for part in _parts(hint)) else None
    given = f"not {value!r}" if isinstance(value, str) and "value of" in words else f"not {type(value).__name__}"
    return ArgumentError(
        f"The {name!r} argument of {named} must be {article} {words}, {given}.",
        code=code,
        hint=remedy,
    )


def _argument_hint(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return what a parameter accepts; Any for variadic ones, and for names that only type checkers know."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.annotation is parameter.empty:
        return Any
    return _evaluated(function, parameter.annotation)


@functools.cache
def _evaluated(function: Callable[..., Any], annotation: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.__globals__)  # noqa: S307 # our own annotations
    except NameError:
        return Any


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _argument_fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type, without examining many of its parts.

    Examples
    --------
    >>> _argument_fits(["a"], Collection[str]), _argument_fits("a", Collection[str])
    (True, False)
    >>> _argument_fits(True, int), _argument_fits(2, float)
    (False, True)
    """
    if hint is Any or isinstance(hint, TypeVar | str):
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_argument_fits(value, part) for part in args)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in args)
    if hint is bool:
        return isinstance(value, bool)
    if hint is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)
    if origin is Callable:
        return callable(value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(origin, type) and issubclass(origin, Collection):
        whole = isinstance(value, Collection) and not isinstance(value, (*_TEXT, Mapping))
        whole = whole and not hasattr(value, "columns")  # a DataFrame is no list of names
        return whole and all(_argument_fits(one, args[0]) for one in value) if args else whole
    kind = origin or hint
    return isinstance(value, kind) if isinstance(kind, type) else True


def _argument_words(hint: Any) -> str:
    """A type in words.

    Examples
    --------
    >>> _argument_words(str | os.PathLike[str] | None), _argument_words(Collection[str])
    ('str, path or None', 'list of str')
    >>> _argument_words(Literal["a", "b"])
    "value of 'a', 'b'"
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        *most, last = [_argument_words(part) for part in args]
        return f"{', '.join(most)} or {last}" if most else last
    if origin is Literal:
        return "value of " + ", ".join(map(repr, args))
    if hint is None or hint is type(None):
        return "None"
    kind = origin or hint
    if kind is os.PathLike:
        return "path"
    if kind is Callable:
        return "function"
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "mapping"
    if isinstance(origin, type) and issubclass(origin, Collection):
        return f"list of {_argument_words(args[0])}" if args else "list"
    return str(getattr(kind, "__name__", kind))
