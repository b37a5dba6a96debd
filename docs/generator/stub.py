"""Writes ``src/hushtable/__init__.pyi``, from which mypy, pyright and editors know what ``ht.`` offers.

Names are looked up when they are used, so that importing hushtable costs nothing; a type checker cannot see that. Run
``make generated`` after adding a model, an algorithm, a guard, a treatment, a measure or a function: a
test fails where the file is stale.
"""

from __future__ import annotations

from pathlib import Path

import hushtable
from hushtable import registry

STUB = Path(hushtable.__file__).with_suffix(".pyi")
HEAD = '''"""hushtable: publish a table about people without publishing the people."""

# written by docs/generator/stub.py

'''


def stub() -> str:
    """Return the text of the stub: every name with the module that defines it."""
    known = (registry.models, registry.algorithms, registry.guards, registry.treatments, registry.measures)
    classes = [cls for one in known for cls in one.values() if cls.__module__.startswith("hushtable.")]
    places = {cls.__name__: cls.__module__ for cls in classes} | hushtable._LAZY | {"__version__": "hushtable._version"}
    lines = [f"from hushtable import {name} as {name}" for name in sorted(hushtable._MODULES)]
    lines += [f"from {places[name]} import {name} as {name}" for name in sorted(places, key=lambda n: (places[n], n))]
    listed = "".join(f"    {name!r},\n".replace("'", '"') for name in hushtable.__all__)
    return f"{HEAD}{chr(10).join(lines)}\n\n__all__ = [\n{listed}]\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
