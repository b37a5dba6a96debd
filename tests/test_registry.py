"""The registry finds classes by name, also those of plug-ins."""

from __future__ import annotations

import pytest

from hushtable import registry as registry_module
from hushtable.errors import UsageError
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import Registry, algorithms, hierarchies, measures, models, risks


def fresh() -> Registry:
    return Registry("model", "hushtable.models", "base:PrivacyModel")


@pytest.mark.parametrize("registry", [models, algorithms, hierarchies, measures, risks], ids=lambda r: r.kind)
def test_names_are_stable_and_sorted(registry):
    names = list(registry)
    assert names == sorted(names) and len(names) == len(registry) > 0
    for name, cls in registry.items():
        assert cls.name == name == name.lower() and " " not in name and "_" not in name
        assert registry.by_class_name(cls.__name__) is cls


def test_unknown_names_are_refused_with_a_hint():
    with pytest.raises(UsageError, match=r"There is no model 'k-anonymty'. Did you mean 'k-anonymity'\?") as caught:
        models["k-anonymty"]
    assert caught.value.code == "unknown-model"
    assert "k-anonymty" not in models and models.get("k-anonymity") is KAnonymity
    assert models.by_class_name("Nothing") is None


class _Point:
    def __init__(self, cls):
        self._cls = cls

    def load(self):
        return self._cls


def test_plug_ins_are_found_through_entry_points(monkeypatch):
    class Crowd(KAnonymity):
        name = "crowd"

    monkeypatch.setattr(registry_module, "entry_points", lambda group: [_Point(Crowd)])
    registry = fresh()
    assert registry["crowd"] is Crowd and registry["k-anonymity"] is KAnonymity
    assert registry.build("crowd", {"k": 3}).k == 3


def test_what_is_no_model_is_not_collected(monkeypatch):
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [_Point(dict), _Point(print)])
    assert list(fresh()) == list(models)


def test_abstract_and_nameless_classes_are_not_listed():
    assert "" not in models
    assert models.by_class_name("PrivacyModel") is None and models.by_class_name("AllOf") is None


def test_no_plug_in_takes_the_place_of_another_class(monkeypatch):
    class Weaker(KAnonymity):
        name = "k-anonymity"

    monkeypatch.setattr(registry_module, "entry_points", lambda group: [_Point(KAnonymity)])
    assert fresh()["k-anonymity"] is KAnonymity
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [_Point(Weaker)])
    with pytest.raises(UsageError, match=r"k_anonymity\.KAnonymity and .*Weaker are called 'k-anonymity'"):
        fresh()["k-anonymity"]
