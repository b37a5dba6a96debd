"""What type checkers and editors know of hushtable."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import mypy.api

import hushtable as ht
from hushtable.policy import policy as policy_module
from hushtable.policy.normalise import SUGAR

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "tests" / "typing" / "user_code.txt"


def generator():
    spec = importlib.util.spec_from_file_location("stub", ROOT / "docs" / "generator" / "stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_what_the_registry_holds():
    """Make it again with: make generated."""
    made = generator()
    assert made.STUB.read_text(encoding="utf-8") == made.stub()


def test_the_stub_names_all_that_is_offered():
    text = generator().stub()
    named = set(re.findall(r" as (\w+)$", text, re.MULTILINE))
    assert set(dir(ht)) <= named
    assert "__getattr__" not in text


def test_mypy_accepts_right_code_and_refuses_wrong_code(tmp_path):
    code = CODE.read_text(encoding="utf-8")
    file = tmp_path / "user_code.py"
    file.write_text(code, encoding="utf-8")
    wanted = {
        (number, found[1])
        for number, line in enumerate(code.splitlines(), 1)
        if (found := re.search(r"# wrong: ([\w-]+)$", line))
    }
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = true\nmypy_path = {ROOT / 'src'}\nfollow_imports = silent\n"
                        "[mypy-pyarrow.*,numba.*,sklearn.*,scipy.*,matplotlib.*,pyspark.*]\n"
                        "ignore_missing_imports = true\n", encoding="utf-8")  # fmt: skip
    cache = ROOT / ".mypy_cache" / "user_code"
    out, err, _ = mypy.api.run(
        [str(file), "--config-file", str(settings), "--no-error-summary", "--cache-dir", str(cache),
         "--python-executable", sys.executable, "--hide-error-context"]
    )  # fmt: skip
    assert not err
    found = {(int(n), c) for n, c in re.findall(r"user_code\.py:(\d+): error: .*\[([\w-]+)\]$", out, re.MULTILINE)}
    assert found == wanted, out
    assert len(wanted) > 15


def test_the_signature_of_a_policy_shows_every_setting():
    shown = list(inspect.signature(ht.Policy).parameters)
    assert shown[:7] == ["identifiers", "quasi", "sensitive", "insensitive", "weight", "cluster", "drop"] == list(SUGAR)
    assert set(shown) == {*SUGAR, "hierarchies", *ht.Policy.model_fields}
    # type checkers read another one, in the source
    tree = ast.parse(Path(policy_module.__file__).read_text(encoding="utf-8"))
    made = next(c for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and c.name == "Policy")
    (typed, _) = [f for f in ast.walk(made) if isinstance(f, ast.FunctionDef) and f.name == "__init__"]
    assert {a.arg for a in typed.args.kwonlyargs} == set(shown)
