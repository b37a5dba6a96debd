"""The direction of imports: what stands to the left is imported, and heavy libraries stay where they are."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hushtable
from hushtable import registry

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hushtable"

# every module may import these; they import only one another
FOUNDATION = {"_version", "about", "arrays", "errors", "failures", "parallel", "params", "registry", "rng"}
# what users import: may import everything but the front ends
FACADE = {"__init__", "anonymizer", "api", "auditing", "encoding", "estimator"}
# left to right: a folder imports itself and what stands before it
ORDER = [
    *("io", "schema", "hierarchy", "kernels", "table", "treatments", "laws", "models", "algorithms", "release"),
    *("utility", "risk", "attacks", "ledger", "report", "engines", "policy", "linked", "[facade]", "pipelines"),
    *("comparison", "datasets", "reproduce", "testing", "studio", "agents", "cli", "__main__"),
]
# the same inside a folder, for sub-folders and single files; "*" stands for the files that are not named
INSIDE = {
    "io": ["*", "files", "lake", "sources", "dictionary_reader"],
    "algorithms": [
        *("*", "refining", "lattice", "cluster", "partition"),
        *("pattern", "bucket", "invariant", "concealing"),
    ],
    "release": [
        *("*", "plan", "settle", "origin", "released", "cautions", "evidence", "addresses", "display", "files"),
        *("sample", "explain", "guards"),
    ],
    "report": ["*", "content", "charts", "page", "gather", "templates"],
    "engines": ["*", "spark"],
    "studio": ["*", "work", "pages", "web"],
}
# they stand side by side: nothing of one is used by another, but for the command that starts the studio
FRONT_ENDS = {"agents", "cli", "studio"}
STARTS = {
    ("cli/mcp.py", "hushtable.agents.server.serve"),
    ("cli/studio.py", "hushtable.studio.web.server.serve"),
}
# a look-up in a registry needs the package that it holds: registry -> path of that package
HELD = {
    name: known.package.removeprefix("hushtable.").replace(".", "/")
    for name, known in vars(registry).items()
    if isinstance(known, registry.Registry)
}
# seconds to import, so only inside the functions that use them
LAZY = {"matplotlib", "pandas", "polars", "scipy", "sklearn"}
# library -> the only files that import it, even lazily
CONFINED = {"cupy": "kernels/gpu.py", "numba": "kernels/", "pyspark": "engines/spark/"}
# how many modules of hushtable a plain run may import besides the measures, and packages that it does without
MOST_MODULES = 127  # a dozen of them judge the release
UNUSED = (
    *("attacks", "comparison", "datasets", "engines.spark", "ledger", "report", "reproduce", "risk", "studio"),
    "testing",
)

MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
PLACES = {module.removesuffix(".py").removesuffix("/__init__") for module in MODULES}


def place(top: str) -> str:
    """A module's place in ORDER, or "foundation"."""
    if top in FOUNDATION:
        return "foundation"
    return "[facade]" if top in FACADE else top


def place_inside(path: str) -> int:
    """A module's place in INSIDE of its folder; the most exact of the names that fit counts."""
    folder, _, rest = path.partition("/")
    order = INSIDE.get(folder, ["*"])
    fits = [name for name in order if rest == name or rest.startswith(f"{name}/")]
    return order.index(max(fits, key=len, default="*"))


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


def look_ups(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of all registries that are taken from the module ``registry`` by a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "registry":
            yield node.lineno, f"hushtable.registry.{node.attr}"


def target(name: str) -> str | None:
    """The path below the package that ``name`` reaches into, or None for other libraries."""
    parts = name.split(".")
    if parts[0] != "hushtable":
        return None
    if parts[1:2] == ["registry"] and parts[-1] in HELD:
        return HELD[parts[-1]]
    if parts[1:2] == ["__version__"]:
        return "_version"
    known = ("/".join(parts[1:end]) for end in range(len(parts), 1, -1))
    return next((path for path in known if path in PLACES), "__init__")


def upward(module: str, source: str) -> Iterator[tuple[int, str, str]]:
    """Line, path and reason of every import in a module that does not go left."""
    tree = ast.parse(source)
    folder = module.split("/")[0].removesuffix(".py")
    own = place(folder)
    reach = ORDER.index("testing" if own == "[facade]" else own) if own != "foundation" else -1
    for line, name in (*imports(tree), *look_ups(tree)):
        reached = target(name)
        if reached is None:
            continue
        other = reached.split("/")[0]
        wanted = place(other)
        if wanted == "foundation" or (module, name) in STARTS:
            continue
        if wanted not in ORDER[: reach + 1]:
            yield line, reached, "which is to its right"
        elif folder != other and {folder, other} <= FRONT_ENDS:
            yield line, reached, "another front end"
        elif other == folder and place_inside(reached) > place_inside(module.removesuffix(".py")):
            yield line, reached, "which is to its right"


def problems(module: str, source: str) -> list[str]:
    """What is wrong with a module's imports; ``module`` is its path below the package."""
    tree = ast.parse(source)
    own = place(module.split("/")[0].removesuffix(".py"))
    if own != "foundation" and own not in ORDER:
        return [f"{module}: has no place in ORDER, FOUNDATION or FACADE of this test"]
    found = []
    for line, name in imports(tree):
        library = name.split(".")[0]
        if not library:
            found.append(f"{module}:{line}: relative import")
        if library in CONFINED and not module.startswith(CONFINED[library]):
            found.append(f"{module}:{line}: {library} outside {CONFINED[library]}")
    for line, reached, reason in upward(module, source):
        found.append(f"{module}:{line}: imports {reached}, {reason}")
    for line, name in imports(tree, lazy=False):
        if name.split(".")[0] in LAZY:
            found.append(f"{module}:{line}: {name.split('.')[0]} at module level")
    return found


def folders(path: str) -> str:
    """The folder of a module; what lies beside the packages is the foundation or the facade."""
    return path.rpartition("/")[0] or place(path)


def folder_imports(sources: dict[str, str]) -> dict[str, set[str]]:
    """Which folders each folder imports, its own sub-folders among them."""
    found: dict[str, set[str]] = {}
    for module, source in sources.items():
        own = folders(module.removesuffix(".py"))
        reached = {target(name) for _, name in imports(ast.parse(source))} - {None}
        # a package's own __init__.py is a module in it
        inside = {path if f"{path}/__init__.py" in MODULES else folders(path) for path in reached}
        found.setdefault(own, set()).update(inside - {own, "foundation"})
    return found


def both_ways(sources: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs of folders that reach each other, directly or through others."""
    reach = folder_imports(sources)
    for through in list(reach):
        for start in reach:
            if through in reach[start]:
                reach[start] |= reach[through]
    return [(a, b) for a in sorted(reach) for b in sorted(reach[a]) if a < b and a in reach.get(b, ())]


def test_no_two_folders_import_each_other():
    assert both_ways({module: (PACKAGE / module).read_text(encoding="utf-8") for module in MODULES}) == []


def test_folders_that_import_each_other_are_noticed():
    sources = {
        "io/files.py": "from hushtable.studio.pages.run import x",
        "studio/pages/x.py": "import hushtable.studio.web.rest",
        "studio/web/x.py": "def f():\n    from hushtable.io.files import read_table",
    }
    assert both_ways(sources) == [("io", "studio/pages"), ("io", "studio/web"), ("studio/pages", "studio/web")]
    assert both_ways({**sources, "studio/web/x.py": "import numpy"}) == []


def test_every_folder_is_seen():
    assert {"errors.py", "models/base.py", "table/stats.py"} <= set(MODULES)
    assert HELD.items() >= {"guards": "release/guards", "measures": "utility"}.items()


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_left(module):
    assert problems(module, (PACKAGE / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("folder", "named"), [(f, n) for f, names in INSIDE.items() for n in names if n != "*"])
def test_what_is_named_inside_a_folder_is_there(folder, named):
    assert f"{folder}/{named}" in PLACES


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("models/x.py", "from hushtable.algorithms.base import A", "imports algorithms/base, which is to its right"),
        ("models/x.py", "def f():\n    import hushtable.cli.main", "imports cli/main, which is to its right"),
        ("models/x.py", "from hushtable import algorithms", "imports algorithms, which is to its right"),
        ("models/x.py", "from hushtable import anonymize", "imports __init__, which is to its right"),
        ("models/x.py", "from . import base", "relative import"),
        ("api.py", "from hushtable.studio.web import server", "imports studio/web/server, which is to its right"),
        ("errors.py", "from hushtable.models.base import M", "imports models/base, which is to its right"),
        ("release/x.py", "from hushtable.registry import attacks", "imports attacks, which is to its right"),
        ("risk/x.py", "from hushtable import registry\nregistry.attacks", "imports attacks, which is to its right"),
        ("release/x.py", "from hushtable.registry import guards", "imports release/guards, which is to its right"),
        ("engines/x.py", "from hushtable.engines.spark.jobs import J", "engines/spark/jobs, which is to its right"),
        ("studio/x.py", "from hushtable.studio.pages import run", "imports studio/pages/run, which is to its right"),
        (
            "report/page/x.py",
            "import hushtable.report.gather.columns",
            "report/gather/columns, which is to its",
        ),
        ("cli/run.py", "from hushtable.studio.web.server import serve", "imports studio/web/server, another front end"),
        ("cli/studio.py", "from hushtable.studio.projects import H", "imports studio/projects, another front end"),
        ("studio/x.py", "from hushtable.cli.output import put", "imports cli/output, which is to its right"),
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
        ("attacks/x.py", "from hushtable.registry import Registry, attacks, guards\nregistry.models"),
        ("engines/spark/x.py", "from hushtable.release.plan import Plan"),
        ("report/charts/x.py", "from hushtable.report.html import tag"),
        ("utility/x.py", "def f():\n    from sklearn import tree"),
        ("io/x.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas as pd"),
        ("kernels/x.py", "import numba"),
        ("engines/spark/x.py", "import pyspark"),
        ("cli/x.py", "import hushtable\nfrom hushtable.api import anonymize"),
        ("cli/studio.py", "def f():\n    from hushtable.studio.web.server import serve"),
    ],
)
def test_a_right_import_is_accepted(module, source):
    assert problems(module, source) == []


def test_a_plain_run_imports_only_what_it_needs(tmp_path):
    (tmp_path / "people.csv").write_text("age,zip\n" + "".join(f"{20 + i},1424{i % 10}\n" for i in range(40)))
    (tmp_path / "policy.yaml").write_text(
        "columns: {age: {role: quasi}, zip: {role: quasi}}\nmodels: [k-anonymity: {k: 5}]\n"
    )
    script = (
        "import json, sys\n"
        "from hushtable.cli.main import main\n"
        "try:\n    main(['run', 'policy.yaml', '--data', 'people.csv'])\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.split('.')[0] == 'hushtable')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = json.loads(done.stderr.splitlines()[-1])
    assert [name for name in loaded if name.startswith(tuple(f"hushtable.{unused}" for unused in UNUSED))] == []
    assert len([name for name in loaded if not name.startswith("hushtable.utility.")]) <= MOST_MODULES


def test_an_error_class_is_found_where_it_is():
    with pytest.raises(AttributeError, match=r"write hushtable\.errors\.HushtableError"):
        hushtable.HushtableError  # noqa: B018 -- a typo that people make
