"""What is shipped: the wheel and the sdist hold the package and nothing else, and everything names one version."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hushtable import __version__, registry
from hushtable._version import code_digest
from hushtable.reproduce.papers import paper_names

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md")
NAME = f"hushtable-{__version__}"
# of the kinds of reference that the format knows, those that we have
REFERENCE_KINDS = {"article", "conference-paper", "generic", "slides"}


def built(tree: Path, mask: int) -> Path:
    """Both archives of the only commit in a tree, as make dist builds them."""
    env = {**os.environ, "PYTHON": sys.executable}
    env.pop("SOURCE_DATE_EPOCH", None)
    done = subprocess.run(
        [tree / ".ci/dist", "dist"], cwd=tree, env=env, umask=mask, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return tree / "dist"


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """Both archives, built from a copy in which data lies about."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copytree(ROOT / ".ci", tree / ".ci")
    for name in SHIPPED:
        shutil.copy(ROOT / name, tree / name)
    (tree / "tests").mkdir()
    for stray in ("src/hushtable/datasets/people.csv", "src/hushtable/policy.yaml", "people.csv", "tests/test_x.py"):
        (tree / stray).write_text("name\nAnna\n", encoding="utf-8")
    git = ["git", "-C", str(tree), "-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "All"]):
        subprocess.run([*git, *words], check=True)
    return built(tree, 0o022)


@pytest.fixture(scope="module")
def wheel(dist) -> Path:
    return dist / f"{NAME}-py3-none-any.whl"


def test_the_same_commit_gives_the_same_wheel_in_another_place_for_another_user(wheel, tmp_path):
    subprocess.run(["git", "clone", "-q", wheel.parents[1], tmp_path / "clone"], umask=0o077, check=True)
    again = built(tmp_path / "clone", 0o077) / wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_the_bill_of_materials_lists_what_the_wheel_needs(wheel):
    ran = subprocess.run(
        [sys.executable, ROOT / ".ci/sbom.py", wheel], capture_output=True, text=True, timeout=60, check=True
    )
    told = yaml.safe_load(ran.stdout)
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    product = told["metadata"]["component"]
    assert product["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    # evidence that names this digest was made by the code in this wheel
    assert product["properties"] == [{"name": "hushtable:code_sha256", "value": code_digest()}]
    listed = {one["name"]: one for one in told["components"]}
    for name, scope in {"numpy": "required", "llvmlite": "required", "pyspark": "optional", "py4j": "optional"}.items():
        assert listed[name]["scope"] == scope
        assert listed[name]["version"] == importlib.metadata.version(name)
    assert "pytest" not in listed
    leads = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    assert set(leads) == {one["bom-ref"] for one in [product, *told["components"]]}
    assert listed["numba"]["bom-ref"] in leads[product["bom-ref"]]
    assert listed["llvmlite"]["bom-ref"] in leads[listed["numba"]["bom-ref"]]


def sources() -> set[str]:
    files = (path for kind in ("*.py", "*.pyi") for path in (ROOT / "src" / "hushtable").rglob(kind))
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    described = {"licenses/LICENSE", "METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt"}
    assert names == sources() | {"hushtable/py.typed"} | {f"{NAME}.dist-info/{name}" for name in described}


def test_the_sdist_holds_what_building_needs_and_no_tests(dist):
    with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
        files = {member.name.removeprefix(f"{NAME}/") for member in archive if member.isfile()}
    made = {name for name in files if name.startswith("src/hushtable.egg-info/")} | {"PKG-INFO", "setup.cfg"}
    assert files - made == {f"src/{name}" for name in sources()} | {"src/hushtable/py.typed", *SHIPPED}


def test_nothing_in_the_wheel_names_the_machine(wheel):
    settings = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")
    machine = {str(ROOT), str(Path.home()), *(os.environ[name] for name in settings if os.environ.get(name))}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            text = archive.read(name).decode("utf-8")
            assert not [place for place in machine if re.search(re.escape(place) + r"\b", text)], name


def test_the_description_names_no_host_of_ours(wheel):
    with zipfile.ZipFile(wheel) as archive:
        fields, _, text = archive.read(f"{NAME}.dist-info/METADATA").decode("utf-8").partition("\n\n")
    assert "Project-URL" not in fields
    assert "Home-page" not in fields
    assert "License-Expression: Apache-2.0" in fields
    assert text.startswith("# hushtable")


def test_the_wheel_works_without_the_sources(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    script = (
        "import hushtable, json; from hushtable import registry;"
        "print(json.dumps([hushtable.__file__, *registry.models, *registry.algorithms]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    place, *names = yaml.safe_load(ran.stdout)
    assert Path(place) == tmp_path / "site" / "hushtable" / "__init__.py"
    assert names == [*registry.models, *registry.algorithms]


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def headings() -> tuple[bool, list[tuple[str, str]]]:
    """Whether the changelog begins with lines that wait for a release, and number and day of every release."""
    titles = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    waiting = titles[0] == "Unreleased"
    released = [re.fullmatch(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)", title) for title in titles[waiting:]]
    assert all(released), "a release's heading is such as ## 1.2.3 (2026-01-31)"
    return waiting, [match.groups() for match in released]


def test_version_changelog_and_citation_agree(citation):
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert citation["version"] == __version__
    waiting, released = headings()
    numbers = [tuple(map(int, number.split("."))) for number, _ in released]
    assert numbers == sorted(set(numbers), reverse=True)
    # before a release its lines wait under Unreleased, and so do those of the next one after it
    assert waiting or released
    if not waiting or __version__ in dict(released):
        assert released[0] == (__version__, citation["date-released"])


def test_the_citation_follows_the_rules_of_its_format(citation):
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert {"message", "title", "authors"} <= set(citation)
    datetime.date.fromisoformat(citation["date-released"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] == project["license"]
    assert citation["keywords"] == project["keywords"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]
    for work in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(work)
        assert work["type"] in REFERENCE_KINDS
        assert isinstance(work["year"], int)
        assert all(set(author) == {"family-names", "given-names"} for author in work["authors"])
        assert re.fullmatch(r"10\.\d{4,9}/\S+", work.get("doi", "10.1000/none"))


def test_every_paper_that_can_be_run_again_is_cited(citation):
    cited = {
        f"{work['authors'][0]['family-names'].split('-')[0].lower()}{work['year']}" for work in citation["references"]
    }
    assert cited == set(paper_names())


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    """Versions that make installs on this machine, by canonical name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all(
        len(want.specifier) == 1 and str(want.specifier).startswith("==") and want.url is None for want in wanted
    ), "constraints.txt has versions, no ranges and no addresses"
    here = [want for want in wanted if want.marker is None or want.marker.evaluate()]
    names = [canonicalize_name(want.name) for want in here]
    assert len(names) == len(set(names))
    return {name: str(want.specifier)[2:] for name, want in zip(names, here, strict=True)}


def requirements(extra: str) -> list[Requirement]:
    """What pyproject.toml asks for, without and with an extra; references to own extras resolved."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [Requirement(text) for text in project["dependencies"] + project["optional-dependencies"][extra]]
    own = {name for want in found if want.name == "hushtable" for name in want.extras}
    found = [want for want in found if want.name != "hushtable"]
    return found + [want for name in sorted(own) for want in requirements(name)]


def test_the_lock_pins_what_make_installs_within_the_bounds(pins):
    waiting, seen = requirements("dev"), set()
    while waiting:
        want = waiting.pop()
        name = canonicalize_name(want.name)
        assert name in pins, f"{name} is not in constraints.txt: run make lock"
        assert want.specifier.contains(pins[name], prereleases=True), f"{want} is not {pins[name]}: run make lock"
        for extra in want.extras or {""}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                needs = [Requirement(text) for text in importlib.metadata.requires(name) or ()]
            except importlib.metadata.PackageNotFoundError:
                continue
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
