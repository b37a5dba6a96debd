"""The direction of imports: a folder imports from folders to its left, and heavy libraries stay where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hushtable"

# every module may import these; they import only one another
FOUNDATION = {"_version", "arrays", "errors", "param_types", "params", "registry", "rng"}
# what users import: may import everything but the front ends
FACADE = {"__init__", "anonymizer", "api"}
# left to right: a folder imports itself and what stands before it
ORDER = [
    *("io", "schema", "hierarchy", "kernels", "table", "models", "algorithms", "release", "utility", "risk"),
    *("attacks", "ledger", "report", "engines", "policy", "[facade]", "comparison", "datasets", "reproduce", "testing"),
    *("cli", "studio", "__main__"),
]
# seconds to import, so only inside the functions that use them
LAZY = {"matplotlib", "pandas", "polars", "scipy", "sklearn"}
# library -> the only files that import it, even lazily
CONFINED = {"numba": "kernels/", "pyspark": "engines/spark/"}

MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def place(top: str) -> str:
    """A module's place in ORDER, or "foundation"."""
    if top in FOUNDATION:
        return "foundation"
    return "[facade]" if top in FACADE else top


def imports(tree: ast.AST, *, lazy: bool = True) -> Iterator[tuple[int, str]]:
    """Line and full name of all that is imported; without ``lazy`` only what importing the module imports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{dots}.{alias.name}") for alias in node.names)
        elif lazy or not (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            yield from imports(node, lazy=lazy)


def target(name: str) -> str | None:
    """The folder or top-level module of hushtable that ``name`` reaches into, or None for other libraries."""
    parts = name.split(".")
    if parts[0] != "hushtable":
        return None
    if len(parts) > 1 and parts[1] == "__version__":
        return "_version"
    modules = {module.split("/")[0].removesuffix(".py") for module in MODULES}
    return parts[1] if len(parts) > 1 and parts[1] in modules.union(FOUNDATION, FACADE, ORDER) else "__init__"


def problems(module: str, source: str) -> list[str]:
    """What is wrong with a module's imports; ``module`` is its path below the package."""
    tree = ast.parse(source)
    own = place(module.split("/")[0].removesuffix(".py"))
    if own != "foundation" and own not in ORDER:
        return [f"{module}: has no place in ORDER, FOUNDATION or FACADE of this test"]
    found = []
    reach = ORDER.index("testing" if own == "[facade]" else own) if own != "foundation" else -1
    for line, name in imports(tree):
        library, reached = name.split(".")[0], target(name)
        if not library:
            found.append(f"{module}:{line}: relative import")
        if library in CONFINED and not module.startswith(CONFINED[library]):
            found.append(f"{module}:{line}: {library} outside {CONFINED[library]}")
        if reached is None or (wanted := place(reached)) == "foundation":
            continue
        if wanted not in ORDER[: reach + 1]:
            found.append(f"{module}:{line}: imports {reached}, which is to its right")
    for line, name in imports(tree, lazy=False):
        if name.split(".")[0] in LAZY:
            found.append(f"{module}:{line}: {name.split('.')[0]} at module level")
    return found


def test_every_folder_is_seen():
    assert {"errors.py", "models/base.py", "table/stats.py"} <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_left(module):
    assert problems(module, (PACKAGE / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("models/x.py", "from hushtable.algorithms.base import A", "imports algorithms, which is to its right"),
        ("models/x.py", "def f():\n    import hushtable.cli.main", "imports cli, which is to its right"),
        ("models/x.py", "from hushtable import algorithms", "imports algorithms, which is to its right"),
        ("models/x.py", "from hushtable import anonymize", "imports __init__, which is to its right"),
        ("models/x.py", "from . import base", "relative import"),
        ("api.py", "from hushtable.studio import app", "imports studio, which is to its right"),
        ("errors.py", "from hushtable.models.base import M", "imports models, which is to its right"),
        ("table/x.py", "def f():\n    from numba import njit", "numba outside kernels/"),
        ("engines/local.py", "import pyspark.sql", "pyspark outside engines/spark/"),
        ("report/x.py", "import matplotlib.pyplot as plt", "matplotlib at module level"),
        ("risk/x.py", "class A:\n    from scipy import stats", "scipy at module level"),
        ("risk/x.py", "try:\n    import pandas\nexcept ImportError:\n    pass", "pandas at module level"),
        ("extra/x.py", "", "has no place in ORDER"),
    ],
)
def test_a_wrong_import_is_noticed(module, source, complaint):
    found = problems(module, source)
    assert len(found) == 1
    assert complaint in found[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("models/x.py", "from hushtable import registry\nfrom hushtable import __version__\nimport hushtable.rng"),
        ("models/x.py", "from hushtable.models.base import M\nfrom hushtable.table.stats import G"),
        ("utility/x.py", "def f():\n    from sklearn import tree"),
        ("io/x.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas as pd"),
        ("kernels/x.py", "import numba"),
        ("engines/spark/x.py", "import pyspark"),
        ("cli/x.py", "import hushtable\nfrom hushtable.api import anonymize"),
    ],
)
def test_a_right_import_is_accepted(module, source):
    assert problems(module, source) == []
