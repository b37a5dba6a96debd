"""The registry finds classes by name, also those of plug-ins."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry as registry_module
from hushtable.errors import UsageError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import Registry, models, register
from hushtable.utility.base import Measure

REGISTRIES = [known for known in vars(registry_module).values() if isinstance(known, Registry)]
# in Python these say more than in a policy, so they are found by listing the registry
NAMED_OTHERWISE = {
    *("DifferentialPrivacy", "DistortionRatio", "DowncodingGuard", "FewSingledOut", "HouseholdRisk", "JournalistRisk"),
    *("MarketerRisk", "MinimalityGuard", "NormalisedClassSize", "SampleUniques", "SquaredError"),
}


def fresh() -> Registry:
    return Registry("model", "hushtable.models", "base:PrivacyModel")


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda r: r.kind)
def test_names_are_stable_and_sorted(registry):
    names = list(registry)
    assert names == sorted(names) and len(names) == len(registry) > 0
    for name, cls in registry.items():
        assert cls.name == name == name.lower() and " " not in name and "_" not in name
        assert registry.by_class_name(cls.__name__) is cls


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda r: r.kind)
def test_every_class_is_in_the_file_of_its_name(registry):
    assert {name: cls.__module__.rpartition(".")[2] for name, cls in registry.items()} == {
        name: name.replace("-", "_") for name in registry
    }


IN_PYTHON = [getattr(registry_module, kind) for kind in ("models", "algorithms", "guards", "treatments", "measures")]


@pytest.mark.parametrize("known", IN_PYTHON, ids=lambda r: r.kind)
def test_a_class_has_the_name_of_its_file_in_python_too(known):
    other = {cls.__name__ for name, cls in known.items() if cls.__name__.lower() != name.replace("-", "")}
    assert other <= NAMED_OTHERWISE


@pytest.mark.parametrize("look_up", ["registry.models['entropy-l']", "'entropy-l' in registry.models", "ht.EntropyL"])
def test_one_name_imports_one_class(look_up):
    script = "import json, sys\nimport hushtable as ht\nfrom hushtable import registry\n"
    script += f"assert {look_up}\nprint(json.dumps(sorted(m for m in sys.modules if m.startswith('hushtable.'))))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    assert "hushtable.models.entropy_l" in loaded
    assert not {"hushtable.models.t_closeness", "hushtable.models.k_map", "hushtable.algorithms.base"} & set(loaded)


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(UsageError, match=r"There is no model 'k-anonymty'. Did you mean 'k-anonymity'\?") as caught:
        models["k-anonymty"]
    assert caught.value.code == "unknown-model"
    assert "k-anonymty" not in models and models.get("k-anonymity") is KAnonymity
    assert models.by_class_name("Nothing") is None


class _Point:
    def __init__(self, cls, name="plug-in"):
        self.name = name
        self.loaded = 0
        self._cls = cls

    def load(self):
        self.loaded += 1
        return self._cls


@pytest.fixture
def plug_in(monkeypatch):
    """Install classes as plug-ins would."""

    def install(*points):
        def entry_points(group, name=None):
            return [point for point in points if name in (None, point.name)]

        monkeypatch.setattr(registry_module, "entry_points", entry_points)
        return fresh()

    return install


class Crowd(KAnonymity):
    name = "crowd"


def test_plug_ins_are_found_through_entry_points(plug_in):
    registry = plug_in(_Point(Crowd))
    assert registry["crowd"] is Crowd and registry["k-anonymity"] is KAnonymity
    assert registry.build("crowd", {"k": 3}).k == 3
    assert registry.plug_ins() == {"crowd": Crowd} and "crowd" in list(registry)


def test_a_plug_in_s_name_loads_no_other_plug_in(plug_in):
    other = _Point(dict, "other")
    registry = plug_in(other, _Point(Crowd, "crowd"))
    assert registry["crowd"] is Crowd
    assert not other.loaded


def test_what_is_no_model_is_not_collected(plug_in):
    assert list(plug_in(_Point(dict), _Point(print))) == list(models)


def test_abstract_and_nameless_classes_are_not_listed():
    assert "" not in models
    assert models.by_class_name("PrivacyModel") is None and models.by_class_name("AllOf") is None


def test_no_plug_in_takes_the_place_of_another_class(plug_in):
    class Weaker(KAnonymity):
        name = "k-anonymity"

    assert list(plug_in(_Point(KAnonymity))) == list(models)
    for use in (list, lambda registry: registry["k-anonymity"]):
        registry = plug_in(_Point(Weaker, "k-anonymity"))
        with pytest.raises(UsageError, match=r"k_anonymity\.KAnonymity and .*Weaker are called 'k-anonymity'"):
            use(registry)


@dataclass(frozen=True)
class Toy(Measure):
    """Number of classes."""

    name: ClassVar[str] = "toy-classes"

    def compute(self, comparison):
        return float(comparison.n_classes)


@pytest.fixture
def clean():
    yield
    for registry in REGISTRIES:
        for name in list(registry.added):
            registry.discard(name)


@pytest.mark.usefixtures("clean")
def test_a_class_of_this_process_is_found_everywhere():
    assert "toy-classes" not in registry_module.measures
    assert register(Toy) is Toy
    measures = registry_module.measures
    assert measures["toy-classes"] is measures.by_class_name("Toy") is ht.Toy is Toy
    assert "toy-classes" in list(measures) and "Toy" in dir(ht)
    assert list(measures) == sorted(measures)
    register(Toy)
    again = dataclass(frozen=True)(type("Toy", (Toy,), {"__qualname__": "Toy", "__module__": __name__}))
    register(again)
    assert measures["toy-classes"] is again
    release = ht.anonymize(pa.table({"a": [1, 1, 2, 2]}), ht.Policy(quasi=["a"], models=[KAnonymity(k=2)]))
    assert release.measures(["toy-classes"]) == {"toy-classes": 2.0}
    # it wants to be in every summary, as a plug-in's would be
    assert release.measures()["toy-classes"] == 2.0
    measures.discard("toy-classes")
    assert "toy-classes" not in measures


@pytest.mark.usefixtures("clean")
def test_an_object_of_a_class_of_ones_own_needs_no_registering():
    @dataclass(frozen=True)
    class Pairs(KAnonymity):
        """Two people at least."""

        k: int = 2
        name: ClassVar[str] = "toy-pairs"

    table = pa.table({"a": [1, 1, 2, 2]})
    release = ht.anonymize(table, ht.Policy(quasi=["a"], models=[Pairs()]))
    assert release.verification.evidence[0].model == "toy-pairs"
    assert release.measure(Toy()) == 2
    compared = ht.compare(table, ht.Policy(quasi=["a"], models=[Pairs()]), {"models": [{"toy-pairs": {}}]}, jobs=2)
    assert [row["status"] for row in compared.rows] == ["ok"]


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (int, "from a base class of hushtable can be registered, not int"),
        (KAnonymity(k=2), "not an object of KAnonymity"),
        (type("Nameless", (Toy,), {"name": ""}), "no lowercase name"),
        (type("Spaced", (Toy,), {"name": "Two Words"}), "no lowercase name"),
        (type("Plain", (Toy,), {"name": "plain"}), r"not a dataclass.*@dataclass\(frozen=True\)"),
        (type("Half", (Measure,), {"name": "half"}), "incomplete measure: it does not define compute"),
        (dataclass(frozen=True)(type("Thief", (Toy,), {"name": "ncp"})), "There is a measure 'ncp' already"),
    ],
)
def test_what_cannot_be_registered(cls, message):
    with pytest.raises(UsageError, match=message):
        register(cls)
    assert not registry_module.measures.added


def test_misspelt_names_of_the_package_get_a_suggestion():
    for wrong, right in (("anonymise", "anonymize"), ("KAnonimity", "KAnonymity"), ("draft_polcy", "draft_policy")):
        with pytest.raises(AttributeError, match=f"no attribute '{wrong}'. Did you mean '{right}'"):
            getattr(ht, wrong)
    with pytest.raises(AttributeError, match=r"dir\(hushtable\) lists"):
        ht.zzzzzz  # noqa: B018
    assert not hasattr(ht, "__wrapped__")
