from __future__ import annotations

import pytest

from hushtable import registry

LISTS = ["models", "algorithms", "hierarchies", "guards", "measures", "risks"]


@pytest.mark.parametrize("command", LISTS)
def test_the_list_has_every_registered_name(call, command):
    answer = call(command)
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    shown = {line.split()[0] for line in answer.out.splitlines() if line and not line.startswith(" ")}
    assert set(getattr(registry, command)) <= shown


@pytest.mark.parametrize("command", LISTS)
def test_the_json_has_every_parameter(call, command):
    found = {entry["name"]: entry for entry in call(command, "--json").data[command]}
    assert list(found) == list(getattr(registry, command))
    for name, known in getattr(registry, command).items():
        assert {p["name"] for p in found[name]["parameters"]} == {p.name for p in known.params()}
        assert found[name]["summary"]


@pytest.mark.parametrize(("command", "name"), [(c, n) for c in LISTS for n in getattr(registry, c)])
def test_every_page_is_readable(call, command, name):
    answer = call(command, name)
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    for param in getattr(registry, command)[name].params():
        assert param.name in answer.out
    assert call(command, name, "--json").data["name"] == name


def test_a_model_says_what_it_promises(call):
    page = call("models", "k-anonymity", "--json").data
    assert page["properties"]["threat"] == "identity"
    assert page["properties"]["monotone"] == ["add", "merge"]
    assert page["properties"]["needs"] == ["size"]
    text = call("models", "k-anonymity").out
    assert "stays satisfied when: any record is added, two satisfied classes are merged" in text
    assert "models: [{k-anonymity: {k: ...}}]" in text


def test_a_misspelt_name_gets_a_hint(call):
    answer = call("models", "k-anonimity")
    assert answer.code == 2
    assert "Did you mean 'k-anonymity'?" in answer.err


def test_the_schema_is_json_with_every_model(call):
    for words in (["schema"], ["schema", "--json"]):
        text = call(*words)
        assert text.data["title"] == "hushtable policy"
        assert all(f'"{name}"' in text.out for name in registry.models)
