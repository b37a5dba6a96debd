"""Plain data that cannot be changed: the contents of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


class Frozen(dict[str, Any]):
    """A dict that refuses every change, so that a frozen policy is frozen all the way down.

    Examples
    --------
    >>> Frozen(k=5)["k"] = 2
    Traceback (most recent call last):
    TypeError: a policy cannot be changed; make another one with policy.changed(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("a policy cannot be changed; make another one with policy.changed(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[Frozen], tuple[dict[str, Any]]]:
        # the default way of copying and pickling a dict subclass fills it item by item
        return Frozen, (dict(self),)


def freeze(data: Any) -> Any:
    """Return the data with every mapping frozen, under text keys, and every list as a tuple.

    Examples
    --------
    >>> freeze({"a": [1, {"b": 2}]})
    {'a': (1, {'b': 2})}
    """
    if isinstance(data, Mapping):
        return Frozen({str(key): freeze(value) for key, value in data.items()})
    if isinstance(data, list | tuple):
        return tuple(freeze(value) for value in data)
    return data


def thaw(data: Any) -> Any:
    """Return the data as plain dicts and lists, ready for YAML and JSON.

    Examples
    --------
    >>> thaw(freeze({"a": [1, {"b": 2}]}))
    {'a': [1, {'b': 2}]}
    """
    if isinstance(data, Mapping):
        return {key: thaw(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [thaw(value) for value in data]
    return data
