"""The forms of a hierarchy in a policy, and back.

::

    hierarchy: country.csv                          # taxonomy file (.csv .tsv .txt), tree file (.yaml .yml)
    hierarchy: flat                                 # any recipe that needs no parameters
    hierarchy: {intervals: [5, 10, 20]}             # a recipe's main parameter
    hierarchy: {intervals: {widths: [5], low: 20}}  # its parameters by name
    hierarchy: {tree: {Europe: [France], Asia: [Japan]}}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.errors import HierarchyError, ParameterError, PolicyError, did_you_mean
from hushtable.hierarchy.base import Hierarchy
from hushtable.registry import hierarchies

_SUFFIXES = (".csv", ".tsv", ".txt", ".yaml", ".yml")


def parse_hierarchy(spec: Any, column: str, base_dir: Path | None = None) -> Hierarchy:
    """Return the hierarchy that a policy describes.

    Parameters
    ----------
    spec : Any
        One of the forms above; None is ``flat``; a ``Hierarchy`` is returned unchanged.
    column : str
        The column's name, for error messages.
    base_dir : Path, optional
        The folder that file names are relative to.

    Raises
    ------
    PolicyError
        If the form or the recipe's name is unknown.
    ParameterError, HierarchyError
        If a parameter is not acceptable.

    Examples
    --------
    >>> parse_hierarchy({"prefix": "#"}, "postcode")
    Prefix(mask='#', steps=None, from_end=True, length=None)
    >>> parse_hierarchy({"interval": [5]}, "age")
    Traceback (most recent call last):
    hushtable.errors.PolicyError: Column 'age': there is no hierarchy 'interval'. Did you mean 'intervals'?
    """
    if isinstance(spec, Hierarchy):
        return spec
    name, value = _name_and_value(spec, column)
    if name not in hierarchies:
        raise PolicyError(
            f"Column {column!r}: there is no hierarchy {name!r}.",
            code="unknown-hierarchy",
            hint=did_you_mean(name, [*hierarchies, "tree"]),
        )
    recipe = hierarchies[name]
    if not isinstance(value, Mapping) and value is not None:
        shorthand = getattr(recipe, "shorthand", "")
        if not shorthand:
            raise PolicyError(
                f"Column {column!r}: the hierarchy {name!r} needs its parameters by name.",
                code="bad-hierarchy",
                hint=f"Write hierarchy: {{{name}: {{parameter: value}}}}.",
            )
        value = {shorthand: value}
    if value and base_dir is not None and isinstance(value.get("file"), str):
        value = {**value, "file": str(base_dir / value["file"])}
    try:
        hierarchy: Hierarchy = recipe.build(value)
    except (ParameterError, HierarchyError) as error:
        raise type(error)(f"Column {column!r}: {error.message}", code=error.code, hint=error.hint) from None
    return hierarchy


def hierarchy_data(hierarchy: Hierarchy, base_dir: Path | None = None) -> Any:
    """Return a hierarchy as policy data, in its shortest form; ``parse_hierarchy`` reads it back.

    Parameters
    ----------
    hierarchy : Hierarchy
    base_dir : Path, optional
        File names inside this folder are written relative to it.

    Examples
    --------
    >>> hierarchy_data(parse_hierarchy({"intervals": {"widths": [5, 10]}}, "age"))
    {'intervals': [5, 10]}
    >>> hierarchy_data(parse_hierarchy("flat", "sex"))
    'flat'
    """
    values = hierarchy.values()
    if base_dir is not None and isinstance(values.get("file"), str):
        path = Path(values["file"])
        if path.is_relative_to(base_dir):
            values["file"] = path.relative_to(base_dir).as_posix()
    if not values:
        return hierarchy.name
    if hierarchy.name == "taxonomy":
        if set(values) == {"file"} and values["file"].lower().endswith(_SUFFIXES):
            return values["file"]
        if set(values) == {"tree"}:
            return values
    shorthand = getattr(hierarchy, "shorthand", "")
    return {hierarchy.name: values[shorthand] if set(values) == {shorthand} else values}


def _name_and_value(spec: Any, column: str) -> tuple[str, Any]:
    if spec is None:
        return "flat", None
    if isinstance(spec, str):
        return ("taxonomy", {"file": spec}) if spec.lower().endswith(_SUFFIXES) else (spec, None)
    if isinstance(spec, Mapping) and len(spec) == 1:
        ((name, value),) = spec.items()
        return ("taxonomy", {"tree": value}) if name == "tree" else (str(name), value)
    raise PolicyError(
        f"Column {column!r}: a hierarchy must be a file name, a recipe's name, or one recipe with its parameters.",
        code="bad-hierarchy",
        hint='For example: country.csv, flat, {intervals: [5, 10, 20]}, {prefix: "*"}.',
    )
