"""Name -> class, for the command line, the studio, the docs and plug-ins.

A registry holds the classes of one package, and those that plug-ins add through the entry points of the same group. The
class that policies call ``k-anonymity`` is in the file ``k_anonymity.py``, so one name imports one module, and
adding a model means adding a file. Only listing a registry imports all of it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import entry_points
from itertools import chain
from typing import Any, Generic, TypeVar

from hushtable.errors import UsageError, did_you_mean
from hushtable.params import Parametrised

__all__ = [
    *("Registry", "class_named", "register"),
    *("algorithms", "attacks", "forms", "guards", "hierarchies", "measures", "models", "risks", "templates"),
    "treatments",
]

T = TypeVar("T", bound=Parametrised)
C = TypeVar("C")


class Registry(Mapping[str, type[T]], Generic[T]):
    """The classes of one package by their declared ``name``.

    Parameters
    ----------
    kind : str
        Kind of entries, in the singular, for error messages.
    package : str
        Package whose modules are searched; also the entry-point group of plug-ins.
    base : str
        Name of the base class, as ``module:class`` below the package, or ``.module:class`` next to it.

    Examples
    --------
    >>> models["k-anonymity"].__name__
    'KAnonymity'
    >>> models.build("distinct-l", {"l": 3})
    DistinctL(on=None, l=3)
    >>> models["k-anonimity"]
    Traceback (most recent call last):
    hushtable.errors.UsageError: There is no model 'k-anonimity'. Did you mean 'k-anonymity'?
    """

    def __init__(self, kind: str, package: str, base: str) -> None:
        self.kind = kind
        self.package = package
        self._base = base
        self._found: dict[str, type[T]] = {}
        self._complete = False
        self._added: dict[str, type[T]] = {}

    def _all(self) -> dict[str, type[T]]:
        """Every class by name, sorted; duplicate names are refused."""
        if not self._complete:
            found: dict[str, type[T]] = {}
            for modules in self._files.values():
                for module in modules:
                    self._collect_module(module, found)
            _collect(self.plug_ins().values(), self._base_class, found, None)
            self._found, self._complete = dict(sorted(found.items())), True
        return dict(sorted({**self._found, **self._added}.items())) if self._added else self._found

    def _one(self, name: str) -> type[T] | None:
        """Return the class of this name, importing as little as possible."""
        if name in self._added:
            return self._added[name]
        if name not in self._found and not self._complete:
            found = self._in_file(name.replace("-", ""))
            # a plug-in of a built-in name is refused, not passed over
            points = entry_points(group=self.package, name=name)
            _collect([point.load() for point in points], self._base_class, found, None)
            if name not in found:
                return self._all().get(name)
            self._found[name] = found[name]
        return self._found.get(name)

    def _in_file(self, squashed: str) -> dict[str, type[T]]:
        """The classes in the files of this name."""
        found: dict[str, type[T]] = {}
        for module in self._files.get(squashed, ()):
            self._collect_module(module, found)
        return found

    def _collect_module(self, module: str, found: dict[str, type[T]]) -> None:
        _collect(vars(importlib.import_module(module)).values(), self._base_class, found, module)

    @cached_property
    def _base_class(self) -> type[T]:
        module, name = self._base.split(":")
        base: type[T] = getattr(importlib.import_module(f".{module}", self.package), name)
        return base

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The package's modules by file name, without underscores: a class is found by either of its names."""
        files: dict[str, list[str]] = {}
        for module in _modules_below(self.package, importlib.import_module(self.package).__path__):
            files.setdefault(module.rpartition(".")[2].replace("_", ""), []).append(module)
        return files

    def __getitem__(self, name: str) -> type[T]:
        found = self._one(name)
        if found is None:
            raise UsageError(
                f"There is no {self.kind} {name!r}.",
                code=f"unknown-{self.kind}",
                hint=did_you_mean(name, self._all()),
            )
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._one(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def build(self, name: str, values: Mapping[str, Any] | None = None) -> T:
        """Return an instance of the named class with these parameters."""
        return self[name].build(values)

    def chosen(self, what: Any, values: Mapping[str, Any] | None = None) -> T:
        """Return an instance: the given one, or one of the given or named class.

        Examples
        --------
        >>> models.chosen("k-anonymity", {"k": 5}).k
        5
        >>> models.chosen(models["distinct-l"](l=3))
        DistinctL(on=None, l=3)
        >>> models.chosen(5)
        Traceback (most recent call last):
        hushtable.errors.UsageError: Models must be names or objects, not int. Write, for example, 'a-d'.
        """
        if isinstance(what, self._base_class):
            if values:
                raise UsageError(
                    f"The {self.kind} is an object, which has its parameters already.",
                    code="parameters-twice",
                    hint=f"Give the parameters to {type(what).__name__}(...), or pass the {self.kind} by name.",
                )
            return what
        if isinstance(what, type) and issubclass(what, self._base_class):
            return what.build(values)
        if not isinstance(what, str):
            raise UsageError(
                f"{self.kind.capitalize()}s must be names or objects, not {type(what).__name__}.",
                code=f"unknown-{self.kind}",
                hint=f"Write, for example, {next(iter(self))!r}.",
            )
        return self.build(what, values)

    def plug_ins(self) -> dict[str, type[T]]:
        """Return the classes of installed plug-ins and those that this process registered, by name."""
        found: dict[str, type[T]] = {}
        _collect([point.load() for point in entry_points(group=self.package)], self._base_class, found, None)
        return {**found, **self._added}

    def holds(self, cls: Any) -> bool:
        """Whether this is a class of the kind that the registry holds."""
        return isinstance(cls, type) and issubclass(cls, self._base_class)

    @property
    def added(self) -> Mapping[str, type[T]]:
        """The classes that this process registered, by name."""
        return self._added

    def add(self, cls: type[T]) -> None:
        """Register a class in this process. A class that is defined again, as in a notebook, replaces itself.

        Raises
        ------
        UsageError
            If it is incomplete, or another class has its name.
        """
        _check_complete(cls, self.kind)
        before = self._one(cls.name)
        if before is cls:
            return
        again = before is not None and cls.name in self._added and _where(before) == _where(cls)
        if before is not None and not again:
            raise UsageError(
                f"There is a {self.kind} {cls.name!r} already: {_where(before)}.",
                code="name-twice",
                hint=f"Give {cls.__name__} another name.",
            )
        self._added[cls.name] = cls

    def discard(self, name: str) -> None:
        """Remove a class that this process registered."""
        self._added.pop(name, None)

    def by_class_name(self, name: str) -> type[T] | None:
        """Return the class called ``name`` in Python, if there is one."""
        return self._by_file(name) or next((c for c in self._all().values() if c.__name__ == name), None)

    def _by_file(self, name: str) -> type[T] | None:
        """The class called ``name`` in Python, if its file has the same name."""
        own = next((c for c in self._added.values() if c.__name__ == name), None)
        if own is not None:
            return own
        return next((c for c in self._in_file(name.lower()).values() if c.__name__ == name), None)


def class_named(name: str, registries: Sequence[Registry[Any]]) -> type[Parametrised] | None:
    """Return the class called ``name`` in Python from the first of some registries that has it.

    Examples
    --------
    >>> class_named("Mondrian", [models, algorithms]).name
    'mondrian'
    """
    quick = (registry._by_file(name) for registry in registries)
    thorough = (registry.by_class_name(name) for registry in registries)
    return next((found for found in chain(quick, thorough) if found is not None), None)


def _modules_below(package: str, path: Iterable[str]) -> Iterator[str]:
    """The names of all modules below a package, without importing any."""
    for info in pkgutil.iter_modules(path):
        if info.ispkg:
            yield from _modules_below(f"{package}.{info.name}", [os.path.join(folder, info.name) for folder in path])
        else:
            yield f"{package}.{info.name}"


def _collect(members: Any, base: type[T], found: dict[str, type[T]], module: str | None) -> None:
    for member in members:
        if not (isinstance(member, type) and issubclass(member, base)) or inspect.isabstract(member):
            continue
        if not member.name or (module is not None and member.__module__ != module):
            continue
        if found.setdefault(member.name, member) is not member:
            raise UsageError(
                f"Both {_where(found[member.name])} and {_where(member)} are called {member.name!r}.",
                code="name-twice",
                hint="Uninstall one of the plug-ins, or give its class another name.",
            )


def _check_complete(cls: type[Parametrised], kind: str) -> None:
    """Refuse a class that could not be instantiated or named."""
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise UsageError(
            f"{cls.__name__} is an incomplete {kind}: it does not define {', '.join(missing)}.",
            code="incomplete",
            hint=f"See the base class: help({cls.__mro__[1].__module__}.{cls.__mro__[1].__name__}).",
        )
    if not isinstance(cls.name, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", cls.name):
        raise UsageError(
            f"{cls.__name__} has no lowercase name with hyphens for use in policies.",
            code="no-name",
            hint='Write, for example, name: ClassVar[str] = "my-name" in the class.',
        )
    if "__dataclass_fields__" not in vars(cls):
        raise UsageError(
            f"{cls.__name__} is not a dataclass, so its parameters are unknown.",
            code="no-dataclass",
            hint="Write @dataclass(frozen=True) above the class.",
        )


def _where(member: type) -> str:
    return f"{member.__module__}.{member.__qualname__}"


hierarchies: Registry[Any] = Registry("hierarchy", "hushtable.hierarchy", "base:Hierarchy")
models: Registry[Any] = Registry("model", "hushtable.models", "base:PrivacyModel")
algorithms: Registry[Any] = Registry("algorithm", "hushtable.algorithms", "base:Algorithm")
forms: Registry[Any] = Registry("form", "hushtable.release.forms", "base:Form")
treatments: Registry[Any] = Registry("treatment", "hushtable.treatments", "base:Treatment")
guards: Registry[Any] = Registry("guard", "hushtable.release.guards", ".guard:Guard")
measures: Registry[Any] = Registry("measure", "hushtable.utility", "base:Measure")
risks: Registry[Any] = Registry("risk", "hushtable.risk", "base:Risk")
attacks: Registry[Any] = Registry("attack", "hushtable.attacks", "base:Attack")
templates: Registry[Any] = Registry("template", "hushtable.report.templates", "base:Template")


def register(cls: type[C]) -> type[C]:
    """Register your own class under its name in this process; also usable as a decorator.

    Policies, comparisons and reports then find it like a built-in one. Objects of a class need not be registered: a
    policy accepts them directly. To share a class with others, put it into a package with an entry point.

    Parameters
    ----------
    cls : class
        A privacy model, an algorithm, a measure, a risk, an attack, a published form, a guard, a treatment, a hierarchy
        or a report template: a frozen dataclass that inherits from the base class of its kind and has a ``name``.

    Returns
    -------
    class
        The same.

    Raises
    ------
    UsageError
        If it is none of these, is incomplete, or has the name of another one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import hushtable as ht
    >>> from hushtable.utility.base import Measure
    >>> @ht.register
    ... @dataclass(frozen=True)
    ... class Classes(Measure):
    ...     name: ClassVar[str] = "number-of-classes"
    ...     def compute(self, comparison):
    ...         return float(comparison.n_classes)
    >>> ht.registry.measures["number-of-classes"] is Classes
    True
    >>> ht.registry.measures.discard("number-of-classes")
    """
    kinds = (models, algorithms, measures, attacks, risks, forms, guards, treatments, hierarchies, templates)
    known = next((one for one in kinds if one.holds(cls)), None)
    if known is None:
        what = cls.__name__ if isinstance(cls, type) else f"an object of {type(cls).__name__}"
        raise UsageError(
            f"Only classes that inherit from a base class of hushtable can be registered, not {what}.",
            code="not-a-kind",
            hint="For a model, inherit from hushtable.models.base.PrivacyModel or SensitiveModel.",
        )
    known.add(cls)
    return cls
