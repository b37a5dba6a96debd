"""What the tests of prepared columns share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from hushtable.errors import HushtableError
from hushtable.schema.columns import Kind
from hushtable.schema.prepare import Prepared, prepare

__all__ = ["CANARY", "POINTS", "fails", "ready"]

CANARY = "CANARY-7731"

POINTS = "every value is a date like 31.12.1999 or 1999-12-31"


def ready(values: Sequence[Any] | pa.Array, kind: Kind | None = None, **options: Any) -> Prepared:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return prepare(array, name="x", kind=kind, **options)


def fails(values: Any, kind: Kind | None, message: str, code: str, **options: Any) -> None:
    with pytest.raises(HushtableError) as caught:
        ready(values, kind, **options)
    assert str(caught.value) == message
    assert caught.value.code == code
    assert CANARY not in str(caught.value)
    assert "7731" not in str(caught.value)
    assert "7731" not in str(caught.value.__context__)
