"""The base of every part of a report: frozen data without values of records."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of a report: immutable, without unknown fields, and with numbers that JSON can express."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


def finite(number: float | None) -> float | None:
    """Return a number, or None if it is not defined.

    Examples
    --------
    >>> finite(0.5), finite(float("nan"))
    (0.5, None)
    """
    return None if number is None or not math.isfinite(number) else float(number)
