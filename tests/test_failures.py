"""What is said about an exception carries no value of the table."""

from __future__ import annotations

import pytest

from hushtable import errors
from hushtable.failures import INTERNAL, failure

CANARY = "Canary-7391"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), 2),
        (errors.OutputError("x"), 2),
        (errors.Infeasible("x"), 3),
        (errors.NotFound("x"), 3),
        (errors.VerificationError("x"), 1),
        (errors.Cancelled("x"), 130),
        (KeyboardInterrupt(), 130),
        (MemoryError(), INTERNAL),
        (ZeroDivisionError("x"), INTERNAL),
    ],
)
def test_exit_codes(error, code):
    said, got = failure(error)
    assert got == code
    assert set(said) == {"error", "code", "message", "hint"}


def test_an_internal_error_shows_its_type_and_no_value():
    said, code = failure(KeyError(CANARY))
    assert code == INTERNAL
    assert "KeyError" in said["message"] and "no row values are shown" in said["message"]
    assert CANARY not in str(said)


def test_a_file_that_cannot_be_used_is_the_user_s_to_mend():
    said, code = failure(PermissionError(13, CANARY, "a.csv"))
    assert (said["message"], code) == ("'a.csv' cannot be used: Permission denied.", 2)
