"""ISCED 2011: levels of education, and the three groups used in published statistics."""

from __future__ import annotations

import re

from hushtable.schema.classifications.base import Classification

_LEVELS = (
    *("0 Early childhood education", "1 Primary education", "2 Lower secondary education"),
    *("3 Upper secondary education", "4 Post-secondary non-tertiary education", "5 Short-cycle tertiary education"),
    *("6 Bachelor's or equivalent level", "7 Master's or equivalent level", "8 Doctoral or equivalent level"),
    "9 Not elsewhere classified",
)
_GROUPS = (*3 * ("low (0-2)",), *2 * ("medium (3-4)",), *4 * ("high (5-8)",), "9 Not elsewhere classified")
_CODE = re.compile(r"(?:ISCED|ED|L|LEVEL)?[ _-]*([0-9])[0-9]{0,2}", re.IGNORECASE)


def _place(value: str) -> tuple[str, str] | None:
    """Return level and group of a level or of a three-digit program or attainment."""
    found = _CODE.fullmatch(value.strip())
    return None if found is None else (_LEVELS[int(found[1])], _GROUPS[int(found[1])])


CLASSIFICATION = Classification(
    name="isced-2011",
    title="ISCED levels of education",
    source="UNESCO Institute for Statistics, International Standard Classification of Education; groups: Eurostat",
    version="ISCED 2011",
    levels=("level", "low, medium or high"),
    place=_place,
    codes=lambda: map(str, range(10)),
    named="isced",
)
