"""Name -> class, for the command line, the studio, the docs and plug-ins.

A registry finds the modules of one package and the entry points of the same group when it is first asked, so
importing hushtable stays cheap and adding a model means adding a file.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from hushtable.errors import UsageError, did_you_mean
from hushtable.params import Parametrised

__all__ = ["Registry", "algorithms", "attacks", "guards", "hierarchies", "measures", "models", "risks", "templates"]

T = TypeVar("T", bound=Parametrised)


class Registry(Mapping[str, type[T]], Generic[T]):
    """The classes of one package by their declared ``name``.

    Parameters
    ----------
    kind : str
        What it holds, in the singular, for error messages.
    package : str
        The package whose modules are searched; also the entry-point group of plug-ins.
    base : str
        The name of the base class, as ``module:class`` below the package.

    Examples
    --------
    >>> models["k-anonymity"].__name__
    'KAnonymity'
    >>> models.build("k-anonymity", {"k": 5})
    KAnonymity(k=5)
    >>> models["k-anonimity"]
    Traceback (most recent call last):
    hushtable.errors.UsageError: There is no model 'k-anonimity'. Did you mean 'k-anonymity'?
    """

    def __init__(self, kind: str, package: str, base: str) -> None:
        self.kind = kind
        self.package = package
        self._base = base
        self._found: dict[str, type[T]] | None = None

    def _classes(self) -> dict[str, type[T]]:
        if self._found is None:
            module, name = self._base.split(":")
            base: type[T] = getattr(importlib.import_module(f"{self.package}.{module}"), name)
            found: dict[str, type[T]] = {}
            package = importlib.import_module(self.package)
            for info in pkgutil.walk_packages(package.__path__, f"{self.package}."):
                members = vars(importlib.import_module(info.name)).values()
                _collect(members, base, found, info.name)
            for point in entry_points(group=self.package):
                _collect([point.load()], base, found, None)
            self._found = dict(sorted(found.items()))
        return self._found

    def __getitem__(self, name: str) -> type[T]:
        classes = self._classes()
        if name not in classes:
            raise UsageError(
                f"There is no {self.kind} {name!r}.",
                code=f"unknown-{self.kind}",
                hint=did_you_mean(name, classes),
            )
        return classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes())

    def __len__(self) -> int:
        return len(self._classes())

    def build(self, name: str, values: Mapping[str, Any] | None = None) -> T:
        """Return an instance of the named class with these parameters."""
        return self[name].build(values)

    def by_class_name(self, name: str) -> type[T] | None:
        """Return the class called ``name`` in Python, if there is one."""
        return next((c for c in self._classes().values() if c.__name__ == name), None)


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


def _where(member: type) -> str:
    return f"{member.__module__}.{member.__qualname__}"


hierarchies: Registry[Any] = Registry("hierarchy", "hushtable.hierarchy", "base:Hierarchy")
models: Registry[Any] = Registry("model", "hushtable.models", "base:PrivacyModel")
algorithms: Registry[Any] = Registry("algorithm", "hushtable.algorithms", "base:Algorithm")
guards: Registry[Any] = Registry("guard", "hushtable.release.guards", "base:Guard")
measures: Registry[Any] = Registry("measure", "hushtable.utility", "base:Measure")
risks: Registry[Any] = Registry("risk", "hushtable.risk", "base:Risk")
attacks: Registry[Any] = Registry("attack", "hushtable.attacks", "base:Attack")
templates: Registry[Any] = Registry("template", "hushtable.report.templates", "base:Template")
