"""NAICS: industries of North America by industry group, subsector and sector."""

from __future__ import annotations

import re

from hushtable.schema.classifications.base import Classification

_SECTORS = {
    "11": "11 Agriculture, forestry, fishing and hunting",
    "21": "21 Mining, quarrying, and oil and gas extraction",
    "22": "22 Utilities",
    "23": "23 Construction",
    "31": "31-33 Manufacturing", "32": "31-33 Manufacturing", "33": "31-33 Manufacturing",
    "42": "42 Wholesale trade",
    "44": "44-45 Retail trade", "45": "44-45 Retail trade",
    "48": "48-49 Transportation and warehousing", "49": "48-49 Transportation and warehousing",
    "51": "51 Information",
    "52": "52 Finance and insurance",
    "53": "53 Real estate and rental and leasing",
    "54": "54 Professional, scientific, and technical services",
    "55": "55 Management of companies and enterprises",
    "56": "56 Administrative and support and waste management and remediation services",
    "61": "61 Educational services",
    "62": "62 Health care and social assistance",
    "71": "71 Arts, entertainment, and recreation",
    "72": "72 Accommodation and food services",
    "81": "81 Other services (except public administration)",
    "92": "92 Public administration",
}  # fmt: skip
_CODE = re.compile(r"(?:NAICS)?[ -]*(\d{2,6})", re.IGNORECASE)
_RANGE = re.compile(r"31-33|44-45|48-49")


def _place(value: str) -> tuple[str, str, str] | None:
    text = value.strip()
    found = _CODE.fullmatch(text[:2] if _RANGE.fullmatch(text) else text)
    sector = None if found is None else _SECTORS.get(found[1][:2])
    if found is None or sector is None:
        return None
    code = found[1]
    subsector = f"{code[:3]}*" if len(code) > 2 else sector
    return f"{code[:4]}*" if len(code) > 3 else subsector, subsector, sector


CLASSIFICATION = Classification(
    name="naics-2022",
    title="NAICS codes of industries",
    source="U.S. Census Bureau, North American Industry Classification System (sectors)",
    version="NAICS 2022",
    levels=("industry group", "subsector", "sector"),
    place=_place,
    codes=lambda: _SECTORS,
    named="naics",
    about="industry sector",
    telling=lambda values, about: about and all(len(v.strip()) == 6 for v in values),
)
