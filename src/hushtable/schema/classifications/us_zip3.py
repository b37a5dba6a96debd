"""ZIP codes of the United States by their first three digits, as the HIPAA Safe Harbor rule permits publishing them.

Three-digit areas with 20,000 people or fewer become ``000**``. The Department of Health and Human Services lists 17 of
them, after the Census of 2000, in its guidance of 2012 (45 CFR 164.514(b)(2)(i)(B)); check whether a newer list applies
to you.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hushtable.schema.classifications.base import Classification

_SMALL = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
_ZIP = re.compile(r"(\d{3})(?:\d{2}(?:-?\d{4})?|\*\*|XX)?", re.IGNORECASE)


def _place(value: str) -> tuple[str, str] | None:
    text = value.strip()
    # numbers have lost the zeros in front
    found = _ZIP.fullmatch(text.zfill(5) if text.isdecimal() and len(text) == 4 else text)
    if found is None:
        return None
    area = found[1]
    return ("000**", "000**") if area in _SMALL.split() else (f"{area}**", f"{area[0]}****")


def _codes() -> Iterator[str]:
    return (f"{number:03d}01" for number in range(1, 1000))


CLASSIFICATION = Classification(
    name="us-zip3",
    title="ZIP codes of the United States",
    source="U.S. Department of Health and Human Services, guidance on de-identification under HIPAA",
    version="guidance of 26 November 2012, Census of 2000",
    levels=("three digits", "first digit"),
    place=_place,
    codes=_codes,
    named="zip zipcode zipcodes",
)
