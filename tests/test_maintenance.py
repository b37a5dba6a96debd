"""Files hold one idea and functions are read at once; what is longer is named here, with the reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hushtable"
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))

# a file has one reason to exist: 600 lines of one idea beat three files that only know each other
LONGEST_MODULE = 600
LONGEST_FUNCTION = 60  # without its docstring

LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS = {
    ("kernels/founding.py", "_found_loops"): "one loop whose state, thirty arrays, would go to every part and back",
}

MOST_PARAMETERS = 7
"""Kernels take arrays only, and a command of the command line has a parameter for each of its options."""

MANY_PARAMETERS = {
    ("api.py", "run"): "users give its options by name",
    ("comparison/run.py", "compare"): "users give its options by name",
    ("policy/policy.py", "__init__"): "the settings of a policy, for editors",
    ("engines/stream.py", "run_files"): "the options of hushtable.run",
    ("engines/spark/files.py", "run_on_spark"): "the options of hushtable.run",
    ("testing/interference_checks.py", "check_interference"): "plug-ins give its options by name",
    ("testing/store_checks.py", "check_store"): "plug-ins give its options by name",
}


def length(source: str) -> int:
    return len(source.splitlines())


def functions(source: str) -> dict[str, int]:
    """Lines of every function, its decorators and docstring left out."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1
            found[node.name] = max(lines, found.get(node.name, 0))
    return found


@pytest.mark.parametrize("module", MODULES)
def test_modules_and_functions_are_short(module):
    source = (PACKAGE / module).read_text(encoding="utf-8")
    if module not in LONG_MODULES:
        assert length(source) <= LONGEST_MODULE
    long = {name: lines for name, lines in functions(source).items() if lines > LONGEST_FUNCTION}
    assert {name: lines for name, lines in long.items() if (module, name) not in LONG_FUNCTIONS} == {}


def test_no_exception_outlives_its_reason():
    for module in LONG_MODULES:
        # some room, so that a line more or less does not change the list
        assert length((PACKAGE / module).read_text(encoding="utf-8")) > LONGEST_MODULE - 20, module
    for module, name in LONG_FUNCTIONS:
        assert functions((PACKAGE / module).read_text(encoding="utf-8"))[name] > LONGEST_FUNCTION, name


def parameters(source: str) -> dict[str, int]:
    """How many parameters every function has; the object of a method is none."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            found[node.name] = max(len(names) - (names[:1] in (["self"], ["cls"])), found.get(node.name, 0))
    return found


@pytest.mark.parametrize("module", [module for module in MODULES if not module.startswith("kernels/")])
def test_functions_have_few_parameters(module):
    command = Path(module).stem if module.startswith("cli/") else ""
    many = {
        name: number
        for name, number in parameters((PACKAGE / module).read_text(encoding="utf-8")).items()
        if number > MOST_PARAMETERS and name != command and (module, name) not in MANY_PARAMETERS
    }
    assert many == {}


def test_parameters_are_counted():
    assert parameters("class A:\n    def f(self, a, /, b, *c, d=1, **e): ...") == {"f": 3}
    for module, name in MANY_PARAMETERS:
        assert parameters((PACKAGE / module).read_text(encoding="utf-8"))[name] > MOST_PARAMETERS, name


def class_names() -> dict[str, list[str]]:
    """The modules that define each class name."""
    found: dict[str, list[str]] = {}
    for module in MODULES:
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    return found


def test_a_class_name_has_one_meaning():
    assert {name: modules for name, modules in class_names().items() if len(modules) > 1} == {}


def test_docstrings_do_not_count():
    assert functions('def f():\n    """One\n\n    two.\n    """\n    return 1\n') == {"f": 2}
