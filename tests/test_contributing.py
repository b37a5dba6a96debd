"""CONTRIBUTING is true: a model, an algorithm, a measure, an attack and a form are added by the book, and nothing else.

``contributing/`` has each of them with its test, as text. They are put into a copy of the tree, with one line of docs
each, and ``make generated`` renews what is made from the code. Then the tests that CONTRIBUTING names run there: no
list in any of them knows what was added.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ADDED = ROOT / "tests" / "contributing"
FILES = {path.relative_to(ADDED).as_posix().removesuffix(".txt"): path for path in sorted(ADDED.rglob("*.txt"))}
SOURCES = [name for name in FILES if name.startswith("src/")]
LINES = {
    "models": "- `k-e`: every class has at least k people, and its sensitive numbers span at least e.",
    "algorithms": "- `one-class`: all records form one class.",
    "measures": "- `largest-class`: the share of the released records in the largest class.",
    "attacks": "- `modal-value`: the adversary guesses the most frequent value of a class.",
    "forms": "- `blanks`: `*`, because the class has several values.",
}
COPIED = ("src", "tests", "fuzz", "docs", "README.md", "CONTRIBUTING.md", "pyproject.toml")
# what a test is called by when it is about one of the five
ABOUT = [
    *("[k-e]", "-k-e]", "[k-e-", "[one-class", "OneClass", "[modal-value]", "[modal-value-", "Blanks"),
    *(name.removeprefix("src/hushtable/") for name in SOURCES),
]
CONTRACTS = [
    *(f"tests/contracts/test_contracts_{name}.py" for name in ("models", "algorithms", "forms", "known_algorithm")),
    *("tests/contracts/test_contracts_interference.py", "tests/attacks/test_attacks_contract.py"),
    *("tests/test_imports.py", "tests/test_maintenance.py"),
]
WHOLE = [
    *(name for name in FILES if name.startswith("tests/")),
    *SOURCES,  # their doctests
    *("tests/test_registry.py", "tests/test_architecture.py"),
    "tests/test_docs.py::test_every_registered_name_has_a_line",
    "tests/test_docs.py::test_each_says_when_to_use_it_and_when_not",
    *("tests/utility/test_utility_summary.py", "tests/utility/test_utility_cells.py"),
    "tests/test_imports.py::test_a_plain_run_imports_only_what_it_needs",
    "tests/test_typing.py::test_the_stub_is_what_the_registry_holds",
    "tests/test_fuzz.py::test_every_definition_has_a_planted_violation",
    "tests/test_fuzz.py::test_models_that_survive_merging_say_so",
    "tests/test_fuzz.py::test_cases_name_all_that_can_be_judged_and_are_drawn_from_their_number",
    "tests/test_fuzz.py::test_what_is_documented_is_refused",
    "tests/test_fuzz.py::test_some_cases",
    "tests/release/test_release_settle.py::test_mondrian_under_a_model_that_survives_nothing",
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The tree with the additions, and nothing else changed but what is generated."""
    folder = tmp_path_factory.mktemp("contributing")
    for name in COPIED:
        if (ROOT / name).is_dir():
            # compiled kernels come along, with the times of their sources
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("screenshots", "recordings"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    for name, text in FILES.items():
        shutil.copyfile(text, folder / name)
    for page, line in LINES.items():
        path = folder / "docs" / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"^- `[a-z]", f"{line}\n\\g<0>", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    for script in ("stub", "architecture"):
        _run(folder, f"docs/generator/{script}.py")
    return folder


def _run(folder: Path, *words: str, failing: bool = False) -> str:
    """Run Python in the copy; ``failing`` is for tests that fail, not for those that cannot start."""
    path = os.pathsep.join([str(folder / "src"), str(folder)])
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == int(failing), done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def _pytest(folder: Path, *words: str, failing: bool = False) -> str:
    return _run(folder, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *words, failing=failing)


def test_what_is_promised_of_each_of_them(copy):
    ran = _pytest(copy, *CONTRACTS, "-k", " or ".join(ABOUT), "-vv")
    for name in ("k-e", "one-class", "modal-value", "Blanks"):
        assert ran.count(name) >= 3, name


def test_what_is_promised_of_all(copy):
    _pytest(copy, *WHOLE)


def test_the_additions_are_clean(copy):
    _run(copy, "-m", "ruff", "check", *FILES)


def test_only_generated_files_know_of_them(copy):
    changed = [
        path.relative_to(copy).as_posix()
        for name in ("src", "docs", "fuzz")
        for path in (copy / name).rglob("*")
        if path.suffix in (".py", ".pyi", ".md", ".svg")
        and path.relative_to(copy).as_posix() not in FILES
        and path.read_bytes() != (ROOT / path.relative_to(copy)).read_bytes()
    ]
    assert sorted(changed) == sorted(["src/hushtable/__init__.pyi", *(f"docs/{page}.md" for page in LINES)])


@pytest.mark.parametrize(
    ("file", "old", "new", "test"),
    [
        ("tests/test_fuzz.py", "<= set(models)", "== set(models)", "tests/test_fuzz.py::test_cases_name_all_that_can_be"
         "_judged_and_are_drawn_from_their_number"),
        ("src/hushtable/utility/summary.py", "if measure.default", 'if name in ("loss", "ncp")',
         "tests/utility/test_utility_largest_class.py"),
        ("fuzz/choices.py", "in algorithms.items()", "in list(algorithms.items())[:9]", "tests/test_fuzz.py"),
        ("docs/attacks.md", LINES["attacks"], "", "tests/test_docs.py::test_every_registered_name_has_a_line"),
        ("src/hushtable/__init__.pyi", "KE as KE", "EpsM as KE",
         "tests/test_typing.py::test_the_stub_is_what_the_registry_holds"),
    ],
    ids=["models", "measures", "algorithms", "docs", "stub"],
)  # fmt: skip
def test_a_list_that_comes_back_is_noticed(copy, file, old, new, test):
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    try:
        _pytest(copy, "-x", test, failing=True)
    finally:
        (copy / file).write_text(text, encoding="utf-8")
