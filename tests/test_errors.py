"""The tree of errors: codes, exit codes, hints."""

from __future__ import annotations

import inspect

import pytest

from hushtable import errors
from hushtable.errors import HushtableError, did_you_mean

CLASSES = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, HushtableError)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_every_error_has_a_code_a_sentence_and_an_exit_code(cls):
    error = cls("It failed.", hint="Try again.")
    assert str(error) == "It failed. Try again."
    assert str(cls("It failed.")) == "It failed."
    assert error.code == cls.default_code and cls("x", code="own").code == "own"
    assert error.as_dict() == {"error": cls.__name__, "code": error.code, "message": "It failed.", "hint": "Try again."}
    expected = {"Infeasible": 3, "NotFound": 3, "VerificationError": 1, "Cancelled": 130}
    assert error.exit_code == expected.get(cls.__name__, 2)
    assert cls.__name__ in errors.__all__


def test_codes_differ():
    codes = [c.default_code for c in CLASSES]
    assert len(set(codes)) == len(codes)


def test_old_habits_of_catching_still_work():
    assert issubclass(errors.ParameterError, ValueError) and issubclass(errors.DataError, ValueError)
    assert issubclass(errors.OutputError, OSError) and issubclass(errors.IncompatibleError, TypeError)


def test_hints():
    assert did_you_mean("agee", ["age", "sex"]) == "Did you mean 'age'?"
    assert did_you_mean("zzz", ["b", "a"]) == "Known: a, b."
    assert did_you_mean("zzz", []) == ""
