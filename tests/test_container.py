"""The Containerfile and the conda recipe: read, linted, and held against pyproject.toml; built by .ci/try-container."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from hushtable import __version__

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def reader():
    """The module that .ci/try-container reads the file with."""
    spec = importlib.util.spec_from_file_location("containerfile", ROOT / ".ci" / "containerfile.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["containerfile"] = module
    spec.loader.exec_module(module)
    return module


def test_every_target_runs_as_nobody_and_writes_to_its_volumes(reader):
    stages = reader.parse(TEXT)
    assert reader.faults(stages) == []
    targets = {stage.name: stage for stage in stages if stage.last("ENTRYPOINT")}
    assert set(targets) == {"hushtable", "studio", "spark"}
    # without --target, engines build the last one
    assert stages[-1].name == "hushtable"
    assert {stage.last("USER")[0] for stage in targets.values()} == {"10001"}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("USER 10001", "USER root", "runs as root"),
        ("--from=build ", "--from=elsewhere ", "no stage above"),
        ('VOLUME ["/data", "/var/lib/hushtable"]', 'VOLUME ["/data"]', "writes elsewhere"),
        ("--constraint constraints.txt ", "", "pip without"),
        ("--no-install-recommends ", "", "apt-get without"),
        ("FROM base AS build\n", "FROM bass AS build\n", "neither a stage above"),
    ],
)
def test_what_would_break_a_promise_is_noticed(reader, old, new, fault):
    assert old in TEXT
    assert any(fault in one for one in reader.faults(reader.parse(TEXT.replace(old, new))))


@pytest.mark.parametrize("line", ["ADD https://example.org/x /x", "RUNN true", "FROM debian"])
def test_a_line_that_would_not_be_tried_is_an_error(reader, line):
    with pytest.raises(ValueError, match=r"line \d+"):
        reader.parse(f"{TEXT}\n{line}\n")


def test_what_is_copied_is_in_the_context_and_nothing_else(reader):
    copied = {
        word
        for stage in reader.parse(TEXT)
        for step in stage.steps
        if step.name == "COPY" and step.source is None
        for word in step.words[:-1]
    }
    assert all((ROOT / name).exists() for name in copied)
    lines = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == copied


def test_hadolint_finds_nothing():
    hadolint = shutil.which("hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    found = subprocess.run([hadolint, "--no-color", ROOT / "Containerfile"], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.slow
def test_every_line_is_executed_and_every_target_runs():
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("needs root and debootstrap")
    done = subprocess.run([ROOT / ".ci" / "try-container"], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "the same bytes as the local engine's" in done.stdout


def test_the_recipe_needs_what_the_package_needs():
    text = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(text)
    assert recipe["context"] == {"version": __version__, "python_min": PROJECT["requires-python"].removeprefix(">=")}
    listed = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    assert listed.pop("python") == ">=${{ python_min }}"
    named = {"matplotlib-base": "matplotlib"}
    wanted = [Requirement(one) for one in PROJECT["dependencies"]]
    assert {named.get(name, name): bound for name, bound in listed.items()} == {
        one.name.lower(): str(one.specifier) for one in wanted
    }
    ((command, place),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {place}"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    # every ${{ name }} is one that the recipe or conda knows
    assert set(re.findall(r"\$\{\{ (\w+) }}", text)) <= {*recipe["context"], "PYTHON"}


def test_rattler_build_reads_the_recipe():
    rattler = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = rattler.Stage0Recipe.from_yaml((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    assert len(recipe.render(rattler.VariantConfig())) == 1
