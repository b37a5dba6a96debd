"""A form for anything in the registry: the declared parameters determine the fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from nicegui import ui

from hushtable.errors import ParameterError
from hushtable.params import Param, Parametrised
from hushtable.policy.faults import InvalidPolicy
from hushtable.policy.text import read_yaml
from hushtable.studio.pages.widgets import once_left


def parse_field(param: Param, given: Any) -> Any:
    """Return typed text as the value of a parameter, or None if the field is empty.

    Lists are separated by commas; mappings and nested lists are YAML.

    Examples
    --------
    >>> widths = Param("widths", tuple[int, ...], (), "", False, None)
    >>> parse_field(widths, "5, 10, 20")
    [5, 10, 20]
    >>> parse_field(Param("k", int, (), "", True, None), "five")
    'five'
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    if not isinstance(given, str):
        return int(given) if isinstance(given, float) and given.is_integer() and _takes(param.type, int) else given
    if _is_text(param.type):
        return given.strip()
    if _lists_text(param.type):
        return [word.strip() for word in given.split(",") if word.strip()]
    return _read(given, listed=_takes_list(param.type))


def field_text(value: Any) -> str:
    """Return a parameter's value as text for its field.

    Examples
    --------
    >>> field_text([5, 10]), field_text({"a": 1}), field_text(None)
    ('5, 10', '{a: 1}', '')
    """
    if value is None or value == {}:
        return ""
    if isinstance(value, list | tuple) and all(not isinstance(v, list | tuple | Mapping) for v in value):
        return ", ".join(str(v) for v in value)
    if isinstance(value, list | tuple | Mapping):
        plain = {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else [*value]
        return yaml.safe_dump(plain, default_flow_style=True, width=10**6, allow_unicode=True).strip()
    return str(value)


def _read(given: str, *, listed: bool) -> Any:
    wanted = " ".join(given.split())
    if listed and not wanted.startswith("["):
        wanted = f"[{wanted}]"
    try:
        # the policy's own reader: YAML's would take NO for a truth value
        return read_yaml(f"v: {wanted}").data["v"]
    except InvalidPolicy:
        raise ParameterError(
            "The text of a field cannot be read.", hint="Lists: 5, 10, 20. Mappings: {name: 2, other: 1}."
        ) from None


def _parts(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _takes(kind: Any, wanted: Any) -> bool:
    return any(part is wanted for part in _parts(kind))


def _takes_list(kind: Any) -> bool:
    return any(get_origin(part) is tuple for part in _parts(kind))


def _is_text(kind: Any) -> bool:
    return all(part in (str, type(None)) for part in _parts(kind))


def _lists_text(kind: Any) -> bool:
    """Whether it is a list of words: words may contain any character, so they are not read as YAML."""
    items = [get_args(part)[0] for part in _parts(kind) if get_origin(part) is tuple]
    return bool(items) and all(i is str or all(isinstance(a, str) for a in get_args(i) or (0,)) for i in items)


def _choices(kind: Any) -> tuple[Any, ...]:
    return next((get_args(part) for part in _parts(kind) if get_origin(part) is Literal), ())


class ParameterForm:
    """The fields of one registered class.

    Parameters
    ----------
    known : type
        A class of the registry.
    values : mapping
        Values in the policy.
    changed : callable
        Called after every change.
    columns : sequence of str
        Choices for a parameter called ``on``: the sensitive columns.
    hidden : sequence of str
        Parameters that another part of the page covers.
    typed : callable, optional
        Called at every keystroke instead of ``changed``, which waits until a field is left.
    """

    def __init__(
        self,
        known: type[Parametrised],
        values: Mapping[str, Any],
        changed: Callable[[], Any],
        *,
        columns: Sequence[str] = (),
        hidden: Sequence[str] = (),
        typed: Callable[[], Any] | None = None,
    ) -> None:
        self.known = known
        self._columns = list(columns)
        self._given = dict(values)
        self._fields: dict[str, Any] = {}
        self._typed = typed
        with ui.element("div").classes("ht-row top ht-form"):
            for param in sorted(known.params(), key=lambda p: not p.required):
                if param.name not in hidden:
                    self._fields[param.name] = self._field(param, values.get(param.name), changed)

    def values(self) -> dict[str, Any]:
        """Return the contents of the fields as policy data; raise ``ParameterError`` if one cannot be read."""
        found = {name: value for name, value in self._given.items() if name not in self._fields}
        for param in self.known.params():
            if param.name in self._fields:
                value = parse_field(param, self._fields[param.name].value)
                if value is not None and (param.required or value != param.default):
                    found[param.name] = value
        return found

    def _field(self, param: Param, value: Any, changed: Callable[[], Any]) -> Any:
        label = param.name.replace("_", " ") + (" *" if param.required else "")
        shown = value if value is not None else param.default
        choices = _choices(param.type)
        if param.name == "on" and self._columns:
            options = {"": "every sensitive column", **{c: c for c in self._columns}}
            if isinstance(shown, list | tuple):
                options[", ".join(shown)] = " + ".join(shown)
                shown = ", ".join(shown)
            made: Any = ui.select(options, value=shown or "", label=label, on_change=changed)
        elif _takes(param.type, bool) and not choices:
            made = ui.checkbox(label, value=bool(shown), on_change=changed)
        elif choices:
            options = {choice: str(choice) for choice in choices}
            if type(None) in _parts(param.type):
                options = {"": "(default)", **options}
            made = ui.select(options, value="" if shown is None else shown, label=label, on_change=changed)
        elif param.type in (int, float):
            made = ui.number(label, value=shown, step=1 if param.type is int else 0.1)
        else:
            made = ui.input(label, value=field_text(shown))
        if not isinstance(made, ui.select | ui.checkbox):
            if self._typed is None:
                once_left(made, changed)
            else:
                made.on_value_change(self._typed)
        if not isinstance(made, ui.checkbox):
            made.props(f'bottom-slots hint="{_attribute(param.doc)}"').classes("grow")
        return made


def _attribute(words: str) -> str:
    return words.replace('"', "'").replace("\n", " ")
