"""Every code block of the documentation runs, page by page, in a folder with patients.csv in it.

Python blocks of a page share their names; sh blocks run in bash, and a line with "# exits with 1" has to; YAML blocks
have to be policies, parts of policies, comparisons, or at least YAML. An HTML comment before a block tells the rest:

- ``<!-- before: ... -->`` holds Python that is run first and not shown;
- ``<!-- not run: reason -->`` passes a block over.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
import yaml

from hushtable import registry
from hushtable.cli.main import main
from hushtable.comparison.spec import load_spec
from hushtable.datasets import patients, patients_policy
from hushtable.errors import HushtableError
from hushtable.io.files import write_table
from hushtable.policy.policy import Policy
from test_docs import PAGES, ROOT

PART = re.compile(
    r"^<!-- (?P<word>before|not run): ?(?P<text>.*?)-->|^```(?P<language>\w*)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
RUN = {"python", "sh", "yaml"}
# shown for reading: output, and sessions that are doctests of the sources
SHOWN = {"", "text", "pycon", "json", "toml", "csv"}
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
INTO = re.compile(r"^(?P<command>.*?)\s> (?P<file>[\w./-]+)\s*(#.*)?$")
EXITS = re.compile(r"^(?P<command>.*?)\s*#.*\bexits with (?P<code>\d+)\b.*$", re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """The parts to run, in order, as (language, code); those passed over have the language "not run"."""
    found: list[tuple[str, str]] = []
    passed = False
    for part in PART.finditer(text):
        if part["word"] == "before":
            found.append(("python", part["text"]))
        elif part["word"]:
            assert part["text"].strip(), "a block that is not run needs a reason"
            passed = True
        else:
            found.append(("not run" if passed else part["language"], part["code"]))
            passed = False
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("docs") / "patients.csv"
    write_table(patients(600), path)
    return path


@pytest.fixture
def unregistered():
    """What a page registers is forgotten."""
    yield
    for known in (known for known in vars(registry).values() if isinstance(known, registry.Registry)):
        for name in list(known.added):
            known.discard(name)


@pytest.mark.usefixtures("unregistered")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / ".secret"))
    shutil.copy(table, tmp_path / "patients.csv")
    # a module of its own, as a notebook is: dataclasses look for the module of their class
    module = types.ModuleType(page.stem)
    monkeypatch.setitem(sys.modules, page.stem, module)
    # pyspark, which other packages import, takes a main module without a file for doctests and exits
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)
    for language, code in blocks(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(code, str(page), "exec", dont_inherit=True), vars(module))
        elif language == "sh":
            run_shell(code, tmp_path)
        elif language == "yaml":
            check_yaml(code, tmp_path)
        else:
            assert language in SHOWN | {"not run"}, f"what is a block of {language!r}?"


def run_shell(code: str, folder: Path) -> None:
    """Run a block: line by line in this process where it is a list of our commands, which is faster; else in bash."""
    lines = [line for line in code.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("$EDITOR")]
    if all(is_plain(line) for line in lines):
        for line in lines:
            run_command(line)
        return
    script = EXITS.sub(r"code=0; \g<command> || code=$?; test $code -eq \g<code>", code)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "EDITOR": "true", "COLUMNS": "100"}
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def is_plain(line: str) -> bool:
    """Whether a line is one of our commands, which may write into a file, and has nothing else for a shell."""
    command = QUOTED.sub("", INTO.sub(r"\g<command>", line)).partition("#")[0]
    return command.startswith("hushtable ") and not set(command) & set("|<>;$&`")


def run_command(line: str) -> None:
    wanted, into = EXITS.match(line), INTO.match(line)
    printed, out = io.StringIO(), io.StringIO()
    given = shlex.split(into["command"] if into else line, comments=True)[1:]
    to = contextlib.redirect_stdout(out if into else printed)
    with pytest.raises(SystemExit) as ended, to, contextlib.redirect_stderr(printed):
        main(given)
    if into:
        Path(into["file"]).write_text(out.getvalue(), encoding="utf-8")
    assert (ended.value.code or 0) == (int(wanted["code"]) if wanted else 0), f"{line}\n{printed.getvalue()[-2000:]}"


def check_yaml(code: str, folder: Path) -> None:
    data = yaml.safe_load(code)
    if "columns" in data:
        Policy.from_yaml(code)
    elif set(data) <= set(Policy.model_fields):
        Policy(**{**patients_policy(), **data})
    elif "policy" in data:
        (folder / "policy.yaml").write_text(Policy(**patients_policy()).to_yaml(), encoding="utf-8")
        (folder / "comparison.yaml").write_text(code, encoding="utf-8")
        spec = load_spec(folder / "comparison.yaml")
        assert all(setting.refusal is None for setting in spec.grid.settings(spec.policy))


def test_blocks_are_found():
    text = "a\n```sh\nx\n```\n<!-- not run: no server -->\n```python\ny\n```\n<!-- before: z = 1 -->\n"
    assert blocks(text) == [("sh", "x\n"), ("not run", "y\n"), ("python", "z = 1 ")]


def test_what_needs_no_shell():
    plain = [
        "hushtable run a.yaml # > b",
        "hushtable suggest c --where 'ncp <= 1'",
        "hushtable risk r --json > r.json # x",
    ]
    assert all(map(is_plain, plain))
    other = [
        "cp a b",
        "hushtable run $POLICY",
        'hushtable run "$POLICY"',
        "hushtable run a | tee b",
        "hushtable a > b; c",
    ]
    assert not any(map(is_plain, other))


def test_what_is_wrong_is_noticed(tmp_path):
    with pytest.raises(AssertionError):
        run_shell("hushtable modles", tmp_path)
    with pytest.raises(AssertionError):
        run_shell("true  # exits with 1", tmp_path)
    with pytest.raises(HushtableError):
        check_yaml("columns: {age: {rolle: quasi}}", tmp_path)


def test_there_is_code_to_run():
    languages = [language for page in PAGES for language, _ in blocks(page.read_text(encoding="utf-8"))]
    assert min(languages.count(language) for language in RUN) >= 5
    # the rest needs servers or a cluster: few, or the promise that everything runs is empty
    assert languages.count("not run") <= 18
