from __future__ import annotations

import json

import pytest
import typer
from support_cli import CANARY

from hushtable import errors
from hushtable.cli.failures import fail
from hushtable.failures import INTERNAL


@pytest.mark.parametrize(
    ("error", "code"),
    [(typer.Abort(), 130), (typer.BadParameter("x"), 2), (errors.NotFound("x"), 3), (ZeroDivisionError("x"), INTERNAL)],
)
def test_exit_codes(error, code, capsys):
    assert fail(error, as_json=True) == code
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"error", "code", "message", "hint"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("run", "policy.yaml", "--data", "x.csv", "--engine", "sprak"),
            "Error: Invalid value for '--engine': 'sprak' is not one of 'local', 'spark'. Did you mean 'spark'?\n",
        ),
        (
            ("ledger", "zz9"),
            "Error: Invalid value for 'add|check|list|show': 'zz9' is not one of 'add', 'check', 'list', 'show'.\n",
        ),
    ],
)
def test_a_wrong_choice_is_one_clean_sentence(given, said, call):
    answer = call(*given)
    assert answer.code == 2
    assert said in answer.err


def test_a_hint_is_printed_after_the_message(capsys):
    fail(errors.Infeasible("p=5 but 'disease' has 4 distinct values.", hint="Lower p to 4."), as_json=False)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "Error: p=5 but 'disease' has 4 distinct values.\nLower p to 4.\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_an_internal_error_shows_its_type_and_no_value(as_json, capsys, monkeypatch):
    monkeypatch.delenv("HUSHTABLE_DEBUG", raising=False)
    assert fail(KeyError(CANARY), as_json=as_json) == INTERNAL
    printed = capsys.readouterr()
    text = printed.out + printed.err
    assert "KeyError" in text
    assert "HUSHTABLE_DEBUG=1" in text
    assert "no row values are shown" in text
    assert CANARY not in text


def test_the_traceback_is_shown_on_request(capsys, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_DEBUG", "1")
    fail(KeyError(CANARY), as_json=False)
    assert f"KeyError: '{CANARY}'" in capsys.readouterr().err


def test_an_unexpected_error_in_a_command_is_caught(call, monkeypatch, policy):
    monkeypatch.delenv("HUSHTABLE_DEBUG", raising=False)

    def broken(*args, **kwargs):
        raise ValueError(CANARY)

    monkeypatch.setattr("hushtable.policy.files.load_policy", broken)
    answer = call("check", policy)
    assert answer.code == INTERNAL
    assert "ValueError" in answer.err
    assert CANARY not in answer.out + answer.err
