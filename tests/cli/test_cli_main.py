from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hushtable._version import __version__
from hushtable.cli.main import COMMANDS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
# what makes '--help' slow; a command imports it when it is called
HEAVY = {"numpy", "pyarrow", "pydantic", "yaml", "numba", "polars", "pandas", "sklearn", "scipy", "matplotlib"}


def test_version(call):
    assert call("--version").out == f"hushtable {__version__}\n"


def test_no_arguments_show_the_help(call):
    answer = call()
    assert answer.code == 0
    assert "Usage: hushtable" in answer.out


def test_the_help_lists_every_command_with_a_sentence(call):
    listed = dict(re.findall(r"^│ (\w+) +(\S.*?) +│$", call("--help").out, re.MULTILINE))
    assert [name for name in COMMANDS if not listed.get(name, "").rstrip(".").count(" ")] == []


def test_options_that_are_on_or_off_have_no_type(call):
    """'<bool>' in a line of nearly every option of nearly every command."""
    assert "bool" not in call("--help").out
    assert "bool" not in call("run", "--help").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo", "--rows", "1.5"], "It must be a whole number."),
        (["demo", "--rows", "0"], "It must be at least 1."),
        (["risk", "release", "--threshold", "much"], "It must be a number."),
        (["studio", "--port", "99999"], "It must be at most 65535."),
    ],
)
def test_a_wrong_number_is_told_in_our_words(call, words, said):
    """Not 'Input should be a valid integer, unable to parse string as an integer'."""
    answer = call(*words)
    assert answer.code == 2
    assert answer.err.splitlines()[0].endswith(f": {said}")


def test_other_commands_are_not_imported():
    script = "import sys\nfrom hushtable.cli.main import main\ntry:\n    main(['schema'])\nexcept SystemExit:\n"
    script += "    print(*sorted(m for m in sys.modules if m.startswith('hushtable.cli.')), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {module.rpartition(".")[2] for module in done.stderr.split()}
    assert loaded & set(COMMANDS) == {"schema"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_at_80_columns_and_takes_json(call, command):
    answer = call(command, "--help")
    assert answer.code == 0
    assert "--json" in answer.out or command == "mcp"  # which speaks JSON and nothing else
    assert max(map(len, answer.out.splitlines())) <= 80


def test_paragraphs_of_the_help_fill_the_lines(call):
    """The line breaks of a docstring once ended lines of the help in the middle."""
    assert "Both the batch on its own and the old and new records" in call("increment", "--help").out


def test_help_imports_nothing_heavy():
    script = "import sys; sys.argv = ['hushtable', '--help']\nfrom hushtable.cli.main import main\n"
    script += "try:\n    main()\nexcept SystemExit:\n    print(sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"'(\w+)'", done.stdout.splitlines()[-1]))
    assert "typer" in loaded
    assert not HEAVY & loaded


def test_a_run_does_not_import_pandas_which_pyarrow_would(policy, people, tmp_path):
    script = (
        "import sys; sys.argv = ['hushtable', *sys.argv[1:]]\nfrom hushtable.cli.main import main\ntry:\n    main()\n"
    )
    script += "except SystemExit as end:\n    print(end.code, 'pandas' in sys.modules, file=sys.stderr)\n"
    script += "import pandas, pyarrow\nprint(pyarrow.table({'a': [1]}).to_pandas().a[0], file=sys.stderr)"
    words = ["run", policy, "--data", people, "-o", tmp_path / "release"]
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-2:] == ["0 False", "1"]


def test_a_misspelt_command_is_a_usage_error(call):
    answer = call("rnu")
    assert answer.code == 2
    assert "No such command 'rnu'" in answer.err
    assert answer.out == ""


def test_choices_are_told_in_a_sentence(call):
    assert "Choose from: add, check, list, show\n" in call("ledger").err


def test_an_empty_path_is_not_the_folder_one_is_in(call, policy, people):
    """As of a variable of a script that is not set."""
    for command in (["init", "--force"], ["run", policy, "--data"], ["check", policy, "--data"]):
        answer = call(*command, "", "--json")
        assert (answer.code, answer.data["message"]) == (2, "The path of a table is empty.")


def test_a_usage_error_is_json_where_json_is_asked_for(call):
    answer = call("run", "--json")
    assert answer.code == 2
    assert answer.err == ""
    assert set(answer.data) == {"error", "code", "message", "hint"}
    assert answer.data["code"] == "usage"


def test_completion_is_offered():
    env = {
        **os.environ,
        "_TYPER_COMPLETE_ARGS": "hushtable mod",
        "_HUSHTABLE_COMPLETE": "complete_bash",
        "COMP_CWORD": "1",
    }
    env["COMP_WORDS"] = "hushtable mod"
    done = subprocess.run(
        [sys.executable, "-c", "from hushtable.cli.main import main; main()"], capture_output=True, text=True, env=env
    )
    assert "models" in done.stdout


def undocumented(text: str) -> list[str]:
    return [name for name in COMMANDS if not re.search(rf"^## `hushtable {name}\b", text, re.MULTILINE)]


def test_every_command_and_option_is_documented(call):
    text = DOCS.read_text(encoding="utf-8")
    assert undocumented(text) == []
    for name in COMMANDS:
        section = text.partition(f"## `hushtable {name}")[2].partition("\n## ")[0]
        options = set(re.findall(r"--[a-z]+", call(name, "--help").out)) - {"--help", "--json"}
        assert [option for option in sorted(options) if f"`{option}" not in section] == [], name


def test_an_undocumented_command_is_noticed():
    assert "run" in undocumented("## `hushtable demo`\n")
